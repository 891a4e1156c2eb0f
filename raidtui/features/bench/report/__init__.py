"""The report of runs: one document, as HTML and as Markdown."""
