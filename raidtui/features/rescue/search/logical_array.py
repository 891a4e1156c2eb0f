"""A candidate as one logical device: its bytes, whether its members agree, and what stands on it.

Missing members are rebuilt. Members agree where parity fits in sampled rows, or copies at random places.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct

from raidtui.features.rescue.search.block_facts import BlockFact, FactPool
from raidtui.features.rescue.search.members import SearchStage, SearchWatch, Source
from raidtui.features.rescue.search.samples import BLOCK, Samples
from raidtui.model.striping import Row, StripeShape, one_lost, syndrome, two_lost, xor

_LEAST_ROWS = 4
SURE_ROWS = 8
"""So many rows do not match by chance."""
_PLACES, _NEAR = 160, 64 << 20
MOST_BLOCKS = 1500


class LogicalArray(Struct, frozen=True):
    """Reads an array without md.

    Args:
        shape: how the bytes lie over the slots.
        offset: the byte on each member at which the data begin.
        members: by slot; None for a missing one.
    """

    shape: StripeShape
    offset: int
    members: Sequence[Source | None]

    def read(self, address: int, length: int) -> bytes:
        """Return bytes of the array; b"" where one of them cannot be had."""
        parts = []
        chunk = self.shape.chunk_bytes if self.shape.level != 1 else length
        while length > 0:
            size = min(length, chunk - address % chunk) if self.shape.level != 1 else length
            data = self._piece(address, size)
            if not data:
                return b""
            parts.append(data)
            address += size
            length -= size
        return b"".join(parts)

    def _piece(self, address: int, length: int) -> bytes:
        places = self.shape.places(address)
        for slot, byte in places:
            data = self._slot(slot, byte, length)
            if data:
                return data
        if self.shape.level in {4, 5, 6}:
            slot, byte = places[0]
            return self._rebuilt(slot, byte, length)
        return b""

    def _slot(self, slot: int, byte: int, length: int) -> bytes:
        member = self.members[slot]
        return member.read(self.offset + byte, length) if member is not None else b""

    def _rebuilt(self, slot: int, byte: int, length: int) -> bytes:
        row = self.shape.row(byte // self.shape.chunk_bytes)
        blocks = {each: self._slot(each, byte, length) for each in range(self.shape.slots)}
        lost = {each for each in row.data if not blocks[each]}
        if lost == {slot} and blocks[row.p]:
            return xor([blocks[row.p], *(blocks[each] for each in row.data if each != slot)])
        if row.q < 0 or not blocks[row.q] or len(lost) > 2:
            return b""
        rest = [(row.exponents[each], blocks[each]) for each in row.data if blocks[each]]
        q_rest = xor([blocks[row.q], syndrome(rest)]) if rest else blocks[row.q]
        if lost == {slot}:
            return one_lost(row.exponents[slot], q_rest)
        if not blocks[row.p]:
            return b""
        other = next(each for each in lost if each != slot)
        p_rest = xor([blocks[row.p], *(block for _, block in rest)])
        return two_lost(row.exponents[slot], row.exponents[other], p_rest, q_rest)[0]

    def copies_differ(self, address: int, length: int) -> bool:
        """Whether two copies of these bytes differ: RAID 1 and 10, with more than one copy that can be read.

        Args:
            address: byte of the array.
            length: bytes; those in the chunk of the first byte are compared.
        """
        return len(set(self.copies(address, length).values())) > 1

    def copies(self, address: int, length: int) -> dict[int, bytes]:
        """Return the copies of these bytes that can be read, by slot: RAID 1 and 10; {} for other levels.

        Args:
            address: byte of the array.
            length: bytes; those in the chunk of the first byte are returned.
        """
        if self.shape.level not in {1, 10}:
            return {}
        if self.shape.level == 10:
            length = min(length, self.shape.chunk_bytes - address % self.shape.chunk_bytes)
        found = {slot: self._slot(slot, byte, length) for slot, byte in self.shape.places(address)}
        return {slot: block for slot, block in found.items() if block}

    def row_fits(self, byte: int, length: int) -> bool | None:
        """Whether parity, or the copies, of a row agree; None where too much is missing or zero to say.

        Args:
            byte: in the data area of each member.
            length: bytes, within a chunk.
        """
        if self.shape.level not in {4, 5, 6}:
            return None
        row = self.shape.row(byte // self.shape.chunk_bytes)
        blocks = {each: self._slot(each, byte, length) for each in range(self.shape.slots)}
        if sum(any(block) for block in blocks.values()) < min(3, self.shape.slots):
            return None
        return self._parity_fits(row, blocks)

    def odd_one(self, byte: int, length: int) -> int | None:
        """Return the slot without which a row of RAID 6 fits; None where that is not one alone.

        Args:
            byte: in the data area of each member.
            length: bytes, within a chunk.
        """
        row = self.shape.row(byte // self.shape.chunk_bytes)
        blocks = {each: self._slot(each, byte, length) for each in range(self.shape.slots)}
        if row.q < 0 or not all(blocks.values()):
            return None
        without = [slot for slot in blocks if self._parity_fits(row, {**blocks, slot: b""})]
        return without[0] if len(without) == 1 else None

    def _parity_fits(self, row: Row, blocks: dict[int, bytes]) -> bool | None:
        lost = [each for each, block in blocks.items() if not block]
        if len(lost) > (row.q >= 0):
            return None
        if lost and lost[0] in row.data:  # by P, and then checked by Q
            rest = [blocks[each] for each in (*row.data, row.p) if each != lost[0]]
            blocks = {**blocks, lost[0]: xor(rest)}
        if row.p not in lost and xor([blocks[each] for each in (*row.data, row.p)]).strip(b"\0"):
            return False
        if row.q < 0 or row.q in lost:
            return True
        return syndrome([(row.exponents[each], blocks[each]) for each in row.data]) == blocks[row.q]


class Agreement(Struct, frozen=True, kw_only=True):
    """What was compared.

    Args:
        compared: rows with parity, or blocks with their copies; those of zeros are not counted.
        unmatched: how many of them do not match.
        wrong: slots that P and Q, or most copies, speak against, with the number of those rows.
    """

    compared: int
    unmatched: int
    wrong: tuple[tuple[int, int], ...] = ()

    @property
    def sure(self) -> bool:
        """Whether they match in so many places that it is no chance."""
        return not self.unmatched and self.compared >= SURE_ROWS

    @property
    def share(self) -> float:
        """The share that matches, 0 to 1."""
        return 1 - self.unmatched / self.compared


def compare_parity(
    array: LogicalArray, samples: Samples, offset: int, used_bytes: int, *, most: int = 0, blame: bool = False
) -> Agreement | None:
    """Compare the sampled rows; None where too few can be.

    Args:
        array: the candidate: RAID 4, 5 or 6.
        samples: of all devices.
        offset: the byte on each member at which the data begin.
        used_bytes: how much of the array holds something: the rest is not compared; 0: all of it.
        most: how many rows are enough; 0: all of them.
        blame: whether to look for the slots that P and Q speak against.
    """
    shape = array.shape
    if shape.level not in {4, 5, 6}:
        return None
    end = -(-used_bytes // (shape.data_slots * shape.chunk_bytes)) * shape.chunk_bytes
    compared = unmatched = 0
    wrong: Counter[int] = Counter()
    for row in samples.rows:
        byte = row.offset - offset
        if byte < 0 or (end and byte >= end) or byte % BLOCK:
            continue
        fits = array.row_fits(byte, BLOCK)
        if fits is None:
            continue
        compared += 1
        if not fits:
            unmatched += 1
        if blame and not fits:
            odd = array.odd_one(byte, BLOCK)
            wrong.update([] if odd is None else [odd])
        if compared == most:
            break
    if compared < _LEAST_ROWS:
        return None
    return Agreement(compared=compared, unmatched=unmatched, wrong=tuple(wrong.most_common()))


def compare_copies(array: LogicalArray, used_bytes: int, seed: int) -> Agreement | None:
    """Compare copies at random places; None where there are none.

    Args:
        array: the candidate: RAID 1 or 10.
        used_bytes: how much of the array is looked at.
        seed: of the places.
    """
    if array.shape.level not in {1, 10}:
        return None
    places = random.Random(seed)  # noqa: S311  (places that can be repeated)
    compared = unmatched = 0
    wrong: Counter[int] = Counter()
    for number in range(_PLACES):
        end = min(used_bytes, _NEAR) if number % 2 else used_bytes
        copies = array.copies(places.randrange(max(1, end // BLOCK)) * BLOCK, BLOCK)
        if len(copies) < 2 or not any(map(any, copies.values())):
            continue
        compared += 1
        kinds = Counter(copies.values()).most_common()
        if len(kinds) > 1:
            unmatched += 1
            if 2 * kinds[0][1] > len(copies):
                wrong.update(slot for slot, block in copies.items() if block != kinds[0][0])
    if not compared:
        return None
    return Agreement(compared=compared, unmatched=unmatched, wrong=tuple(wrong.most_common()))


class Walk(Struct, frozen=True, kw_only=True):
    """What was read of a candidate.

    Args:
        passed: blocks by kind that are what and where they must be.
        failed: blocks by kind that are not.
        checked: how many of those that passed have a checksum.
        slots: slots that passed blocks lie in.
        differing: how many of those that passed have copies that differ. They were written through the array:
            something was written past it, or a member has missed writes.
    """

    passed: dict[str, int]
    failed: dict[str, int]
    checked: int
    slots: frozenset[int]
    differing: int = 0

    @property
    def good(self) -> int:
        """How many blocks are right."""
        return sum(self.passed.values())

    @property
    def bad(self) -> int:
        """How many are not."""
        return sum(self.failed.values())


def walk(
    array: LogicalArray, facts: Iterable[BlockFact], watch: SearchWatch, *, seed: int, most: int
) -> Walk:
    """Check what stands on a candidate.

    Args:
        array: the candidate.
        facts: what must be where.
        watch: receives how far it is.
        seed: of the order.
        most: blocks that are read, about.
    """
    pool = FactPool(random.Random(seed).randrange(1 << 30))  # noqa: S311
    pool.add(facts)
    passed: dict[str, int] = {}
    failed: dict[str, int] = {}
    slots: set[int] = set()
    done = checked = differing = 0
    while len(pool) and done < most:
        for fact in pool.take(64):
            done += 1
            watch.at(SearchStage.PROOF, done, done + len(pool))
            data = array.read(fact.address, fact.length)
            if len(data) == fact.length and fact.verify(data):
                passed[fact.kind] = passed.get(fact.kind, 0) + 1
                checked += fact.checked
                differing += array.copies_differ(fact.address, fact.length)
                slots.update(slot for slot, _ in array.shape.places(fact.address))
                if fact.learn is not None:
                    pool.add(fact.learn(data))
            elif fact.must:
                failed[fact.kind] = failed.get(fact.kind, 0) + 1
    return Walk(passed=passed, failed=failed, checked=checked, slots=frozenset(slots), differing=differing)
