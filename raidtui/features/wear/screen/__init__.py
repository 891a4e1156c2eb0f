"""Pane 3: wear."""
