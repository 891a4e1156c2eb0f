"""The place of a reshape: where old and new stripes end there, and what md does not read. Pure.

Source: drivers/md/raid5.c (make_stripe_request, stripe_ahead_of_reshape, reshape_request).
"""

from __future__ import annotations

import math

from msgspec import Struct

from raidtui.model.levels import PARITY_LEVELS
from raidtui.model.survey import Superblock
from raidtui.view.units import SECTOR_BYTES, binary_size


class ReshapePlace(Struct, frozen=True, kw_only=True):
    """How far a reshape of RAID 4, 5 or 6 is. All in 512-byte sectors.

    Args:
        position: in sectors of the array; a reshape that goes backwards counts down.
        old_stripe: the data of a stripe before it.
        chunk: the larger of both chunks: md moves whole ones.
        old_data_disks: how many members hold data of a stripe before it.
        data_disks: the same after it.
        backwards: whether it goes from the end of the array to its start.
    """

    position: int
    old_stripe: int
    chunk: int
    old_data_disks: int
    data_disks: int
    backwards: bool = False

    @property
    def waiting(self) -> tuple[int, int] | None:
        """What cannot be read while it stands still: first sector of the array, and the one after the last.

        Since Linux 6.0, a read of a stripe of the old form that lies on both sides of the place waits until
        the reshape has passed it. On a read-only array that is for ever, and SIGKILL does not end it.
        """
        if not (over := self.position % self.old_stripe):
            return None
        if self.backwards:
            return self.position - over, self.position
        return self.position, self.position + self.old_stripe - over

    @property
    def reverts(self) -> bool:
        """Whether mdadm reverts it here (update_super1): where old stripes of the larger chunk end."""
        return self.position % (self.chunk * self.old_data_disks) == 0

    def whole(self, position: int) -> int:
        """Return the first place from a position on, as the reshape goes, where stripes of both forms end."""
        both = math.lcm(self.old_stripe, self.chunk * self.data_disks)
        return position // both * both if self.backwards else -(-position // both) * both


def needs_backup(block: Superblock) -> bool:
    """Whether a reshape cannot continue from where it is without a backup file, nor its array start.

    Old and new data overlap all the way where neither the data offset nor the number of slots changes. Where
    slots come, they do up to the first stripe that lies behind all that it is made of (mdadm's Grow_restart).
    """
    reshape, found = block.reshape, place_of(block)
    if reshape is None or reshape.in_place or reshape.new_offset_sectors is not None or found is None:
        return reshape is not None and reshape.in_place
    old_chunk = (block.chunk_bytes or 0) // SECTOR_BYTES
    new_chunk = (reshape.new_chunk_bytes or block.chunk_bytes or 0) // SECTOR_BYTES
    written = read = behind = 0
    while written >= read and found.data_disks > found.old_data_disks:
        written += new_chunk
        behind = written * found.data_disks
        read = behind // found.old_data_disks // old_chunk * old_chunk
    return found.position < behind


def place_of(block: Superblock) -> ReshapePlace | None:
    """Return where the reshape of a superblock is; None without one, and where too little is known."""
    reshape, parity = block.reshape, PARITY_LEVELS.get(block.level or "")
    if reshape is None or parity is None or not block.chunk_bytes or not block.raid_disks:
        return None
    return place(
        position=reshape.position_kib * 2,
        chunks=(block.chunk_bytes, reshape.new_chunk_bytes or block.chunk_bytes),
        data_disks=(block.raid_disks - reshape.delta_disks - parity, block.raid_disks - parity),
        backwards=reshape.backwards,
    )


def place(
    *, position: int, chunks: tuple[int, int], data_disks: tuple[int, int], backwards: bool
) -> ReshapePlace | None:
    """Return a place; None where the numbers are of no array.

    Args:
        position: in sectors of the array.
        chunks: in bytes, before and after.
        data_disks: before and after.
        backwards: whether it goes from the end of the array to its start.
    """
    if min(chunks) < SECTOR_BYTES or min(data_disks) <= 0:
        return None
    return ReshapePlace(
        position=position,
        old_stripe=chunks[0] * data_disks[0] // SECTOR_BYTES,
        chunk=max(chunks) // SECTOR_BYTES,
        old_data_disks=data_disks[0],
        data_disks=data_disks[1],
        backwards=backwards,
    )


def waiting_words(found: ReshapePlace | None) -> str:
    """Return what is said of the stripe that a reshape stands within, a sentence; "" for none."""
    if found is None or (span := found.waiting) is None:
        return ""
    start, end = (binary_size(each * SECTOR_BYTES) for each in span)
    where = f"between {start} and {end}"
    if start == end:
        where = f"of the {binary_size((span[1] - span[0]) * SECTOR_BYTES)} at {start}"
    return (
        f"It stopped within a stripe: until it continues, a read {where} of"
        " the array hangs, and the reader cannot be killed (Linux 6.0 and newer)."
    )


def is_cut(block: Superblock | None) -> bool:
    """Whether a reshape stands within a stripe of the old form: a part of it cannot be read meanwhile."""
    found = place_of(block) if block is not None else None
    return found is not None and found.waiting is not None


def reading_note(block: Superblock | None) -> str:
    """Return what has to be known before an array is read that is started so, sentences; "" for nothing."""
    words = waiting_words(place_of(block)) if block is not None else ""
    return f"{words} Make it writable (mdadm --readwrite) before anything reads it." if words else ""
