"""Arrays that do not start: what happened to them, and the ways back."""
