"""Pane 5: benchmarks."""
