"""How much fits on an array that is not there yet, in mdadm's and the kernel's own arithmetic.

Sources: mdadm's super1.c (validate_geometry1, choose_bm_space), drivers/md/raid10.c (raid10_size).
"""

from __future__ import annotations

from collections.abc import Sequence

from raidtui.model.levels import PARITY_LEVELS, Raid10Layout
from raidtui.view.units import SECTOR_BYTES

_MOST_COPIES = 200
_MIB_SECTORS = 2048
_HEADROOM_SECTORS = 128 * _MIB_SECTORS
_PPL_SECTORS = _MIB_SECTORS
_RAID1_STEP_KIB = 64


def raid10_layout(text: str) -> int | None:
    """Return md's number of a RAID-10 layout as mdadm takes it (n2 is 0x102), or None where it is none."""
    letter, digits = text[:1], text[1:]
    if letter not in {"n", "f", "o"} or not digits.isascii() or not digits.isdigit() or len(digits) > 3:
        return None
    copies = int(digits)
    if not 1 <= copies <= _MOST_COPIES:
        return None
    return {"n": 0x100 | copies, "f": copies << 8 | 1, "o": 0x10000 | copies << 8 | 1}[letter]


def data_disks(level: str, layout: int | None, raid_disks: int) -> int:
    """Return how many devices a full stripe's data lie on: stripe width = chunk times this.

    It is what the kernel's optimal I/O size is made of (raid10_nr_stripes): a RAID-10 near 2 of four devices
    has 2, far and offset layouts have all, and so has a near layout that does not divide the devices.
    """
    if level in PARITY_LEVELS:
        return max(1, raid_disks - PARITY_LEVELS[level])
    if level == "raid1":
        return 1
    if level == "raid10":
        decoded = Raid10Layout.decode(layout) if layout is not None else None
        if decoded is not None and raid_disks % decoded.near == 0:
            return max(1, raid_disks // decoded.near)
    return max(1, raid_disks)


def capacity_kib(level: str, layout: int | None, component_kib: int, raid_disks: int) -> int:
    """Return an array's size.

    Args:
        level: raid0, raid1, raid4, raid5, raid6 or raid10.
        layout: md's number; only RAID-10 needs it.
        component_kib: what is used of each member.
        raid_disks: number of slots.
    """
    if level == "raid1":
        return component_kib
    if level in PARITY_LEVELS:
        return component_kib * max(0, raid_disks - PARITY_LEVELS[level])
    if level == "raid10":
        decoded = Raid10Layout.decode(layout) if layout is not None else None
        if decoded is None:
            return 0
        return component_kib // decoded.far * raid_disks // decoded.near
    return component_kib * raid_disks


def usable_kib(
    sizes_bytes: Sequence[int], *, metadata: str = "1.2", chunk_kib: int = 0, ppl: bool = False
) -> tuple[int, ...]:
    """Return what a new array can use of each device; all levels but RAID-0 use the least of it on each.

    Args:
        sizes_bytes: the devices, in the order in which mdadm gets them: the first decides where data begin.
        metadata: 1.0, 1.1 or 1.2.
        chunk_kib: 0 for RAID-1.
        ppl: whether room for a partial parity log is kept.
    """
    sectors = [size // SECTOR_BYTES for size in sizes_bytes]
    if not sectors:
        return ()
    step = chunk_kib or _RAID1_STEP_KIB
    if metadata == "1.0":
        free = [size // 8 * 8 - 24 - _log_sectors(size, ppl=ppl) for size in sectors]
    else:
        offset = _data_offset(sectors[0], chunk_kib=chunk_kib, ppl=ppl)
        free = [size - offset for size in sectors]
    return tuple(max(0, each) // 2 // step * step for each in free)


def _data_offset(sectors: int, *, chunk_kib: int, ppl: bool) -> int:
    """Superblock, bitmap, and room to reshape: about a thousandth of the device, 128 MiB at most."""
    headroom = _HEADROOM_SECTORS
    while headroom << 10 > sectors and (not chunk_kib or headroom // 2 >= chunk_kib * 4):
        headroom >>= 1
    whole = 24 + _log_sectors(sectors, ppl=ppl) + headroom
    return -(-whole // _MIB_SECTORS) * _MIB_SECTORS


def _log_sectors(sectors: int, *, ppl: bool) -> int:
    if ppl:
        return _PPL_SECTORS
    if sectors < 128:
        return 0
    if sectors - 128 >= 200 << 21:
        return 256
    return 128 if sectors - 8 > 8 << 21 else 8
