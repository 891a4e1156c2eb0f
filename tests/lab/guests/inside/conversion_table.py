"""The conversions that are tried on a real kernel: what is made, what is done to it, what it is then."""

from __future__ import annotations

from typing import NamedTuple

from tests.lab.test_grow import CONVERSIONS as UNDISTURBED

BACKUP = "/var/lib/raidtui/kept/backup"
"""A folder in which nobody looks for backup files: the plan alone names it."""
_CLOSE, _CLOSE_KIB = "--data-offset=72K", (16 << 10) + 128
"""There is no room before the data, and none after them: mdadm wants a backup file."""


class Conversion(NamedTuple):
    """A conversion.

    Args:
        level, disks: of the array at first, which is made of the first disks.
        words: of ``raidtui plan``; {2} is the third disk.
        wanted: level, slots, layout, chunk, missing members, action and place of a reshape afterwards.
        extra: further words for its creation.
        part_kib: the size of a disk's partition, of which 16 MiB are used. Little is free behind the data, so
            that md writes over what it has moved soon.
    """

    level: int
    disks: int
    words: tuple[str, ...]
    wanted: str
    extra: tuple[str, ...] = ()
    part_kib: int = 24 << 10


CONVERSIONS = {name: Conversion(*row) for name, row in UNDISTURBED.items()}
"""Those that are also done without a cut."""

FURTHER = {
    "5 by two": Conversion(5, 3, ("grow", "125", "--add", "{3}", "{4}"), "raid5 5 2 65536 0 idle none"),
    "5 another chunk": Conversion(5, 3, ("convert", "125", "--chunk=128"), "raid5 3 2 131072 0 idle none"),
    "6 another layout": Conversion(
        6, 4, ("convert", "125", "--layout=left-asymmetric"), "raid6 4 0 65536 0 idle none"
    ),
    "10 another chunk": Conversion(
        10, 4, ("convert", "125", "--chunk=128"), "raid10 4 258 131072 0 idle none"
    ),
    "10 offset to 5 devices": Conversion(
        10, 4, ("grow", "125", "--add", "{4}"), "raid10 5 66049 65536 0 idle none", ("--layout=o2",)
    ),
    "1 larger": Conversion(1, 2, ("grow", "125", "--size=max"), "raid1 2 0 0 0 idle none"),
    "5 larger": Conversion(5, 3, ("grow", "125", "--size=max"), "raid5 3 2 65536 0 idle none"),
    "5 to 4 devices, file": Conversion(
        5,
        3,
        ("grow", "125", "--add", "{3}", f"--backup-file={BACKUP}"),
        "raid5 4 2 65536 0 idle none",
        (_CLOSE,),
        _CLOSE_KIB,
    ),
}
"""These only have the power cut. What is reshaped in place is none of them: mdadm guards nothing there."""

TABLE = {**CONVERSIONS, **FURTHER}
POINTS = ("first", "5", "20", "35", "50", "65", "80", "95", "over", "last")
"""Before the first command, in percent of what md moves, at the end of that, after the last step."""
