"""Whether a machine comes up without a disk."""
