"""Pane 6, on the screen."""
