"""The page that goes with a disk from its bay light to the copy on the new one."""
