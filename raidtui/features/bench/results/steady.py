"""Steady state by the rule of SNIA's Solid State Storage Performance Test Specification. Pure.

Over the last five rounds no value may be further from another than 20 % of their mean, and the line that fits
them best may not rise or fall by more than 10 % of it from the first to the last.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from msgspec import Struct

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
