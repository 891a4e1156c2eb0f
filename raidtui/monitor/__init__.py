"""Samples of the host, findings, events and history."""
