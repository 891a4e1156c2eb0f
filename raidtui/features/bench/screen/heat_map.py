"""The heat map as a picture: a field for each figure, yours beside the published one, fitted to the window.

A field's colour is the figure's part of the highest, in five steps. Its shade, which the colour hides, says
the same where there are no colours. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct

from raidtui.features.bench.option_texts import ONE
from raidtui.features.bench.results.published import HeatMap, best_of, best_words, left_out_words
from raidtui.features.bench.screen.run_table import cut_line, paragraph
from raidtui.view.line import Line, Span
from raidtui.view.text import fit, visible
from raidtui.view.units import counted, short_binary, three_digits

_SHADES = " ░▒▓█"
_BEST = "●"
_HEADS = 2
_MOST_GAP, _MOST_HIGH = 4, 3
_NONE = "–"
NO_MAP = (
    "There is no heat map here: it takes runs of at least two block sizes, or of two chunks. The preset"
    " random-read goes through the published block sizes; a sweep of chunks makes its arrays of disks that"
    " may be overwritten."
)


class Layer(StrEnum):
    """The figure that the cells show."""

    BOTH = "both"
    YOURS = "yours"
    RATIO = "ratio"


class HeatCell(Struct, frozen=True, kw_only=True):
    """One place of the map.

    Args:
        mine: your figure in words.
        theirs: the published one; "" where it is not shown.
        part: which part of the highest yours is, or of the scale; None where there is none.
        theirs_part: likewise of the published one.
        best: whether it is decided that no chunk is faster at this block size.
    """

    mine: str
    theirs: str = ""
    part: float | None = None
    theirs_part: float | None = None
    best: bool = False


class Window(Struct, frozen=True, kw_only=True):
    """Which part of the map is in view.

    Args:
        left, top: the first column and row in view.
        columns, rows: how many of each are.
        high: how many lines a field has besides its figure's.
        notes: whether there is room for what is written below.
    """

    left: int
    top: int
    columns: int
    rows: int
    high: int
    notes: bool


def next_layer(layer: Layer) -> Layer:
    """Return the layer that a key leads to."""
    layers = tuple(Layer)
    return layers[(layers.index(layer) + 1) % len(layers)]


def window_of(
    heat: HeatMap,
    width: int,
    height: int,
    *,
    layer: Layer = Layer.BOTH,
    left: int = 0,
    top: int = 0,
    bars: bool = True,
) -> Window:
    """Return the visible part of a map; an offset beyond its end is reduced.

    Args:
        heat: the map.
        width: cells of a line.
        height: how many lines there are.
        layer: what is shown.
        left: the column wanted first.
        top: the row wanted first.
        bars: whether fields are higher than their figures, where there is room.
    """
    room = width - _name_width(heat) - 1
    widths = _widths(heat, _cells(heat, layer), room)
    left = max(0, min(left, len(widths) - 1))
    while left and sum(widths[left - 1 :]) <= room:
        left -= 1
    columns = 1
    while left + columns < len(widths) and sum(widths[left : left + columns + 1]) <= room:
        columns += 1
    rows, free = len(heat.rows), height - _HEADS - (columns < len(widths))
    below = len(_notes(heat, layer, width, bars=bars))
    layouts = [(high, True) for high in range(_MOST_HIGH, 0, -1)] + [(1, False)] if bars else [(0, True)]
    high, notes = next(
        (layout for layout in layouts if rows * (layout[0] + 1) + (below if layout[1] else 0) <= free),
        (0, False),
    )
    if rows > free and not high:
        rows = max(1, free - 1)
    top = max(0, min(top, len(heat.rows) - rows))
    return Window(left=left, top=top, columns=columns, rows=rows, high=high, notes=notes)


def heat_map_lines(
    heat: HeatMap,
    width: int,
    height: int = 1000,
    *,
    layer: Layer = Layer.BOTH,
    left: int = 0,
    top: int = 0,
    bars: bool = True,
) -> list[Line]:
    """Return a map in lines of at most ``width`` cells.

    Args:
        heat: the map.
        width: cells of a line.
        height: how many lines there are.
        layer: what is shown.
        left: the column wanted first, see ``window_of``.
        top: the row wanted first.
        bars: whether fields are higher than their figures.
    """
    cells = _cells(heat, layer)
    seen = window_of(heat, width, height, layer=layer, left=left, top=top, bars=bars)
    name = _name_width(heat)
    widths = _widths(heat, cells, width - name - 1)
    columns = range(seen.left, seen.left + seen.columns)
    lines = [_title(heat, layer, width)]
    head = "".join(f"{short_binary(heat.columns[place]):>{widths[place]}}" for place in columns)
    lines.append([(fit(" " * name + head, width - 1), "dim")])
    for number in range(seen.top, seen.top + seen.rows):
        row = [cells[number][place] for place in columns]
        across = [widths[place] for place in columns]
        split = [_split(cells, place) for place in columns]
        blank: Span = (" " * name, "plain")
        above = seen.high - seen.high // 2
        lines += [[blank, *_fields(row, across, split, best=not place)] for place in range(above)]
        lines.append([(f" {_row_name(heat.rows[number]):<{name - 1}}", "plain"), *_words(row, across, split)])
        lines += [[blank, *_fields(row, across, split)] for _ in range(seen.high - above)]
    return [cut_line(line, width) for line in (*lines, *_feet(heat, layer, seen, width, bars=bars))]


def _title(heat: HeatMap, layer: Layer, width: int) -> Line:
    unit = "MB/s"
    words = {
        Layer.BOTH: f"{unit}   yours (published)",
        Layer.YOURS: f"{unit}   yours",
        Layer.RATIO: "yours in % of the published",
    }
    if layer is Layer.BOTH and not heat.has_published:
        layer = Layer.YOURS
    return [(fit(f" chunk x block size, {visible(heat.what)}, {words[layer]}", width - 1), "strong")]


def _feet(heat: HeatMap, layer: Layer, seen: Window, width: int, *, bars: bool) -> list[Line]:
    hidden = []
    for word, before, count, of, keys in (
        ("block size", seen.left, seen.columns, len(heat.columns), "← →"),
        ("chunk", seen.top, seen.rows, len(heat.rows), "↑ ↓"),
    ):
        if more := of - count:
            which = f"{before + 1} to {before + count}" if count > 1 else str(before + 1)
            hidden.append(f"{counted(more, word)} more with {keys}: {which} of {of}")
    lines: list[Line] = [[(fit(f" {text}", width - 1), "accent")] for text in hidden]
    return [*lines, *(_notes(heat, layer, width, bars=bars) if seen.notes else [])]


def _notes(heat: HeatMap, layer: Layer, width: int, *, bars: bool = True) -> list[Line]:
    notes = []
    if layer is not Layer.RATIO and (words := best_words(heat)):
        notes.append(f"{_BEST} bold: {words}" if heat.decided else words)
    if words := left_out_words(heat):
        notes.append(words)
    if layer is not Layer.YOURS:
        notes.append(
            f"published: {heat.source}" if heat.has_published else "nothing is published for these sizes"
        )
    lines = [line for text in notes for line in paragraph(text, width, "dim")]
    return [[], _scale(layer), *lines] if bars else lines


def _scale(layer: Layer) -> Line:
    """Return what the colours mean."""
    low, high = "0 %", "100 % of the highest"
    if layer is Layer.RATIO:
        low, high = "50 %", "150 % of the published"
    steps = [(shade * 4, f"field{step}") for step, shade in enumerate(_SHADES)]
    return [(f" {low} ", "dim"), *steps, (f" {high}", "dim")]


def _row_name(row: str) -> str:
    return row if row == ONE else f"{row}K"


def _name_width(heat: HeatMap) -> int:
    return max(len(_row_name(row)) for row in heat.rows) + 1


def _cells(heat: HeatMap, layer: Layer) -> list[list[HeatCell]]:
    known = [value for row in heat.yours for value in row if value is not None]
    if layer is Layer.BOTH:
        known += [value for row in heat.published for value in row if value is not None]
    most = max(known, default=0.0)
    rows = zip(heat.yours, heat.published, strict=True)
    pairs = [list(zip(row, other, strict=True)) for row, other in rows]
    if layer is Layer.RATIO:
        return [[_ratio_cell(mine, theirs) for mine, theirs in row] for row in pairs]
    if layer is Layer.YOURS:
        pairs = [[(mine, None) for mine, _ in row] for row in pairs]
    return [
        [
            HeatCell(
                mine=_number(mine),
                theirs="" if theirs is None else f"({_number(theirs)})",
                part=_part(mine, most),
                theirs_part=_part(theirs, most),
                best=place in best_of(heat, number),
            )
            for place, (mine, theirs) in enumerate(row)
        ]
        for number, row in enumerate(pairs)
    ]


def _number(value: float | None) -> str:
    if value is None:
        return _NONE
    return f"{value:.0f}" if value >= 9.95 else three_digits(value)


def _ratio_cell(mine: float | None, theirs: float | None) -> HeatCell:
    """Return a cell of a scale from half of the published to half as much again."""
    if mine is None or not theirs:
        return HeatCell(mine=_NONE)
    ratio = mine / theirs
    return HeatCell(mine=f"{ratio * 100:.0f}", part=max(0.0, min(1.0, ratio - 0.5)))


def _part(value: float | None, most: float) -> float | None:
    return None if value is None else value / most if most > 0 else 0.0


def _split(cells: Sequence[Sequence[HeatCell]], place: int) -> tuple[int, int]:
    """Return how wide the figures and those in brackets are in a column."""
    return max(len(row[place].mine) for row in cells), max(len(row[place].theirs) for row in cells)


def _widths(heat: HeatMap, cells: Sequence[Sequence[HeatCell]], room: int) -> list[int]:
    """Return how wide each column is, the blanks before it along: more of them where there is room."""
    found = []
    for place, block in enumerate(heat.columns):
        mine, theirs = _split(cells, place)
        found.append(max(len(short_binary(block)), mine + (theirs + 1 if theirs else 0)))
    gap = max(1, min(_MOST_GAP, (room - sum(found)) // len(found)))
    return [wide + gap for wide in found]


def _words(row: Sequence[HeatCell], across: Sequence[int], split: Sequence[tuple[int, int]]) -> list[Span]:
    spans: list[Span] = []
    for cell, wide, (mine, theirs) in zip(row, across, split, strict=True):
        room = wide - mine - (theirs + 1 if theirs else 0)
        kind = "best" if cell.best else "figure"
        spans += [(" " * room, "plain"), (f"{cell.mine:>{mine}}", _role(kind, cell.part))]
        if theirs:
            spans += [(" ", "plain"), (f"{cell.theirs:>{theirs}}", _role("figure", cell.theirs_part))]
    return spans


def _fields(
    row: Sequence[HeatCell], across: Sequence[int], split: Sequence[tuple[int, int]], *, best: bool = False
) -> list[Span]:
    """Return a line of the fields above or below a row's figures; with ``best``, with its mark."""
    spans: list[Span] = []
    for cell, wide, (mine, theirs) in zip(row, across, split, strict=True):
        mark = _BEST if best and cell.best else ""
        spans.append((" " * (wide - mine - (theirs + 1 if theirs else 0)), "plain"))
        spans.append((_shade(cell.part) * (mine - len(mark)), _role("field", cell.part)))
        spans.append((mark, _role("best", cell.part)))
        if theirs:
            shades = _shade(cell.theirs_part) * theirs
            spans += [(" ", "plain"), (shades, _role("field", cell.theirs_part))]
    return spans


def _step(part: float) -> int:
    return min(len(_SHADES) - 1, int(part * len(_SHADES)))


def _shade(part: float | None) -> str:
    return " " if part is None else _SHADES[_step(part)]


def _role(kind: str, part: float | None) -> str:
    return "dim" if part is None else f"{kind}{_step(part)}"
