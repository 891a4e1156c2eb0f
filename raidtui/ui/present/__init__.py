"""From a report to lines: no widget, no terminal, only words and roles."""
