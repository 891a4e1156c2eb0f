"""Golden plans."""
