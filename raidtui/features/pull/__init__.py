"""Pull this disk: which one it is, which ones it is not, what left, and what takes its place."""
