"""Pane 6: the log."""
