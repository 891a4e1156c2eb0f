"""The forms of benchmarks."""
