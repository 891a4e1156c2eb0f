"""An array in one line: the row that the first frame and the screen both draw.

Plain classes and the standard library only, see ``first_frame``. A line is a list of spans: (text, role); the
roles are ``plain``, ``dim``, ``strong``, ``ok``, ``warn``, ``bad`` and ``accent``.
"""

from __future__ import annotations

from raidtui.model.text import cell_width, fit, fit_words, visible
from raidtui.model.units import binary_size, duration, rate_mb_s, short_binary

RANKS = {"bad": 0, "warn": 1, "unknown": 2, "ok": 3}
"""The order of the rows by their role; within one it is the kernel's."""
GLYPHS = {"ok": "●", "warn": "▲", "bad": "✖", "unknown": "?"}

Span = tuple[str, str]
Line = list[Span]


class Brief:
    """What an array's row says.

    Args:
        role: ok, warn or bad: the state's colour; ``glyph`` its sign.
        word: the state: optimal, resync, degraded, ...
        note: what stands behind it, where no sync runs: ``auto-read-only``, ``2 of 3``.
        suffix: the kernel's name, where another array has the same title.
    """

    __slots__ = (
        "chunk_bytes", "glyph", "layout", "left_s", "level", "note", "percent", "role", "size_bytes",
        "speed_kib_s", "suffix", "title", "word",
    )  # fmt: skip

    def __init__(self, title: str, role: str, word: str) -> None:
        self.title = title
        self.role = role
        self.glyph = GLYPHS[role]
        self.word = word
        self.note = ""
        self.suffix = ""
        self.level = ""
        self.layout = ""
        self.chunk_bytes: int | None = None
        self.size_bytes: int | None = None
        self.percent = ""
        self.speed_kib_s: float | None = None
        self.left_s: float | None = None


def brief_line(brief: Brief, width: int) -> Line:
    """Return the row in ``width`` cells, every column at its place whatever the values are.

    A column for which there is no room is left out whole. The last cell stays empty: a scroll bar is there.
    """
    state_role = "plain" if brief.role == "ok" else brief.role
    title_width = min(30, max(8, width - 71))
    room = width - 1 - (3 + title_width + 1 + 10)
    kept = whole_columns(_COLUMNS, _DROPPED, room)
    shape = " ".join(part for part in (brief.level, brief.layout) if part)
    before = f"{fit(visible(shape), 9)} " if "shape" in kept else ""
    if "chunk" in kept:
        before += f"{short_binary(brief.chunk_bytes) if brief.chunk_bytes else '':>4} "
    if "size" in kept:
        before += f"{binary_size(brief.size_bytes) if brief.size_bytes else '':>9}  "
    line: Line = [
        (f" {brief.glyph} ", brief.role),
        (_title(brief, title_width) + " ", "strong"),
        (before, "plain"),
        (f"{fit(brief.word, 9)} ", state_role),
    ]
    room -= len(before)
    if brief.percent:
        figures = [f"{brief.percent:>7}"]
        figures.append(f" {rate_mb_s(brief.speed_kib_s) if brief.speed_kib_s is not None else '':>9}")
        figures.append(f" {duration(brief.left_s) if brief.left_s is not None else '':>8}")
        while len(figures) > 1 and len("".join(figures)) > room:
            figures.pop()
        line.append((fit("".join(figures), room) + " ", state_role))
    else:
        line.append((fit(visible(brief.note), room) + " ", "dim"))
    return line


_COLUMNS = {"shape": 10, "chunk": 5, "size": 11, "percent": 7, "rate": 10, "left": 9}
_DROPPED = ("chunk", "size", "left", "shape", "rate")


def whole_columns(columns: dict[str, int], dropped: tuple[str, ...], room: int) -> dict[str, int]:
    """Return the columns that fit, by name and cells: those that are ``dropped`` first go first, whole."""
    kept = dict(columns)
    for name in dropped:
        if sum(kept.values()) <= room:
            break
        kept.pop(name, None)
    return kept


def _title(brief: Brief, width: int) -> str:
    if not brief.suffix:
        return fit(visible(brief.title), width)
    suffix = visible(brief.suffix)
    room = width - cell_width(suffix) - 1
    return f"{fit(visible(brief.title), room)} {suffix}" if room > 1 else fit(suffix, width)


def header_line(left: str, middle: Line, right: str, width: int) -> Line:
    """Return the first line: who on the left, the verdicts in the middle, clock and rights on the right."""
    middle_width = sum(len(text) for text, _ in middle)
    left_room = max(0, width - middle_width - len(right) - 5)
    shown = fit_words(f" raidtui  {visible(left)}", left_room)
    return [(shown, "strong"), (" ", "plain"), *middle, ("   ", "plain"), (right + " ", "plain")]


def counts_line(counts: dict[tuple[str, str], int]) -> Line:
    """Return ``● 2 optimal ▲ 1 resync`` from {(role, word): number}, the worst last."""
    order = ("ok", "unknown", "warn", "bad")
    spans: Line = []
    for role, word in sorted(counts, key=lambda each: order.index(each[0])):
        if spans:
            spans.append((" ", "plain"))
        spans.append((f"{GLYPHS[role]} {counts[role, word]} {word}", role))
    return spans


def tab_line(tabs: tuple[tuple[str, str], ...], chosen: str, width: int) -> Line:
    """Return the line of panes: (key, title) pairs, the chosen one strong."""
    spans: Line = []
    for key, title in tabs:
        spans.append((f" {key} {title} ", "tab" if title == chosen else "dim"))
    used = sum(len(text) for text, _ in spans)
    spans.append((" " * max(0, width - used), "plain"))
    return spans
