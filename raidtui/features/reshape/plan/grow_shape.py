"""The shape of an array before and after a reshape, how far its data move, and the room that takes.

md moves the data of each member towards the room before or after it, so that a block is at its new place
before the old one is given up, and a crash at any moment loses nothing. How far they have to move, and to
which end, follows from the two shapes alone (mdadm's Grow.c, analyse_change and set_new_data_offset). Without
the room, mdadm copies what is being moved into a backup file; a RAID 10 it refuses then.
"""

from __future__ import annotations

import math
from enum import StrEnum

from msgspec import Struct

from raidtui.model.array import Array
from raidtui.model.fact import Fact, FactKind
from raidtui.model.geometry import capacity_kib, data_disks
from raidtui.model.levels import PARITY_LAST, PARITY_LEVELS, SIX, Raid10Layout
from raidtui.model.plan import Refusal, RefusalCode
from raidtui.model.survey import Survey
from raidtui.view.units import KIB, SECTOR_BYTES, counted


class Direction(StrEnum):
    """Where the data of each member move to."""

    NOWHERE = "nowhere"
    START = "start"
    END = "end"
    EITHER = "either"


class GrowShape(Struct, frozen=True, kw_only=True):
    """How an array lays out its data.

    Args:
        level: the kernel's word.
        layout: md's number.
        chunk_bytes: 0 for RAID 1.
        disks: the number of slots.
    """

    level: str
    layout: int | None
    chunk_bytes: int
    disks: int

    @property
    def data(self) -> int:
        """How many disks a stripe has data on, as md counts it for a reshape."""
        if self.level == "raid10":
            return self.disks
        return data_disks(self.level, self.layout, self.disks)

    @property
    def words(self) -> str:
        """The level and the number of devices."""
        return f"{self.level} of {self.disks}"

    def capacity_kib(self, component_kib: int) -> int:
        """Return the array's size, of so much of each member."""
        chunk_kib = max(1, self.chunk_bytes // KIB)
        component_kib -= component_kib % chunk_kib
        return capacity_kib(self.level, self.layout, component_kib, self.disks)

    def fact(self, array: Array, *others: GrowShape) -> Fact:
        """Return that an array has this shape, or one of the others: level/slots, or level/slots/layout."""
        words = dict.fromkeys(f"{each.level}/{each.disks}{_layout_word(each)}" for each in (self, *others))
        return Fact(kind=FactKind.SHAPE, subject=array.name, value="|".join(words))


def _layout_word(shape: GrowShape) -> str:
    fixed = shape.level in {"raid5", "raid6"} and shape.layout is not None
    return f"/{shape.layout}" if fixed else ""


def shape_of(array: Array) -> GrowShape:
    """Return the shape of an array that runs."""
    return GrowShape(
        level=array.level or "",
        layout=array.layout,
        chunk_bytes=array.chunk_bytes or 0,
        disks=array.raid_disks or 0,
    )


def least_move(old: GrowShape, new: GrowShape) -> int:
    """Return by how many sectors the data of each member have to move at least; 0 where none moves."""
    chunks = [shape.chunk_bytes // SECTOR_BYTES for shape in (old, new)]
    if "raid1" in {old.level, new.level} or not all(chunks):
        return 0
    if old.level == "raid10" or new.level == "raid10":
        if old.level != new.level or (old.disks == new.disks and chunks[0] == chunks[1]):
            return 0
        decoded = Raid10Layout.decode(old.layout) if old.layout is not None else None
        return max(chunks) * (decoded.far if decoded is not None and decoded.offset else 1)
    if old.data == new.data and chunks[0] == chunks[1] and _places(old) == _places(new):
        return 0
    return math.lcm(chunks[0] * old.data, chunks[1] * new.data) // old.data


def _places(shape: GrowShape) -> tuple[bool, int | None]:
    """Return where data and first parity lie: RAID 0 and 4 are RAID 5 whose last disk has the parity.

    So are layouts of RAID 6 from 16 on, with the second parity on one more disk.
    """
    if shape.level in {"raid0", "raid4"}:
        return False, PARITY_LAST
    if shape.level == "raid6" and shape.layout is not None and shape.layout >= SIX:
        return False, shape.layout - SIX
    return shape.level == "raid6", shape.layout


def towards(old: GrowShape, new: GrowShape) -> Direction:
    """Return where the data of each member move to."""
    if not least_move(old, new):
        return Direction.NOWHERE
    if new.data > old.data:
        return Direction.START
    return Direction.END if new.data < old.data else Direction.EITHER


class Room(Struct, frozen=True, kw_only=True):
    """The free space of the members, in sectors: the least of all of them.

    Args:
        before: before the data; None where it is not known.
        after: after the data.
        name: the member with the least before its data.
    """

    before: int | None
    after: int | None
    name: str

    def fits(self, old: GrowShape, new: GrowShape) -> bool:
        """Whether md can move the data without a backup file."""
        need, before, after = least_move(old, new), self.before or 0, self.after or 0
        where = towards(old, new)
        if where is Direction.NOWHERE:
            return True
        if where is Direction.EITHER:
            return (max(after, before)) >= need
        return (before if where is Direction.START else after) >= need

    def moved(self, old: GrowShape, new: GrowShape) -> Room:
        """Return the room afterwards. Of a move to either end mdadm chooses about half of the room."""
        need, before, after = least_move(old, new), self.before or 0, self.after or 0
        where = towards(old, new)
        if where is Direction.NOWHERE or not self.fits(old, new):
            return self
        if where is Direction.EITHER:
            need = max(need, (max(after, before)) // 2)
            where = Direction.START if before > after else Direction.END
        sign = 1 if where is Direction.END else -1
        return Room(before=before + sign * need, after=after - sign * need, name=self.name)


def room_of(survey: Survey, array: Array) -> Room:
    """Return the free space of an array's members."""
    found: list[tuple[int, int, str]] = []
    for member in array.members:
        if member.slot is None:
            continue
        device = survey.devices.get(member.name)
        block = device.superblock if device is not None else None
        if block is None or block.spare_sectors is None:
            return Room(before=None, after=None, name=member.name)
        found.append((block.spare_sectors, block.tail_sectors or 0, member.name))
    if not found:
        return Room(before=None, after=None, name=array.title)
    before, _, name = min(found)
    return Room(before=before, after=min(after for _, after, _ in found), name=name)


def refuse_no_room(
    room: Room, old: GrowShape, new: GrowShape, *, backup: str, unguarded: bool = False
) -> Refusal | None:
    """Return a refusal where a reshape would need a backup file, and none is named; or where none would do.

    In place each stripe is written over its old self, and only what is in the file outlives a crash. But
    mdadm lets md go as far as it likes before it limits it to what is in the file (Grow.c, start_reshape:
    "max" to ``sync_max``), and the kernel does not lower that limit while a reshape runs (md.c,
    max_sync_store). Measured with mdadm 4.2 on Linux 6.1: of seven power cuts three lost data.

    Args:
        room: of the members.
        old: the shape before.
        new: the shape afterwards.
        backup: the path of the file; "" for none.
        unguarded: whether it may be done in place all the same.
    """
    if room.fits(old, new):
        return None
    where = towards(old, new)
    side = {Direction.START: "before", Direction.END: "after"}.get(where, "before or after")
    has = room.after if where is Direction.END else room.before
    words = "not known" if has is None else counted(has, "sector")
    why = f"there is not enough room {side} the data of {room.name} ({words}, {least_move(old, new)} needed)"
    if "raid10" in {old.level, new.level}:
        return Refusal(
            code=RefusalCode.TOO_SMALL,
            why=f"{why}, and a raid10 is not reshaped without it",
            remedy="make a new array and copy",
        )
    if where is Direction.EITHER and not (backup and unguarded):
        return Refusal(
            code=RefusalCode.UNSUPPORTED,
            why=f"{why}: in place, a power cut at any moment loses data, because mdadm does not hold md back"
            " until its backup file is written",
            remedy="use less of each member first (raidtui plan shrink --size), which makes room after the"
            " data; or give --backup-file=PATH and --unguarded, with a backup of all data",
        )
    if backup:
        return None
    return Refusal(
        code=RefusalCode.TOO_SMALL,
        why=f"{why}: mdadm needs a backup file",
        remedy="give --backup-file=PATH on another device, or make a new array and copy",
    )


def survives(shape: GrowShape) -> int:
    """Return how many members any array of a shape can lose, whichever they are."""
    if shape.level == "raid1":
        return shape.disks - 1
    if shape.level == "raid10":
        decoded = Raid10Layout.decode(shape.layout) if shape.layout is not None else None
        return decoded.copies - 1 if decoded is not None else 0
    return PARITY_LEVELS.get(shape.level, 0)
