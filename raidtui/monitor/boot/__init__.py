"""Whether the machine comes up without any one of its disks."""
