"""A text that is longer than the terminal: it is shown a page at a time, and read before what follows."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence

from raidtui.view.text import cell_width

_NEXT, _LAST = "-- Enter: next page, q: stop -- ", "-- Enter: carry it out, q: stop -- "


def print_read(lines: Sequence[str]) -> bool:
    """Print what is about to be carried out; return whether it may be.

    A terminal that it does not fit gets it in pages, and Enter after each of them; ``q``, or an end of the
    input, stops. Where no one reads (a pipe, or a file that the input comes from), all is printed at once.
    """
    columns, rows = shutil.get_terminal_size()
    pages = tuple(_pages(lines, columns, rows - 1))
    if len(pages) < 2 or not (sys.stdin.isatty() and sys.stdout.isatty()):
        print("\n".join(lines), flush=True)
        return True
    for number, page in enumerate(pages, 1):
        print("\n".join(page))
        print(_LAST if number == len(pages) else _NEXT, end="", flush=True)
        answer = sys.stdin.readline()
        if not answer.endswith("\n") or answer.strip().lower() in {"q", "n", "no", "quit"}:
            return False
    return True


def _pages(lines: Sequence[str], columns: int, rows: int) -> Iterator[list[str]]:
    page: list[str] = []
    left = rows
    for line in lines:
        taken = max(1, -(-cell_width(line) // max(1, columns)))
        if page and taken > left:
            yield page
            page, left = [], rows
        page.append(line)
        left -= taken
    yield page
