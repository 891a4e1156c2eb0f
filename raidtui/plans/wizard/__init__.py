"""The wizard that builds an array: its steps, choices and consequences. Pure."""
