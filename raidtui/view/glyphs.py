"""Characters beyond ASCII, and their replacements on a terminal that has ASCII alone.

The first frame, the screen and the command line all use this table. A replacement takes as many cells as the
character. Standard library only, as the first frame needs it.
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
    "●": "*", "•": "*", "○": "o", "▲": "!", "▼": "v", "✖": "X", "✓": "v", "▮": "|", "■": "#", "□": "o",
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
"""Error handlers for characters that an encoding lacks: one writes escapes, one keeps the number of cells."""
_BRAILLE = range(0x2800, 0x2900)
_ASCII_LOCALES = frozenset({"C", "POSIX"})


def encoding() -> str:
    """Return the encoding of output: Python's, but ASCII where the user has set the locale C.

    Where no locale is set, as under cron, Python uses UTF-8 in the C locale and sets LC_CTYPE accordingly.
    """
    python = getattr(sys.stdout, "encoding", None) or "utf-8"
    if "PYTHONIOENCODING" in os.environ or "PYTHONUTF8" in os.environ or not _is_utf8(python):
        return python
    wanted = os.environ.get("LC_ALL") or os.environ.get("LC_CTYPE") or os.environ.get("LANG") or ""
    if wanted in _ASCII_LOCALES:
        return "ascii"
    if os.environ.get("LANG") in _ASCII_LOCALES and not _given("LC_CTYPE") and not os.environ.get("LC_ALL"):
        return "ascii"
    return python


def _given(name: str) -> str:
    """Return a variable of the environment as the program received it, before Python changed it."""
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


def to_cells(text: str, signs: str = "") -> bytes:
    """Return the bytes that draw a text on this terminal.

    Args:
        text: what is drawn.
        signs: the encoding; "" for that of the user.
    """
    register()
    return text.encode(signs or encoding(), CELLS)


def register() -> None:
    """Register the two error handlers for Python's streams."""
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
