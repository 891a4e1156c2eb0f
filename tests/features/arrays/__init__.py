"""The feature arrays."""
