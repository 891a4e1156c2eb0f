"""Roots: the live host, a folder, memory, an archive."""
