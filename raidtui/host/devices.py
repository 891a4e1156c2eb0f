"""Which block devices there are that could hold a member."""

from __future__ import annotations

from raidtui.host.roots.root import Root
from raidtui.host.usage import BLOCK

_NO_DISKS = ("loop", "ram", "zram", "sr", "fd", "md", "dm-", "nbd", "mtdblock")


def candidate_names(root: Root) -> tuple[str, ...]:
    """Return the kernel's names of all disks and partitions of a size above 0, in the kernel's order."""
    return tuple(
        name.replace("!", "/")
        for name in root.names(BLOCK)
        if not name.startswith(_NO_DISKS) and (root.text(f"{BLOCK}/{name}/size") or "0").strip() != "0"
    )
