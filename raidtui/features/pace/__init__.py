"""A resync that yields to the users: how fast it may be now, from what they feel."""
