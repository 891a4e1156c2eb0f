"""The form that gives an array another shape."""
