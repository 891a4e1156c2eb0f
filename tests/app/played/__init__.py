"""The demo host, played by keys."""
