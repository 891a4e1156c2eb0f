"""The whole console, and commands that belong to no feature."""
