"""Line, the drawing language: every pane and dialog, and the first frame, return lines to be drawn.

A line is a list of spans, each a text and its role: ``plain``, ``dim``, ``strong``, ``ok``, ``warn``,
``bad``, ``unknown``, ``accent``, ``tab``, ``key``, ``asked`` or ``selected``; in a heat map ``field``,
``figure`` or ``best`` with its step, 0 to 4. The theme says what a role looks like. Plain classes and the
standard library only, see ``raidtui.first_frame``.
"""

from __future__ import annotations

from raidtui.view.text import cell_width, fit, fit_words, visible

TYPE_CHECKING = False  # as in raidtui/__main__.py: the first frame imports this
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

GLYPHS = {"ok": "●", "warn": "▲", "bad": "✖", "unknown": "?"}

Span = tuple[str, str]
Line = list[Span]
FooterItem = tuple[str, str, bool]
"""(key as the footer writes it, label, whether it can be used now)."""
_NO_MARKS: Mapping[str, Span] = {}
FOOTER_NARROW = 80
"""Up to this width, only the first commands are shown."""


def whole_columns(columns: dict[str, int], dropped: tuple[str, ...], room: int) -> dict[str, int]:
    """Return the columns that fit in ``room`` cells, by name and width.

    Args:
        columns: all columns.
        dropped: the names of those that may be left out, in the order in which they are.
        room: cells.
    """
    kept = dict(columns)
    for name in dropped:
        if sum(kept.values()) <= room:
            break
        kept.pop(name, None)
    return kept


def rule_line(width: int, title: str = "", facts: Iterable[str] = ()) -> Line:
    """Return a rule that begins with a title and as many facts, in their order, as fit.

    Args:
        width: cells.
        title: what is below it; "" for none.
        facts: what is said besides; the first stands in for a title that there is not, as far as it fits.
    """
    name = fit_words(visible(title), width - 8).rstrip()
    words, rest = "", list(facts)
    if rest and not name:
        words = fit(visible(rest[0]), min(cell_width(visible(rest.pop(0))), max(0, width - 8)))
    room = width - 7 - cell_width(name)
    for fact in rest:
        if cell_width(more := f"{words} · {visible(fact)}") > room:
            break
        words = more
    rule = "─" * (width - 6 - cell_width(name) - cell_width(words))
    if not name and not words:
        return [(f" ───{rule} ", "dim")]
    return [(" ── ", "dim"), (name, "strong"), (f"{words} ", "plain" if name else "dim"), (f"{rule} ", "dim")]


def header_line(left: str, middle: Line, right: str, width: int) -> Line:
    """Return the first line of the screen: the host, the counts of states, then rights and clock."""
    middle_width = sum(len(text) for text, _ in middle)
    left_room = max(0, width - middle_width - len(right) - 5)
    shown = fit_words(f" raidtui  {visible(left)}", left_room)
    return [(shown, "strong"), (" ", "plain"), *middle, ("   ", "plain"), (right + " ", "plain")]


def counts_line(counts: dict[tuple[str, str], int]) -> Line:
    """Return ``● 2 optimal ▲ 1 resync`` from {(role, word): number}; the worst is last."""
    order = ("ok", "unknown", "warn", "bad")
    spans: Line = []
    for role, word in sorted(counts, key=lambda each: (order.index(each[0]), each[1])):
        if spans:
            spans.append((" ", "plain"))
        spans.append((f"{GLYPHS[role]} {counts[role, word]} {word}", role))
    return spans


def tab_line(
    tabs: tuple[tuple[str, str], ...], chosen: str, width: int, marks: Mapping[str, Span] = _NO_MARKS
) -> Line:
    """Return the line of tabs; the chosen one has the role ``tab``.

    Args:
        tabs: (key, title) pairs.
        chosen: a title.
        width: of the window.
        marks: what a title is followed by, where there is room for all of them.
    """
    spans: Line = []
    room = width - sum(len(key) + len(title) + 3 for key, title in tabs)
    shown = marks if sum(len(text) + 1 for text, _ in marks.values()) <= room else _NO_MARKS
    for key, title in tabs:
        spans.append((f" {key} {title} ", "tab" if title == chosen else "dim"))
        if title in shown:
            text, role = shown[title]
            spans.append((f"{text} ", role))
    used = sum(len(text) for text, _ in spans)
    if used == width + 1:  # the blank after the last one
        spans[-1] = (spans[-1][0][:-1], spans[-1][1])
    spans.append((" " * max(0, width - used), "plain"))
    return spans


def footer_line(
    first: Iterable[FooterItem], further: Iterable[FooterItem], last: Iterable[FooterItem], width: int
) -> Line:
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
    for item in (*first, *(further if width > FOOTER_NARROW else ())):
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


def _spans(item: FooterItem) -> Line:
    key, label, possible = item
    return [(f" {key}", "key" if possible else "dim"), (f" {label} ", "plain" if possible else "dim")]
