"""Which sectors of one row, or of one set of copies, do not match, and which member disagrees. Pure.

RAID 6: where one data block is wrong by E, P is off by E and Q by E times 2 to the power of that block's
exponent (H. P. Anvin, The mathematics of RAID-6, "Single-disk corruption recovery").
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from raidtui.features.rescue.mismatch.mismatch_records import MismatchVerdict
from raidtui.model.striping import Row, power_table, syndrome, xor
from raidtui.view.units import SECTOR_BYTES


class SectorFault(Struct, frozen=True, kw_only=True):
    """Sectors in which members disagree, all in the same way.

    Args:
        first: the first, from the start of the blocks.
        sectors: how many.
        wrong: slots that disagree; () where that is not known.
        versions: for copies, the slots that hold the same, the largest set first.
        bytes_differ: in how many bytes.
    """

    first: int
    sectors: int
    verdict: MismatchVerdict
    wrong: tuple[int, ...] = ()
    versions: tuple[tuple[int, ...], ...] = ()
    bytes_differ: int = 0


Blocks = Mapping[int, bytes]
"""By slot; all of one length, whole sectors. Slots that cannot be read are left out."""


def is_comparable(row: Row | None, blocks: Blocks) -> bool:
    """Whether something is left to compare with.

    Args:
        row: the roles of the slots; None for copies.
        blocks: what was read.
    """
    if row is None:
        return len(blocks) > 1
    slots = len(row.data) + (1 if row.q < 0 else 2)
    return len(blocks) >= slots - (0 if row.q < 0 else 1)


def find_parity_faults(row: Row, blocks: Blocks) -> list[SectorFault]:
    """Return the sectors in which a row does not match its parity; [] where nothing can be compared."""
    if not is_comparable(row, blocks):
        return []
    whole = row.q >= 0 and len(blocks) == len(row.data) + 2
    if len(blocks) == len(row.exponents) and _match(row, blocks):
        return []
    off_p, off_q = _syndromes(row, blocks)
    found = []
    for at in _nonzero_sectors(off_p, off_q):
        start = at * SECTOR_BYTES
        p, q = off_p[start : start + SECTOR_BYTES], off_q[start : start + SECTOR_BYTES]
        verdict, wrong = _blamed(row, p, q) if whole else (MismatchVerdict.NOT_KNOWN, ())
        differ = sum(1 for one, two in zip(p, q or p, strict=True) if one or two)
        found.append(SectorFault(first=at, sectors=1, verdict=verdict, wrong=wrong, bytes_differ=differ))
    return found


def find_copy_faults(blocks: Blocks) -> list[SectorFault]:
    """Return the sectors in which copies differ; [] where there are less than two."""
    slots = sorted(blocks)
    if len(slots) < 2 or all(blocks[slot] == blocks[slots[0]] for slot in slots[1:]):
        return []
    found = []
    for at in range(len(blocks[slots[0]]) // SECTOR_BYTES):
        pieces = {slot: blocks[slot][at * SECTOR_BYTES : (at + 1) * SECTOR_BYTES] for slot in slots}
        kinds: dict[bytes, list[int]] = {}
        for slot in slots:
            kinds.setdefault(pieces[slot], []).append(slot)
        if len(kinds) == 1:
            continue
        versions = tuple(tuple(each) for each in sorted(kinds.values(), key=lambda each: (-len(each), each)))
        clear = len(versions[0]) * 2 > len(slots)
        wrong = tuple(slot for slot in slots if slot not in versions[0]) if clear else ()
        first, *others = kinds
        differ = sum(1 for place in range(SECTOR_BYTES) if any(o[place] != first[place] for o in others))
        verdict = MismatchVerdict.MAJORITY if clear else MismatchVerdict.NOT_KNOWN
        found.append(
            SectorFault(
                first=at, sectors=1, verdict=verdict, wrong=wrong, versions=versions, bytes_differ=differ
            )
        )
    return found


def _match(row: Row, blocks: Blocks) -> bool:
    """Whether a whole row matches: what almost all do, so nothing is kept of it."""
    numbers = {slot: int.from_bytes(block, "little") for slot, block in blocks.items()}
    total = numbers[row.p]
    for slot in row.data:
        total ^= numbers[slot]
    if total or row.q < 0:
        return not total
    total = numbers[row.q]
    for slot in row.data:
        exponent = row.exponents[slot]
        block = blocks[slot].translate(power_table(exponent)) if exponent else b""
        total ^= int.from_bytes(block, "little") if exponent else numbers[slot]
    return not total


def _syndromes(row: Row, blocks: Blocks) -> tuple[bytes, bytes]:
    """Return by how much P and Q are off, b"" for what cannot be distinguished: one of them then says all."""
    data = [(row.exponents[slot], blocks[slot]) for slot in row.data if slot in blocks]
    if row.q < 0:
        return xor([blocks[row.p], *(block for _, block in data)]), b""
    if row.q not in blocks:
        return xor([blocks[row.p], *(block for _, block in data)]), b""
    if row.p not in blocks:
        return xor([blocks[row.q], syndrome(data)]), b""
    lost = [slot for slot in row.data if slot not in blocks]
    rest = xor([blocks[row.p], *(block for _, block in data)])
    if not lost:
        return rest, xor([blocks[row.q], syndrome(data)])
    return xor([blocks[row.q], syndrome([*data, (row.exponents[lost[0]], rest)])]), b""


def _blamed(row: Row, off_p: bytes, off_q: bytes) -> tuple[MismatchVerdict, tuple[int, ...]]:
    """Return which member of a whole row of RAID 6 disagrees in a sector, and how that is known."""
    if not any(off_q):
        return MismatchVerdict.P_ALONE, (row.p,)
    if not any(off_p):
        return MismatchVerdict.Q_ALONE, (row.q,)
    for slot in row.data:
        if off_p.translate(power_table(row.exponents[slot])) == off_q:
            return MismatchVerdict.BY_P_AND_Q, (slot,)
    return MismatchVerdict.NOT_KNOWN, ()


def _nonzero_sectors(off_p: bytes, off_q: bytes) -> list[int]:
    empty = bytes(SECTOR_BYTES)
    return [
        start // SECTOR_BYTES
        for start in range(0, len(off_p), SECTOR_BYTES)
        if off_p[start : start + SECTOR_BYTES] != empty
        or (off_q and off_q[start : start + SECTOR_BYTES] != empty)
    ]


def join_faults(faults: Iterable[SectorFault]) -> list[SectorFault]:
    """Return faults in their order, those of neighbours that say the same as one."""
    found: list[SectorFault] = []
    for fault in faults:
        last = found[-1] if found else None
        if (
            last is not None
            and fault.first == last.first + last.sectors
            and (fault.verdict, fault.wrong, fault.versions) == (last.verdict, last.wrong, last.versions)
        ):
            found[-1] = replace(
                last,
                sectors=last.sectors + fault.sectors,
                bytes_differ=last.bytes_differ + fault.bytes_differ,
            )
        else:
            found.append(fault)
    return found
