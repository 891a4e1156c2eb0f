"""Pictures for the report: plain SVG that needs no script, no font and nothing from elsewhere. Pure.

Every text comes through ``text_of``, which makes it harmless; colours have words or numbers beside them.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from raidtui.features.bench.results.compare import METRICS, Curve, SeriesRow
from raidtui.features.bench.results.heat import HeatMap, best_of
from raidtui.features.bench.results.run_record import NOT_STEADY
from raidtui.view.text import cell_width, visible
from raidtui.view.units import short_binary, three_digits

COLOURS = ("#1b6ca8", "#c4541b", "#2f7d4f", "#8a4fa3", "#a8811b", "#5c6b73", "#b03060", "#3d7ea6")
_WIDTH, _HEIGHT = 720, 260
_LEFT, _RIGHT, _TOP, _BOTTOM = 80, 24, 30, 32
_LINE, _BAR = 20, 28
_LETTER = 7.5
"""Pixels of a wide letter: the font is not known here, so room is left."""


def text_of(text: str) -> str:
    """Return text from outside for a picture or a page."""
    return escape(visible(text), quote=True)


def curves_svg(curves: Sequence[Curve], *, what: str = "IOPS", place: int = 1) -> str:
    """Return curves over time, overlaid.

    Args:
        curves: at least one, with points.
        what: what the vertical axis counts.
        place: which of a point's numbers: 1 IOPS, 2 bytes/s.
    """
    most_s = max((point[0] for curve in curves for point in curve.points), default=1.0) or 1.0
    most = max((float(point[place] or 0) for curve in curves for point in curve.points), default=1.0) or 1.0
    wide, high = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM
    parts = _axes(most, most_s, what)
    y = _HEIGHT + 4
    for number, curve in enumerate(curves):
        colour = COLOURS[number % len(COLOURS)]
        spots = " ".join(
            f"{_LEFT + point[0] / most_s * wide:.1f},"
            f"{_TOP + high * (1 - float(point[place] or 0) / most):.1f}"
            for point in curve.points
        )
        parts.append(f'<polyline points="{spots}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        parts.append(f'<rect x="{_LEFT}" y="{y}" width="14" height="10" fill="{colour}"/>')
        lines = _wrapped(curve.label, _WIDTH - _LEFT - 20)
        parts += [_text(_LEFT + 20, y + 9 + _LINE * place, line) for place, line in enumerate(lines)]
        y += _LINE * len(lines)
    return _svg(_WIDTH, y + 4, parts, f"{what} over time")


def _axes(most: float, most_s: float, what: str) -> list[str]:
    wide, high = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM
    parts = []
    for part in (0.0, 0.5, 1.0):
        y, x = _TOP + high * (1 - part), _LEFT + wide * part
        parts.append(f'<line x1="{_LEFT}" y1="{y:.1f}" x2="{_LEFT + wide}" y2="{y:.1f}" class="rule"/>')
        parts.append(_text(_LEFT - 6, y + 4, short_number(most * part), anchor="end"))
        parts.append(_text(x, _HEIGHT - 12, f"{three_digits(most_s * part)} s", anchor="middle"))
    parts.append(_text(4, 14, what))
    return parts


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


def short_number(value: float) -> str:
    """Return a number in three digits: 102k, 4.2M."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{three_digits(value / size)}{letter}"
    return three_digits(value)


def _text(x: float, y: float, text: str, *, anchor: str = "start", small: bool = False) -> str:
    kind = ' class="small"' if small else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{kind}>{text_of(text)}</text>'


def _svg(width: float, height: float, parts: Sequence[str], title: str) -> str:
    head = f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {width:.0f} {height:.0f}"'
    size = f' width="{width:.0f}" height="{height:.0f}"'
    return f"{head}{size}><title>{text_of(title)}</title>{''.join(parts)}</svg>"
