"""Pictures as plain SVG, without scripts; colours have words or numbers beside them. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from enum import StrEnum
from html import escape

from msgspec import Struct

from raidtui.features.bench.results.compare import METRICS, Curve, SeriesRow
from raidtui.features.bench.results.published import HeatMap, best_of
from raidtui.features.bench.results.run_record import NOT_STEADY, milliseconds
from raidtui.view.text import cell_width, visible
from raidtui.view.units import short_binary, short_number, three_digits

COLOURS = ("#1b6ca8", "#c4541b", "#2f7d4f", "#8a4fa3", "#a8811b", "#5c6b73", "#b03060", "#3d7ea6")
_WIDTH, _HEIGHT = 720, 260
_LEFT, _RIGHT, _TOP, _BOTTOM = 80, 24, 30, 32
_LINE, _BAR = 20, 28
_LETTER = 7.5
"""Pixels of a wide letter: the font is not known here, so room is left."""


def text_of(text: str) -> str:
    """Return text from outside for a picture or a page."""
    return escape(visible(text), quote=True)


class AxisScale(StrEnum):
    """How an axis spreads its values. NINES has equal steps from 90 to 99 to 99.9 %."""

    LINEAR = "linear"
    LOG = "log"
    NINES = "nines"


class ChartAxis(Struct, frozen=True, kw_only=True):
    """An axis from ``low`` to ``high``.

    Args:
        what: what it shows.
        words: a value in words.
        marks: the values that are named; () for the usual ones.
    """

    what: str
    low: float
    high: float
    words: Callable[[float], str]
    scale: AxisScale = AxisScale.LINEAR
    marks: tuple[float, ...] = ()

    def place(self, value: float) -> float:
        """Return where a value is, 0 to 1."""
        low, high, at = (self._spread(each) for each in (self.low, self.high, value))
        return (at - low) / (high - low) if high > low else 0.0

    def _spread(self, value: float) -> float:
        if self.scale is AxisScale.LOG:
            return math.log10(value)
        return -math.log10(1 - value) if self.scale is AxisScale.NINES else value

    @property
    def ticks(self) -> list[float]:
        """The values that are named: ends and middle, powers of ten, or shares with more nines."""
        if self.marks:
            return list(self.marks)
        if self.scale is AxisScale.LINEAR:
            return [self.low, (self.low + self.high) / 2, self.high]
        if self.scale is AxisScale.NINES:
            return [each for each in _NINES if each <= self.high]
        first, last = math.ceil(math.log10(self.low)), math.floor(math.log10(self.high))
        inner = [10.0**power for power in range(first, last + 1)]
        return inner if len(inner) > 1 else [self.low, self.high]


_NINES = (0.0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999)
_DASHES = ("", "6 3", "2 3")


class ChartLine(Struct, frozen=True, kw_only=True):
    """A line: its name, and its points; ``dash`` is which of three dashes it has."""

    label: str
    points: Sequence[tuple[float, float]]
    dash: int = 0


def plot_svg(lines: Sequence[ChartLine], across: ChartAxis, up: ChartAxis, title: str) -> str:
    """Return lines with their axes, and below them what they are called."""
    wide, high = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM
    parts = [_text(4, 14, up.what)]
    for value in up.ticks:
        y = _TOP + high * (1 - up.place(value))
        parts.append(f'<line x1="{_LEFT}" y1="{y:.1f}" x2="{_LEFT + wide}" y2="{y:.1f}" class="rule"/>')
        parts.append(_text(_LEFT - 6, y + 4, up.words(value), anchor="end"))
    for value in across.ticks:
        x = _LEFT + wide * across.place(value)
        parts.append(_text(x, _HEIGHT - 12, across.words(value), anchor="middle"))
    y = _HEIGHT + 4
    for number, line in enumerate(lines):
        colour, dash = COLOURS[number % len(COLOURS)], _DASHES[line.dash % len(_DASHES)]
        spots = " ".join(
            f"{_LEFT + wide * across.place(x):.1f},{_TOP + high * (1 - up.place(value)):.1f}"
            for x, value in line.points
        )
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        parts.append(
            f'<polyline points="{spots}" fill="none" stroke="{colour}" stroke-width="1.5"{dashes}>'
            f"<title>{text_of(line.label)}</title></polyline>"
        )
        parts.append(f'<rect x="{_LEFT}" y="{y}" width="14" height="10" fill="{colour}"/>')
        words = _wrapped(line.label, _WIDTH - _LEFT - 20)
        parts += [_text(_LEFT + 20, y + 9 + _LINE * place, each) for place, each in enumerate(words)]
        y += _LINE * len(words)
    return _svg(_WIDTH, y + 4, parts, title)


def seconds_axis(most_s: float) -> ChartAxis:
    """Return the axis of a run's time."""
    return ChartAxis(what="time", low=0.0, high=most_s or 1.0, words=lambda s: f"{three_digits(s)} s")


def latency_axis(values_ns: Sequence[float], what: str = "latency") -> ChartAxis:
    """Return an axis of latencies, of at least one value above 0."""
    low, high = min(values_ns), max(values_ns)
    return ChartAxis(
        what=what,
        low=low * 0.9,
        high=high * 1.1,
        words=lambda ns: f"{milliseconds(ns)} ms",
        scale=AxisScale.LOG,
    )


def curves_svg(curves: Sequence[Curve], *, what: str = "IOPS", place: int = 1) -> str:
    """Return curves over time, overlaid.

    Args:
        curves: at least one, with points.
        what: what the vertical axis counts.
        place: which of a point's numbers: 1 IOPS, 2 bytes/s.
    """
    lines = [
        ChartLine(label=each.label, points=[(point[0], float(point[place] or 0)) for point in each.points])
        for each in curves
    ]
    found = [spot for line in lines for spot in line.points]
    most = max((value for _, value in found), default=1.0) or 1.0
    up = ChartAxis(what=what, low=0.0, high=most, words=short_number)
    return plot_svg(lines, seconds_axis(max((t_s for t_s, _ in found), default=1.0)), up, f"{what} over time")


def bars_svg(rows: Sequence[SeriesRow], what: str) -> str:
    """Return the medians of series as bars, with a whisker from the least to the greatest run.

    Args:
        rows: the series.
        what: the figure, one of ``METRICS``.
    """
    most = max((row.spread.high for row in rows if row.spread), default=1.0) or 1.0
    wide = _WIDTH - 90
    parts = []
    y = 6
    for number, row in enumerate(rows):
        for line in _wrapped(row.series.label or row.series.runs[0].words, _WIDTH - 8):
            parts.append(_text(0, y + 12, line))
            y += _LINE
        if row.spread is None:
            parts.append(_text(0, y + 13, NOT_STEADY if row.series.unsteady else "–"))
            y += _BAR
            continue
        median, low, high = (
            value / most * wide for value in (row.spread.median, row.spread.low, row.spread.high)
        )
        colour = COLOURS[number % len(COLOURS)]
        parts.append(
            f'<rect x="0" y="{y}" width="{median:.1f}" height="18" fill="{colour}" fill-opacity="0.75"/>'
        )
        parts.append(f'<line x1="{low:.1f}" y1="{y + 9}" x2="{high:.1f}" y2="{y + 9}" class="mark"/>')
        parts.append(_text(high + 8, y + 13, METRICS[what].words(row.spread.median)))
        y += _BAR
    return _svg(_WIDTH, y + 6, parts, what)


def _wrapped(text: str, wide: float) -> list[str]:
    """Return a text in lines of at most so many pixels, as estimated."""
    lines, room = [""], int(wide / _LETTER)
    for word in visible(text).split(" "):
        joined = f"{lines[-1]} {word}" if lines[-1] else word
        if cell_width(joined) <= room:
            lines[-1] = joined
            continue
        if lines[-1]:
            lines.append("")
        for letter in word:
            if cell_width(lines[-1] + letter) > room:
                lines.append("")
            lines[-1] += letter
    return lines


def heat_svg(heat: HeatMap) -> str:
    """Return a heat map; each cell has its number, and below it the published one in brackets."""
    cell, row_high, left, top = 78, 40, 64, 28
    values = [value for row in heat.yours for value in row if value is not None]
    most = max(values, default=1.0) or 1.0
    parts = [
        _text(left + place * cell + cell / 2, 18, short_binary(block), anchor="middle")
        for place, block in enumerate(heat.columns)
    ]
    for number, (name, mine, theirs) in enumerate(zip(heat.rows, heat.yours, heat.published, strict=True)):
        y = top + number * row_high
        parts.append(_text(left - 8, y + 24, f"{name}K" if name.isdecimal() else name, anchor="end"))
        for place, (value, other) in enumerate(zip(mine, theirs, strict=True)):
            x = left + place * cell
            shade = 0.0 if value is None else 0.08 + 0.72 * value / most
            parts.append(
                f'<rect x="{x}" y="{y}" width="{cell - 2}" height="{row_high - 2}" fill="#1b6ca8"'
                f' fill-opacity="{shade:.2f}" class="cell"/>'
            )
            if place in best_of(heat, number):
                parts.append(
                    f'<rect x="{x + 1}" y="{y + 1}" width="{cell - 4}" height="{row_high - 4}" fill="none"'
                    ' class="mark"/>'
                )
            text = "–" if value is None else three_digits(value)
            parts.append(_text(x + cell / 2 - 1, y + 17, text, anchor="middle"))
            if other is not None:
                parts.append(_text(x + cell / 2 - 1, y + 32, f"({other:.0f})", anchor="middle", small=True))
    return _svg(left + cell * len(heat.columns) + 8, top + row_high * len(heat.rows) + 8, parts, heat.title)


def _text(x: float, y: float, text: str, *, anchor: str = "start", small: bool = False) -> str:
    kind = ' class="small"' if small else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{kind}>{text_of(text)}</text>'


def _svg(width: float, height: float, parts: Sequence[str], title: str) -> str:
    head = f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {width:.0f} {height:.0f}"'
    size = f' width="{width:.0f}" height="{height:.0f}"'
    return f"{head}{size}><title>{text_of(title)}</title>{''.join(parts)}</svg>"
