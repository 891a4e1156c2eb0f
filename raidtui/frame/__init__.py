"""What all panes are drawn in and asked with: pages, dialogs, fields, lines, the footer, keys in order."""
