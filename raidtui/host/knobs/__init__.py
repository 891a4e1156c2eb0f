"""Knobs: their values now, and who set them."""
