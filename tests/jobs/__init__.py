"""Tests of what writes."""
