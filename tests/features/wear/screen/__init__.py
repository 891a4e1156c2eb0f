"""Pane 3, on the screen."""
