"""The verdict over two series of runs: faster, slower, no difference, or why that is not decided. Pure.

A run is one value: what happens inside a run hangs together, so its samples are not evidence of their own.
Only runs whose order was drawn at random, block by block, are judged (``block_test``). Series that were
measured at different times, or one after the other, have figures and no verdict.

Several comparisons are a family: by Holm's procedure (Scandinavian Journal of Statistics 6, 1979) the chance
of even one wrong verdict among all of them stays within 3 %. Each interval is of the confidence at which its
comparison was tested, so that it leaves out zero just when the verdict is faster or slower.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from raidtui.features.bench.results.run_statistics import (
    Block,
    as_part,
    effect,
    interval,
    p_value,
    smallest_effect,
)

ERROR = 0.03
"""How often a family of comparisons may have a wrong verdict."""
MARGIN = 0.05
"""What differs by less than this part is not a difference worth the name."""
_MOST_BLOCKS = 1000
_Row = TypeVar("_Row")


class VerdictOutcome(StrEnum):
    """The outcome of a comparison. ``same`` is a finding, ``open`` is not."""

    HIGHER = "higher"
    LOWER = "lower"
    SAME = "same"
    OPEN = "open"


class NoVerdict(StrEnum):
    """Why two series are not judged, whatever they measured."""

    APART = "apart"  # different benchmarks
    ORDER = "order"  # of one benchmark, in an order that was not drawn
    ROUNDS = "rounds"  # rounds until they are steady follow one another


NO_VERDICT_WORDS = {
    NoVerdict.APART: "measured at different times; one sweep or A/B measures both in a random order",
    NoVerdict.ORDER: "their order was not drawn at random; a sweep or an A/B draws it",
    NoVerdict.ROUNDS: "rounds until they are steady follow one another; compare with repeats instead",
}


class Spread(Struct, frozen=True, kw_only=True):
    """Several runs of one kind."""

    count: int
    median: float
    low: float
    high: float


class Pairing(Struct, frozen=True, kw_only=True):
    """Two series to be compared, one value a run.

    Args:
        first, second: all values of each, at least one.
        blocks: those whose order was drawn, by their blocks; () where none was.
        why: why there are no blocks.
        small: whether a block holds one run of each, since both are measured on one array of their block.
    """

    first: Sequence[float]
    second: Sequence[float]
    blocks: tuple[Block, ...] = ()
    why: NoVerdict | None = None
    small: bool = False

    @property
    def ratio(self) -> bool:
        """Whether all values are above 0."""
        return min(*self.first, *self.second) > 0


class Verdict(Struct, frozen=True, kw_only=True):
    """The second series against the first.

    Args:
        shift: by which part the second is higher than the first; negative: lower. 0 where there is no ratio.
        low, high: the interval of the shift; None where there are too few runs for one, or none is judged.
        confidence: how often such an interval holds the true shift, 0 to 1.
        p: how often two equal series give such a difference, or a larger one; 1 where there is no test.
        of: how many comparisons the family has.
        fewest: so many runs of each are the fewest that could decide in this family.
        smallest: the smallest shift that runs of such a scatter find four times out of five; None where that
            is not known.
        ratio: whether there is one: all values are above 0.
        why: why there is no test.
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
    fewest: int = 5
    smallest: float | None = None
    ratio: bool = True
    why: NoVerdict | None = None

    @property
    def too_few(self) -> bool:
        """Whether so few runs can decide nothing, whatever they measure."""
        return self.ratio and self.why is None and self.low is None


def spread(values: Sequence[float]) -> Spread:
    """Return median, least and greatest of at least one value."""
    return Spread(count=len(values), median=statistics.median(values), low=min(values), high=max(values))


def compare_family(pairs: Sequence[Pairing], *, margin: float = MARGIN) -> tuple[Verdict, ...]:
    """Return a verdict over each pair of series, corrected for all of them (Holm).

    Args:
        pairs: two series each.
        margin: the fraction of the first below which a difference does not count.
    """
    known = {place: pair for place, pair in enumerate(pairs) if pair.ratio and pair.blocks}
    chances = {place: p_value(pair.blocks) for place, pair in known.items()}
    levels = _levels(chances)
    return tuple(
        _judged(pair, chances[place], levels[place], of=len(known), margin=margin)
        if place in known
        else _unjudged(pair)
        for place, pair in enumerate(pairs)
    )


def _levels(chances: dict[int, float]) -> dict[int, float]:
    """Return the level at which Holm tests each: error/m the smallest, then error/(m-1), until one fails."""
    levels: dict[int, float] = {}
    level, failed = 0.0, False
    for done, place in enumerate(sorted(chances, key=lambda each: chances[each])):
        if not failed:
            level = ERROR / (len(chances) - done)
            failed = chances[place] > level
        levels[place] = level
    return levels


def _unjudged(pair: Pairing) -> Verdict:
    first, second = spread(pair.first), spread(pair.second)
    shift = second.median / first.median - 1 if pair.ratio else 0.0
    return Verdict(
        outcome=VerdictOutcome.OPEN, first=first, second=second, shift=shift, ratio=pair.ratio, why=pair.why
    )


def _judged(pair: Pairing, chance: float, level: float, *, of: int, margin: float) -> Verdict:
    verdict = replace(
        _unjudged(pair),
        shift=as_part(effect(pair.blocks)),
        p=chance,
        of=of,
        fewest=fewest_runs(of, small=pair.small),
        smallest=smallest_effect(pair.blocks),
    )
    found = interval(pair.blocks, level)
    if found is None:
        return verdict
    low, high = map(as_part, found)
    if -margin <= low and high <= margin:
        outcome = VerdictOutcome.SAME
    elif low > 0:
        outcome = VerdictOutcome.HIGHER
    elif high < 0:
        outcome = VerdictOutcome.LOWER
    else:
        outcome = VerdictOutcome.OPEN
    return replace(verdict, outcome=outcome, low=low, high=high, confidence=1 - level)


def fewest_runs(of: int = 1, *, small: bool = False) -> int:
    """Return how many runs of each are needed to decide among so many comparisons.

    Args:
        of: how many comparisons.
        small: whether a block holds one run of each, not two.
    """
    return next(
        runs
        for runs in range(1, _MOST_BLOCKS)
        if 2 / (2**runs if small else 6 ** (runs // 2) * 2 ** (runs % 2)) <= ERROR / max(1, of)
    )


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


def decided_best(
    columns: Sequence[Sequence[_Row | None]],
    values: Callable[[_Row], Sequence[float]],
    pairing: Callable[[_Row, _Row], Pairing],
) -> Best:
    """Return the row that is higher than all others in each column, where that is decided.

    The one with the highest median is compared with each of the others. That it was chosen by what was
    measured is in the correction: Bonferroni's over the others of a column, Holm's over the columns.

    Args:
        columns: in each of them the series of each row; None where it was not measured.
        values: of a series, one a run.
        pairing: of two series.
    """
    chosen: dict[int, tuple[int, float]] = {}
    of = runs = 0
    small = False
    for column, rows in enumerate(columns):
        known = {place: row for place, row in enumerate(rows) if row is not None and min(values(row)) > 0}
        if len(known) < 2:
            continue
        best = max(known, key=lambda place: statistics.median(values(known[place])))
        pairs = [pairing(row, known[best]) for place, row in known.items() if place != best]
        chance = max(_higher(pair) for pair in pairs)
        chosen[column] = (best, min(1.0, chance * len(pairs)))
        of += len(pairs)
        small = small or any(pair.small for pair in pairs)
        runs = max(runs, *(len(values(row)) for row in known.values()))
    levels = _levels({column: chance for column, (_, chance) in chosen.items()})
    places = tuple(
        chosen[column][0] if column in chosen and chosen[column][1] <= levels[column] else None
        for column in range(len(columns))
    )
    return Best(places=places, runs=runs, of=of, fewest=fewest_runs(of, small=small))


def _higher(pair: Pairing) -> float:
    """Return the p of the second being higher than the first."""
    return p_value(pair.blocks) if pair.blocks and effect(pair.blocks) > 0 else 1.0


def sentence(verdict: Verdict, first: str, second: str, *, what: str = "faster", less: str = "slower") -> str:
    """Return the verdict in words.

    Args:
        verdict: of two series.
        first: what the first is called.
        second: what the other one is called.
        what: what a higher value means.
        less: what a lower value means.
    """
    if why := undecided_words(verdict):
        return f"not decided: {second} against {first}: {why}"
    if verdict.low is None or verdict.high is None:
        return f"not decided: {second} against {first}"
    between = f"{percent(verdict.low)} to {percent(verdict.high)}, {_confidence(verdict)} % interval"
    if verdict.outcome is VerdictOutcome.SAME:
        return f"no difference: {second} against {first} is {between}"
    if verdict.outcome is VerdictOutcome.OPEN:
        return f"not decided: {second} against {first} is {between}{_seen_words(verdict)}"
    word = what if verdict.outcome is VerdictOutcome.HIGHER else less
    return f"{second} is {word} than {first} by {abs(verdict.shift) * 100:.1f} % ({between})"


def _seen_words(verdict: Verdict) -> str:
    """Return what such a session finds; repeats that are added after a look at it would not count."""
    if verdict.smallest is None:
        return ""
    return (
        f"; these runs find differences above about {verdict.smallest * 100:.0f} %: for smaller ones start a"
        " new benchmark with more repeats"
    )


def undecided_words(verdict: Verdict) -> str:
    """Return why nothing can be decided, whatever was measured; "" where it can."""
    if not verdict.ratio:
        return "a run that measured 0 has no ratio"
    if verdict.why is not None:
        return NO_VERDICT_WORDS[verdict.why]
    if not verdict.too_few:
        return ""
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
        f" most {ERROR * 100:.0f} %. At least {verdict.fewest} runs of each are needed to decide."
    )


def _confidence(verdict: Verdict) -> str:
    part = verdict.confidence * 100
    return f"{part:.0f}" if part < 98.5 else f"{math.floor(part * 10) / 10:.1f}"


def percent(part: float) -> str:
    """Return a fraction as a percentage with its sign: +3.1 %."""
    return f"{part * 100:+.1f} %"
