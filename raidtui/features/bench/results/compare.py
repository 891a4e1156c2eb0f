"""Runs side by side: series of the same kind, their medians and spread, verdicts, curves over time. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct

from raidtui.features.bench.caches import hit_points, percent_words
from raidtui.features.bench.results.comparison_verdict import (
    NoVerdict,
    Pairing,
    Spread,
    Verdict,
    VerdictOutcome,
    compare_family,
    family_words,
    sentence,
    spread,
    undecided_words,
)
from raidtui.features.bench.results.run_record import (
    FAILED,
    NOT_STEADY,
    WHOLE,
    RunRecord,
    RunSample,
    milliseconds,
    readings_of,
)
from raidtui.features.bench.results.run_statistics import WINDOW
from raidtui.features.bench.schedule import array_of, labels_of, point_words
from raidtui.view.units import joined, three_digits

_MOST_NAMES = 4


class Metric(Struct, frozen=True, kw_only=True):
    """A figure that runs are compared by.

    Args:
        name: as the command line has it.
        more, less: what a higher and a lower value mean.
        value: of a run; None where it has none.
        words: a value in words.
    """

    name: str
    more: str
    less: str
    value: Callable[[RunRecord], float | None]
    words: Callable[[float], str]


def _latency(name: str, field: str) -> Metric:
    def value(record: RunRecord) -> float | None:
        found = getattr(record.main, field)
        return None if found is None else float(found)

    return Metric(
        name=name, more="slower", less="faster", value=value, words=lambda ns: f"{milliseconds(ns)} ms"
    )


HITS, FLUSH = "hits", "flush"
"""The measures that only runs over a cache have, and only those that flush."""


def _hit_ratio(record: RunRecord) -> float | None:
    return record.cache.hit_ratio if record.cache is not None else None


METRICS = {
    measure.name: measure
    for measure in (
        Metric(
            name="iops",
            more="faster",
            less="slower",
            value=lambda record: record.iops,
            words=lambda value: f"{value:,.0f}",
        ),
        Metric(
            name="mb/s",
            more="faster",
            less="slower",
            value=lambda record: record.bytes_s,
            words=lambda value: three_digits(value / 1e6),
        ),
        _latency("p50", "p50_ns"),
        _latency("p99", "p99_ns"),
        _latency("p99.9", "p999_ns"),
        Metric(
            name=FLUSH,
            more="slower",
            less="faster",
            value=lambda record: record.flush.p99_ns,
            words=lambda ns: f"{milliseconds(ns)} ms",
        ),
        Metric(
            name=HITS,
            more="higher in hit ratio",
            less="lower in hit ratio",
            value=_hit_ratio,
            words=percent_words,
        ),
    )
}


class Series(Struct, frozen=True, kw_only=True):
    """Runs of one kind: the repeats of one point of one benchmark.

    Args:
        label: what distinguishes it from the others.
        runs: those that count, in order.
        unsteady: whether a steady state was requested and not reached: then it has no figure.
    """

    label: str
    runs: tuple[RunRecord, ...]
    unsteady: bool = False

    def values(self, measure: Metric) -> list[float]:
        """Return one value a run."""
        return [value for run in self.runs if (value := measure.value(run)) is not None]


class SeriesRow(Struct, frozen=True, kw_only=True):
    """A series in a table: its spread, and the verdict against another one.

    Args:
        spread: None where nothing was measured, or the steady state was not reached.
        against: the label of the series that it is compared with; "" of none.
    """

    series: Series
    spread: Spread | None
    verdict: Verdict | None = None
    sentence: str = ""
    against: str = ""


def series_of(records: Sequence[RunRecord]) -> tuple[Series, ...]:
    """Return the runs as series: benchmarks in the order of their first runs, each in that of its points.

    Runs that did not finish count only in series without others. Where the steady state was
    waited for, the last five rounds count.
    """
    groups: dict[tuple[str, str, str], list[RunRecord]] = {}
    for record in records:
        if record.state != FAILED:
            groups.setdefault((record.job, record.title, point_words(record.point)), []).append(record)
    several = len({(job, title) for job, title, _ in groups}) > 1
    differing = labels_of([group[0].point for group in groups.values()])
    found = []
    jobs = list(dict.fromkeys(job for job, _, _ in groups))
    ordered = sorted(groups.values(), key=lambda group: (jobs.index(group[0].job), group[0].point_place))
    for group in ordered:
        whole = [record for record in group if record.state == WHOLE] or group
        kept = whole[-WINDOW:] if whole[-1].steady else whole
        label = _label(group[0], differing, several=several)
        found.append(Series(label=label, runs=tuple(kept), unsteady=any(run.unsteady for run in kept)))
    return tuple(found)


def _label(record: RunRecord, differing: Sequence[str], *, several: bool) -> str:
    words = point_words({label: value for label, value in record.point.items() if label in differing})
    if not several and words:
        return words
    run = f"#{record.id}" if record.id else ""
    name = record.note or record.title
    return " ".join(part for part in (run, name, f"({words})" if words else "") if part)


def table(series: Sequence[Series], measure: Metric) -> tuple[SeriesRow, ...]:
    """Return the series with their spread, each compared with the first one of the same workload.

    Two series alone are compared in any case. All comparisons are one family, see ``verdict``.
    """
    known = [each for each in series if not each.unsteady and each.values(measure)]
    against = {id(each): _base(each, known) for each in known}
    compared = [each for each in known if against[id(each)] is not each]
    pairs = [pairing(against[id(each)], each, measure) for each in compared]
    verdicts = {id(each): found for each, found in zip(compared, compare_family(pairs), strict=True)}
    rows: list[SeriesRow] = []
    for each in series:
        verdict = verdicts.get(id(each))
        if each.unsteady:
            rows.append(SeriesRow(series=each, spread=None, sentence=unsteady_words(each)))
        elif verdict is None:
            values = each.values(measure)
            rows.append(SeriesRow(series=each, spread=spread(values) if values else None))
        else:
            first = against[id(each)].label
            words = sentence(verdict, first, each.label, what=measure.more, less=measure.less)
            words += _also_words(against[id(each)], each)
            rows.append(
                SeriesRow(series=each, spread=verdict.second, verdict=verdict, sentence=words, against=first)
            )
    return tuple(rows)


def _also_words(first: Series, second: Series) -> str:
    """Return which settings differ besides what was swept: a change of one can bring another with it."""
    swept = {label.replace("-", "_") for run in (first.runs[0], second.runs[0]) for label in run.point}
    found = []
    for name, values_of in _SETTINGS.items():
        ones, others = (
            {value for run in series.runs for value in values_of(run)} for series in (first, second)
        )
        if name not in swept and ones and others and ones.isdisjoint(others):
            found.append(f"{name} {', '.join(sorted(others))} instead of {', '.join(sorted(ones))}")
    return f"; {second.label} also had {joined(found)}" if found else ""


def _of_disks(field: str) -> Callable[[RunRecord], Iterator[str]]:
    def values(run: RunRecord) -> Iterator[str]:
        found = (getattr(disk, field) for disk in run.environment.disks)
        return (str(value) for value in found if value not in {None, ""})

    return values


_SETTINGS: dict[str, Callable[[RunRecord], Iterator[str]]] = {
    "scheduler": _of_disks("scheduler"),
    "nr_requests": _of_disks("requests"),
    "queue_depth": _of_disks("queue_depth"),
    "read_ahead_kb": _of_disks("read_ahead_kib"),
    "write_cache": _of_disks("write_cache"),
    "governor": lambda run: iter(filter(None, [run.environment.cpu.governor])),
}
"""What a disk and the CPU are set to, by the names of the knobs."""


def pairing(first: Series, second: Series, measure: Metric) -> Pairing:
    """Return two series with figures by the blocks within which their order was drawn."""
    values = first.values(measure), second.values(measure)
    runs = *first.runs, *second.runs
    if len({run.job for run in runs}) > 1:
        return Pairing(first=values[0], second=values[1], why=NoVerdict.APART)
    if any(run.steady for run in runs):
        return Pairing(first=values[0], second=values[1], why=NoVerdict.ROUNDS)
    if any(run.block < 0 for run in runs):
        return Pairing(first=values[0], second=values[1], why=NoVerdict.ORDER)
    arrays = {array_of(run.point) for run in runs}
    small = len(arrays) == 1 and {run.visit for run in runs} != {run.block for run in runs}
    blocks: dict[int, tuple[list[float], list[float]]] = {}
    for side, series in enumerate((first, second)):
        for run in series.runs:
            if (value := measure.value(run)) is not None:
                blocks.setdefault(run.visit if small else run.block, ([], []))[side].append(value)
    found = tuple((tuple(a), tuple(b)) for a, b in blocks.values() if a and b)
    why = None if found else NoVerdict.ORDER
    return Pairing(first=values[0], second=values[1], blocks=found, why=why, small=small)


def unsteady_words(series: Series) -> str:
    """Return that a series has no figure, since the steady state was not reached."""
    last = series.runs[-1]
    what = series.label or last.words
    rounds = f"{last.repeat + 1} round{'s'[: last.repeat != 0]}"
    why = f": {last.steady}" if last.steady else ""
    return f"{NOT_STEADY}: {what} has no figure after {rounds}{why}"


class Statement(Struct, frozen=True, kw_only=True):
    """A statement below a table, once for all series that it applies to.

    Args:
        places: whose.
        decided: whether it is a finding that one is higher or lower.
        unsteady: whether it is that the steady state was not reached.
    """

    sentence: str
    places: tuple[int, ...]
    decided: bool = False
    unsteady: bool = False


def statements_of(rows: Sequence[SeriesRow]) -> tuple[Statement, ...]:
    """Return the verdicts in sentences; series that nothing can be decided of have one together."""
    found: list[Statement] = []
    few: dict[tuple[str, str], list[int]] = {}
    for place, row in enumerate(rows):
        verdict = row.verdict
        why = undecided_words(verdict) if verdict is not None else ""
        if why:
            few.setdefault((row.against, why), []).append(place)
        elif row.sentence:
            decided = verdict is not None and verdict.outcome in {VerdictOutcome.HIGHER, VerdictOutcome.LOWER}
            found.append(
                Statement(
                    sentence=row.sentence, places=(place,), decided=decided, unsteady=row.series.unsteady
                )
            )
    for (against, why), places in few.items():
        names = [rows[place].series.label for place in places]
        who = ", ".join(names[:_MOST_NAMES])
        who += f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
        found.append(Statement(sentence=f"not decided: {who} against {against}: {why}", places=tuple(places)))
    return tuple(found)


def family_of(rows: Sequence[SeriesRow]) -> str:
    """Return how the verdicts of a table are corrected for each other; "" for fewer than two."""
    return next((words for row in rows if row.verdict and (words := family_words(row.verdict))), "")


def _base(series: Series, known: Sequence[Series]) -> Series:
    """Return what a series is compared with: itself where there is nothing."""
    if len(known) == 2:
        return known[0]
    return next(each for each in known if each.runs[0].work == series.runs[0].work)


def table_lines(rows: Sequence[SeriesRow], measure: Metric) -> list[str]:
    """Return a table as lines, and the verdicts below it."""
    width = max((len(row.series.label) for row in rows), default=0)
    lines = [f"{'':<{width}}  {measure.name:>10}  {'from':>10}  {'to':>10}  runs"]
    for row in rows:
        if row.spread is None:
            lines.append(f"{row.series.label:<{width}}  {NOT_STEADY if row.series.unsteady else '–':>10}")
            continue
        cells = (row.spread.median, row.spread.low, row.spread.high)
        numbers = "  ".join(f"{measure.words(value):>10}" for value in cells)
        lines.append(f"{row.series.label:<{width}}  {numbers}  {row.spread.count:>4}")
    family = family_of(rows)
    return [*lines, *(each.sentence for each in statements_of(rows)), *([family] if family else [])]


class Curve(Struct, frozen=True, kw_only=True):
    """One run over time: (seconds, IOPS, bytes/s, p99 ns or None).

    Args:
        label: its series, and the run if there are several.
        run: the run's number in the history.
        hits: (seconds, hit ratio 0 to 1) of the cache below; () without one.
    """

    label: str
    points: tuple[tuple[float, float, float, int | None], ...]
    run: int = 0
    hits: tuple[tuple[float, float], ...] = ()


def curves(series: Sequence[Series], samples: Mapping[int, Sequence[RunSample]]) -> tuple[Curve, ...]:
    """Return the curves of runs to overlay: the median run of each series.

    Args:
        series: the series.
        samples: by the runs' numbers.
    """
    found = []
    for one in series:
        run = middle_run(one.runs)
        seen = samples.get(run.id, ())
        points = tuple((each.t_s, each.iops, each.bytes_s, each.main.p99_ns) for each in seen)
        if points:
            label = f"{one.label or run.words}: {which_run(one, run)}"
            found.append(Curve(label=label, points=points, run=run.id, hits=hits_over_time(run, seen)))
    return tuple(found)


def hits_over_time(run: RunRecord, samples: Sequence[RunSample]) -> tuple[tuple[float, float], ...]:
    """Return (seconds, hit ratio 0 to 1) of the cache below a run; () without one."""
    if run.cache is None:
        return ()
    return hit_points(readings_of(samples), run.cache.name)


def measures_of(series: Sequence[Series]) -> tuple[str, ...]:
    """Return the names of the measures that these can be compared by: hits only where there are some."""
    return tuple(
        name
        for name, measure in METRICS.items()
        if name not in {HITS, FLUSH} or any(each.values(measure) for each in series)
    )


def which_run(series: Series, run: RunRecord) -> str:
    """Return which run of a series is drawn: run #7, the one in the middle of 3 by IOPS."""
    name = f"run #{run.id}" if run.id else f"run {run.number + 1}"
    steady = f"{NOT_STEADY}, " if series.unsteady else ""
    if len(series.runs) == 1:
        return f"{steady}{name}"
    return f"{steady}{name}, the median of {len(series.runs)} by IOPS"


def middle_run(runs: Sequence[RunRecord]) -> RunRecord:
    """Return the median run by IOPS of at least one."""
    return sorted(runs, key=lambda run: run.iops)[(len(runs) - 1) // 2]
