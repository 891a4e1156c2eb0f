"""Is one faster than the other? Medians, their spread, and an exact interval of the ratio. Pure.

A run is one value: what happens inside a run hangs together, so its samples are no evidence of their own.
Two series are compared by their ratio, in logarithms: the interval is Hodges and Lehmann's for the shift
between the logarithms, from the exact distribution of Mann and Whitney's U. No bell curve is assumed, and no
interval reaches below -100 %.

Several comparisons are a family: by Holm's procedure (Scandinavian Journal of Statistics 6, 1979) the chance
of even one wrong verdict among all of them stays within 5 %; within 10 % where so few runs allow no less.
Each interval is of the confidence at which its comparison was tested, so that it leaves out zero just when
the verdict is faster or slower.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

ERROR, MOST_ERROR = 0.05, 0.10
"""How often a family of comparisons may have a wrong verdict; the second where few runs allow no less."""
MARGIN = 0.05
"""What differs by less than this part is no difference worth the name."""
_MOST_LOGARITHM = 700.0
Pair = tuple[Sequence[float], Sequence[float]]


class VerdictOutcome(StrEnum):
    """The outcome of a comparison. ``same`` is a finding, ``open`` is not."""

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
        shift: by which part the second is higher than the first; negative: lower. 0 where there is no ratio.
        low, high: the interval of the shift; None where there are too few runs for one, or no ratio.
        confidence: how often such an interval holds the true shift, 0 to 1.
        p: how often two equal series give such a difference, or a larger one; 1 where there is no ratio.
        of: how many comparisons the family has.
        error: how often a family may have a wrong verdict.
        fewest: so many runs of each are the fewest that could decide in this family.
        ratio: whether there is one: all values are above 0.
    """

    outcome: VerdictOutcome
    first: Spread
    second: Spread
    shift: float
    low: float | None = None
    high: float | None = None
    confidence: float = 0.0
    p: float = 1.0
    of: int = 1
    error: float = ERROR
    fewest: int = 3
    ratio: bool = True

    @property
    def too_few(self) -> bool:
        """Whether so few runs can decide nothing, whatever they measure."""
        return self.ratio and self.low is None


def spread(values: Sequence[float]) -> Spread:
    """Return median, least and greatest of at least one value."""
    return Spread(count=len(values), median=statistics.median(values), low=min(values), high=max(values))


def compare_family(pairs: Sequence[Pair], *, margin: float = MARGIN) -> tuple[Verdict, ...]:
    """Return a verdict over each pair of series, corrected for all of them (Holm).

    Args:
        pairs: two series of at least one run each, one value a run.
        margin: the fraction of the first below which a difference does not count.
    """
    known = [place for place, pair in enumerate(pairs) if _has_ratio(pair)]
    of = max(1, len(known))
    counts = [(len(pairs[place][0]), len(pairs[place][1])) for place in known]
    error = _error_of(of, counts)
    chances = {place: p_value(*pairs[place]) for place in known}
    levels = _levels(chances, error)
    return tuple(
        _verdict(pair, chances.get(place, 1.0), levels.get(place, 0.0), of=of, error=error, margin=margin)
        for place, pair in enumerate(pairs)
    )


def _has_ratio(pair: Pair) -> bool:
    return min(*pair[0], *pair[1]) > 0


def _error_of(of: int, counts: Sequence[tuple[int, int]]) -> float:
    """Return the error rate of the family: it depends on the numbers of runs, never on their results."""
    least = min((2 / math.comb(one + two, one) for one, two in counts), default=1.0)
    return ERROR if least <= ERROR / of else MOST_ERROR


def _levels(chances: dict[int, float], error: float) -> dict[int, float]:
    """Return the level at which Holm tests each: error/m the smallest, then error/(m-1), until one fails."""
    levels: dict[int, float] = {}
    level, failed = 0.0, False
    for done, place in enumerate(sorted(chances, key=lambda each: chances[each])):
        if not failed:
            level = error / (len(chances) - done)
            failed = chances[place] > level
        levels[place] = level
    return levels


def _verdict(pair: Pair, chance: float, level: float, *, of: int, error: float, margin: float) -> Verdict:
    one, two = spread(pair[0]), spread(pair[1])
    verdict = Verdict(
        outcome=VerdictOutcome.OPEN, first=one, second=two, shift=0.0, p=chance, of=of, error=error,
        fewest=fewest_runs(of), ratio=_has_ratio(pair),
    )  # fmt: skip
    if not verdict.ratio:
        return verdict
    differences = _differences(*pair)
    shift = _ratio(statistics.median(differences))
    rank, confidence = interval_rank(one.count, two.count, level)
    if rank == 0:
        return replace(verdict, shift=shift)
    low, high = _ratio(differences[rank - 1]), _ratio(differences[-rank])
    if -margin <= low and high <= margin:
        outcome = VerdictOutcome.SAME
    elif low > 0:
        outcome = VerdictOutcome.HIGHER
    elif high < 0:
        outcome = VerdictOutcome.LOWER
    else:
        outcome = VerdictOutcome.OPEN
    return replace(verdict, outcome=outcome, shift=shift, low=low, high=high, confidence=confidence)


def _differences(first: Sequence[float], second: Sequence[float]) -> list[float]:
    """Return the logarithms of all ratios, the least first."""
    return sorted(math.log(b) - math.log(a) for a in first for b in second)


def _ratio(logarithm: float) -> float:
    """Return the relative difference; limited to what a float can hold."""
    return math.expm1(min(logarithm, _MOST_LOGARITHM))


def p_value(first: Sequence[float], second: Sequence[float]) -> float:
    """Return the exact two-sided p of Mann and Whitney's U; equal values count against a difference."""
    not_higher = sum(b <= a for a in first for b in second)
    not_lower = sum(b >= a for a in first for b in second)
    return min(1.0, 2 * _at_most(len(first), len(second), min(not_higher, not_lower)))


def _at_most(first: int, second: int, value: int) -> float:
    """Return the probability that U is at most this value for equal series."""
    return sum(_u_counts(first, second)[: value + 1]) / math.comb(first + second, first)


def interval_rank(first: int, second: int, level: float = ERROR) -> tuple[int, float]:
    """Return which of the sorted differences, from both ends, bound the interval, and its confidence.

    It is the narrowest one that misses the true shift no more often than ``level`` says; (0, 0.0) where there
    is none.
    """
    counts = _u_counts(first, second)
    total = math.comb(first + second, first)
    below, best = 0, (0, 0.0)
    for rank in range(1, first * second // 2 + 1):
        below += counts[rank - 1]  # U < rank
        if 2 * below / total > level:
            break
        best = (rank, 1 - 2 * below / total)
    return best


def fewest_runs(of: int = 1) -> int:
    """Return how many runs of each are needed to decide among so many comparisons."""
    return next(runs for runs in range(1, 100) if 2 / math.comb(2 * runs, runs) <= MOST_ERROR / max(1, of))


class Best(Struct, frozen=True, kw_only=True):
    """Which of several is the highest, in each of several columns.

    Args:
        places: by column; None where that is not decided.
        runs: the greatest number of runs in a cell.
        of: how many comparisons that took.
        fewest: so many runs of each are the fewest that could decide.
    """

    places: tuple[int | None, ...]
    runs: int = 0
    of: int = 0
    fewest: int = 3


def decided_best(columns: Sequence[Sequence[Sequence[float]]]) -> Best:
    """Return the row that is higher than all others in each column, where that is decided.

    The one with the highest median is compared with each of the others. That it was chosen by what was
    measured is in the correction: Bonferroni's over the others of a column, Holm's over the columns.

    Args:
        columns: in each of them the values of each row; none where it was not measured.
    """
    chosen: dict[int, tuple[int, float]] = {}
    of = runs = 0
    counts: list[tuple[int, int]] = []
    for column, rows in enumerate(columns):
        known = [place for place, values in enumerate(rows) if values and min(values) > 0]
        if len(known) < 2:
            continue
        best = max(known, key=lambda place: statistics.median(rows[place]))
        others = [place for place in known if place != best]
        higher = max(_higher(rows[other], rows[best]) for other in others)
        chosen[column] = (best, min(1.0, higher * len(others)))
        counts += [(len(rows[other]), len(rows[best])) for other in others]
        of += len(others)
        runs = max(runs, *(len(rows[place]) for place in known))
    chances = {column: chance for column, (_, chance) in chosen.items()}
    levels = _levels(chances, _error_of(max(1, of), counts))
    places = tuple(
        chosen[column][0] if column in chosen and chances[column] <= levels[column] else None
        for column in range(len(columns))
    )
    return Best(places=places, runs=runs, of=of, fewest=fewest_runs(of))


def _higher(first: Sequence[float], second: Sequence[float]) -> float:
    """Return the two-sided p of the second being higher."""
    not_higher = sum(b <= a for a in first for b in second)
    return min(1.0, 2 * _at_most(len(first), len(second), not_higher))


def _u_counts(first: int, second: int) -> list[int]:
    """Return the number of arrangements with U = 0, 1, 2 ... (the coefficients of a Gaussian binomial)."""
    counts = [1] + [0] * (first * second)
    for step in range(1, first + 1):
        for place in range(len(counts) - 1, second + step - 1, -1):
            counts[place] -= counts[place - second - step]
        for place in range(step, len(counts)):
            counts[place] += counts[place - step]
    return counts


def sentence(verdict: Verdict, first: str, second: str, *, what: str = "faster", less: str = "slower") -> str:
    """Return the verdict in words.

    Args:
        verdict: of two series.
        first: what the first is called.
        second: what the other one is called.
        what: what a higher value means.
        less: what a lower value means.
    """
    if not verdict.ratio:
        return f"not decided: {second} against {first}: a run that measured 0 has no ratio"
    if verdict.low is None or verdict.high is None:
        return f"not decided: {second} against {first}: {too_few_words(verdict)}"
    between = f"{percent(verdict.low)} to {percent(verdict.high)}, {_confidence(verdict)} % interval"
    if verdict.outcome is VerdictOutcome.SAME:
        return f"no difference: {second} against {first} is {between}"
    if verdict.outcome is VerdictOutcome.OPEN:
        return f"not decided: {second} against {first} is {between}; more repeats may decide"
    word = what if verdict.outcome is VerdictOutcome.HIGHER else less
    return f"{second} is {word} than {first} by {abs(verdict.shift) * 100:.1f} % ({between})"


def too_few_words(verdict: Verdict) -> str:
    """Return that there are too few runs, and how many are needed."""
    one, two = verdict.first.count, verdict.second.count
    runs = f"{one} and {two} runs"
    among = f" among {verdict.of} comparisons" if verdict.of > 1 else ""
    return f"{runs} cannot decide{among}; at least {verdict.fewest} of each are needed"


def family_words(verdict: Verdict) -> str:
    """Return how a verdict is corrected for the others; "" for a single one."""
    if verdict.of < 2:
        return ""
    return (
        f"{verdict.of} comparisons, corrected together (Holm): the chance of a wrong verdict among them is at"
        f" most {verdict.error * 100:.0f} %. At least {verdict.fewest} runs of each are needed to decide."
    )


def _confidence(verdict: Verdict) -> str:
    part = verdict.confidence * 100
    return f"{part:.0f}" if part < 98.5 else f"{math.floor(part * 10) / 10:.1f}"


def percent(part: float) -> str:
    """Return a fraction as a percentage with its sign: +3.1 %."""
    return f"{part * 100:+.1f} %"
