"""The proof in user space: a candidate is read as one device, and what stands on it is checked by block."""

from __future__ import annotations

import random
from collections.abc import Iterable

from msgspec import Struct

from raidtui.features.rescue.search.block_facts import BlockFact, FactPool
from raidtui.features.rescue.search.limits import SearchStage, SearchWatch
from raidtui.features.rescue.search.logical import LogicalArray

MOST_BLOCKS = 1500


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
