"""Curves over time, laid over each other: lines of dots, on each of them its letter every few cells. Pure.

Where there is no font for the dots, the letters alone are drawn.
"""

from __future__ import annotations

import bisect
import math
import os
import statistics
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from raidtui.features.bench.caches import percent_words
from raidtui.features.bench.results.compare import HITS, Series, hits_over_time, middle_run
from raidtui.features.bench.results.run_record import NOT_STEADY, RunSample, milliseconds
from raidtui.features.bench.screen.run_table import count_words, cut_line, head_of, letter_of
from raidtui.view.line import Line
from raidtui.view.text import cell_width, fit, visible
from raidtui.view.units import three_digits

MOST = 6
WHICH = "#: the run drawn, the median by IOPS"
NO_SAMPLES = "No samples were kept of these runs: there is nothing to show over time."
_BRAILLE = 0x2800
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))  # by row and column within a cell
_ROLES = ("accent", "plain", "strong", "dim", "accent", "plain")
_EVERY = 16
_SHARED = "*"
_LEAST_ROWS, _LEAST_COLUMNS = 3, 8
_FLAT, _THIN, _LEAST = 0.5, 0.02, 1e-6
_NO_BRAILLE = frozenset({"linux", "vt100", "vt220", "dumb"})
_LATENCIES = frozenset({"p50", "p99", "p99.9"})


def _ns(value: int | None) -> float | None:
    return None if value is None else float(value)


_VALUES: Mapping[str, Callable[[RunSample], float | None]] = {
    "iops": lambda sample: sample.iops,
    "mb/s": lambda sample: sample.bytes_s,
    "p50": lambda sample: _ns(sample.main.p50_ns),
    "p99": lambda sample: _ns(sample.main.p99_ns),
    "p99.9": lambda sample: _ns(sample.main.p999_ns),
}


class Drawn(Struct, frozen=True, kw_only=True):
    """One curve.

    Args:
        letter: by which it is known.
        label: what it is of.
        points: (seconds, value), oldest first; none where no samples were kept.
        run: which run it is: #3; "" where it has no number.
        steady: whether the series was steady, where that was asked for.
    """

    letter: str
    label: str
    points: tuple[tuple[float, float], ...]
    run: str = ""
    steady: bool = True


def has_braille() -> bool:
    """Whether the terminal's font has the dots."""
    return os.environ.get("TERM", "") not in _NO_BRAILLE


def drawn_of(
    series: Sequence[Series], samples: Mapping[int, Sequence[RunSample]], measure: str, *, before: int = 0
) -> tuple[Drawn, ...]:
    """Return a curve of each series: that of its median run with samples.

    Args:
        series: the series.
        samples: by the runs' numbers.
        measure: one of ``MEASURES``.
        before: how many series come before these, and have the letters before theirs.
    """
    found = []
    for place, each in enumerate(series, before):
        kept = [run for run in each.runs if samples.get(run.id)]
        run = middle_run(kept or each.runs)
        seen = samples.get(run.id, ())
        known = hits_over_time(run, seen) if measure == HITS else _points(seen, measure)
        name = f"#{run.id}" if kept and run.id else ""
        label = each.label or run.words
        found.append(
            Drawn(letter=letter_of(place), label=label, points=known, run=name, steady=not each.unsteady)
        )
    return tuple(found)


def _points(samples: Sequence[RunSample], measure: str) -> tuple[tuple[float, float], ...]:
    value_of = _VALUES.get(measure)
    if value_of is None:
        return ()  # fio gives no latencies of flushes for an interval
    points = ((sample.t_s, value_of(sample)) for sample in samples)
    return tuple((t_s, value) for t_s, value in points if value is not None)


def curve_lines(
    drawn: Sequence[Drawn],
    measure: str,
    width: int,
    height: int,
    *,
    braille: bool = True,
    last_s: float = 0.0,
    margin: int = 0,
    which: bool = True,
) -> list[Line]:
    """Return a chart with its axes and, below it, each curve's name and figures.

    Args:
        drawn: the curves, ``MOST`` at most.
        measure: what they count.
        width: cells of a line.
        height: how many lines there are.
        braille: whether the terminal's font has these signs.
        last_s: the second at the right edge, unless a curve continues for longer.
        margin: how many cells the values at the left edge take at least.
        which: whether to say which run is drawn.
    """
    known = [each for each in drawn if each.points]
    if not known:
        return [[(fit(f" {NO_SAMPLES}", width - 1), "warn")]]
    low, high = (
        (0.0, 1.0) if measure == HITS else _scale([value for each in known for _, value in each.points])
    )
    last_s = max(last_s, *(each.points[-1][0] for each in known))
    below = WHICH if which and any(each.run for each in known) else ""
    rows = max(_LEAST_ROWS, height - len(drawn) - 4 - bool(below))
    rows -= 1 - rows % 2  # so that one is in the middle
    names = {
        place: _word(high - (high - low) * place / (rows - 1), measure) for place in (0, rows // 2, rows - 1)
    }
    margin = max(margin, *(len(name) + 1 for name in names.values()))
    columns = max(_LEAST_COLUMNS, width - margin - 3)
    grid = Grid(columns, rows, low, high, last_s)
    for place, each in enumerate(drawn):
        if each.points:
            grid.draw(each, place, len(drawn), braille=braille)
    unit = ", ms" if measure in _LATENCIES else ""
    lines: list[Line] = [[(fit(f" {head_of(measure)}{unit}", width - 1), "dim")]]
    for number, spans in enumerate(grid.lines()):
        edge = "┤" if number in names else "│"
        lines.append([(f"{names.get(number, ''):>{margin}} {edge}", "dim"), *spans])
    lines.append([(" " * (margin + 1) + "└" + "─" * columns, "dim")])
    lines.append([(" " * (margin + 2) + _seconds(last_s, columns), "dim")])
    lines += _legend(drawn, measure, width)
    lines += [[(f" {below}", "dim")]] if below else []
    return [cut_line(line, width) for line in lines]


def two_charts(
    drawn: Sequence[Drawn], hits: Sequence[Drawn], width: int, height: int, *, braille: bool = True
) -> list[Line]:
    """Return IOPS over time, and below them the hits of the cache over the same time.

    Args:
        drawn: the curves of IOPS.
        hits: those of the hits, of the same runs.
        width: cells of a line.
        height: how many lines there are; where they do not suffice for both, there are IOPS alone.
        braille: whether the terminal's font has these signs.
    """
    least = 2 * (len(drawn) + _LEAST_ROWS + 4)
    if height < least or not any(each.points for each in drawn) or not any(each.points for each in hits):
        return curve_lines(drawn, "iops", width, height, braille=braille)
    last_s = max(each.points[-1][0] for each in (*drawn, *hits) if each.points)
    lower = max(least // 2, height * 2 // 5)
    margin = len(percent_words(1.0)) + 1
    return [
        *curve_lines(
            drawn, "iops", width, height - lower, braille=braille, last_s=last_s, margin=margin, which=False
        ),
        *curve_lines(hits, HITS, width, lower, braille=braille, last_s=last_s, margin=margin),
    ]


def _scale(values: Sequence[float]) -> tuple[float, float]:
    """Return the ends of the vertical axis, round: from zero, unless all would be a thin band far above."""
    low, high = min(values), max(values)
    if high < _LEAST:
        return 0.0, 1.0
    if low < high * _FLAT:
        low = 0.0
    elif high - low < high * _THIN:
        low, high = low - high * _THIN, high + high * _THIN
    step = 10 ** math.floor(math.log10(high - low)) / 10
    return math.floor(low / step) * step, math.ceil(high / step) * step


def _word(value: float, measure: str) -> str:
    if not value:
        return "0"
    if measure == HITS:
        return percent_words(value)
    if measure == "iops":
        return count_words(value)
    return three_digits(value / 1e6) if measure == "mb/s" else milliseconds(value)


def _seconds(last_s: float, columns: int) -> str:
    middle, end = f"{three_digits(last_s / 2)} s", f"{three_digits(last_s)} s"
    if columns < len(middle) + len(end) + 6:
        return f"0 s{end:>{max(0, columns - 3)}}"
    left = f"{'0 s':<{columns // 2 - len(middle) // 2}}{middle}"
    return f"{left}{end:>{columns - len(left)}}"


def _legend(drawn: Sequence[Drawn], measure: str, width: int) -> list[Line]:
    runs = max(len(each.run) for each in drawn)
    figures = [
        f"{each.run:<{runs}}{'  ' if runs else ''}" + ("" if each.steady else f"{NOT_STEADY}  ")
        + _figures([value for _, value in each.points], measure)
        for each in drawn
    ]  # fmt: skip
    widest = max(map(len, figures))
    labels = [visible(each.label) for each in drawn]
    label = max(4, min(max(map(cell_width, labels)), width - 6 - widest))
    return [
        [(f" {each.letter} ", "key"), (fit(name, label), "plain"), (f"  {words:>{widest}}", "plain")]
        for each, name, words in zip(drawn, labels, figures, strict=True)
    ]


def _figures(values: Sequence[float], measure: str) -> str:
    if not values:
        return "no hits known" if measure == HITS else "no samples kept"
    low, middle, high = (
        _word(value, measure) for value in (min(values), statistics.median(values), max(values))
    )
    return f"median {middle:>6}  {low:>6} … {high:<6}"


class Grid:
    """Cells to draw into, each of two by four dots.

    Args:
        columns: how many cells a line has.
        rows: how many lines there are.
        low: the value at the bottom.
        high: the value at the top.
        last_s: the second at the right edge; the left one is 0.
    """

    def __init__(self, columns: int, rows: int, low: float, high: float, last_s: float) -> None:
        self._columns, self._rows = columns, rows
        self._low, self._span = low, high - low or 1.0
        self._last_s = last_s or 1.0
        self._dots: dict[tuple[int, int], int] = {}
        self._roles: dict[tuple[int, int], str] = {}
        self._letters: dict[tuple[int, int], str] = {}

    def draw(self, curve: Drawn, place: int, of: int, *, braille: bool) -> None:
        """Draw a curve.

        Args:
            curve: with at least one point.
            place: which of the curves it is: each has its letters in columns of its own.
            of: how many there are.
            braille: whether there are dots, or letters alone.
        """
        role = _ROLES[place % len(_ROLES)]
        if not braille:
            for column, value in self._at_steps(curve, self._columns):
                self._letter(column, round(self._height(value, self._rows)), curve.letter, role)
            return
        before: int | None = None
        first = (place * _EVERY // max(1, of) + _EVERY // 4) % _EVERY
        for dot, value in self._at_steps(curve, self._columns * 2):
            level = round(self._height(value, self._rows * 4))
            for each in _between(before, level):
                cell = (dot // 2, each // 4)
                shared = self._roles.get(cell, role) != role
                self._dots[cell] = self._dots.get(cell, 0) | _DOTS[each % 4][dot % 2]
                self._roles[cell] = "plain" if shared else role
            if dot % 2 == 0 and dot // 2 % _EVERY == first:
                self._letters[dot // 2, level // 4] = curve.letter
            before = level

    def _letter(self, column: int, row: int, letter: str, role: str) -> None:
        cell = (column, row)
        self._letters[cell] = _SHARED if self._letters.get(cell, letter) != letter else letter
        self._roles[cell] = role

    def _at_steps(self, curve: Drawn, steps: int) -> list[tuple[int, float]]:
        """Return the curve's value at each step: the mean of what falls into it, else what lies between."""
        times = [t_s for t_s, _ in curve.points]
        first, last = (min(steps - 1, int(t_s / self._last_s * steps)) for t_s in (times[0], times[-1]))
        found = []
        for step in range(first, last + 1):
            begin, end = (self._last_s * each / steps for each in (step, step + 1))
            inside = curve.points[bisect.bisect_left(times, begin) : bisect.bisect_left(times, end)]
            values = [value for _, value in inside] or [_interpolated(curve.points, times, (begin + end) / 2)]
            found.append((step, sum(values) / len(values)))
        return found

    def _height(self, value: float, levels: int) -> float:
        """Return how many levels a value lies below the top."""
        part = (value - self._low) / self._span
        return (1 - max(0.0, min(1.0, part))) * (levels - 1)

    def lines(self) -> list[Line]:
        """Return the lines, the uppermost first."""
        found: list[Line] = []
        for row in range(self._rows):
            line: Line = []
            for column in range(self._columns):
                text, role = self._cell((column, row))
                if line and line[-1][1] == role:
                    line[-1] = (line[-1][0] + text, role)
                else:
                    line.append((text, role))
            found.append(line)
        return found

    def _cell(self, cell: tuple[int, int]) -> tuple[str, str]:
        letter = self._letters.get(cell)
        if letter is not None:
            return letter, "key"
        dots = self._dots.get(cell, 0)
        return (chr(_BRAILLE + dots), self._roles[cell]) if dots else (" ", "plain")


def _between(before: int | None, level: int) -> range:
    """Return the levels that join two neighbours without a gap."""
    if before is None or abs(before - level) < 2:
        return range(level, level + 1)
    return range(level, before) if level < before else range(before + 1, level + 1)


def _interpolated(points: Sequence[tuple[float, float]], times: Sequence[float], at_s: float) -> float:
    place = bisect.bisect_left(times, at_s)
    if place == 0:
        return points[0][1]
    if place == len(points):
        return points[-1][1]
    (t0, before), (t1, after) = points[place - 1], points[place]
    part = (at_s - t0) / (t1 - t0) if math.isfinite(t1 - t0) and t1 > t0 else 1.0
    return before + (after - before) * part
