"""Pane 1 and ``status``: the arrays, their syncs and speed limits."""
