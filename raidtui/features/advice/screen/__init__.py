"""Pane 7: what could be better on a host that works."""
