"""The feature create."""
