"""Copying a disk that gives read errors, with GNU ddrescue, before anything else is tried with it."""
