"""Tests many geometries on what stands on the array, drops those that fall behind, and finds the best orders.

Which device is in which slot is found by constraints instead of n! trials.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from raidtui.features.rescue.search.block_facts import SURE, BlockFact, FactPool, learn_facts
from raidtui.features.rescue.search.hypothesis import Hypothesis
from raidtui.features.rescue.search.members import SearchStage, SearchWatch
from raidtui.features.rescue.search.samples import BLOCK, Samples
from raidtui.model.striping import xor

MOST_ORDERS = 5000
MARGIN = SURE
"""Orders whose gains differ by no more are alike: two soft facts may be chance."""
_MOST_STEPS = 200_000
_ROUNDS = (6, 10, 16, 32)
_MOST_FACTS = 900
_ENOUGH = 64
_FEW = 128
"""Up to so many facts, one that was learned from a wrong place may outweigh the others."""
_KEPT = 0.5
_CLOSE = 8
_SOLID, _ALMOST_ALL = 10, 0.95
_MOST_VARIANTS = 6
_MIRROR_TRIES, _MIRROR_ROWS = 24, 4
_ZERO = bytes(BLOCK)


class OrdersFound(Struct, frozen=True, kw_only=True):
    """The orders with the largest gain, and those that have almost as much.

    Args:
        gain: the largest.
        orders: by slot the place in the group, or -1 for a missing member.
        more: whether there are more than were counted.
    """

    gain: int
    orders: tuple[tuple[int, ...], ...]
    more: bool


class OrderSearch:
    """Finds the orders.

    Args:
        gains: by slot and place, what speaks for it less what speaks against it.
        allowed: whether so many slots, or these, may be missing.
        fits: whether two slots with their places go together: (slot, place, slot, place).
        known: places that are known by slot; they are kept.
        partners: by slot, the slots that ``fits`` is asked about.
    """

    def __init__(
        self,
        gains: Sequence[Sequence[int]],
        *,
        allowed: Callable[[frozenset[int]], bool],
        fits: Callable[[int, int, int, int], bool] | None = None,
        known: dict[int, int] | None = None,
        partners: Sequence[Sequence[int]] = (),
    ) -> None:
        self._gains = gains
        self._allowed = allowed
        self._fits = fits
        self._known = known or {}
        self._partners = partners
        self._places = len(gains[0]) if gains else 0
        self._sequence = sorted(range(len(gains)), key=self._freedom)
        self._best = -(1 << 60)
        self._found: list[tuple[int, tuple[int, ...]]] = []
        self._more = False
        self._steps = 0
        self._ahead = self._bounds()

    def _freedom(self, slot: int) -> tuple[int, int]:
        row = self._gains[slot]
        top = max(row, default=0)
        return sum(value == top for value in row), -top

    def _bounds(self) -> list[int]:
        """The most that the slots from a step on can gain, whatever is taken by the others."""
        ahead = [0]
        for slot in reversed(self._sequence):
            ahead.append(ahead[-1] + max(0, *self._gains[slot], 0))
        return ahead[::-1]

    def search(self) -> OrdersFound:
        """Return the best orders."""
        self._step(0, [-1] * len(self._gains), set(), 0)
        missing = min((order.count(-1) for gain, order in self._found if gain == self._best), default=0)
        orders = tuple(order for _, order in self._found if order.count(-1) <= missing)
        return OrdersFound(gain=self._best, orders=orders, more=self._more)

    def _step(self, step: int, order: list[int], used: set[int], gain: int) -> None:
        self._steps += 1
        if self._steps > _MOST_STEPS:
            self._more = True
            return
        if gain + self._ahead[step] < self._best - MARGIN:
            return
        if step == len(self._sequence):
            self._end(order, gain)
            return
        slot = self._sequence[step]
        known = self._known.get(slot)
        places = sorted(range(self._places), key=lambda place: -self._gains[slot][place])
        for place in places if known is None else [known]:
            if place in used or not self._goes(slot, place, order):
                continue
            order[slot] = place
            used.add(place)
            self._step(step + 1, order, used, gain + self._gains[slot][place])
            used.discard(place)
            order[slot] = -1
        if known is None:
            done = frozenset(each for each in self._sequence[: step + 1] if order[each] < 0)
            if self._allowed(done):
                # Half a block less than nothing: of two orders the one with fewer missing members is better.
                self._step(step + 1, order, used, gain - 1)

    def _goes(self, slot: int, place: int, order: list[int]) -> bool:
        if self._fits is None:
            return True
        return all(
            order[other] < 0 or self._fits(slot, place, other, order[other]) for other in self._partners[slot]
        )

    def _end(self, order: list[int], gain: int) -> None:
        if gain > self._best:
            self._best = gain
            if len(self._found) >= MOST_ORDERS:
                self._more = False
            self._found = [each for each in self._found if each[0] >= gain - MARGIN]
        if gain < self._best - MARGIN:
            return
        if len(self._found) < MOST_ORDERS:
            self._found.append((gain, tuple(order)))
        else:
            self._more = True


class Exploration:
    """Tests geometries on the facts of one root.

    Args:
        facts: what must be where.
        hypotheses: the geometries.
        watch: receives how far it is.
        seed: of the order of the facts.
    """

    def __init__(
        self, facts: Iterable[BlockFact], hypotheses: Sequence[Hypothesis], watch: SearchWatch, seed: int
    ) -> None:
        self._pool = FactPool(seed)
        self._pool.add(facts)
        self._alive = list(hypotheses)
        self._watch = watch
        self._learned: dict[BlockFact, set[bytes]] = {}
        self.tested = 0

    def run(self) -> list[Hypothesis]:
        """Return the geometries that are left, the best first."""
        rounds = 0
        while self._alive and len(self._pool) and self.tested < _MOST_FACTS:
            count = _ROUNDS[min(rounds, len(_ROUNDS) - 1)]
            rounds += 1
            batch = self._pool.take(count, self._separating() if rounds > 2 else None)
            self.tested += len(batch)
            self._test(batch)
            self._prune()
            # What follows from a loose fact is asked a round later, and of some geometries only.
            enough = _FEW if any(fact.loose for fact in self._learned) else _ENOUGH
            if not self._alive or self.tested < enough or len(self._close()) != 1:
                continue
            if not find_undecided(self._alive[0]):
                break
        return [each for each in self._alive if each.bound > 0]

    def _test(self, batch: Sequence[BlockFact]) -> None:
        new: list[BlockFact] = []
        for number, hypothesis in enumerate(self._alive):
            self._watch.at(SearchStage.CANDIDATES, self.tested, self.tested + len(self._pool))
            for fact in batch:
                for data in hypothesis.test(fact):
                    known = self._learned.setdefault(fact, set())
                    if data not in known and len(known) < (_MOST_VARIANTS if fact.loose else 1):
                        known.add(data)
                        new += learn_facts(fact, data)
            if number == 0 and new:
                self._pool.add(new)
                new = []
        self._pool.add(new)

    def _prune(self) -> None:
        self._alive.sort(key=lambda each: -each.bound)
        best = self._alive[0].bound
        few = self.tested <= _FEW
        self._alive = [
            each
            for each in self._alive
            if (each.bound > 0 and each.bound >= best * _KEPT - 2)
            or (few and each.bound >= each.found.asked * _KEPT - 2)
            or each.bound >= max(_SOLID, each.found.asked * _ALMOST_ALL)
        ]

    def _close(self) -> list[Hypothesis]:
        best = self._alive[0].bound
        return [each for each in self._alive[:_CLOSE] if each.bound >= best * 0.95 - 2]

    def _separating(self) -> Callable[[BlockFact], bool]:
        """Return whether a fact may separate what is still alike."""
        best, others = self._alive[0], self._close()[1:]
        open_slots = find_undecided(best)

        def separates(fact: BlockFact) -> bool:
            places = best.shape.places(fact.address)
            if any(slot in open_slots for slot, _ in places):
                return True
            return any(other.shape.places(fact.address) != places for other in others)

        return separates


def find_undecided(hypothesis: Hypothesis) -> frozenset[int]:
    """Return the slots for which nothing says which device is in them."""
    slots = []
    for slot, tests in enumerate(hypothesis.found.tests):
        gains = [hypothesis.gain(slot, place) for place in range(len(hypothesis.group))]
        top = max(gains)
        gone = tests >= 4 and not any(hypothesis.found.hits[slot])
        if not gone and (top <= 0 or sum(gain >= top - MARGIN for gain in gains) > 1):
            slots.append(slot)
    return frozenset(slots)


def find_q_rows(samples: Samples, group: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Return where on each device, and the place in the group of the one whose XOR of the others is 0.

    Args:
        samples: of all devices.
        group: those that are looked at, by their numbers.
    """
    found = []
    for row in samples.rows:
        blocks = [row.blocks[number] for number in group]
        value = xor(blocks) if all(blocks) else b""
        having = [place for place, block in enumerate(blocks) if block == value]
        if len(having) == 1 and value.strip(b"\0"):
            found.append((row.offset, having[0]))
    return tuple(found)


def mark_q(hypothesis: Hypothesis, rows: Sequence[tuple[int, int]]) -> None:
    """Note for RAID 6 with all members which device has Q in the sampled rows.

    The XOR of all members but that one is 0, whatever the order is.
    """
    shape = hypothesis.shape
    if shape.level != 6 or len(hypothesis.group) != shape.slots or hypothesis.offset % BLOCK:
        return
    for offset, place in rows:
        byte = offset - hypothesis.offset
        if byte >= 0:
            hypothesis.mark(shape.row(byte // shape.chunk_bytes).q, (place,))


class Mirrors:
    """Whether devices in two slots of RAID 10 hold the same chunks.

    Args:
        hypothesis: the geometry.
        size_bytes: the array's size, or what of it is in use.
        seed: of the places.
    """

    def __init__(self, hypothesis: Hypothesis, size_bytes: int, seed: int) -> None:
        self._hypothesis = hypothesis
        self._known: dict[tuple[int, int, int, int], bool] = {}
        places = random.Random(seed)  # noqa: S311  (places that can be repeated)
        shape = hypothesis.shape
        self._common: dict[tuple[int, int], list[tuple[int, int]]] = {}
        for number in range(_MIRROR_TRIES * shape.slots):
            end = size_bytes if number % 2 else min(size_bytes, 64 << 20)
            copies = shape.places(places.randrange(max(BLOCK, end)) // BLOCK * BLOCK)
            for one, first in copies:
                for two, second in copies:
                    if one != two:
                        self._common.setdefault((one, two), []).append((first, second))
        self.partners = tuple(
            tuple({two for one, two in self._common if one == slot}) for slot in range(shape.slots)
        )

    def fit(self, slot: int, place: int, other: int, partner: int) -> bool:
        """Whether two slots with their devices go together; True where all is zero."""
        key = (slot, place, other, partner)
        if key not in self._known:
            equal = said = 0
            for first, second in self._common.get((slot, other), ()):
                one, two = self._read(place, first), self._read(partner, second)
                if not one or not two or (one == _ZERO and two == _ZERO):
                    continue
                said += 1
                equal += one == two
                if said == _MIRROR_ROWS:
                    break
            self._known[key] = said == 0 or 2 * equal >= said
        return self._known[key]

    def _read(self, place: int, byte: int) -> bytes:
        source = self._hypothesis.recogniser.sources[self._hypothesis.group[place]]
        return source.read(self._hypothesis.offset + byte, BLOCK)


def find_best_orders(
    hypothesis: Hypothesis, *, lost: bool, mirrors: Mirrors | None, known: dict[int, int] | None = None
) -> OrdersFound:
    """Return the orders that fit a geometry best.

    Args:
        hypothesis: the geometry, tested.
        lost: whether more slots may be empty than the level survives, to see that it was this geometry.
        mirrors: for RAID 10.
        known: places by slot that are known.
    """
    shape = hypothesis.shape
    gains = [
        [hypothesis.gain(slot, place) for place in range(len(hypothesis.group))]
        for slot in range(shape.slots)
    ]

    def allowed(missing: frozenset[int]) -> bool:
        return lost or shape.survives(missing)

    return OrderSearch(
        gains,
        allowed=allowed,
        fits=mirrors.fit if mirrors is not None else None,
        known=known,
        partners=mirrors.partners if mirrors is not None else (),
    ).search()
