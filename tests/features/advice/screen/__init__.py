"""Pane 7, on the screen."""
