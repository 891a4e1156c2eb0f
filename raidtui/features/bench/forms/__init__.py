"""The forms of a benchmark: what a host offers, the input, its errors, and the request."""
