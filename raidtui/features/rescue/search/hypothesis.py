"""A geometry without an order of its members, and what blocks at their places say about it.

A block that must be at a place of the array is looked for on every device at the byte that the geometry says:
so each block shows which device is in which slot, or that the geometry is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence

from raidtui.features.rescue.search.block_evidence import Evidence, Found, Tally
from raidtui.features.rescue.search.block_facts import SURE, BlockFact
from raidtui.features.rescue.search.mapping import StripeShape
from raidtui.features.rescue.search.members import Source

_BEHIND = 0.125
"""Up to this share of the blocks, a copy that differs is one that has missed writes."""


class Recogniser:
    """Whether a block is what a fact says, remembered for each device and byte.

    Args:
        sources: devices, and the member that is rebuilt from the others where there is one.
        either: a further source, numbered behind those, is read like one of these, whichever fits: the
            missing member of RAID 6 is the XOR of all others but that with Q, which changes from row to row.
    """

    def __init__(self, sources: Sequence[Source], either: Sequence[Source] = ()) -> None:
        self.sources = tuple(sources)
        self._either = tuple(either)
        self._known: dict[tuple[BlockFact, int, int], int] = {}

    def block(self, fact: BlockFact, source: int, byte: int) -> bytes:
        """Return the fact's block, if a device has it at a byte; else b""."""
        key = (fact, source, byte)
        read_like = self._either if source >= len(self.sources) else self.sources[source : source + 1]
        fitting = self._known.get(key)
        if fitting is not None:
            return read_like[fitting].read(byte, fact.length) if fitting >= 0 else b""
        for number, each in enumerate(read_like):
            data = each.read(byte, fact.length)
            if len(data) == fact.length and fact.verify(data):
                self._known[key] = number
                return data
        self._known[key] = -1
        return b""


class Hypothesis:
    """Level, layout, chunk, number of slots and data offset, with what was found for them.

    Args:
        shape: how the bytes lie over the slots.
        offset: the byte on each device at which the data begin.
        recogniser: the devices.
        group: which devices may be members, by their numbers in the recogniser.
    """

    def __init__(self, shape: StripeShape, offset: int, recogniser: Recogniser, group: Sequence[int]) -> None:
        self.shape = shape
        self.offset = offset
        self.group = tuple(group)
        self._recogniser = recogniser
        self._evidence = Evidence(shape.slots, len(self.group))
        self._bound: float | None = None  # until more is found

    @property
    def recogniser(self) -> Recogniser:
        """The devices."""
        return self._recogniser

    def test(self, fact: BlockFact) -> tuple[bytes, ...]:
        """Look for a block on all devices; return it where one has it, of loose facts all that fit.

        A block that lies in two chunks is passed over, and one without a checksum whose premise was not
        found: on some device something may look like it.
        """
        holds = self._evidence.holds(fact.premise)
        if not holds and not fact.checked:
            return ()
        chunk = self.shape.chunk_bytes
        if self.shape.level != 1 and fact.address % chunk + fact.length > chunk:
            return ()
        found: list[Found] = []
        blocks: dict[bytes, None] = {}
        for slot, byte in self.shape.places(fact.address):
            have = []
            for place, source in enumerate(self.group):
                block = self._recogniser.block(fact, source, self.offset + byte)
                if block:
                    have.append(place)
                    if fact.loose or not blocks:
                        blocks[block] = None
            found.append((slot, frozenset(have)))
        if not blocks and not (fact.must and holds):
            return ()
        self._bound = None
        self._evidence.note(fact, found)
        if fact.loose:
            self._evidence.read_as(fact, tuple(blocks))
        return tuple(blocks)

    def mark(self, slot: int, have: Sequence[int]) -> None:
        """Note that a slot was tested, and the places in the group that passed."""
        self._bound = None
        self._evidence.mark(slot, have)

    @property
    def found(self) -> Tally:
        """What was found, of facts that must hold, as far as is known, if the geometry is right."""
        return self._evidence.total

    @property
    def bound(self) -> float:
        """The most that an order of the members could gain, for one copy of the data."""
        if self._bound is None:
            self._bound = self._new_bound()
        return self._bound

    def _new_bound(self) -> float:
        found = self.found
        gains = [
            [max(0, 2 * hit - tests) for hit in row]
            for row, tests in zip(found.hits, found.tests, strict=True)
        ]
        by_slot: int = sum(map(max, gains))
        by_device: int = sum(map(max, zip(*gains, strict=True)))
        if not found.copied:
            return min(by_slot, by_device)
        return min(by_slot, by_device, found.blocks)

    def gain(self, slot: int, place: int) -> int:
        """Return what speaks for a device in a slot, less what speaks against it; a block counts SURE.

        Soft facts speak for no device of which most blocks are wrong: parity looks like much that is soft.
        """
        found = self.found
        sure, soft = 2 * found.hits[slot][place] - found.tests[slot], self.soft_gain(slot, place)
        return SURE * sure + (soft if sure >= 0 else min(soft, 0))

    def order_gain(self, order: Sequence[int], *, soft: bool) -> float:
        """Return what speaks for an order, less what speaks against it, each block once however many copies.

        Args:
            order: by slot the place in the group, or -1.
            soft: whether of soft facts, or of the others.
        """
        found = self.found
        tests, hits = (found.soft_tests, found.soft_hits) if soft else (found.tests, found.hits)
        if not found.copied:
            return sum(2 * hits[slot][place] - tests[slot] for slot, place in enumerate(order) if place >= 0)
        total = 0.0
        for is_soft, copies in found.copied:
            there = [order[slot] in have for slot, have in copies if order[slot] >= 0]
            if is_soft == soft and there:
                total += 2 * sum(there) / len(there) - 1
        return total

    def failed(self, order: Sequence[int]) -> int:
        """Return how many blocks an order does not have where they must be, each copy by itself.

        A few copies that lack what another one has are not counted: that member has missed writes.

        Args:
            order: by slot the place in the group, or -1.
        """
        found = self.found
        if not found.copied:
            used = [(slot, place) for slot, place in enumerate(order) if place >= 0]
            return sum(found.tests[slot] - found.hits[slot][place] for slot, place in used)
        failed = behind = there = 0
        for soft, copies in found.copied:
            having = [order[slot] in have for slot, have in copies if order[slot] >= 0]
            if soft or not having:
                continue
            there += sum(having)
            if any(having):
                behind += having.count(False)
            else:
                failed += len(having)
        return failed if behind <= there * _BEHIND else failed + behind

    def soft_gain(self, slot: int, place: int) -> int:
        """Return the part of it that is of soft facts."""
        found = self.found
        return 2 * found.soft_hits[slot][place] - found.soft_tests[slot]
