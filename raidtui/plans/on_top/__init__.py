"""What goes on top of a new array: LVM, a file system, TRIM. Pure."""
