"""The search for an array's geometry without its superblocks: by reads alone, in user space."""
