"""Series of runs side by side, the verdicts whole below them, and what explains a benchmark's runs. Pure."""

from __future__ import annotations

import textwrap
import time
from collections.abc import Iterator, Mapping, Sequence
from string import ascii_letters

from raidtui.features.bench.environment import Part, environment_lines, part_words
from raidtui.features.bench.results.compare import Metric, SeriesRow, family_of, statements_of
from raidtui.features.bench.results.comparison_verdict import Spread, Verdict
from raidtui.features.bench.results.run_record import FAILED, NOT_STEADY, PARTIAL, SHORT_S, RunRecord
from raidtui.features.bench.telemetry import merged, span_words
from raidtui.features.bench.workload import Workload
from raidtui.view.line import GLYPHS, Line
from raidtui.view.text import cell_width, fit, fit_words, visible
from raidtui.view.units import binary_size, short_number

WIDE = 100
_MARK, _GAP, _RUNS, _LEAST_LABEL = 3, 2, 6, 12
_STRIP, _MOST_STRIPS = (12, 30), 12
_JOINER = "\u00a0"
NOTHING = "Nothing to compare: no run has figures of this kind."
UNLIKE = "None of these have the same workload, so none are compared."
ALONE = "One series alone cannot be compared: mark another benchmark, too."


def letter_of(number: int) -> str:
    """Return the letter by which a series is known in tables and charts; after 52 they begin again."""
    return ascii_letters[number % len(ascii_letters)]


def head_of(measure: str) -> str:
    """Return the column heading of a measure."""
    return {"iops": "IOPS", "mb/s": "MB/s"}.get(measure, measure)


def count_words(value: float) -> str:
    """Return a number of requests in five cells: 7,204, 102k, 1.2M."""
    return f"{value:,.0f}" if value < 9999.5 else short_number(value)


def cut_line(line: Line, width: int) -> Line:
    """Return a line of no more than ``width`` cells: in a small window its right end is cut off."""
    kept: Line = []
    room = width
    for text, role in line:
        wide = cell_width(text)
        if wide > room:
            return [*kept, (fit_words(text, room), role)] if room > 0 else kept
        kept.append((text, role))
        room -= wide
    return kept


def comparison_lines(rows: Sequence[SeriesRow], measure: Metric, width: int) -> list[Line]:
    """Return a table and the verdicts.

    Args:
        rows: the series with their spread and verdicts.
        measure: what they are compared by.
        width: cells of a line.
    """
    if all(row.spread is None and not row.series.unsteady for row in rows):
        return paragraph(NOTHING, width, "warn")
    lines = _table(rows, measure, width)
    verdicts, _ = verdicts_lines(rows, width)
    lines += [[], *verdicts]
    if not any(row.verdict for row in rows):
        lines += paragraph(ALONE if len(rows) == 1 else UNLIKE, width, "dim")
    several = any(row.spread is not None and row.spread.count > 1 for row in rows)
    if verdicts and several and width < WIDE and len(rows) <= _MOST_STRIPS:
        lines += [[], *_strips(rows, measure, width)]
    return [cut_line(line, width) for line in lines]


def verdicts_lines(rows: Sequence[SeriesRow], width: int, *, most: int = 1000) -> tuple[list[Line], int]:
    """Return the verdicts, their correction, and how many are not shown.

    Args:
        rows: the series; a statement about several of them is shown once.
        width: cells of a line.
        most: so many at most.
    """
    verdicts = statements_of(rows)
    lines: list[Line] = []
    for each in verdicts[:most]:
        parts = wrap_cells(visible(each.sentence), max(8, width - _MARK - 1))
        role = "warn" if each.unsteady else "strong" if each.decided else "plain"
        letter = letter_of(each.places[0])
        lines += [
            [(f" {letter} " if number == 0 else " " * _MARK, "key"), (part, role)]
            for number, part in enumerate(parts)
        ]
    if family := family_of(rows):
        lines += paragraph(family, width, "dim", indent=_MARK)
    return lines, max(0, len(verdicts) - most)


def paragraph(text: str, width: int, role: str = "plain", *, indent: int = 1) -> list[Line]:
    """Return a text in lines that all begin ``indent`` cells from the left."""
    room = max(8, width - indent - 1)
    return [[(" " * indent + part, role)] for part in wrap_cells(visible(text), room)]


def wrap_cells(text: str, width: int) -> list[str]:
    """Return a text, made ``visible`` before, in lines of at most so many cells; wide letters count twice.

    A figure and its percent sign stay together.
    """
    if text.isascii():
        joined = text.replace(" %", f"{_JOINER}%")
        parts = textwrap.wrap(joined, max(1, width), break_on_hyphens=False)
        return [part.replace(_JOINER, " ") for part in parts] or [""]
    lines: list[str] = []
    for word in text.split():
        joined = f"{lines[-1]} {word}" if lines else word
        if lines and cell_width(joined) <= width:
            lines[-1] = joined
        else:
            lines += _pieces(word, width)
    return lines or [""]


def _pieces(word: str, width: int) -> list[str]:
    pieces = [""]
    for char in word:
        if pieces[-1] and cell_width(pieces[-1] + char) > width:
            pieces.append("")
        pieces[-1] += char
    return pieces


def _table(rows: Sequence[SeriesRow], measure: Metric, width: int) -> list[Line]:
    heads = (head_of(measure.name), "from", "to")
    cells = [_numbers(row, measure) for row in rows]
    widths = [
        max(len(head), *(len(each[place]) for each in cells)) + _GAP for place, head in enumerate(heads)
    ]
    differences = [_difference(row.verdict) for row in rows]
    compared = any(differences)
    wide_difference = max(len("difference"), *map(len, differences)) + _GAP if compared else 0
    rest = width - _MARK - sum(widths) - _RUNS - wide_difference - 1
    strip = min(_STRIP[1], rest - 36) if width >= WIDE and rest - 36 >= _STRIP[0] else 0
    longest = max(cell_width(visible(row.series.label)) for row in rows)
    label = max(_LEAST_LABEL, min(longest, rest - (strip + _GAP if strip else 0)))
    head = " " * (_MARK + label)
    head += "".join(f"{word:>{wide}}" for word, wide in zip(heads, widths, strict=True))
    head += f"{'runs':>{_RUNS}}" + (f"{'difference':>{wide_difference}}" if compared else "")
    low, high = span_of(rows)
    scale = _scale_words(low, high, measure, strip)
    lines: list[Line] = [[(f"{head}{' ' * _GAP}{scale}" if scale else head, "dim")]]
    for place, row in enumerate(rows):
        numbers = "".join(f"{word:>{wide}}" for word, wide in zip(cells[place], widths, strict=True))
        count = str(row.spread.count) if row.spread is not None else ""
        tail = f"{numbers}{count:>{_RUNS}}{differences[place]:>{wide_difference}}"
        picture = strip_of(row.spread, low, high, strip) if strip else ""
        lines += _row(letter_of(place), visible(row.series.label), label, tail, picture)
    return lines


def _row(letter: str, text: str, label: int, tail: str, picture: str) -> list[Line]:
    parts = wrap_cells(text, label)
    first: Line = [
        (f" {letter} ", "key"),
        (parts[0] + " " * (label - cell_width(parts[0])), "plain"),
        (tail, "plain"),
    ]
    if picture:
        first.append((" " * _GAP + picture, "accent"))
    return [first, *([(" " * _MARK + part, "plain")] for part in parts[1:])]


def _numbers(row: SeriesRow, measure: Metric) -> tuple[str, str, str]:
    if row.spread is None:
        return (NOT_STEADY if row.series.unsteady else "–", "", "")
    words = measure.words
    return words(row.spread.median), words(row.spread.low), words(row.spread.high)


def _difference(verdict: Verdict | None) -> str:
    """Return the interval of a difference: ``-21.0 to -17.0 %``; of too few runs that there is none."""
    if verdict is None:
        return ""
    if verdict.low is None or verdict.high is None:
        return "too few runs"
    return f"{verdict.low * 100:+.1f} to {verdict.high * 100:+.1f} %"


def span_of(rows: Sequence[SeriesRow]) -> tuple[float, float]:
    """Return the least and the greatest value of all runs; 0 and 0 where there is none."""
    spreads = [row.spread for row in rows if row.spread is not None]
    if not spreads:
        return 0.0, 0.0
    return min(each.low for each in spreads), max(each.high for each in spreads)


def _scale_words(low: float, high: float, measure: Metric, width: int) -> str:
    first, last = measure.words(low), measure.words(high)
    return f"{first}{last:>{width - len(first)}}" if width > len(first) + len(last) else ""


def _strips(rows: Sequence[SeriesRow], measure: Metric, width: int) -> list[Line]:
    """Return the spread of each series on one scale, for windows in which the table has no room for it."""
    low, high = span_of(rows)
    room = width - _MARK - 1
    lines: list[Line] = [[(" " * _MARK + _scale_words(low, high, measure, room), "dim")]]
    for place, row in enumerate(rows):
        if row.spread is not None:
            lines.append(
                [(f" {letter_of(place)} ", "key"), (strip_of(row.spread, low, high, room), "accent")]
            )
    return lines


def strip_of(spread: Spread | None, low: float, high: float, width: int) -> str:
    """Return a spread on a scale from ``low`` to ``high``: ``    ├──●─┤   ``."""
    if spread is None:
        return " " * width
    span = high - low

    def place(value: float) -> int:
        return round((value - low) / span * (width - 1)) if span > 0 else (width - 1) // 2

    first, middle, last = (place(value) for value in (spread.low, spread.median, spread.high))
    cells = [" "] * width
    cells[first : last + 1] = "─" * (last - first + 1)
    cells[first], cells[last] = "├", "┤"
    cells[middle] = "●"
    return "".join(cells)


_LABEL = 13
_ROLES = {PARTIAL: "warn", FAILED: "bad"}


def explained_lines(records: Sequence[RunRecord], letters: Mapping[int, str], width: int) -> list[Line]:
    """Return everything that explains these runs.

    Args:
        records: the runs of one benchmark.
        letters: by the places of runs in it, how their series are called above.
        width: cells of a line.
    """
    lines = [line for what, how, role in _noted(records) for line in _labelled(what, how, width, role)]
    lines += _surroundings(records, width)
    if len(records) > 1:
        lines += [[], [(" the runs", "dim")], *_run_lines(records, letters, width)]
    if text := next((run.job_file for run in records if run.job_file), ""):
        lines += [[], [(" the job file", "dim")]]
        lines += [cut_line([(f"   {visible(each)}", "plain")], width) for each in text.rstrip().split("\n")]
    return lines


def _name_of(run: RunRecord) -> str:
    return f"#{run.id}" if run.id else f"run {run.number + 1}"


def _noted(records: Sequence[RunRecord]) -> Iterator[tuple[str, str, str]]:
    """Yield (what, how, role) of what was noted about the runs; the same of several of them once."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for run in records:
        if run.state in _ROLES:
            key = (run.state, run.reason or "the reason is not known", _ROLES[run.state])
            found.setdefault(key, []).append(_name_of(run))
        if run.unsteady:
            how = "the steady state was not reached, so these rounds have no common figure"
            found.setdefault((NOT_STEADY, how, "warn"), []).append(_name_of(run))
        for text in (*run.remarks, run.steady, _short(run)):
            if text:
                found.setdefault(("noted", text, "plain"), []).append(_name_of(run))
    for (what, how, role), names in found.items():
        label = what if role == "plain" else f"{GLYPHS[role]} {what}"
        whose = "" if len(names) == len(records) else f"{_few(names)}: "
        yield label, whose + how, role


def _short(run: RunRecord) -> str:
    return f"{run.short}: runs under {SHORT_S:.0f} s measure caches rather than disks" if run.short else ""


def _few(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= 4 else f"{', '.join(names[:3])} and {len(names) - 3} more"


def _surroundings(records: Sequence[RunRecord], width: int) -> list[Line]:
    """Where runs differ in something, all of their values are shown."""
    found: dict[str, list[tuple[Part, ...]]] = {}
    for record in records:
        if record.work is not None:
            found.setdefault("asked of fio", []).append(_asked(record.work))
    for record in records:
        for each in record.caches:
            found.setdefault(each.title, []).append(
                (("", f"{each.words}{', began cold' if each.cold else ''}"),)
            )
    for record in records:
        for what, parts in environment_lines(record.environment):
            found.setdefault(what, []).append(parts)
    written: dict[str, int] = {}
    for record in records:
        for name, size in record.written.items():
            written[name] = written.get(name, 0) + size
    if written:
        sizes = [("", f"{name} {binary_size(size)}") for name, size in written.items()]
        found["written"] = [(*sizes, ("", "in total"))]
    if used := sum(record.cpu_s or 0.0 for record in records):
        found["CPU time"] = [(("", f"{used:.1f} s of fio"),)]
    if surroundings := span_words(merged([record.during for record in records])):
        found["meanwhile"] = [(("", surroundings),)]
    return [line for what, hows in found.items() for line in _labelled(what, _joined(hows), width)]


def _asked(work: Workload) -> tuple[Part, ...]:
    """Return the options of fio that the words of a run leave out."""
    parts = [("engine", work.engine), ("", "direct" if work.direct else "through the page cache")]
    parts.append(("", f"{binary_size(work.size_bytes)}{' in each job' if work.jobs > 1 else ''}"))
    parts += [("", f"{work.runtime_s} s")] if work.runtime_s else []
    parts += [("", f"after {work.ramp_s} s of ramp")] if work.ramp_s else []
    return tuple(parts)


def _joined(found: Sequence[tuple[Part, ...]]) -> str:
    """Return parts as one text; values in which they differ as ``scheduler none / bfq``."""
    distinct = list(dict.fromkeys(found))
    if len({tuple(label for label, _ in parts) for parts in distinct}) > 1:
        return "; ".join(", ".join(map(part_words, parts)) for parts in distinct)
    return ", ".join(
        part_words((parts[0][0], " / ".join(dict.fromkeys(value for _, value in parts))))
        for parts in zip(*distinct, strict=True)
    )


def _labelled(what: str, how: str, width: int, role: str = "plain") -> list[Line]:
    label = fit(f" {visible(what)}", _LABEL)
    parts = wrap_cells(visible(how), max(8, width - _LABEL - 2))
    head = "dim" if role == "plain" else role
    return [
        [(label if number == 0 else " " * _LABEL, head), (f" {part}", "plain")]
        for number, part in enumerate(parts)
    ]


def _run_lines(records: Sequence[RunRecord], letters: Mapping[int, str], width: int) -> Iterator[Line]:
    names = max(len(_name_of(record)) for record in records)
    for record in records:
        at = time.strftime("%H:%M", time.localtime(record.at_s))
        role = _ROLES.get(record.state, "plain")
        state = f"{GLYPHS[role]} {record.state}  " if role != "plain" else ""
        if record.unsteady and role == "plain":
            state, role = f"{GLYPHS['warn']} {NOT_STEADY}  ", "warn"
        yield cut_line(
            [
                (f"   {_name_of(record):>{names}}  {at}  ", "dim"),
                (f"{letters.get(record.number, ''):<2}", "key"),
                (state, role),
                (record.figures or visible(record.words), "plain"),
                (f"  {record.short}" if record.short else "", "dim"),
            ],
            width,
        )
