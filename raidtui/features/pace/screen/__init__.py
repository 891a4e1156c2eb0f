"""The dialogs that begin, change and end a pacing."""
