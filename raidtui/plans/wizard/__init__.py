"""The wizard that builds an array: its steps, what can be chosen, what follows. Pure."""
