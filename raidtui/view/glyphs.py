"""Signs that are not ASCII, and what stands for each where the terminal has ASCII alone.

The one table of them: the first frame, the screen and the command line all pass through it. Each twin takes
as many cells as its sign. Standard library only and cheap, as the first frame needs it.
"""

from __future__ import annotations

import codecs
import os
import sys

TWINS = {
    "\xa0": " ",
    "–": "-", "·": "|", "…": "~", "×": "x", "°": " ", "µ": "u", "“": '"', "”": '"', "’": "'", "⇧": "^",
    "±": "~",
    "→": ">", "←": "<", "↑": "^", "↓": "v", "↔": "=", "›": ">", "‹": "<", "▸": ">", "▾": "v",
    "≥": ">", "≤": "<",
    "●": "*", "○": "o", "▲": "!", "▼": "v", "✖": "X", "✓": "v", "▮": "|", "■": "#", "□": "o",
    "▁": "_", "▂": ".", "▃": ",", "▄": "-", "▅": "=", "▆": "+", "▇": "*", "█": "#",
    "▏": "|", "▎": "|", "▍": "|", "▌": "|", "▋": "#", "▊": "#", "▉": "#", "▐": "|", "▕": "|", "▔": "-",
    "▀": "-",
    "░": ".", "▒": ":", "▓": "%",
    "─": "-", "━": "-", "═": "=", "│": "|", "┃": "|", "║": "|", "╴": "-", "╶": "-", "╵": "|", "╷": "|",
    "┌": "+", "┐": "+", "└": "+", "┘": "+", "├": "+", "┤": "+", "┬": "+", "┴": "+", "┼": "+",
    "╭": "+", "╮": "+", "╰": "+", "╯": "+", "╸": "-", "╺": "-", "╹": "|", "╻": "|",
}  # fmt: skip
"""Sign -> ASCII, each of one cell."""

LINES, CELLS = "raidtui-lines", "raidtui-cells"
"""Two ways to write what an encoding has not: with escapes (command line), in as many cells (screen)."""
_BRAILLE = range(0x2800, 0x2900)
_ASCII_LOCALES = frozenset({"C", "POSIX"})


def encoding() -> str:
    """Return the encoding for what people read: Python's, but ASCII where the locale is C by somebody's wish.

    Where nothing is set, as under cron, Python takes UTF-8 in the C locale, and sets LC_CTYPE to say so.
    """
    told = getattr(sys.stdout, "encoding", None) or "utf-8"
    if "PYTHONIOENCODING" in os.environ or "PYTHONUTF8" in os.environ or not _is_utf8(told):
        return told
    wanted = os.environ.get("LC_ALL") or os.environ.get("LC_CTYPE") or os.environ.get("LANG") or ""
    if wanted in _ASCII_LOCALES:
        return "ascii"
    if os.environ.get("LANG") in _ASCII_LOCALES and not _given("LC_CTYPE") and not os.environ.get("LC_ALL"):
        return "ascii"
    return told


def _given(name: str) -> str:
    """Return a variable of the environment as this program got it, before Python changed it."""
    try:
        descriptor = os.open("/proc/self/environ", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return os.environ.get(name, "")
    try:
        words = os.read(descriptor, 1 << 20).split(b"\0")
    finally:
        os.close(descriptor)
    start = f"{name}=".encode()
    found = (word.removeprefix(start) for word in words if word.startswith(start))
    return next(found, b"").decode("utf-8", "replace")


def _is_utf8(name: str) -> bool:
    return name.lower().replace("-", "").replace("_", "") in {"utf8", "utf8sig"}


def to_cells(text: str) -> bytes:
    """Return what draws a text on this terminal."""
    register()
    return text.encode(encoding(), CELLS)


def register() -> None:
    """Make the two ways known to Python's streams."""
    codecs.register_error(LINES, _in_lines)
    codecs.register_error(CELLS, _in_cells)


def _in_lines(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    texts = (TWINS.get(char) or _dots(char) for char in error.object[error.start : error.end])
    escaped = (
        text or char.encode("ascii", "backslashreplace").decode()
        for text, char in zip(texts, error.object[error.start : error.end], strict=True)
    )
    return "".join(escaped), error.end


def _in_cells(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    from raidtui.view.text import cell_width  # noqa: PLC0415

    parts = (
        TWINS.get(char) or _dots(char) or "?" * cell_width(char)
        for char in error.object[error.start : error.end]
    )
    return "".join(parts), error.end


def _dots(char: str) -> str:
    return "" if ord(char) not in _BRAILLE else " " if ord(char) == _BRAILLE.start else ":"
