"""Benchmarks as they run."""
