"""Pane 2: the wizard."""
