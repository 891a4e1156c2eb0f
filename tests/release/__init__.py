"""What is handed out: man pages, completions, the one file, the Debian package."""
