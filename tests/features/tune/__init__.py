"""The feature tune."""
