"""Texts in lines of so many cells. The first frame has none, so that ``textwrap`` is imported after it."""

from __future__ import annotations

import textwrap
from functools import lru_cache

from raidtui.view.line import Line
from raidtui.view.text import cell_width, visible


@lru_cache(maxsize=512)
def wrap(text: str, width: int, *, indent: int = 0, hang: int = 0) -> tuple[str, ...]:
    """Return a text, made ``visible``, in parts of at most ``width`` cells; () for "".

    It is broken at blanks alone; those at its start are kept. The same few texts are drawn again and again.

    Args:
        text: the text.
        width: cells of a line; at least one is taken.
        indent: blanks before each part.
        hang: further blanks before each part but the first.
    """
    words = visible(text)
    start = words.lstrip(" ")
    first = " " * (indent + len(words) - len(start))
    further = " " * (indent + hang)
    return tuple(
        textwrap.wrap(
            start, max(1, width), initial_indent=first, subsequent_indent=further, break_on_hyphens=False
        )
    )


def wrapped(text: str, width: int, role: str = "plain", *, indent: int = 0, hang: int = 0) -> list[Line]:
    """Return a text as lines in one role; for the arguments see ``wrap``."""
    return [[(part, role)] for part in wrap(text, width, indent=indent, hang=hang)]


def labelled(label: str, text: str, width: int, roles: tuple[str, str] = ("dim", "plain")) -> list[Line]:
    """Return a text behind a label; its further lines begin below the first. One line for "".

    Args:
        label: made ``visible``, with the gap behind it.
        text: the text.
        width: cells of a part of the text.
        roles: of the label and of the text.
    """
    first, *further = wrap(text, width) or ("",)
    blank = " " * cell_width(label)
    return [
        [(label, roles[0]), (first, roles[1])],
        *([(blank, roles[0]), (part, roles[1])] for part in further),
    ]
