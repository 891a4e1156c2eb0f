"""What the host says: read-only, always under a root, so that a captured tree works like a live host."""
