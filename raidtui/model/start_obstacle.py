"""What keeps md from starting an array although all its members are there. Pure."""

from __future__ import annotations

from collections.abc import Collection

from raidtui.model.reshape_place import needs_backup
from raidtui.model.survey import MemberRole, Superblock

_LAYOUT = 0x1000  # MD_FEATURE_RAID0_LAYOUT (md_p.h)
_UNKNOWN = "-unknown-"


def lacks_raid0_layout(blocks: Collection[Superblock]) -> bool:
    """Whether a RAID 0 lies in one of two ways, and no superblock says in which.

    Linux 3.14 changed how the chunks lie beyond the end of the smallest member, where two or more members go
    on (raid0.c, create_strip_zones). mdadm before 4.2 did not record it.
    """
    members = [block for block in blocks if block.role is MemberRole.ACTIVE]
    sizes = [
        block.avail_sectors // (block.chunk_bytes // 512)
        for block in members
        if block.avail_sectors and block.chunk_bytes
    ]
    if not members or len(sizes) < len(members) or any(block.level != "raid0" for block in members):
        return False
    if any(
        block.features is None or (block.features & _LAYOUT and block.layout_name != _UNKNOWN)
        for block in members
    ):
        return False
    return sum(size > min(sizes) for size in sizes) > 1


def obstacle_of(blocks: Collection[Superblock]) -> str:
    """Return why an array does not start as it is, a clause; "" where nothing of that is known.

    Args:
        blocks: the superblocks of its members; at least one.
    """
    if lacks_raid0_layout(blocks):
        return (
            "its members differ in size and its layout is not recorded: Linux 5.4 and newer do not start it"
            " until the layout is given"
        )
    members = [block for block in blocks if block.role is not MemberRole.SPARE] or blocks
    newest = max(members, key=lambda block: block.events or 0)
    if needs_backup(newest):
        return "its reshape was interrupted where only a backup file lets it continue"
    return ""
