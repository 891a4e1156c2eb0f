"""The feature stack."""
