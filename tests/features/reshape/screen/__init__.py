"""The screens of reshape."""
