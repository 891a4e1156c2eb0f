"""Pane 5, on the screen."""
