"""What was found for a geometry; of several readings of one block, that counts which the rest speaks for.

Without a checksum parity may look like the block that was looked for: then a geometry has two devices with
such a block at its place, and only one of them says the truth about what lies elsewhere. All that follows
from a reading is kept by itself, and counted while no other reading of the same block has more to speak for
it.
"""

from __future__ import annotations

from collections.abc import Sequence

from raidtui.features.rescue.search.block_facts import SURE, BlockFact, Premise

Found = tuple[int, frozenset[int]]
"""A slot, and the places in the group whose devices have the block there."""


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
