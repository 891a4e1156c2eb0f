"""Pane 1, on the screen."""
