"""Where a host is read: the live one, a folder, memory, an archive."""
