"""The feature reshape."""
