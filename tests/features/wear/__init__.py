"""The feature wear."""
