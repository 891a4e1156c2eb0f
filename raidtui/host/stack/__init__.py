"""Readers of what stands on what: the device mapper, LVM, bcache, sysfs."""
