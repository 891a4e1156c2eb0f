"""A disk that is exchanged."""
