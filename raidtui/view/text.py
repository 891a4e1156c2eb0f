"""Text from the kernel, a disk or a user, made harmless for a terminal.

Nothing here imports anything but ``unicodedata``: the first frame uses it before the rest is loaded.
"""

from __future__ import annotations

import unicodedata

_ESCAPED_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Mn", "Mc", "Me"})
_RIGHT_TO_LEFT = frozenset({"R", "AL", "AN"})
# Characters that join the one before, or whose width differs between terminals.
_ESCAPED_RANGES = (
    (0x115F, 0x11FF),  # Hangul filler, vowels and final consonants
    (0x2630, 0x2637), (0x268A, 0x268F), (0x4DC0, 0x4DFF),  # trigrams and hexagrams: wide since Unicode 16
    (0x3164, 0x3164), (0xD7B0, 0xD7FF), (0xFFA0, 0xFFA0),  # Hangul filler, more vowels, half-width filler
    (0x1D300, 0x1D376),  # more signs that became wide
    (0x1F1E6, 0x1F1FF), (0x1F3FB, 0x1F3FF),  # halves of flags, skin tones
)  # fmt: skip

# The same few texts are drawn again and again. (Importing functools would cost the first frame 1 ms.)
_VISIBLE: dict[str, str] = {}
_WIDTHS: dict[str, int] = {}
_MOST_KNOWN = 4096


def visible(text: str) -> str:
    r"""Return ``text`` with every character that could move the cursor or the columns as an escape.

    Control characters (an escape sequence's ESC among them), bidirectional controls, zero-width, combining
    and unassigned characters become ``\x1b`` or ``\u202e``. So do right-to-left letters: a terminal that
    reorders them would also move the figures on the same line.
    """
    if text.isascii() and text.isprintable():
        return text
    found = _VISIBLE.get(text)
    if found is None:
        _make_room(_VISIBLE)
        found = _VISIBLE[text] = "".join(_visible_char(char) for char in text)
    return found


def _visible_char(char: str) -> str:
    code = ord(char)
    if char.isascii():
        return char if char.isprintable() else f"\\x{code:02x}"
    if (
        unicodedata.category(char) in _ESCAPED_CATEGORIES
        or unicodedata.bidirectional(char) in _RIGHT_TO_LEFT
        or any(first <= code <= last for first, last in _ESCAPED_RANGES)
    ):
        return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
    return " " if char.isspace() else char


def _make_room(known: dict[str, str] | dict[str, int]) -> None:
    if len(known) >= _MOST_KNOWN:
        known.clear()


def cell_width(text: str) -> int:
    """Return how many terminal cells ``text`` takes; it must be ``visible`` already."""
    if text.isascii():
        return len(text)
    found = _WIDTHS.get(text)
    if found is None:
        wide = sum(unicodedata.east_asian_width(char) in "WF" for char in text)
        _make_room(_WIDTHS)
        found = _WIDTHS[text] = len(text) + wide
    return found


def fit(text: str, width: int) -> str:
    """Return ``text`` in exactly ``width`` cells: cut with an ellipsis, or padded with spaces."""
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


def fit_words(text: str, width: int) -> str:
    """Return a sentence in exactly ``width`` cells; one that is too long is cut after a whole word.

    A single word is cut anywhere. A figure is left out: a part of it would be another figure.
    """
    if cell_width(text) <= width:
        return fit(text, width)
    kept = ""
    for number, char in enumerate(text):
        if char == " " and text[:number].strip():
            if cell_width(text[:number]) > width - 2:
                break
            kept = text[:number]
    if kept:
        return fit(f"{kept} …", width)
    return " " * max(0, width) if text.lstrip()[:1].isdigit() else fit(text, width)


def fit_figure(text: str, width: int) -> str:
    """Return a figure in exactly ``width`` cells, or blanks where it does not fit."""
    return fit(text if cell_width(text) <= width else "", width)


def tail(text: str, width: int) -> str:
    """Return at most the last ``width`` cells of ``text``, after an ellipsis if it is cut.

    Serial numbers differ at their end.
    """
    if cell_width(text) <= width:
        return text
    if width <= 0:
        return ""
    start, used = len(text), 0
    while used + cell_width(text[start - 1]) < width:
        start -= 1
        used += cell_width(text[start])
    return "…" + text[start:]


def escaped(text: str) -> str:
    """Return a text as the value of a label in Prometheus's text format."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
