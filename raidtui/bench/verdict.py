"""Is one faster than the other? Medians, their spread, and an exact interval. Pure.

A run is one value: what happens inside a run hangs together, so its samples are no evidence of their own. The
interval is Hodges and Lehmann's for the shift between two series, from the exact distribution of Mann and
Whitney's U: no bell curve is assumed. With few runs it says little, and says so: three runs against three
give an interval of 90 % at best, four against four one of 97 %.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct

CONFIDENCE = 0.95
MARGIN = 0.05
"""What differs by less than this part is no difference worth the name."""
_LEAST_CONFIDENCE = 0.90


class Outcome(StrEnum):
    """How a comparison came out. ``same`` is a finding; ``open`` is none."""

    HIGHER = "higher"
    LOWER = "lower"
    SAME = "same"
    OPEN = "open"


class Spread(Struct, frozen=True, kw_only=True):
    """Several runs of one kind."""

    count: int
    median: float
    low: float
    high: float


class Verdict(Struct, frozen=True, kw_only=True):
    """The second series against the first.

    Args:
        shift: by which part of the first's median the second is higher; negative: lower.
        low, high: the interval of the shift; None where there are too few runs for one.
        confidence: how often such an interval holds the true shift, 0 to 1.
    """

    outcome: Outcome
    first: Spread
    second: Spread
    shift: float
    low: float | None = None
    high: float | None = None
    confidence: float = 0.0


def spread(values: Sequence[float]) -> Spread:
    """Return median, least and greatest of at least one value."""
    return Spread(count=len(values), median=statistics.median(values), low=min(values), high=max(values))


def compare(first: Sequence[float], second: Sequence[float], *, margin: float = MARGIN) -> Verdict:
    """Return the verdict over two series of at least one run each.

    Args:
        first: one value a run.
        second: likewise.
        margin: below which part of the first's median a difference is none.
    """
    one, two = spread(first), spread(second)
    differences = sorted(b - a for a in first for b in second)
    unit = one.median or 1.0
    shift = statistics.median(differences) / unit
    rank, confidence = interval_rank(len(first), len(second))
    if rank == 0 or one.median <= 0:
        return Verdict(outcome=Outcome.OPEN, first=one, second=two, shift=shift)
    low, high = differences[rank - 1] / unit, differences[-rank] / unit
    if -margin <= low and high <= margin:
        outcome = Outcome.SAME
    elif low > 0:
        outcome = Outcome.HIGHER
    elif high < 0:
        outcome = Outcome.LOWER
    else:
        outcome = Outcome.OPEN
    return Verdict(
        outcome=outcome, first=one, second=two, shift=shift, low=low, high=high, confidence=confidence
    )


def interval_rank(first: int, second: int) -> tuple[int, float]:
    """Return which of the sorted differences, from both ends, bound the interval, and its confidence.

    It is the narrowest one of at least 95 %, or the widest where there is none; (0, 0.0) where even that
    holds the true shift less than nine times in ten.
    """
    ways = _ways(first, second)
    total = math.comb(first + second, first)
    below, best = 0, (0, 0.0)
    for rank in range(1, first * second // 2 + 1):
        below += ways[rank - 1]  # U < rank
        confidence = 1 - 2 * below / total
        if confidence >= CONFIDENCE or (rank == 1 and confidence >= _LEAST_CONFIDENCE):
            best = (rank, confidence)
        else:
            break
    return best


def _ways(first: int, second: int) -> list[int]:
    """Return in how many ways U comes to 0, 1, 2 ... (the coefficients of a Gaussian binomial)."""
    ways = [1] + [0] * (first * second)
    for step in range(1, first + 1):
        for place in range(len(ways) - 1, second + step - 1, -1):
            ways[place] -= ways[place - second - step]
        for place in range(step, len(ways)):
            ways[place] += ways[place - step]
    return ways


def sentence(verdict: Verdict, first: str, second: str, *, what: str = "faster", less: str = "slower") -> str:
    """Return the verdict in words.

    Args:
        verdict: of two series.
        first: what the first is called.
        second: what the other one is called.
        what: what a higher value means.
        less: what a lower value means.
    """
    if verdict.first.median <= 0:
        return f"not decided: {first} has nothing to compare with"
    if verdict.low is None or verdict.high is None:
        runs = f"{verdict.first.count} and {verdict.second.count} runs decide nothing"
        return f"not decided: {runs}; three of each are the least"
    between = f"{percent(verdict.low)} to {percent(verdict.high)}, {verdict.confidence * 100:.0f} % interval"
    if verdict.outcome is Outcome.SAME:
        return f"no difference: {second} against {first} is {between}"
    if verdict.outcome is Outcome.OPEN:
        return f"not decided: {second} against {first} is {between}; more repeats may tell"
    word = what if verdict.outcome is Outcome.HIGHER else less
    return f"{second} is {word} than {first} by {abs(verdict.shift) * 100:.1f} % ({between})"


def percent(part: float) -> str:
    """Return a part of one with its sign: +3.1 %."""
    return f"{part * 100:+.1f} %"
