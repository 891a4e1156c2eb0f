"""The footer: keys with their labels, as many as fit."""

from __future__ import annotations

from collections.abc import Iterable

from raidtui.view.line import Line
from raidtui.view.text import cell_width

Item = tuple[str, str, bool]
"""(key as the footer writes it, label, whether it can be used now)."""

NARROW = 80
"""Up to this width, only the first commands are shown."""


def footer_line(first: Iterable[Item], further: Iterable[Item], last: Iterable[Item], width: int) -> Line:
    """Return the footer in ``width`` cells.

    Args:
        first: shown at any width.
        further: shown besides in wider windows, the most useful first.
        last: always shown, at the end.
        width: of the window.
    """
    end = [span for item in last for span in _spans(item)]
    room = width + 2 - _cells(end)  # the blanks at both ends may go
    line: Line = []
    for item in (*first, *(further if width > NARROW else ())):
        spans = _spans(item)
        if _cells(spans) <= room:
            line += spans
            room -= _cells(spans)
    line += end
    if room < 1:
        line[0] = (line[0][0][1:], line[0][1])
    return [*line, (" " * max(0, room - 2), "plain")]


def _cells(line: Line) -> int:
    return sum(cell_width(text) for text, _ in line)


def _spans(item: Item) -> Line:
    key, label, possible = item
    return [(f" {key}", "key" if possible else "dim"), (f" {label} ", "plain" if possible else "dim")]
