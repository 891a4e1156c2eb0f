"""Reads all members, compares them, and reads again what does not match: a write may be under way."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from raidtui.features.rescue.mismatch.compared_array import ComparedArray, Piece, Span
from raidtui.features.rescue.mismatch.comparing import (
    SectorFault,
    find_copy_faults,
    find_parity_faults,
    is_comparable,
    join_faults,
)
from raidtui.features.rescue.mismatch.member_windows import DirectMember, MemberWindows, Pace, Place
from raidtui.features.rescue.mismatch.mismatch_records import (
    Mismatch,
    MismatchPart,
    MismatchResult,
    MismatchVerdict,
    PartRole,
    Uncompared,
)
from raidtui.view.units import SECTOR_BYTES

MOST_STRETCHES = 1000
_MOST_UNCOMPARED = 100
_PAUSE_S = 0.05
_READINGS = 2
_BLOCK_SECTORS = 8
_ASKED_S = 1.0


class MismatchWatch(Struct, frozen=True):
    """What a caller holds of a comparison while it runs.

    Args:
        progress: called with the bytes of the array that are done, and all of them.
        cancelled: whether to end; asked after each MiB of the members.
        pause: waits for so many seconds.
        changed: why the members are not the array's any more, a clause, or "". Asked once a second, and
            before anything that does not match is kept.
    """

    progress: Callable[[int, int], None] | None = None
    cancelled: Callable[[], bool] = lambda: False
    pause: Callable[[float], object] = time.sleep
    changed: Callable[[], str] = lambda: ""

    def at(self, done: int, total: int) -> None:
        """Report how far it is."""
        if self.progress is not None:
            self.progress(done, total)


class _Suspect(Struct, kw_only=True):
    """Sectors of a piece that did not match when they were read first.

    Args:
        lead: where what is read again begins in the piece, in bytes.
        length: how much that is.
        blocks: what was read first.
        faults: by sector of the piece, as they were seen last.
        changed: sectors that do not read as they did.
    """

    piece: Piece
    lead: int
    length: int
    blocks: dict[int, bytes]
    faults: dict[int, SectorFault]
    changed: set[int]


def find_mismatches(
    array: ComparedArray,
    spans: Sequence[Span] | None = None,
    watch: MismatchWatch | None = None,
    *,
    pace: Pace | None = None,
    paths: Callable[[str], str] = "/dev/{}".format,
) -> MismatchResult:
    """Compare all members of an array. Nothing is written.

    Args:
        array: what is compared.
        spans: parts of its walk, in order; None for all of it.
        watch: the caller's.
        pace: how fast members are read; None for as fast as they are.
        paths: the path of a device, by its name.

    Raises:
        OSError: a member cannot be opened.
    """
    watch = watch or MismatchWatch()
    spans = (array.walk,) if spans is None else spans
    begun = time.monotonic()
    windows = _opened(array, paths)
    kept = _Kept(array)
    total = sum(array.array_bytes(span) for span in spans)
    done = 0
    cancelled, changed, asked_s = False, "", time.monotonic()
    try:
        for span in spans:
            for part, pieces in array.steps(span):
                cancelled = watch.cancelled()
                if cancelled or changed or kept.full:
                    break
                step_begun = time.monotonic()
                read, suspects = _step(windows, pieces, kept, watch)
                took_s = time.monotonic() - step_begun
                if suspects or time.monotonic() - asked_s >= _ASKED_S:
                    asked_s, changed = time.monotonic(), watch.changed()
                    if changed:
                        break
                for suspect in suspects:
                    kept.settled += not suspect.faults
                    kept.add(suspect)
                done += array.array_bytes(part)
                kept.reached = part[1]
                watch.at(done, total)
                if pace is not None:
                    pace.give_way(read, took_s, windows.bytes_read, watch.pause, watch.cancelled)
    finally:
        windows.close()
    return MismatchResult(
        stretches=tuple(kept.stretches),
        sectors=sum(each.sectors for each in kept.stretches),
        settled=kept.settled,
        uncompared=tuple(kept.uncompared),
        uncompared_bytes=kept.uncompared_bytes,
        compared_bytes=done,
        total_bytes=total,
        cancelled=cancelled,
        changed=changed,
        ended_sector=array.array_sector(kept.reached) if done < total else None,
        seconds=time.monotonic() - begun,
    )


def _opened(array: ComparedArray, paths: Callable[[str], str]) -> MemberWindows:
    opened: dict[int, DirectMember] = {}
    try:
        for each in array.members:
            bad = [(first * SECTOR_BYTES, count * SECTOR_BYTES) for first, count in each.bad]
            offset = each.offset_sectors * SECTOR_BYTES
            opened[each.slot] = DirectMember(paths(each.device), each.device, offset, bad)
    except OSError:
        for member in opened.values():
            member.close()
        raise
    return MemberWindows(opened)


def _step(
    windows: MemberWindows, pieces: Sequence[Piece], kept: _Kept, watch: MismatchWatch
) -> tuple[int, list[_Suspect]]:
    """Compare pieces; return how much was read of one member at most, and what does not match."""
    read = windows.hold((slot, byte, piece.length) for piece in pieces for slot, byte in piece.places)
    suspects = []
    for piece in pieces:
        blocks = {}
        for slot, byte in piece.places:
            if slot not in windows.members:
                continue
            place = (slot, byte, piece.length)
            if windows.members[slot].is_bad(byte, piece.length):
                kept.leave_out(place, "md has recorded bad blocks there")
            elif (data := windows.get(place)) is None:
                kept.leave_out(place, "it cannot be read")
            else:
                blocks[slot] = data
        if not is_comparable(piece.row, blocks):
            kept.uncompared_bytes += piece.length
            continue
        faults = _faults(piece, blocks)
        if faults:
            suspects.append(_suspect(piece, blocks, faults))
    for _ in range(_READINGS if suspects else 0):
        watch.pause(_PAUSE_S)
        for suspect in suspects:
            _read_again(windows, suspect)
    return read, suspects


def _faults(piece: Piece, blocks: dict[int, bytes]) -> list[SectorFault]:
    return find_copy_faults(blocks) if piece.row is None else find_parity_faults(piece.row, blocks)


def _suspect(piece: Piece, blocks: dict[int, bytes], faults: list[SectorFault]) -> _Suspect:
    first = faults[0].first // _BLOCK_SECTORS * _BLOCK_SECTORS
    last = -(-(faults[-1].first + 1) // _BLOCK_SECTORS) * _BLOCK_SECTORS
    lead = first * SECTOR_BYTES
    return _Suspect(
        piece=piece,
        lead=lead,
        length=min(piece.length, last * SECTOR_BYTES) - lead,
        blocks=blocks,
        faults={fault.first: fault for fault in faults},
        changed=set(),
    )


def _read_again(windows: MemberWindows, suspect: _Suspect) -> None:
    """Leave of a suspect what does not match now either."""
    piece, lead, length = suspect.piece, suspect.lead, suspect.length
    places: list[Place] = [
        (slot, byte + lead, length) for slot, byte in piece.places if slot in suspect.blocks
    ]
    read = zip(places, windows.again(places), strict=True)
    blocks = {place[0]: data for place, data in read if data is not None}
    again = {fault.first: fault for fault in _faults(piece, blocks)}
    first = lead // SECTOR_BYTES
    suspect.faults = {
        sector: replace(again[sector - first], first=sector)
        for sector in suspect.faults
        if sector - first in again
    }
    for sector in suspect.faults:
        at = sector * SECTOR_BYTES
        if any(
            block[at : at + SECTOR_BYTES] != blocks[slot][at - lead : at - lead + SECTOR_BYTES]
            for slot, block in suspect.blocks.items()
            if slot in blocks
        ):
            suspect.changed.add(sector)


class _Kept:
    """What was found so far."""

    def __init__(self, array: ComparedArray) -> None:
        self._members = {member.slot: member for member in array.members}
        self.stretches: list[Mismatch] = []
        self.uncompared: list[Uncompared] = []
        self.uncompared_bytes = 0
        self.settled = 0
        self.reached = 0

    @property
    def full(self) -> bool:
        """Whether there are more stretches than anyone reads."""
        return len(self.stretches) >= MOST_STRETCHES

    def leave_out(self, place: Place, why: str) -> None:
        """Note what was not compared."""
        if len(self.uncompared) < _MOST_UNCOMPARED:
            member = self._members[place[0]]
            self.uncompared.append(
                Uncompared(
                    device=member.device,
                    first_sector=member.offset_sectors + place[1] // SECTOR_BYTES,
                    sectors=place[2] // SECTOR_BYTES,
                    why=why,
                )
            )

    def add(self, suspect: _Suspect) -> None:
        """Keep what was confirmed; what continues with the last stretch becomes part of it."""
        faults = [
            replace(fault, verdict=MismatchVerdict.CHANGING, wrong=(), versions=())
            if sector in suspect.changed
            else fault
            for sector, fault in sorted(suspect.faults.items())
        ]
        for fault in join_faults(faults):
            found = self._mismatch(suspect, fault)
            last = self.stretches[-1] if self.stretches else None
            if last is not None and _goes_on(last, found):
                self.stretches[-1] = replace(
                    last,
                    sectors=last.sectors + found.sectors,
                    bytes_differ=last.bytes_differ + found.bytes_differ,
                )
            else:
                self.stretches.append(found)

    def _mismatch(self, suspect: _Suspect, fault: SectorFault) -> Mismatch:
        piece = suspect.piece
        letters = {slot: chr(65 + at) for at, slots in enumerate(fault.versions[:26]) for slot in slots}
        known = fault.verdict not in {MismatchVerdict.NOT_KNOWN, MismatchVerdict.CHANGING}
        parts = []
        for slot, byte in piece.places:  # of copies, md repairs with the first
            if slot not in suspect.blocks:
                continue
            member, address = self._members[slot], piece.addresses.get(slot)
            parts.append(
                MismatchPart(
                    device=member.device,
                    slot=slot,
                    role=_role(piece, slot),
                    first_sector=member.offset_sectors + byte // SECTOR_BYTES + fault.first,
                    array_sector=None if address is None else address // SECTOR_BYTES + fault.first,
                    agrees=slot not in fault.wrong if known else None,
                    version=letters.get(slot, ""),
                )
            )
        return Mismatch(
            verdict=fault.verdict,
            sectors=fault.sectors,
            bytes_differ=fault.bytes_differ,
            parts=tuple(parts),
        )


def _role(piece: Piece, slot: int) -> PartRole:
    if piece.row is None:
        return PartRole.COPY
    return {piece.row.p: PartRole.P, piece.row.q: PartRole.Q}.get(slot, PartRole.DATA)


def _goes_on(last: Mismatch, found: Mismatch) -> bool:
    moved = tuple(
        replace(
            part,
            first_sector=part.first_sector + last.sectors,
            array_sector=None if part.array_sector is None else part.array_sector + last.sectors,
        )
        for part in last.parts
    )
    return (last.verdict, moved) == (found.verdict, found.parts)
