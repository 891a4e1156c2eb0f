"""Pane 4, on the screen."""
