"""The guide, on the screen."""
