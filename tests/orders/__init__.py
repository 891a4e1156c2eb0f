"""Tests of the command line's orders."""
