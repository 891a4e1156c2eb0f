"""The door: arguments, the main screen and what switches panes; it alone knows all features."""
