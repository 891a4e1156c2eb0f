"""The feature boot."""
