"""Grow, convert and shrink arrays, and their journals."""
