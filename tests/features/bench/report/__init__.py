"""The report, as HTML and as Markdown."""
