"""The command line's reports."""
