"""One module per subcommand: its arguments, its text, its JSON."""
