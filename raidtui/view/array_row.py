"""An array in one line: the row that the first frame and the screen both draw."""

from __future__ import annotations

from raidtui.view.line import GLYPHS, Line, whole_columns
from raidtui.view.text import cell_width, fit, visible
from raidtui.view.units import binary_size, duration, rate_mb_s, short_binary

_WIDE, _PANEL, _WIDEST_PANEL = 120, 48, 84


def list_width(columns: int) -> int:
    """Return how wide the list is: the whole window, or a part of a wide one, with the details beside it."""
    return columns if columns < _WIDE else min(_WIDEST_PANEL, max(_PANEL, columns * 2 // 5))


class Brief:
    """The content of an array's row.

    Args:
        title: the array's label or kernel name.
        role: ok, warn, bad or unknown: it decides the colour and the glyph.
        word: the state: optimal, resync, degraded, ...

    Attributes:
        note: text after the state where no sync runs: ``auto-read-only``, ``2 of 3 in sync``.
        short_note: the same where there is less room; "" where it has no shorter form.
        suffix: the kernel's name, where another array has the same title.
        percent: progress of a sync, ``54.2 %``; "" for none.
        left_s: estimated seconds to the end of the sync.
        urgency: its place in the list, 0 first: see ``raidtui.model.verdict.urgency``.
    """

    __slots__ = (
        "chunk_bytes", "glyph", "layout", "left_s", "level", "note", "percent", "role", "short_note",
        "size_bytes", "speed_kib_s", "suffix", "title", "urgency", "word",
    )  # fmt: skip

    def __init__(self, title: str, role: str, word: str) -> None:
        self.title = title
        self.role = role
        self.glyph = GLYPHS[role]
        self.word = word
        self.note = self.short_note = ""
        self.suffix = ""
        self.level = ""
        self.layout = ""
        self.chunk_bytes: int | None = None
        self.size_bytes: int | None = None
        self.percent = ""
        self.speed_kib_s: float | None = None
        self.left_s: float | None = None
        self.urgency = 0


def brief_line(brief: Brief, width: int) -> Line:
    """Return the row in ``width`` cells; each column has a fixed place.

    A column that does not fit is left out as a whole. The last cell stays empty for a scroll bar.
    """
    state_role = "plain" if brief.role == "ok" else brief.role
    panel = width < _SMALLEST
    title_width = width - 35 if panel else min(30, max(8, width - 71))
    room = width - 1 - (3 + title_width + 1 + 10)
    kept = {} if panel else whole_columns(_COLUMNS, _DROPPED, room)
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
        if not panel:
            figures.append(f" {rate_mb_s(brief.speed_kib_s) if brief.speed_kib_s is not None else '':>9}")
        figures.append(f" {duration(brief.left_s) if brief.left_s is not None else '':>8}")
        while len(figures) > 1 and len("".join(figures)) > room:
            figures.pop()
        line.append((fit("".join(figures), room) + " ", state_role))
    else:
        note = visible(brief.note)
        if cell_width(note) > room and brief.short_note:  # the details have all of it
            note = visible(brief.short_note)
        line.append((fit(note, room) + " ", "dim"))
    return line


_SMALLEST = 60  # a window is at least as wide: below that it is a panel
_COLUMNS = {"shape": 10, "chunk": 5, "size": 11, "percent": 7, "rate": 10, "left": 9}
_DROPPED = ("chunk", "size", "left", "shape", "rate")


def _title(brief: Brief, width: int) -> str:
    if not brief.suffix:
        return fit(visible(brief.title), width)
    suffix = visible(brief.suffix)
    room = width - cell_width(suffix) - 1
    return f"{fit(visible(brief.title), room)} {suffix}" if room > 1 else fit(suffix, width)
