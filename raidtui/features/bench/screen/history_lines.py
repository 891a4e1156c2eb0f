"""Pane 5's history: the runs of one benchmark as one row, and below all about the chosen one. Pure."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from msgspec import Struct

from raidtui.features.bench.results.compare import METRICS, Metric, Series, series_of, table
from raidtui.features.bench.results.comparison_verdict import Spread, Verdict, VerdictOutcome, spread
from raidtui.features.bench.results.published import heat_maps
from raidtui.features.bench.results.run_record import (
    FAILED,
    NOT_STEADY,
    PARTIAL,
    SIMULATED,
    RunRecord,
    milliseconds,
)
from raidtui.features.bench.schedule import labels_of, point_words, value_words
from raidtui.features.bench.screen.heat_map import heat_map_lines
from raidtui.features.bench.screen.run_table import (
    WIDE,
    count_words,
    cut_line,
    explained_lines,
    head_of,
    letter_of,
    paragraph,
    verdicts_lines,
)
from raidtui.frame.pages import stamp
from raidtui.view.line import GLYPHS, Line
from raidtui.view.text import cell_width, fit, tail, visible
from raidtui.view.units import KIB, counted, duration

_WHEN, _RUNS, _MEDIAN = 12, 5, 12
_PLACE, _WAIT, _RESULT = {False: 7, True: 15}, {False: 0, True: 9}, {False: 15, True: 21}
_LEAST_PLACE, _LEAST_TITLE, _NAME = 6, 5, 30
_MOST_TITLE, _MORE_PLACE, _MORE_RESULT = 60, 25, 20
"""A title gets no more: columns far apart are not read as a row. The others get what is left beyond it."""
_STREAM_BYTES = 128 * KIB
_MOST_VERDICTS = 8
_SAME, _OPEN = "no difference", "not decided"


class HistoryEntry(Struct, frozen=True, kw_only=True):
    """The runs of one benchmark, as one row of the history.

    Args:
        key: the benchmark's id.
        title, note: of its newest run.
        work: what was measured, without what was changed; "" for a job file.
        axes: the labels of what was changed between its runs.
        place: the folder or the devices; ``array`` the array's label or name, "" without one.
        at_s: epoch seconds of its first run.
        records: its runs, in their order.
        partial, failed: how many of them are.
        points: how many series there are; a failed run is in none.
        unsteady: how many of them were not steady in the end, and have no figure.
        measure: which of ``METRICS`` is shown: IOPS, or MB/s where large blocks went through.
        spread: of its best series, by that measure; None where nothing was measured.
        p99_ns: of the same series, the median; None where fio did not measure it.
        second: of two series how the second one differs from the first; "" otherwise.
        verdict: of two series the verdict over the second one; "" otherwise.
    """

    key: str
    title: str
    place: str
    at_s: float
    records: tuple[RunRecord, ...]
    array: str = ""
    note: str = ""
    work: str = ""
    axes: tuple[str, ...] = ()
    partial: int = 0
    failed: int = 0
    points: int = 0
    unsteady: int = 0
    measure: str = "iops"
    spread: Spread | None = None
    p99_ns: float | None = None
    second: str = ""
    verdict: str = ""


def entries_of(records: Sequence[RunRecord]) -> tuple[HistoryEntry, ...]:
    """Return the benchmarks that these runs belong to, the newest first."""
    jobs: dict[str, list[RunRecord]] = {}
    for record in records:
        jobs.setdefault(record.job, []).append(record)
    entries = (_entry(job, sorted(runs, key=_place_in_job)) for job, runs in jobs.items())
    return tuple(sorted(entries, key=lambda entry: (-entry.at_s, entry.key)))


def _place_in_job(record: RunRecord) -> tuple[int, int]:
    return record.number, record.id


def _entry(job: str, runs: Sequence[RunRecord]) -> HistoryEntry:
    last = runs[-1]
    series = series_of(runs)
    measure = _measure_of(runs)
    rows = table(series, METRICS[measure])
    known = [row for row in rows if row.spread is not None]
    best = max(known, key=lambda row: row.spread.median if row.spread is not None else 0.0, default=None)
    waits = best.series.values(METRICS["p99"]) if best is not None else []
    arrays = last.environment.arrays
    return HistoryEntry(
        key=job,
        title=last.title or last.words,
        place=last.place,
        at_s=min(run.at_s for run in runs),
        records=tuple(runs),
        array=(arrays[0].label or arrays[0].name) if arrays else "",
        note=last.note,
        work=_simulated(last) + (last.preset or (last.work.words if last.work is not None else "")),
        axes=tuple(label for label in last.point if len({run.point.get(label) for run in runs}) > 1),
        partial=sum(run.state == PARTIAL for run in runs),
        failed=sum(run.state == FAILED for run in runs),
        points=len(series),
        unsteady=sum(each.unsteady for each in series),
        measure=measure,
        spread=best.spread if best is not None else None,
        p99_ns=spread(waits).median if waits else None,
        second=_second(series) if len(series) == 2 else "",
        verdict=_short_verdict(rows[1].verdict, METRICS[measure]) if len(rows) == 2 else "",
    )


def _simulated(record: RunRecord) -> str:
    return f"{SIMULATED}: " if record.simulated else ""


def _measure_of(runs: Sequence[RunRecord]) -> str:
    works = [run.work for run in runs if run.work is not None]
    streams = works and all(
        not work.rw.startswith("rand") or work.block_bytes >= _STREAM_BYTES for work in works
    )
    several = len({work.block_bytes for work in works}) > 1
    return "mb/s" if streams or several else "iops"


def _short_verdict(verdict: Verdict | None, measure: Metric) -> str:
    if verdict is None:
        return ""
    if verdict.outcome is VerdictOutcome.SAME:
        return _SAME
    if verdict.outcome is VerdictOutcome.OPEN:
        return _OPEN
    word = measure.more if verdict.outcome is VerdictOutcome.HIGHER else measure.less
    percent = abs(verdict.shift) * 100
    return f"{word} {percent:.{0 if percent >= 100 else 1}f} %"


def _second(series: Sequence[Series]) -> str:
    points = [each.runs[0].point for each in series]
    return ", ".join(value_words(label, points[1].get(label, "")) for label in labels_of(points))


# -- the list


def _columns(width: int) -> tuple[int, int, int]:
    """Return how many cells title, place and result get."""
    wide = width >= WIDE
    place, result = _PLACE[wide], _RESULT[wide]
    title = max(1, width - (3 + _WHEN + 2 + 1 + place + _RUNS + _MEDIAN + _WAIT[wide] + 2 + result + 1))
    more = max(0, title - _MOST_TITLE)
    more_place = min(more, _MORE_PLACE)
    return title - more, place + more_place, result + min(more - more_place, _MORE_RESULT)


def history_head(width: int) -> Line:
    """Return the names of the columns in at most ``width`` cells."""
    wide = width >= WIDE
    title, place, _ = _columns(width)
    text = f"   {'started':<{_WHEN}}  {fit('what', title)} {fit('on', place)}"
    text += f"{'runs':>{_RUNS}}{'best':>{_MEDIAN}}{'p99 ms' if wide else '':>{_WAIT[wide]}}  spread, verdict"
    return [(fit(text, width), "dim")]


def history_line(entry: HistoryEntry, width: int, marked: bool, *, now_s: float = 0.0) -> Line:  # noqa: FBT001
    """Return a benchmark's row in at most ``width`` cells.

    Args:
        entry: the benchmark.
        width: of the window.
        marked: whether it is to be compared.
        now_s: epoch seconds; what was more than 300 days before has its date instead of the time of day.
    """
    wide = width >= WIDE
    role, (title, place, room) = _role(entry), _columns(width)
    result, result_role = _result(entry, room)
    wait = "" if entry.p99_ns is None or not wide else milliseconds(entry.p99_ns)
    line: Line = [
        ("*" if marked else " ", "key"),
        (GLYPHS[role] if role != "plain" else " ", role),
        (f" {fit(stamp(entry.at_s, now_s), _WHEN)}  ", "plain"),
        (fit(_what(entry, title), title), "strong" if marked else "plain"),
        (f" {fit(_where(entry, place), place)}", "plain"),
        (f"{len(entry.records):>{_RUNS}}{_median(entry):>{_MEDIAN}}{wait:>{_WAIT[wide]}}  ", "plain"),
        (fit(visible(result), room), result_role),
    ]
    return cut_line(line, width)


def _what(entry: HistoryEntry, width: int) -> str:
    """Return title and note; of a title that is too long, what was changed in the end stays in view."""
    text = visible(f"{entry.title} · {entry.note}" if entry.note else entry.title)
    if cell_width(text) <= width or entry.note or not entry.work or not entry.axes:
        return text
    changed = visible(f" by {', '.join(entry.axes)}")
    room = width - cell_width(changed)
    return f"{fit(visible(entry.work), room)}{changed}" if room >= _LEAST_TITLE else text


def _role(entry: HistoryEntry) -> str:
    if entry.records and entry.failed == len(entry.records):
        return "bad"
    return "warn" if entry.partial or entry.failed or entry.unsteady else "plain"


def _where(entry: HistoryEntry, width: int) -> str:
    array, place = visible(entry.array), visible(entry.place)
    if not array:
        return tail(place, width)
    both = f"{array}: {place}"
    if cell_width(both) <= width:
        return both
    room = width - cell_width(array) - 2
    return f"{array}: {tail(place, room)}" if room >= _LEAST_PLACE else array


def _median(entry: HistoryEntry) -> str:
    if entry.spread is None:
        return "–"
    return f"{_short(entry.spread.median, entry.measure)} {head_of(entry.measure)}"


def _short(value: float, measure: str) -> str:
    return count_words(value) if measure == "iops" else METRICS[measure].words(value)


def _low_high(spread: Spread, measure: str) -> str:
    return f"{_short(spread.low, measure)} … {_short(spread.high, measure)}"


def _result(entry: HistoryEntry, width: int) -> tuple[str, str]:
    """Return the outcome in a few words: first what is not complete, then the verdict or the spread."""
    if entry.failed and entry.failed == len(entry.records):
        return "failed", "bad"
    if entry.partial and entry.failed:
        return f"{entry.partial + entry.failed} not whole", "warn"
    if entry.partial or entry.failed:
        return f"{entry.partial} partial" if entry.partial else f"{entry.failed} failed", "warn"
    if entry.unsteady:
        return NOT_STEADY if entry.unsteady == entry.points else f"{entry.unsteady} {NOT_STEADY}", "warn"
    if entry.verdict:
        decided = entry.verdict not in {_SAME, _OPEN}
        words = f"{entry.second} {entry.verdict}"
        short = f"{letter_of(1)} {entry.verdict}"
        fits = entry.second and cell_width(visible(words)) <= width
        return (words if fits else short) if decided else entry.verdict, "strong" if decided else "plain"
    if entry.points > 1:
        return f"of {entry.points} series", "plain"
    if entry.spread is None or entry.spread.count < 2:
        return "", "plain"
    return _low_high(entry.spread, entry.measure), "plain"


# -- below it


def details_lines(entry: HistoryEntry, width: int) -> list[Line]:
    """Return the details of a benchmark, in lines of at most ``width`` cells."""
    series = series_of(entry.records)
    lines = _headline(entry, width)
    for heat in heat_maps(entry.records):
        lines += [*heat_map_lines(heat, width, bars=False), []]
    if series:
        lines += [*_series_lines(series, width), *_verdicts(series, entry.measure, width), []]
    places = {point_words(each.runs[0].point): letter_of(number) for number, each in enumerate(series)}
    letters = {run.number: places.get(point_words(run.point), "") for run in entry.records}
    lines += explained_lines(entry.records, letters if len(series) > 1 else {}, width)
    return [cut_line(line, width) for line in lines]


def _headline(entry: HistoryEntry, width: int) -> list[Line]:
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(entry.at_s))
    seconds = sum(run.seconds for run in entry.records)
    where = f"{entry.array}: {entry.place}" if entry.array else entry.place
    lines = paragraph(f"{entry.title} on {where}", width, "strong")
    facts = [when, counted(len(entry.records), "run"), f"{duration(seconds)} measured"]
    facts += [f"note: {entry.note}"] if entry.note else []
    return [*lines, *paragraph(" · ".join(facts), width), []]


def _series_lines(series: Sequence[Series], width: int) -> list[Line]:
    heads = {"iops": "IOPS", "span": "from … to", "runs": "runs", "mb/s": "MB/s"}
    heads |= {"p50": "p50 ms", "p99": "p99 ms", "p99.9": "p99.9"}
    several = len(series) > 1
    names = [visible(each.label) if several else "" for each in series]
    cells = [_figures(each) for each in series]
    widths = {name: max(len(head), *(len(each[name]) for each in cells)) + 2 for name, head in heads.items()}
    if not any(each["span"] for each in cells):
        del widths["span"]
    longest = max(cell_width(name) for name in names)
    for name in ("p50", "p99.9", "span", "p99", "mb/s"):
        if width - sum(widths.values()) - 4 < min(longest, _NAME):
            widths.pop(name, None)  # in a small window
    label = min(longest, max(_LEAST_TITLE, width - sum(widths.values()) - 4))
    lines: list[Line] = [[(" " * (3 + label) + _row_of(heads, widths), "dim")]]
    for number, (name, row) in enumerate(zip(names, cells, strict=True)):
        letter = f" {letter_of(number)} " if several else "   "
        lines.append([(letter, "key"), (fit(name, label), "plain"), (_row_of(row, widths), "plain")])
    return lines


def _row_of(words: Mapping[str, str], widths: Mapping[str, int]) -> str:
    return "".join(f"{words[name]:>{wide}}" for name, wide in widths.items())


def _figures(series: Series) -> dict[str, str]:
    if series.unsteady:
        nothing = dict.fromkeys(("span", "mb/s", "p50", "p99", "p99.9"), "")
        return {"iops": NOT_STEADY, "runs": str(len(series.runs)), **nothing}
    found = spread(series.values(METRICS["iops"]))
    return {
        "iops": f"{found.median:,.0f}",
        "span": _low_high(found, "iops") if found.count > 1 else "",
        "runs": str(found.count),
        **{name: _middle(series, name) for name in ("mb/s", "p50", "p99", "p99.9")},
    }


def _middle(series: Series, name: str) -> str:
    values = series.values(METRICS[name])
    if not values:
        return "–"
    median = spread(values).median
    return METRICS[name].words(median) if name == "mb/s" else milliseconds(median)


def _verdicts(series: Sequence[Series], measure: str, width: int) -> list[Line]:
    lines, left = verdicts_lines(table(series, METRICS[measure]), width, most=_MOST_VERDICTS)
    more = paragraph(f"{counted(left, 'verdict')} more: the comparison has all", width, "dim")
    return [*([[]] if lines else []), *lines, *(more if left else [])]
