"""Panes of the screen."""
