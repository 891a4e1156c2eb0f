"""md as the kernel, mdadm and superblocks describe it."""
