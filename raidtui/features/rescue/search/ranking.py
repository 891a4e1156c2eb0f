"""Candidates in the order of what speaks for them; those that read the same are one, ties stay ties."""

from __future__ import annotations

import random
from collections.abc import Sequence

import msgspec
from msgspec import Struct

from raidtui.features.rescue.search.exploration import MARGIN, MOST_ORDERS, Mirrors, find_best_orders
from raidtui.features.rescue.search.geometries import COMMON_CHUNKS, RecordedGeometry
from raidtui.features.rescue.search.hypothesis import Hypothesis
from raidtui.features.rescue.search.logical_array import SURE_ROWS, Agreement, LogicalArray, compare_parity
from raidtui.features.rescue.search.members import Source
from raidtui.features.rescue.search.samples import BLOCK, Samples
from raidtui.model.striping import PARITY_OF, StripeShape

_COMPARED = 96
_MOST_COMPARED = 400
_MOST_PARITY = 64
_FITS, _CONTRADICTED, _CLEARLY = 0.5, 0.1, 0.15
_ENOUGH_OF_BEST, _ENOUGH_OF_DOUBTED = 0.6, 0.35
_COPIED, _ENOUGH = 1.4, 24
IN_USE = 64 << 20
"""So much of an array is taken to be in use, where what stands on it does not say how large it is."""


class Ranked(Struct, frozen=True, kw_only=True):
    """A geometry with an order.

    Args:
        shape: how the bytes lie over the slots.
        offset: the byte on each member at which the data begin.
        order: by slot the number of the device; -1 for a missing one.
        passed: blocks that were recognised at their places.
        failed: blocks that were not.
        unused: devices with data that are not members then.
        gain: what speaks for it, less what speaks against it, for one copy of the data.
        soft: the same of soft facts.
        parity: what the sampled rows say; None where they say nothing.
        swaps: slots that may be exchanged and read the same.
        like: other geometries that read the same.
        agreed: of the blocks in slots that superblocks record, the share that is right.
    """

    shape: StripeShape
    offset: int
    order: tuple[int, ...]
    passed: int
    failed: int
    unused: int
    gain: float
    soft: float = 0.0
    parity: Agreement | None = None
    swaps: tuple[tuple[int, ...], ...] = ()
    like: tuple[Ranked, ...] = ()
    agreed: float = 0.0

    @property
    def missing(self) -> int:
        """How many slots are empty."""
        return self.order.count(-1)

    @property
    def worth(self) -> float:
        """The gain for one copy of the data, with blocks that were not recognised counted three times."""
        difference = self.passed - self.failed
        return self.gain * (1 - 2 * self.failed / difference) if difference > 0 else self.gain

    def without_start(self, start: int) -> Ranked | None:
        """Return the geometry whose first byte is this one's at a byte, with the same order; None without.

        Args:
            start: byte of the array.
        """
        if self.shape.stride_bytes:
            return None
        shift = self.shape.places(start)[0][1] - self.shape.places(0)[0][1]
        for address in range(0, self.shape.slots**2 * self.shape.chunk_bytes, self.shape.chunk_bytes):
            moved = tuple((slot, byte + shift) for slot, byte in self.shape.places(address))
            if self.shape.places(start + address) != moved:
                return None
        like = tuple(found for each in self.like if (found := each.without_start(start)) is not None)
        return msgspec.structs.replace(self, offset=self.offset + shift, like=like)

    def array(self, sources: Sequence[Source]) -> LogicalArray:
        """Return it as a device to read from."""
        members = [None if number < 0 else sources[number] for number in self.order]
        return LogicalArray(self.shape, self.offset, members)


class Ranking(Struct, frozen=True, kw_only=True):
    """Candidates, the best first.

    Args:
        best: those that nothing separates.
        others: those with less, or with something against them.
        more: whether there are more of the best than were counted.
    """

    best: tuple[Ranked, ...] = ()
    others: tuple[Ranked, ...] = ()
    more: bool = False


def rank(
    hypotheses: Sequence[Hypothesis],
    samples: Samples,
    *,
    rebuilt: int,
    size_bytes: int,
    given: int,
    seed: int,
    lost: bool = False,
    recorded: RecordedGeometry | None = None,
) -> Ranking:
    """Return the candidates.

    Args:
        hypotheses: geometries, tested.
        samples: of all devices.
        rebuilt: the number of the first source that stands for a missing member.
        size_bytes: how much of the array is known to be in use; 0 where nothing is.
        given: how many devices were given, blank ones too.
        seed: of the places that are read.
        lost: whether more members may be missing than a level survives.
        recorded: what superblocks record, where the slots of their devices are kept.
    """
    found: list[Ranked] = []
    more = False
    used_bytes = size_bytes or IN_USE
    for hypothesis in hypotheses:
        known = recorded.known(hypothesis.group) if recorded is not None else {}
        orders, some_more = _orders(
            hypothesis, rebuilt=rebuilt, used_bytes=used_bytes, seed=seed, lost=lost, known=known
        )
        found += orders
        more = more or some_more
        if len(found) > MOST_ORDERS:
            more = True
            break
    found = _distinct(found)
    if not found:
        return Ranking()
    top = max(found, key=lambda each: (each.worth, -each.unused, -each.missing))
    best = [each for each in found if _as_good(each, top)]
    best = _by_copies(best)
    sources = hypotheses[0].recogniser.sources
    best = _by_parity(best, samples, sources, size_bytes)
    best = _by_soft(best)
    best = _by_reading(best, given)
    shown = [one for each in best for one in (each, *each.like)]
    if len(best) == 1 and not best[0].failed:
        like = _reading_alike(best[0], [each for each in found if not each.failed and not _in(each, shown)])
        like = [
            each for each in _by_parity([best[0], *like], samples, sources, size_bytes) if not _in(each, best)
        ]
        best = [msgspec.structs.replace(best[0], like=(*best[0].like, *like))]
        shown += like
    others = [each for each in found if not _in(each, shown)]
    return Ranking(
        best=tuple(sorted(best, key=_habit)),
        others=tuple(sorted(others, key=lambda each: (-each.gain, _habit(each)))),
        more=more and len(best) > 1,
    )


def _as_good(each: Ranked, top: Ranked) -> bool:
    """Whether a candidate is to be looked at beside the one that most speaks for.

    Where that has something against it, one that has nothing may be the truth with more members missing: less
    of it can be seen.
    """
    if each.failed == 0 and each.gain >= top.gain * (_ENOUGH_OF_DOUBTED if top.failed else _ENOUGH_OF_BEST):
        return True
    return top.failed > 0 and each.worth >= top.worth - 1


def _by_copies(best: list[Ranked]) -> list[Ranked]:
    """Where all second copies are at their places, drop the levels that would have none."""
    copied = [
        each
        for each in best
        if each.shape.level in {1, 10} and not each.failed and each.passed > _COPIED * each.gain
    ]
    most = max((each.passed for each in best), default=0)
    if most < _ENOUGH or not any(each.passed == most for each in copied):
        return best
    return copied


def _by_soft(best: list[Ranked]) -> list[Ranked]:
    """Leave those that files and other soft facts speak for most, where the difference is no chance.

    They outdo none that has less against it: with more members there is more that can be found.
    """
    return [
        each
        for each in best
        if all(each.soft >= other.soft - MARGIN for other in best if other.failed <= each.failed)
    ]


def _in(each: Ranked, some: Sequence[Ranked]) -> bool:
    return any(
        each.shape == one.shape and each.offset == one.offset and each.order == one.order for one in some
    )


def _reading_alike(first: Ranked, others: Sequence[Ranked]) -> list[Ranked]:
    """Return those that read the same, but have less to speak for them: more members are missing."""
    places = _places(first)
    return [
        each
        for each in others[:_MOST_COMPARED]
        if all(one & two for one, two in zip(places, _places(each), strict=True))
    ]


def _by_reading(best: list[Ranked], given: int) -> list[Ranked]:
    """Of candidates that read the same, leave one, which names the others.

    RAID 10 far reads like RAID 0 in its first half, RAID 0 like RAID 4 without its parity. The one that
    explains most copies is left, then one of as many slots as devices are given, then one with fewest missing
    members.
    """
    left = sorted(
        best,
        key=lambda each: (-each.passed, each.unused, each.shape.slots != given, each.missing, _habit(each)),
    )
    if len(left) > _MOST_COMPARED:
        return left
    kept: list[tuple[Ranked, list[frozenset[object]], list[Ranked]]] = []
    for each in left:
        places = _places(each)
        for _, other, like in kept:
            if all(one & two for one, two in zip(places, other, strict=True)):
                like.append(each)
                break
        else:
            kept.append((each, places, []))
    return [msgspec.structs.replace(each, like=tuple(like)) for each, _, like in kept]


def _orders(
    hypothesis: Hypothesis, *, rebuilt: int, used_bytes: int, seed: int, lost: bool, known: dict[int, int]
) -> tuple[list[Ranked], bool]:
    shape = hypothesis.shape
    if shape.level == 1:
        return _mirror(hypothesis), False
    mirrors = Mirrors(hypothesis, used_bytes, seed) if shape.level == 10 else None
    orders = find_best_orders(hypothesis, lost=lost, mirrors=mirrors, known=known)
    groups = _swaps(shape)
    asked = sum(hypothesis.found.tests[slot] for slot in known)
    right = sum(hypothesis.found.hits[slot][place] for slot, place in known.items())
    ranked: dict[tuple[int, ...], Ranked] = {}
    for order in orders.orders:
        passed = sum(hypothesis.found.hits[slot][place] for slot, place in enumerate(order) if place >= 0)
        numbers = [hypothesis.group[place] if place >= 0 else -1 for place in order]
        numbers = [-1 if number >= rebuilt else number for number in numbers]
        for group in groups:
            for slot, number in zip(group, sorted(numbers[slot] for slot in group), strict=True):
                numbers[slot] = number
        made = _make_ranked(hypothesis, order, numbers, passed, groups, right / asked if asked else 0.0)
        ranked.setdefault(tuple(numbers), made)
    return list(ranked.values()), orders.more


def _make_ranked(  # noqa: PLR0917
    hypothesis: Hypothesis,
    places: Sequence[int],
    numbers: Sequence[int],
    passed: int,
    swaps: tuple[tuple[int, ...], ...],
    agreed: float = 0.0,
) -> Ranked:
    return Ranked(
        shape=hypothesis.shape,
        offset=hypothesis.offset,
        order=tuple(numbers),
        passed=passed,
        failed=hypothesis.failed(places),
        unused=len(hypothesis.group) - sum(place >= 0 for place in places),
        gain=hypothesis.order_gain(places, soft=False),
        soft=hypothesis.order_gain(places, soft=True),
        swaps=swaps,
        agreed=agreed,
    )


def _mirror(hypothesis: Hypothesis) -> list[Ranked]:
    """RAID 1: any order reads the same; devices that lack what they must have are not members."""
    good = [
        place
        for place in range(len(hypothesis.group))
        if 2 * hypothesis.found.hits[0][place] > hypothesis.found.tests[0]
    ]
    slots = hypothesis.shape.slots
    if not good:
        return []
    used = good[:slots]
    places = used + [-1] * (slots - len(used))
    numbers = [hypothesis.group[place] if place >= 0 else -1 for place in places]
    passed = sum(hypothesis.found.hits[0][place] for place in used)
    swaps = (tuple(range(slots)),) if slots > 1 else ()
    return [_make_ranked(hypothesis, places, numbers, passed, swaps)]


def _swaps(shape: StripeShape) -> tuple[tuple[int, ...], ...]:
    """Return the slots that hold the same bytes at the same places: the pairs of RAID 10 near 2."""
    copies = int(shape.layout[1:]) if shape.level == 10 and shape.layout.startswith("n") else 1
    if copies == 1 or shape.slots % copies:
        return ()
    return tuple(tuple(range(slot, slot + copies)) for slot in range(0, shape.slots, copies))


def _habit(each: Ranked) -> tuple[object, ...]:
    """The order in which alike candidates are shown: the usual first. It decides nothing."""
    return (
        each.missing,
        each.unused,
        each.shape.level != 1,
        each.shape.layout.startswith("parity"),
        each.shape.layout not in {"left-symmetric", "n2", ""},
        each.shape.chunk_bytes not in COMMON_CHUNKS,
        each.offset,
        each.order,
    )


def _places(each: Ranked) -> list[frozenset[object]]:
    """Return where places all over the array are read from: the copies, or what they are rebuilt from."""
    places = random.Random(0)  # noqa: S311  (the same for all candidates)
    addresses = [places.randrange(1 << bits % 26 + 12) & ~(BLOCK - 1) for bits in range(_COMPARED)]
    found: list[frozenset[object]] = []
    for address in addresses:
        copies = each.shape.places(address)
        here: list[object] = [
            (each.order[slot], each.offset + byte) for slot, byte in copies if each.order[slot] >= 0
        ]
        found.append(frozenset(here or [_rebuilt_from(each, *copies[0])]))
    return found


def _rebuilt_from(each: Ranked, slot: int, byte: int) -> object:
    if each.shape.level not in PARITY_OF:
        return each.shape.level, each.shape.chunk_bytes, slot, byte
    row = each.shape.row(byte // each.shape.chunk_bytes)
    devices = frozenset(each.order[other] for other in (*row.data, row.p) if other != slot)
    if len(devices) == 1:
        return next(iter(devices)), each.offset + byte
    if -1 in devices:
        return each.shape, each.order, byte
    return devices, each.offset + byte


def _distinct(found: list[Ranked]) -> list[Ranked]:
    """Of orders of one level that are the same in all but name, leave one."""
    if len(found) > _MOST_COMPARED:
        return found
    kept: dict[tuple[object, ...], Ranked] = {}
    for each in sorted(found, key=_habit):
        kept.setdefault((each.shape.level, each.shape.layout, each.shape.slots, *_places(each)), each)
    return list(kept.values())


def _by_parity(
    best: list[Ranked], samples: Samples, sources: Sequence[Source], size_bytes: int
) -> list[Ranked]:
    """Add what the sampled rows say; drop what they contradict, or fit clearly less, if anything is left.

    Geometries that differ in Q only read the same while no more than one member is missing.
    """

    def judged(some: list[Ranked], most: int) -> list[Ranked]:
        found = [
            msgspec.structs.replace(
                each,
                parity=compare_parity(each.array(sources), samples, each.offset, size_bytes, most=most),
            )
            for each in some
        ]
        top = max((each.parity.share for each in found if each.parity is not None), default=0.0)
        least = max(_FITS, top - _CLEARLY) if top >= _FITS else _CONTRADICTED
        return [each for each in found if each.parity is None or each.parity.share >= least] or found

    if len(best) > _MOST_PARITY:  # a few rows first: where nothing fits, the first ones show it
        best = judged(best, SURE_ROWS)
    return judged(best, 0) if len(best) <= _MOST_PARITY else best
