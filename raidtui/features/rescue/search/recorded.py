"""What the superblocks that are left record of an array: it is asked about before all else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from raidtui.features.rescue.search.shapes import ALL_LEVELS, Wanted
from raidtui.model.survey import MemberRole, Superblock
from raidtui.view.units import SECTOR_BYTES


class RecordedGeometry(Struct, frozen=True, kw_only=True):
    """The geometry that the superblocks of some members record.

    Args:
        wanted: level, layout, chunk and number of slots, each one value.
        offset: the byte on each member at which the data begin.
        slots: the number of the device by slot, for those that have a superblock.
        created_s: when the array was created, epoch seconds; None where it is not known.
    """

    wanted: Wanted
    offset: int
    slots: Mapping[int, int]
    created_s: float | None = None

    def known(self, group: Sequence[int]) -> dict[int, int]:
        """Return by slot the place in a group of devices.

        Args:
            group: numbers of devices.
        """
        return {slot: group.index(number) for slot, number in self.slots.items() if number in group}


def recorded_geometry(
    names: Sequence[str], superblocks: Mapping[str, Superblock], wanted: Wanted
) -> RecordedGeometry | None:
    """Return what the superblocks record; None where they differ, or cannot be believed.

    Where each device has one and the array is searched for nevertheless, it is the superblocks that are in
    doubt: an array was created over another one.

    Args:
        names: of the devices.
        superblocks: by name, of devices that have one.
        wanted: what a person knows of the array: it outranks them.
    """
    blocks = {number: superblocks[name] for number, name in enumerate(names) if name in superblocks}
    active = {number: block for number, block in blocks.items() if block.role is MemberRole.ACTIVE}
    if not active or len(blocks) == len(names) or any(each.checksum_ok is False for each in blocks.values()):
        return None
    shapes = {_shape(block) for block in blocks.values()}
    slots = {block.slot: number for number, block in active.items() if block.slot is not None}
    if len(shapes) != 1 or len(slots) != len(active):
        return None
    first = next(iter(active.values()))
    level = (first.level or "").removeprefix("raid")
    if not level.isdigit() or int(level) not in ALL_LEVELS or first.reshape is not None:
        return None
    if first.raid_disks is None or first.offset_sectors is None or not first.uuid:
        return None
    found = Wanted(
        slots=first.raid_disks,
        levels=(int(level),),
        layout=first.layout_name,
        chunk_bytes=first.chunk_bytes or None,
    )
    if wanted != Wanted() and wanted != found:
        return None
    return RecordedGeometry(
        wanted=found, offset=first.offset_sectors * SECTOR_BYTES, slots=slots, created_s=first.created_s
    )


def _shape(block: Superblock) -> tuple[object, ...]:
    return (
        block.uuid,
        block.level,
        block.layout_name,
        block.chunk_bytes,
        block.raid_disks,
        block.offset_sectors,
        block.reshape,
    )
