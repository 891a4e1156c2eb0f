"""Text from the kernel, a disk or a user, made harmless for a terminal.

Nothing here imports anything but ``unicodedata``: the first frame uses it before the rest is loaded.
"""

from __future__ import annotations

import unicodedata

_ESCAPED_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_RIGHT_TO_LEFT = frozenset({"R", "AL", "AN"})


def visible(text: str) -> str:
    r"""Return ``text`` with everything that could move the cursor or the columns written out as an escape.

    Control characters (an escape sequence's ESC among them), bidirectional controls, zero-width and
    unassigned characters become ``\x1b`` or ``\u202e``. So do right-to-left letters: a terminal that
    orders them by itself would carry the figures of the same line along.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_visible_char(char) for char in text)


def _visible_char(char: str) -> str:
    code = ord(char)
    if char.isascii():
        return char if char.isprintable() else f"\\x{code:02x}"
    if (
        unicodedata.category(char) in _ESCAPED_CATEGORIES
        or unicodedata.bidirectional(char) in _RIGHT_TO_LEFT
        or unicodedata.combining(char)
    ):
        return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
    return " " if char.isspace() else char


def cell_width(text: str) -> int:
    """Return how many terminal cells ``text`` (made ``visible`` before) takes."""
    if text.isascii():
        return len(text)
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def fit(text: str, width: int) -> str:
    """Return ``text`` in exactly ``width`` cells: cut with an ellipsis or filled with spaces."""
    if width <= 0:
        return ""
    excess = cell_width(text) - width
    if excess <= 0:
        return text + " " * -excess
    kept: list[str] = []
    used = 0
    for char in text:
        size = cell_width(char)
        if used + size > width - 1:
            break
        kept.append(char)
        used += size
    return "".join(kept) + "…" + " " * (width - 1 - used)


def tail(text: str, width: int) -> str:
    """Return the last ``width`` cells of ``text``, an ellipsis before them where something was cut.

    A serial number tells disks apart by its end.
    """
    if cell_width(text) <= width:
        return text
    return "…" + text[len(text) - width + 1 :]
