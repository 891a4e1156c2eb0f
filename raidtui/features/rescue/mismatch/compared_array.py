"""What is compared: an array's members and how its bytes lie over them, as the kernel and its log say.

Only raid4, raid5 and raid6 log the mismatches that a check meets (drivers/md/raid5.c, handle_parity_checks5,
handle_parity_checks6): at most ten lines in five seconds, so the log has all of them only where they are few.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from raidtui.host.readers.host_reader import HostReader
from raidtui.model.answer import Answer, known
from raidtui.model.array import Array
from raidtui.model.array_sync import Phase
from raidtui.model.levels import PARITY_LAYOUTS, Raid10Layout
from raidtui.model.plan import Refusal, RefusalCode
from raidtui.model.striping import PARITY_OF, Row, StripeShape, compute_far_stride
from raidtui.view.units import SECTOR_BYTES

STEP_BYTES = 1 << 20
_LEVELS = {"raid1": 1, "raid4": 4, "raid5": 5, "raid6": 6, "raid10": 10}
Span = tuple[int, int]
"""First byte and the one after the last; see ``ComparedArray.walk``."""
_LINE = re.compile(r"\b(md\S+): mismatch sector in range ([0-9]{1,18})-([0-9]{1,18})$", re.MULTILINE)
_TOOL_S = 20.0


class ComparedMember(Struct, frozen=True, kw_only=True):
    """A member that is in sync.

    Args:
        device: the kernel's name.
        offset_sectors: where its data begin.
        bad: (first sector, sectors) from there that md has recorded as bad.
    """

    device: str
    slot: int
    offset_sectors: int
    bad: tuple[tuple[int, int], ...] = ()


class Piece(Struct, frozen=True, kw_only=True):
    """A stretch of one row, or of the copies of one chunk.

    Args:
        row: the roles of the slots; None for copies.
        length: in bytes, on each member.
        places: slot and byte from the start of its data.
        addresses: by slot, the byte of the array whose data these are; P and Q have none.
    """

    row: Row | None
    length: int
    places: tuple[tuple[int, int], ...]
    addresses: dict[int, int]


class ComparedArray(Struct, frozen=True, kw_only=True):
    """An array whose members can be compared.

    Args:
        name: the kernel's name.
        component_bytes: how much of each member holds data.
        members: those in sync, by slot.
    """

    name: str
    shape: StripeShape
    component_bytes: int
    members: tuple[ComparedMember, ...]

    @property
    def parity(self) -> bool:
        """Whether it has rows with parity, else copies."""
        return self.shape.level in PARITY_OF

    @property
    def walk(self) -> Span:
        """All of it: bytes of a member for parity, of the array for copies."""
        chunk = self.shape.chunk_bytes
        if self.parity:
            return 0, self.component_bytes // chunk * chunk
        return 0, self.shape.capacity(self.component_bytes)

    def walk_of(self, first_sector: int, end_sector: int | None) -> Span:
        """Return the part of the walk with these sectors of the array; whole rows.

        Args:
            first_sector: the first.
            end_sector: the one after the last; None for the end of the array.
        """
        begin, end = self.walk
        width = self.shape.chunk_bytes * self.shape.data_slots
        first = first_sector * SECTOR_BYTES
        last = end if end_sector is None else end_sector * SECTOR_BYTES
        if self.parity:
            first = first // width * self.shape.chunk_bytes
            last = end if end_sector is None else -(-last // width) * self.shape.chunk_bytes
        return max(begin, first), min(end, last)

    def array_bytes(self, span: Span) -> int:
        """Return how much of the array a part of the walk is."""
        return (span[1] - span[0]) * (self.shape.data_slots if self.parity else 1)

    def array_sector(self, at: int) -> int:
        """Return the sector of the array with which a place of the walk begins."""
        if not self.parity:
            return at // SECTOR_BYTES
        row, within = divmod(at, self.shape.chunk_bytes)
        return (row * self.shape.chunk_bytes * self.shape.data_slots + within) // SECTOR_BYTES

    def steps(self, span: Span) -> Iterator[tuple[Span, list[Piece]]]:
        """Return the pieces of a part of the walk, about a MiB of each member at a time."""
        at, end = span
        step = STEP_BYTES
        if self.shape.level == 10:
            step *= max(1, self.shape.data_slots)
        while at < end:
            last = min(end, at - at % step + step)
            yield (at, last), list(self._pieces(at, last))
            at = last

    def _pieces(self, at: int, end: int) -> Iterator[Piece]:
        shape = self.shape
        while at < end:
            chunk = shape.chunk_bytes if shape.level != 1 else STEP_BYTES
            length = min(end, at - at % chunk + chunk) - at
            if not self.parity:
                places = shape.places(at)
                addresses = {slot: at for slot, _ in places}
                yield Piece(row=None, length=length, places=places, addresses=addresses)
            else:
                number, within = divmod(at, chunk)
                row = shape.row(number)
                first = number * len(row.data) * chunk + within
                yield Piece(
                    row=row,
                    length=length,
                    places=tuple((slot, at) for slot in range(shape.slots)),
                    addresses={slot: first + place * chunk for place, slot in enumerate(row.data)},
                )
            at += length


def compared_array(array: Array) -> ComparedArray | Refusal:
    """Return what can be compared of an array, or why nothing can.

    Args:
        array: as the kernel shows it now.
    """
    level = _LEVELS.get(array.level or "")
    if level is None or not array.active:
        why = array.why_not_redundant or f"{array.title} has neither copies nor parity that md compares"
        return Refusal(code=RefusalCode.UNSUPPORTED, why=f"{why}: there is nothing to compare")
    if array.stale is not None:
        return Refusal(code=RefusalCode.UNKNOWN, why=f"{array.title} cannot be read: {array.stale.reason}")
    if refusal := _moving(array):
        return refusal
    shape = _shape(array, level)
    if isinstance(shape, Refusal):
        return shape
    members = tuple(
        ComparedMember(
            device=member.name,
            slot=member.slot,
            offset_sectors=member.offset_sectors,
            bad=member.bad_blocks or (),
        )
        for member in sorted(array.members, key=lambda each: each.slot or 0)
        if member.slot is not None
        and member.offset_sectors is not None
        and member.has("in_sync")
        and not any(map(member.has, ("faulty", "replacement", "journal")))
    )
    slots = {member.slot for member in members}
    if len(slots) < len(members) or not slots <= set(range(shape.slots)):
        return Refusal(code=RefusalCode.UNKNOWN, why=f"the slots of {array.title} cannot be interpreted")
    least = {1: 2, 6: shape.slots - 1, 10: 2}.get(level, shape.slots)
    if len(members) < least:
        return Refusal(
            code=RefusalCode.WRONG_STATE,
            why=f"{len(members)} of {shape.slots} members are in sync: no redundancy is left to compare",
            remedy="replace the missing member first",
        )
    component = (array.component_kib or 0) << 10
    return ComparedArray(name=array.name, shape=shape, component_bytes=component, members=members)


def _moving(array: Array) -> Refusal | None:
    sync = array.sync
    if sync is not None and sync.phase is not Phase.FROZEN and sync.action != "check":
        return Refusal(
            code=RefusalCode.BUSY,
            why=f"a {sync.action} is changing the members of {array.title}",
            remedy="wait until it has ended",
        )
    if array.reshape_position not in {None, "none"}:
        return Refusal(code=RefusalCode.WRONG_STATE, why=f"a reshape of {array.title} has not ended")
    if array.resync_start not in {None, "none"}:
        return Refusal(
            code=RefusalCode.WRONG_STATE,
            why=f"{array.title} has not been synced yet: members need not match",
            remedy="wait for its resync",
        )
    return None


def _shape(array: Array, level: int) -> StripeShape | Refusal:
    slots, chunk, component = array.raid_disks or 0, array.chunk_bytes or 0, (array.component_kib or 0) << 10
    unknown = Refusal(code=RefusalCode.UNKNOWN, why=f"the layout of {array.title} cannot be interpreted")
    if slots < 1 or not component or (level != 1 and not chunk):
        return unknown
    word = ""
    if level in {5, 6}:
        word = PARITY_LAYOUTS.get(-1 if array.layout is None else array.layout, "")
    elif level == 10:
        decoded = Raid10Layout.decode(-1 if array.layout is None else array.layout)
        if decoded is None or (decoded.far_sets and decoded.far > 1) or decoded.near * decoded.far > 9:
            return unknown
        word = decoded.short
    try:
        stride = compute_far_stride(word, slots, chunk, component) if level == 10 else 0
        shape = StripeShape(level=level, layout=word, slots=slots, chunk_bytes=chunk, stride_bytes=stride)
    except ValueError:
        return unknown
    if level in {5, 6} and not word:
        return unknown
    return shape


def read_logged_spans(reader: HostReader, array: ComparedArray) -> Answer[list[Span]]:
    """Return the parts of an array's walk that the kernel's log names, in order; [] for none.

    Args:
        reader: the host.
        array: with parity: the log counts sectors of the members' data.
    """
    if not array.parity:
        return known([])
    output = reader.ask("dmesg", timeout_s=_TOOL_S)
    return output.answer(parse_logged(output.stdout, array)) if output.status == 0 else output.silent()


def parse_logged(text: str, array: ComparedArray) -> list[Span]:
    """Return the same of a text of the kernel's log.

    Lines before the last stop of an array of that name are of another array, or of an earlier start: the name
    alone says nothing (drivers/md/md.c, do_md_stop: "md: md127 stopped.").

    Args:
        text: the log.
        array: the array.
    """
    begin, end = array.walk
    found = sorted(
        (int(row[2]) * SECTOR_BYTES, int(row[3]) * SECTOR_BYTES)
        for row in _LINE.finditer(text.rpartition(f"md: {array.name} stopped.\n")[2])
        if row[1] == array.name
    )
    spans: list[Span] = []
    for first, last in found:
        first, last = max(begin, first), min(end, last)  # noqa: PLW2901
        if spans and first <= spans[-1][1]:
            spans[-1] = spans[-1][0], max(last, spans[-1][1])
        elif first < last:
            spans.append((first, last))
    return spans
