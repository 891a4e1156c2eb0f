"""Wear: figures, units, troubles, the ledger and the forecast."""
