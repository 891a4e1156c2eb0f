"""The screens of pace."""
