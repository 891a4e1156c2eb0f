"""Knobs: values for now, values for good, profiles. Pure."""
