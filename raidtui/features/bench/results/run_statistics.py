"""Is B faster than A, and are rounds steady? An exact permutation test, and a rule. Pure.

The test asks within blocks whose order was drawn at random. What drifts during a benchmark (heat, garbage
collection, a cache that fills, neighbours) lasts longer than a run, so runs one after another are not
independent. Where chance alone decides which run of a block is A's and which is B's, each order that could
have been drawn is as likely as the one that was, whatever the noise does: the test counts in how many of them
the runs of B would add up to as much as they did. It is exact as long as a run leaves nothing behind for the
next one. (R. A. Fisher, The Design of Experiments, 1935, chapter 3.)

Values are compared as ratios, by their logarithms, which are rounded to 0.1 % so that sums can be counted.

Steady state is by the rule of SNIA's Solid State Storage Performance Test Specification: over the last five
rounds no value may be further from another than 20 % of their mean, and the line that fits them best may not
rise or fall by more than 10 % of it from the first to the last.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Sequence

from msgspec import Struct

Block = tuple[tuple[float, ...], tuple[float, ...]]
"""The values of A and of B in one block, all above 0."""

_STEP = 1e-3
_FARTHEST = 700.0  # e to the power of it still is a float
_POWER = 3.0
"""Of the scatter by root of the blocks: what is found in four of five sessions, at 3 % (2.17 + 0.84)."""


def arrangements(blocks: Sequence[Block]) -> int:
    """Return in how many orders the runs of these blocks could have been drawn."""
    return math.prod(math.comb(len(first) + len(second), len(first)) for first, second in blocks)


def p_value(blocks: Sequence[Block], shift: float = 0.0) -> float:
    """Return the exact two-sided p of "B is A, multiplied by e to the power of ``shift``"."""
    sums = _SumCounts()
    seen = centre = 0
    for first, second in blocks:
        left = [_rounded(value, 0.0) for value in first]
        right = [_rounded(value, shift) for value in second]
        least = min(*left, *right)
        values = [value - least for value in (*left, *right)]
        seen += sum(values[len(left) :]) * 2 * len(values)
        centre += sum(values) * len(right) * 2
        sums.draw(values, len(right), 2 * len(values))
    return sums.chance_of(abs(seen - centre), centre)


def _rounded(value: float, shift: float) -> int:
    return round((math.log(value) - shift) / _STEP)


class _SumCounts:
    """How many orders give each sum of B: numbers packed into one, so that a block is a few additions.

    Sums of a block with n runs are counted in steps of 2n, so that blocks of all sizes have one scale.
    """

    def __init__(self) -> None:
        self._blocks: list[tuple[dict[int, int], int]] = []

    def draw(self, values: Sequence[int], count: int, scale: int) -> None:
        """Add a block of which ``count`` runs, any of them, are B's."""
        counts: dict[int, int] = {}
        for chosen in itertools.combinations(values, count):
            total = sum(chosen) * scale
            counts[total] = counts.get(total, 0) + 1
        self._blocks.append((counts, scale))

    def chance_of(self, distance: int, centre: int) -> float:
        """Return the part of all orders whose sum is at least so far from the centre."""
        if not distance:
            return 1.0
        grain = math.gcd(*(total for counts, _ in self._blocks for total in counts)) or 1
        total = math.prod(sum(counts.values()) for counts, _ in self._blocks)
        width = total.bit_length() // 8 + 1
        packed = 1
        for counts, _ in self._blocks:
            packed = sum(
                (packed * count) << (8 * width * (place // grain)) for place, count in counts.items()
            )
        data = packed.to_bytes(-(-packed.bit_length() // 8) + width, "little")
        far = sum(
            int.from_bytes(data[start : start + width], "little")
            for start in range(0, len(data), width)
            if abs(start // width * grain - centre) >= distance
        )
        return far / total


def effect(blocks: Sequence[Block]) -> float:
    """Return by how much B is higher, as a logarithm: the mean of the blocks, each by its number of runs."""
    weights = [len(first) + len(second) for first, second in blocks]
    return sum(map(math.prod, zip(_differences(blocks), weights, strict=True))) / sum(weights)


def _differences(blocks: Sequence[Block]) -> list[float]:
    return [
        statistics.fmean(map(math.log, second)) - statistics.fmean(map(math.log, first))
        for first, second in blocks
    ]


def smallest_effect(blocks: Sequence[Block]) -> float | None:
    """Return the smallest difference, a part, that such a session finds four times out of five.

    It follows from the scatter of the blocks; None with fewer than two.
    """
    if len(blocks) < 2:
        return None
    return as_part(_POWER * statistics.stdev(_differences(blocks)) / math.sqrt(len(blocks)))


def interval(blocks: Sequence[Block], level: float) -> tuple[float, float] | None:
    """Return the lowest and highest effect that the test does not reject, logarithms.

    None where no order of so few runs could be rejected at this level.
    """
    if 2 / arrangements(blocks) > level:
        return None
    middle = effect(blocks)
    return _end(blocks, level, middle, -1), _end(blocks, level, middle, 1)


def _end(blocks: Sequence[Block], level: float, middle: float, side: int) -> float:
    near, far = 0.0, 0.02
    while p_value(blocks, middle + side * far) > level and far < _FARTHEST:
        near, far = far, far * 2
    while far - near > _STEP / 2:
        half = (near + far) / 2
        if p_value(blocks, middle + side * half) > level:
            near = half
        else:
            far = half
    return middle + side * far


def as_part(logarithm: float) -> float:
    """Return a logarithm of a ratio as a relative difference, limited to what a float can hold."""
    return math.expm1(min(logarithm, _FARTHEST))


WINDOW = 5
MOST_ROUNDS = 25
RANGE = 0.20
SLOPE = 0.10


class Steadiness(Struct, frozen=True, kw_only=True):
    """How steady the last rounds are.

    Args:
        steady: whether the rule is kept.
        range, slope: parts of the mean; None with fewer than five rounds.
    """

    steady: bool
    range: float | None = None
    slope: float | None = None

    @property
    def sentence(self) -> str:
        """The same in words."""
        if self.range is None or self.slope is None:
            return f"not steady yet: {self.numbers}"
        return f"{'steady' if self.steady else 'not steady'}: {self.numbers}"

    @property
    def numbers(self) -> str:
        """What the rule goes by."""
        if self.range is None or self.slope is None:
            return f"fewer than {WINDOW} rounds"
        return (
            f"over the last {WINDOW} rounds values lie within {self.range * 100:.1f} % of their mean"
            f" (limit {RANGE * 100:.0f} %), and drift by {self.slope * 100:.1f} %"
            f" (limit {SLOPE * 100:.0f} %)"
        )


def steadiness(values: Sequence[float]) -> Steadiness:
    """Return how steady the last five of these rounds are."""
    last = values[-WINDOW:]
    if len(last) < WINDOW:
        return Steadiness(steady=False)
    mean = statistics.fmean(last)
    if mean <= 0:
        return Steadiness(steady=False)
    width = (max(last) - min(last)) / mean
    line = statistics.linear_regression(range(WINDOW), last)
    slope = abs(line.slope) * (WINDOW - 1) / mean
    return Steadiness(steady=width <= RANGE and slope <= SLOPE, range=width, slope=slope)
