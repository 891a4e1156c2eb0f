"""``boot-check``, and the plans that mend a part of the boot."""
