"""The screen. The only floor that imports textual or rich; its panes read no file and start no process."""
