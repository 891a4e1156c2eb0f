"""An array in one line: the row that the first frame and the screen both draw.

Plain classes and the standard library only, see ``first_frame``. A line is a list of spans: (text, role); the
roles are ``plain``, ``dim``, ``strong``, ``ok``, ``warn``, ``bad`` and ``accent``.
"""

from __future__ import annotations

from raidtui.model.text import fit, visible
from raidtui.model.units import binary_size, duration, rate_mb_s, short_binary

GLYPHS = {"ok": "●", "warn": "▲", "bad": "✖", "unknown": "?"}

Span = tuple[str, str]
Line = list[Span]


class Brief:
    """What an array's row says.

    Args:
        role: ok, warn or bad: the state's colour; ``glyph`` its sign.
        word: the state: optimal, resync, degraded, ...
        note: what stands behind it, where no sync runs: ``auto-read-only``, ``2 of 3``.
    """

    __slots__ = (
        "chunk_bytes", "glyph", "layout", "left_s", "level", "note", "percent", "role", "size_bytes",
        "speed_kib_s", "title", "word",
    )  # fmt: skip

    def __init__(self, title: str, role: str, word: str) -> None:
        self.title = title
        self.role = role
        self.glyph = GLYPHS[role]
        self.word = word
        self.note = ""
        self.level = ""
        self.layout = ""
        self.chunk_bytes: int | None = None
        self.size_bytes: int | None = None
        self.percent = ""
        self.speed_kib_s: float | None = None
        self.left_s: float | None = None


def brief_line(brief: Brief, width: int) -> Line:
    """Return the row in exactly ``width`` cells, every column at its place whatever the values are."""
    state_role = "plain" if brief.role == "ok" else brief.role
    title_width = min(30, max(8, width - 71))
    shape = " ".join(part for part in (brief.level, brief.layout) if part)
    chunk = short_binary(brief.chunk_bytes) if brief.chunk_bytes else ""
    size = binary_size(brief.size_bytes) if brief.size_bytes else ""
    line: Line = [
        (f" {brief.glyph} ", brief.role),
        (fit(visible(brief.title), title_width) + " ", "strong"),
        (f"{fit(visible(shape), 9)} {chunk:>4} {size:>9}  ", "plain"),
        (f"{fit(brief.word, 9)} ", state_role),
    ]
    room = width - sum(len(text) for text, _ in line[:1]) - (title_width + 1) - 26 - 10
    if brief.percent:
        rate = rate_mb_s(brief.speed_kib_s) if brief.speed_kib_s is not None else ""
        left = duration(brief.left_s) if brief.left_s is not None else ""
        line.append((fit(f"{brief.percent:>7} {rate:>9} {left:>8}", room), state_role))
    else:
        line.append((fit(visible(brief.note), room), "dim"))
    return line


def header_line(left: str, middle: Line, right: str, width: int) -> Line:
    """Return the first line: who on the left, the verdicts in the middle, clock and rights on the right."""
    middle_width = sum(len(text) for text, _ in middle)
    left_room = max(0, width - middle_width - len(right) - 5)
    shown = fit(f" raidtui  {visible(left)}", left_room)
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
