"""What could be better on a host that works, each with its reason and what fixes it."""
