"""Tests of the simulated host: what it prints is what md prints, and its story runs as written."""
