"""What stands on what."""
