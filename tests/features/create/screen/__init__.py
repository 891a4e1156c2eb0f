"""Pane 2, on the screen."""
