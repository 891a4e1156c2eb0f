"""The wizard: an array from its devices to what is on it."""
