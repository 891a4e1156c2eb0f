"""The feature checks."""
