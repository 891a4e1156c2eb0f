"""What stands on what, as a tree and in words."""
