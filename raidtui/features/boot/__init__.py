"""``boot-check``, and the plans that fix a part of the boot."""
