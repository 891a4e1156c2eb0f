"""A geometry that may be the array's, and what was found for it on the devices.

Without a checksum parity may look like the block that was looked for: then a geometry has two devices with
such a block at its place, and only one of them says the truth about what lies elsewhere. All that follows
from a reading is kept by itself, and counted while no other reading of the same block has more to speak for
it.
"""

from __future__ import annotations

from collections.abc import Sequence

from raidtui.features.rescue.search.block_facts import SURE, BlockFact, Premise
from raidtui.features.rescue.search.members import Source
from raidtui.model.striping import StripeShape

Found = tuple[int, frozenset[int]]
"""A slot, and the places in the group whose devices have the block there."""
_BEHIND = 0.125
"""Up to this share of the blocks, a copy that differs is one that has missed writes."""


class Tally:
    """Sums over facts.

    Args:
        slots: of the geometry.
        places: devices that may be in them.

    Attributes:
        tests: how many facts that are not soft were tested, by slot.
        hits: how many of them each place has, by slot.
        soft_tests: the same of soft facts.
        soft_hits: the same of soft facts.
        asked: how many facts that must hold were tested.
        copied: facts with several copies: whether it is soft, and what was found for each copy.
        blocks: of those with several copies that are not soft, how many more were found than not.
    """

    def __init__(self, slots: int, places: int) -> None:
        self.tests = [0] * slots
        self.hits = [[0] * places for _ in range(slots)]
        self.soft_tests = [0] * slots
        self.soft_hits = [[0] * places for _ in range(slots)]
        self.asked = 0
        self.copied: list[tuple[bool, Sequence[Found]]] = []
        self.blocks = 0

    def mark(self, slot: int, have: Sequence[int] | frozenset[int], *, soft: bool) -> None:
        """Note that a slot was tested, and the places in the group that passed."""
        tests, hits = (self.soft_tests, self.soft_hits) if soft else (self.tests, self.hits)
        tests[slot] += 1
        for place in have:
            hits[slot][place] += 1

    def note(self, found: Sequence[Found], *, soft: bool, asked: bool) -> None:
        """Note what was found for one fact, copy by copy."""
        self.asked += asked and not soft
        for slot, have in found:
            self.mark(slot, have, soft=soft)
        if len(found) > 1:
            self.copied.append((soft, found))
            if not soft:
                self.blocks += 1 if any(have for _, have in found) else -1

    def add(self, other: Tally) -> None:
        """Add what another one has."""
        for mine, theirs in ((self.tests, other.tests), (self.soft_tests, other.soft_tests)):
            for slot, count in enumerate(theirs):
                mine[slot] += count
        for mine_of, theirs_of in ((self.hits, other.hits), (self.soft_hits, other.soft_hits)):
            for row, counts in zip(mine_of, theirs_of, strict=True):
                for place, count in enumerate(counts):
                    row[place] += count
        self.asked += other.asked
        self.copied += other.copied
        self.blocks += other.blocks


class _Reading:
    """One reading of a block, with what follows from it; the first is that of all that needs none."""

    def __init__(self, of: _Choice | None = None, age: int = 0) -> None:
        self.tally: Tally | None = None  # of most, nothing is ever asked
        self.of = of
        self.age = age
        self.within: dict[BlockFact, _Choice] = {}
        self.speaks = 0


class _Choice:
    """The readings of a block: the latest that anything speaks for, then what speaks for them decides."""

    def __init__(self, around: _Reading) -> None:
        self.around = around
        self.readings: list[_Reading] = []
        self.chosen: _Reading | None = None

    def choose(self) -> bool:
        """Choose; return whether another one counts than before."""
        before = self.chosen
        self.chosen = best = max(
            self.readings,
            key=lambda each: (each.speaks > 0, each.age, each.speaks, each is before),
        )
        return best is not before and before is not None


class Evidence:
    """All that was found for a geometry.

    Args:
        slots: of the geometry.
        places: devices that may be in them.
    """

    def __init__(self, slots: int, places: int) -> None:
        self._size = (slots, places)
        self._first = _Reading()
        self._readings: dict[Premise, _Reading] = {}
        self._sum = Tally(slots, places)
        self._stale = False

    @property
    def total(self) -> Tally:
        """What counts."""
        if self._stale:
            self._sum = Tally(*self._size)
            self._add(self._first)
            self._stale = False
        return self._sum

    def _add(self, reading: _Reading) -> None:
        if reading.tally is not None:
            self._sum.add(reading.tally)
        for choice in reading.within.values():
            if choice.chosen is not None:
                self._add(choice.chosen)

    def holds(self, premise: Premise | None) -> bool:
        """Whether what a fact follows from was found."""
        return premise is None or premise in self._readings

    def note(self, fact: BlockFact, found: Sequence[Found]) -> None:
        """Note what was found for a fact, copy by copy.

        Where its premise was not found, for a member that is missing may have it, it counts by itself.
        """
        holds = self.holds(fact.premise)
        reading = self._reading(fact.premise)
        self._tally(reading).note(found, soft=fact.soft, asked=holds)
        if self._counts(reading) and not self._stale:
            self._sum.note(found, soft=fact.soft, asked=holds)
        if reading.of is not None:
            passed = any(have for _, have in found)
            reading.speaks += (1 if passed else -1) * (1 if fact.soft else SURE)
            self._stale = reading.of.choose() or self._stale

    def _tally(self, reading: _Reading) -> Tally:
        if reading.tally is None:
            reading.tally = Tally(*self._size)
        return reading.tally

    def _reading(self, premise: Premise | None) -> _Reading:
        return self._first if premise is None else self._readings.get(premise, self._first)

    def _counts(self, reading: _Reading) -> bool:
        choice = reading.of
        while choice is not None:
            if choice.chosen is not reading:
                return False
            reading = choice.around
            choice = reading.of
        return True

    def mark(self, slot: int, have: Sequence[int]) -> None:
        """Note that a slot was tested, and the places in the group that passed."""
        self._tally(self._first).mark(slot, have, soft=False)
        if not self._stale:
            self._sum.mark(slot, have, soft=False)

    def read_as(self, fact: BlockFact, blocks: Sequence[bytes]) -> None:
        """Note the readings of a loose fact's block."""
        around = self._reading(fact.premise)
        for block in blocks:
            if (fact, block) not in self._readings:
                choice = around.within.setdefault(fact, _Choice(around))
                age = fact.age(block) if fact.age is not None else 0
                self._readings[fact, block] = reading = _Reading(choice, age)
                choice.readings.append(reading)
                self._stale = choice.choose() or self._stale


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
        self.recogniser = recogniser
        self._evidence = Evidence(shape.slots, len(self.group))
        self._bound: float | None = None  # until more is found

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
                block = self.recogniser.block(fact, source, self.offset + byte)
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
        sure = 2 * found.hits[slot][place] - found.tests[slot]
        soft = 2 * found.soft_hits[slot][place] - found.soft_tests[slot]
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
