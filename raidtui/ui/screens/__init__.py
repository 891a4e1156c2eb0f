"""Screens of the screen."""
