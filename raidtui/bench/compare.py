"""Runs side by side: series of the same kind, their medians and spread, verdicts, curves over time. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from raidtui.bench.course import labels_of, point_words
from raidtui.bench.record import FAILED, WHOLE, Record, milliseconds
from raidtui.bench.samples import Sample
from raidtui.bench.steady import WINDOW
from raidtui.bench.verdict import Spread, Verdict, compare, sentence, spread
from raidtui.model.units import three_digits


class Measure(Struct, frozen=True, kw_only=True):
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
    value: Callable[[Record], float | None]
    words: Callable[[float], str]


def _latency(name: str, field: str) -> Measure:
    def value(record: Record) -> float | None:
        found = getattr(record.main, field)
        return None if found is None else float(found)

    return Measure(
        name=name, more="slower", less="faster", value=value, words=lambda ns: f"{milliseconds(ns)} ms"
    )


MEASURES = {
    measure.name: measure
    for measure in (
        Measure(
            name="iops",
            more="faster",
            less="slower",
            value=lambda record: record.iops,
            words=lambda value: f"{value:,.0f}",
        ),
        Measure(
            name="mb/s",
            more="faster",
            less="slower",
            value=lambda record: record.bytes_s,
            words=lambda value: three_digits(value / 1e6),
        ),
        _latency("p50", "p50_ns"),
        _latency("p99", "p99_ns"),
        _latency("p99.9", "p999_ns"),
    )
}


class Series(Struct, frozen=True, kw_only=True):
    """Runs of one kind: the repeats of one point of one benchmark.

    Args:
        label: what tells it from the others.
        runs: those that count, in order.
    """

    label: str
    runs: tuple[Record, ...]

    def values(self, measure: Measure) -> list[float]:
        """Return one value a run."""
        return [value for run in self.runs if (value := measure.value(run)) is not None]


class Row(Struct, frozen=True, kw_only=True):
    """A series in a table: its spread, and the verdict against the first one."""

    series: Series
    spread: Spread | None
    verdict: Verdict | None = None
    sentence: str = ""


def series_of(records: Sequence[Record]) -> tuple[Series, ...]:
    """Return the runs in series, in the order in which they first come.

    Runs that did not come to their end count only where a series has no others. Where the steady state was
    waited for, the last five rounds count.
    """
    groups: dict[tuple[str, str, str], list[Record]] = {}
    for record in records:
        if record.state != FAILED:
            groups.setdefault((record.job, record.title, point_words(record.point)), []).append(record)
    several = len({(job, title) for job, title, _ in groups}) > 1
    differing = labels_of([group[0].point for group in groups.values()])
    found = []
    for group in groups.values():
        whole = [record for record in group if record.state == WHOLE] or group
        kept = whole[-WINDOW:] if whole[-1].steady else whole
        found.append(Series(label=_label(group[0], differing, several=several), runs=tuple(kept)))
    return tuple(found)


def _label(record: Record, differing: Sequence[str], *, several: bool) -> str:
    words = point_words({label: value for label, value in record.point.items() if label in differing})
    if not several and words:
        return words
    run = f"#{record.id}" if record.id else ""
    name = record.note or record.title
    return " ".join(part for part in (run, name, f"({words})" if words else "") if part)


def table(series: Sequence[Series], measure: Measure) -> tuple[Row, ...]:
    """Return the series with their spread, and each against the first one that was asked the same of.

    Two series alone are compared whatever was asked of them.
    """
    rows: list[Row] = []
    known = [each for each in series if each.values(measure)]
    for each in series:
        values = each.values(measure)
        if not values:
            rows.append(Row(series=each, spread=None))
            continue
        first = _base(each, known)
        if first is each:
            rows.append(Row(series=each, spread=spread(values)))
            continue
        verdict = compare(first.values(measure), values)
        words = sentence(verdict, first.label, each.label, what=measure.more, less=measure.less)
        rows.append(Row(series=each, spread=spread(values), verdict=verdict, sentence=words))
    return tuple(rows)


def _base(series: Series, known: Sequence[Series]) -> Series:
    """Return what a series is compared with: itself where there is nothing."""
    if len(known) == 2:
        return known[0]
    return next(each for each in known if each.runs[0].work == series.runs[0].work)


def table_lines(rows: Sequence[Row], measure: Measure) -> list[str]:
    """Return a table as lines, and the verdicts below it."""
    width = max((len(row.series.label) for row in rows), default=0)
    lines = [f"{'':<{width}}  {measure.name:>10}  {'from':>10}  {'to':>10}  runs"]
    for row in rows:
        if row.spread is None:
            lines.append(f"{row.series.label:<{width}}  {'–':>10}")
            continue
        cells = (row.spread.median, row.spread.low, row.spread.high)
        numbers = "  ".join(f"{measure.words(value):>10}" for value in cells)
        lines.append(f"{row.series.label:<{width}}  {numbers}  {row.spread.count:>4}")
    return [*lines, *dict.fromkeys(row.sentence for row in rows if row.sentence)]


class Curve(Struct, frozen=True, kw_only=True):
    """One run over time: (seconds, IOPS, bytes/s, p99 ns or None)."""

    label: str
    points: tuple[tuple[float, float, float, int | None], ...]


def curves(series: Sequence[Series], samples: Mapping[int, Sequence[Sample]]) -> tuple[Curve, ...]:
    """Return the curves of runs to lay over each other: of each series the run in the middle.

    Args:
        series: the series.
        samples: by the runs' numbers.
    """
    found = []
    for each in series:
        run = middle_run(each.runs)
        points = tuple(_point(sample) for sample in samples.get(run.id, ()))
        if points:
            found.append(Curve(label=each.label or run.words, points=points))
    return tuple(found)


def middle_run(runs: Sequence[Record]) -> Record:
    """Return the run that stands for at least one: the one in the middle by IOPS."""
    return sorted(runs, key=lambda run: run.iops)[(len(runs) - 1) // 2]


def _point(sample: Sample) -> tuple[float, float, float, int | None]:
    main = sample.main
    return (
        sample.t_s,
        sample.read.iops + sample.write.iops,
        sample.read.bytes_s + sample.write.bytes_s,
        main.p99_ns,
    )
