"""Rescue: diagnosis, search and trial."""
