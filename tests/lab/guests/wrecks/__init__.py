"""Wrecks: arrays that do not start, each made by the same commands every time, with what is true of it.

``wreck`` is what a wreck is; ``lost``, ``stale``, ``odd`` and ``further`` are the table, and
tests/features/rescue/expected.py has what must be said of each; ``making`` makes them in a guest and proves
their truth on overlays, ``asking`` asks raidtui about them, ``saving`` saves them by what it offers.

What was measured on the way (Linux 6.1, mdadm 4.2, disks of 64 MiB), and is easily taken for granted:

- The default data offset depends on the chunk: 4096 sectors with 512 KiB chunks and with PPL, else 2048.
- ``mdadm --fail`` of one member too many says "Device or resource busy", and yet the member is marked.
- Events count changes between clean and active, not writes: ten files written to an active array are none.
- A rebuild whose source dies leaves a "spare" with bad blocks, no recovery offset.
- ``--add`` to a failed array is refused.
- A member whose checksum is wrong is listed by ``--examine``, and not imported by the kernel.
- A RAID 5 that was created again wrongly, and rebuilt in part or whole, has lost nothing; RAID 6 and 10 have.
- Where a bitmap is damaged, ``mdadm --examine`` calls the checksum of the superblock wrong, which it is not;
  the kernel does not start the array.
- mdadm waits for a replacement that was being made as it waits for a member.
- With metadata 0.90 and 1.0, the first member looks like what is in the array: LVM finds its volumes twice.
"""
