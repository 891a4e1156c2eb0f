"""The report: one HTML file with its pictures in it. It loads nothing, and runs no script. Pure.

Pictures are plain SVG. Every text comes through ``text_of``, which makes it harmless; colours have words or
numbers beside them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from html import escape

from msgspec.structs import replace

from raidtui.features.bench.environment import Part, environment_lines, part_words
from raidtui.features.bench.results.compare import (
    METRICS,
    Curve,
    SeriesRow,
    curves,
    family_of,
    series_of,
    statements_of,
    table,
)
from raidtui.features.bench.results.published import (
    HeatMap,
    best_of,
    best_words,
    cache_remarks,
    heat_maps,
    left_out_words,
)
from raidtui.features.bench.results.run_record import NOT_STEADY, RunRecord, RunSample
from raidtui.features.bench.schedule import point_words
from raidtui.features.bench.telemetry import span_words
from raidtui.view.text import cell_width, visible
from raidtui.view.units import binary_size, counted, short_binary, short_number, three_digits

_MOST_CURVES = 8
_STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: 0.5rem 0 1.5rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: 0.15rem 0.9rem 0.15rem 0; border-bottom: 1px solid #8884; }
td.n, th.n { text-align: right; white-space: nowrap; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
svg { max-width: 100%; height: auto; } svg text { font: 12px system-ui, sans-serif; fill: currentColor; }
svg text.small { font-size: 11px; opacity: 0.75; } svg .rule { stroke: currentColor; stroke-opacity: 0.2; }
svg .mark { stroke: currentColor; stroke-width: 2; } svg .cell { stroke: currentColor; stroke-opacity: 0.25; }
p.note { opacity: 0.8; }
"""
_MODEL = "Simulated: figures of raidtui's demo host come from a model. No disk was measured."
_HOW = (
    "A value is the median of its runs, with the least and the greatest beside it. Series are compared by"
    " their ratio, by an exact permutation test within the blocks in which the order of the runs was drawn at"
    " random; “no difference” means that its interval lies within 5 %."
)


def html_report(
    records: Sequence[RunRecord], samples: Mapping[int, Sequence[RunSample]], *, measure: str = "iops"
) -> str:
    """Return the report of runs.

    Args:
        records: the runs.
        samples: by the runs' numbers.
        measure: by which figure they are compared.
    """
    kind = METRICS[measure]
    series = series_of(records)
    rows = table(series, kind)
    titles = list(dict.fromkeys(record.title for record in records))
    parts = [f"<h1>{text_of(', '.join(titles) or 'no runs')}</h1>", _when(records)]
    if any(record.simulated for record in records):
        parts.append(f"<p><strong>{text_of(_MODEL)}</strong></p>")
    if rows:
        parts += [f"<h2>{text_of(kind.name)}</h2>", bars_svg(rows, kind.name), _table(rows, measure)]
    parts += [
        f"<h2>{text_of(f'chunk x block size, {heat.title}')}</h2>{heat_svg(heat)}{_heat_notes(heat)}"
        for heat in heat_maps(records)
    ]
    shown = curves(series[:_MOST_CURVES], samples)
    if shown:
        parts += ["<h2>IOPS over time</h2>", _note(_drawn(len(shown), len(series))), curves_svg(shown)]
    hits = [
        replace(each, points=tuple((t_s, ratio * 100, 0.0, None) for t_s, ratio in each.hits))
        for each in shown
        if each.hits
    ]
    if hits:
        parts += ["<h2>Hit ratio of the cache over time</h2>", curves_svg(hits, what="hits, %")]
    parts += [_note(sentence) for sentence in cache_remarks(series)]
    parts += ["<h2>Runs</h2>", _runs(records), *_surroundings(records)]
    body = "\n".join(parts)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>raidtui bench</title>'
        f"<style>{_STYLE}</style></head><body>\n{body}\n</body></html>\n"
    )


def _when(records: Sequence[RunRecord]) -> str:
    if not records:
        return ""
    times = [
        f"{datetime.fromtimestamp(each.at_s, UTC):%Y-%m-%d %H:%M} UTC" for each in (records[0], records[-1])
    ]
    span = times[0] if times[0] == times[1] else " to ".join(times)
    hosts = ", ".join(dict.fromkeys(record.environment.host for record in records if record.environment.host))
    return (
        f"<p>{text_of(' · '.join(part for part in (hosts, span, counted(len(records), 'run')) if part))}</p>"
    )


def _note(text: str) -> str:
    return f'<p class="note">{text_of(text)}</p>' if text else ""


def _drawn(shown: int, of: int) -> str:
    """Return which runs are drawn."""
    each = "One run of each series is drawn: the median by IOPS, named beside its colour."
    return each if shown == of else f"{each} {shown} of {of} series are drawn."


def _heat_notes(heat: HeatMap) -> str:
    best = best_words(heat)
    texts = (
        f"A thick frame: {best}." if heat.decided else f"{best[:1].upper()}{best[1:]}." if best else "",
        left_out_words(heat),
        f"In brackets: {heat.source}." if heat.has_published else "",
    )
    return "".join(map(_note, texts))


def _table(rows: Sequence[SeriesRow], measure: str) -> str:
    kind = METRICS[measure]
    lines = [_cells("th", "", "median", "least", "greatest", "runs")]
    for row in rows:
        if row.series.unsteady:
            lines.append(_cells("td", row.series.label, NOT_STEADY, "", "", str(len(row.series.runs))))
        elif row.spread is not None:
            numbers = (kind.words(value) for value in (row.spread.median, row.spread.low, row.spread.high))
            lines.append(_cells("td", row.series.label, *numbers, str(row.spread.count)))
    statements = "".join(f"<p>{text_of(each.sentence)}</p>" for each in statements_of(rows))
    return f"<table>{''.join(lines)}</table>{statements}{_note(family_of(rows))}{_note(_HOW)}"


def _runs(records: Sequence[RunRecord]) -> str:
    lines = [_cells("th", "run", "what", "figures", "written", "state", numbers=False)]
    for record in records:
        written = max(record.written.values(), default=0)
        state = record.state + (f": {record.reason}" if record.reason else "")
        what = record.work.words if record.work is not None else record.title
        point = point_words(record.point)
        cells = (f"#{record.id}", f"{what} ({point})" if point else what, record.figures)
        surroundings = span_words(record.during)
        steady = NOT_STEADY if record.unsteady else ""
        cpu = f"fio used {record.cpu_s:.1f} s of CPU time" if record.cpu_s else ""
        texts = (
            *(state, steady, record.short, surroundings, cpu, record.steady),
            *(*(each.line for each in record.caches), *record.remarks, record.note),
        )
        notes = "; ".join(text for text in texts if text)
        lines.append(
            _cells("td", *cells, binary_size(written) if record.written else "?", notes, numbers=False)
        )
    return f'<table>{"".join(lines)}</table><p class="note">Written: to the disk that received most.</p>'


def _surroundings(records: Sequence[RunRecord]) -> list[str]:
    """Return the environments of the runs, each one once."""
    found = []
    seen: list[tuple[tuple[str, tuple[Part, ...]], ...]] = []
    for record in records:
        lines = tuple(environment_lines(record.environment))
        if lines in seen:
            continue
        seen.append(lines)
        rows = "".join(
            _cells("td", what, ", ".join(map(part_words, parts)), numbers=False) for what, parts in lines
        )
        found.append(f"<h2>{text_of(f'Telemetry from run #{record.id} on')}</h2><table>{rows}</table>")
    return found


def _cells(tag: str, *texts: str, numbers: bool = True) -> str:
    cells = (
        f"<{tag}{' class=n' if numbers and place else ''}>{text_of(text)}</{tag}>"
        for place, text in enumerate(texts)
    )
    return f"<tr>{''.join(cells)}</tr>"


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


def _text(x: float, y: float, text: str, *, anchor: str = "start", small: bool = False) -> str:
    kind = ' class="small"' if small else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{kind}>{text_of(text)}</text>'


def _svg(width: float, height: float, parts: Sequence[str], title: str) -> str:
    head = f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {width:.0f} {height:.0f}"'
    size = f' width="{width:.0f}" height="{height:.0f}"'
    return f"{head}{size}><title>{text_of(title)}</title>{''.join(parts)}</svg>"
