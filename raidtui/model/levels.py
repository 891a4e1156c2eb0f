"""RAID levels and layouts, as the kernel encodes them.

Sources: drivers/md/raid10.c (setup_geo, __raid10_find_phys), include/uapi/linux/raid/md_p.h and md(4).
"""

from __future__ import annotations

TYPE_CHECKING = False  # as in raidtui/__main__.py: the first frame imports this
if TYPE_CHECKING:
    from collections.abc import Mapping

PARITY_LAYOUTS = {
    0: "left-asymmetric",
    1: "right-asymmetric",
    2: "left-symmetric",
    3: "right-symmetric",
    4: "parity-first",
    5: "parity-last",
    8: "ddf-zero-restart",
    9: "ddf-N-restart",
    10: "ddf-N-continue",
    16: "left-asymmetric-6",
    17: "right-asymmetric-6",
    18: "left-symmetric-6",
    19: "right-symmetric-6",
    20: "parity-first-6",
}
LEFT_SYMMETRIC, PARITY_LAST = 2, 5
SIX = 16
"""A RAID 6 layout of this number and more is that of a RAID 5, with the second parity on the last disk."""
_PARITY_SHORT = {0: "la", 1: "ra", 2: "ls", 3: "rs", 4: "pf", 5: "pl"}
PARITY_LEVELS = {"raid4": 1, "raid5": 1, "raid6": 2}
NO_REDUNDANCY = frozenset({"raid0", "linear", "faulty"})
BITMAP_BYTES = 100_000_000_000
"""mdadm gives a new array a bitmap from this size of a member on (mdadm(8), --bitmap)."""
LONG_REBUILD_BYTES = 1 << 40
"""A larger member takes so long to rebuild that one more loss meanwhile is to be reckoned with."""
MOST_DISKS = 4096
"""No array has more slots: metadata 1.x has room for 1,920 roles (drivers/md/md.c, super_1_validate)."""


def disk_count(number: int | None) -> int | None:
    """Return a number of slots, or None for an impossible one: the text is damaged."""
    return number if number is not None and 0 <= number <= MOST_DISKS else None


class Raid10Layout:
    """RAID-10's layout number, decoded. A plain class, because the first frame needs it.

    Args:
        near: copies of a chunk on adjacent devices.
        far: copies of a chunk in distant sections of the devices.
        offset: whether far copies are in the next stripe instead of a distant section.
        far_sets: the kernel's ``layout >> 17``, 0, 1 or 2: how it keeps far copies within sets of devices.
    """

    __slots__ = ("far", "far_sets", "near", "offset")

    def __init__(self, *, near: int, far: int, offset: bool, far_sets: int) -> None:
        self.near = near
        self.far = far
        self.offset = offset
        self.far_sets = far_sets

    @classmethod
    def decode(cls, layout: int) -> Raid10Layout | None:
        """Return the layout of a number in ``md/layout`` (258 is near 2), or None for an invalid one."""
        near, far = layout & 0xFF, (layout >> 8) & 0xFF
        if layout < 0 or near < 1 or far < 1 or layout >> 17 > 2:
            return None
        return cls(near=near, far=far, offset=bool(layout & 0x10000), far_sets=layout >> 17)

    @property
    def copies(self) -> int:
        """How many copies of each chunk there are."""
        return self.near * self.far

    @property
    def short(self) -> str:
        """The form that ``mdadm --layout`` takes: n2, f2, o3."""
        if self.far == 1:
            return f"n{self.near}"
        letter = "o" if self.offset else "f"
        return f"{letter}{self.far}" if self.near == 1 else f"n{self.near}{letter}{self.far}"

    def copy_groups(self, raid_disks: int) -> tuple[tuple[int, ...], ...]:
        """Return the distinct sets of slots that hold all copies of some chunk, each sorted.

        An array works as long as every set has a member left. With near 2 on four disks the sets are
        (0, 1) and (2, 3); with far 2 they overlap: (0, 1), (1, 2), (2, 3), (0, 3).
        """
        if raid_disks < 1 or self.copies > raid_disks:
            return ()
        set_size, last_start, last_size = self._far_sets(raid_disks)
        groups: set[tuple[int, ...]] = set()
        for chunk in range(raid_disks):
            first = chunk * self.near % raid_disks
            slots: set[int] = set()
            for copy in range(self.near):
                device = (first + copy) % raid_disks
                slots.add(device)
                for _ in range(1, self.far):
                    base = device // set_size * set_size
                    device += self.near
                    if raid_disks % set_size and device > last_start:
                        device = (device - last_start) % last_size + last_start
                    else:
                        device = device % set_size + base
                    slots.add(device)
            groups.add(tuple(sorted(slots)))
        return tuple(sorted(groups))

    def _far_sets(self, raid_disks: int) -> tuple[int, int, int]:
        if self.far_sets == 1:
            size = max(1, raid_disks // self.far)
        elif self.far_sets == 2:
            size = self.copies
        else:
            size = raid_disks
        last_start = (raid_disks // size - 1) * size
        return size, last_start, raid_disks - last_start


def printed_layout(level: str | None, printed: Mapping[str, int]) -> int | None:
    """Return md's layout number by the words of /proc/mdstat; None without a layout, or for a damaged one.

    Args:
        level: the kernel's word.
        printed: as in ``MdstatArray.layout``: ``algorithm`` for levels with parity, else ``near``, ``far``,
            ``offset``, ``set`` (the devices of a far set).
    """
    if "algorithm" in printed:
        return printed["algorithm"]
    if level != "raid10":
        return None
    near, far = printed.get("near", 1), printed.get("offset") or printed.get("far") or 1
    if near > 255 or far > 255:
        return None
    sets = 0
    if "set" in printed:  # the fixed form unless only the buggy one gives this size (setup_geo)
        sets = 2 if printed["set"] == near * far else 1
    return near | far << 8 | (0x10000 if "offset" in printed else 0) | sets << 17


def layout_words(level: str | None, layout: int | None) -> str | None:
    """Return the layout in mdadm's long form, or None where the level has none or it is not known."""
    if layout is None:
        return None
    if level == "raid10":
        decoded = Raid10Layout.decode(layout)
        if decoded is None:
            return None
        words = [f"near={decoded.near}"] if decoded.near > 1 or decoded.far == 1 else []
        if decoded.far > 1:
            words.append(f"{'offset' if decoded.offset else 'far'}={decoded.far}")
        return ", ".join(words)
    if level in PARITY_LEVELS and level != "raid4":
        return PARITY_LAYOUTS.get(layout)
    return None


def layout_short(level: str | None, layout: int | None) -> str:
    """Return the layout in two or three letters: n2, f2, ls; "" without a layout."""
    if layout is None:
        return ""
    if level == "raid10":
        decoded = Raid10Layout.decode(layout)
        return decoded.short if decoded else ""
    if level in {"raid5", "raid6"}:
        return _PARITY_SHORT.get(layout, "")
    return ""
