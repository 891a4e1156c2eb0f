"""A line of a terminal by cells, and the pieces of it that are sent: cells as they are, and erased blanks."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from rich.cells import cell_len

from raidtui.frame.pen import PLAIN, Pen, blank_pen

ERASE = "\x1b[K"
"""What erases the end of a line."""
UNKNOWN = "\0"
"""The sign of a cell of which it is not known what it shows."""
_JOIN_CELLS, _JOIN_PLACED = 4, 7  # as long as the sequences that would skip them


class TerminalRow:
    """What a line shows: the sign of each cell, and its pen; the second cell of a wide sign has none."""

    def __init__(self, columns: int) -> None:
        self.signs = [UNKNOWN] * columns
        self.pens = [PLAIN] * columns

    def copy(self) -> TerminalRow:
        """Return a line that shows the same."""
        other = TerminalRow(0)
        other.signs, other.pens = self.signs.copy(), self.pens.copy()
        return other

    def put(self, x: int, signs: Sequence[str], pen: Pen) -> None:
        """Draw signs from a cell on; they end within the line."""
        end = x + len(signs)
        if signs and x and self.signs[x] == "":  # half of a wide sign is left: terminals blank it
            self.signs[x - 1] = " "
        if signs and self.signs[end : end + 1] == [""]:
            self.signs[end] = " "
        self.signs[x:end] = signs
        self.pens[x:end] = [pen] * len(signs)
        if " " in signs:
            blank = blank_pen(pen)
            for at, sign in enumerate(signs, start=x):
                if sign == " ":
                    self.pens[at] = blank

    @property
    def is_even(self) -> bool:
        """Whether each sign takes one cell."""
        return "" not in self.signs


def skip(cells: int) -> str:
    """Return what moves the cursor over cells."""
    return f"\x1b[{cells if cells > 1 else ''}C"


def erase(cells: int) -> str:
    """Return what erases cells from the cursor on, which stays."""
    return f"\x1b[{cells}X"


def cells_of(text: str) -> list[str]:
    """Return the signs of a text by cells: "" behind a wide one; what takes no cell joins the one before."""
    signs: list[str] = []
    for sign in text:
        width = cell_len(sign)
        if not width and signs:
            signs[-1 if signs[-1] else -2] += sign
        else:
            signs += [sign, ""][: max(1, width)]
    return signs


def pieces_of(differing: Sequence[int], row: TerminalRow, *, tints: bool) -> Iterator[tuple[int, int, bool]]:
    """Yield (first, end, blank): cells that are sent as they are, and blank ones that are erased.

    What is erased may be blank already. Nothing but the end of a line is erased where spaces are shorter.
    """
    ends = _blank_ends(row, tints=tints)
    columns = len(row.signs)
    cells: list[int] = []
    sent_to = 0
    at, count = 0, len(differing)
    while at < count:
        first = differing[at]
        after = bisect_left(differing, ends[first], at)
        last = differing[after - 1] + 1 if after > at else first
        following = differing[after] if after < count else columns
        if after == at or not _is_erased(first, last, following, to_end=ends[first] == columns):
            after = max(after, at + 1)
            cells += differing[at:after]
        else:
            yield from _spans(cells, row.signs)
            sent_to = cells[-1] + 1 if cells else sent_to
            # Nearer to what is sent before: then nothing needs to be skipped.
            begin = sent_to if ends[sent_to] == ends[first] else first
            yield begin, columns if ends[first] == columns else last, True
            cells = []
        at = after
    yield from _spans(cells, row.signs)


def _blank_ends(row: TerminalRow, *, tints: bool) -> list[int]:
    """Return for each cell where the blanks on one paper end that begin there; the cell where it is none.

    Without ``tints``, they are those on the terminal's own paper.
    """
    end = len(row.signs)
    ends = [end] * (end + 1)
    follows = PLAIN
    for x in range(end - 1, -1, -1):
        pen = row.pens[x]
        if row.signs[x] != " " or pen.marks or not (tints or pen == PLAIN):
            end = x
        elif pen != follows:
            end = x + 1
        ends[x] = end
        follows = pen
    return ends


def _is_erased(first: int, last: int, following: int, *, to_end: bool) -> bool:
    """Whether the sequence that erases blanks, and the one that skips them then, is shorter than spaces."""
    if to_end:
        return last - first > len(ERASE)
    gap = following - last
    spaces = last - first + (gap if gap <= _JOIN_CELLS else len(skip(gap)))
    return len(erase(last - first)) + len(skip(following - first)) < spaces


def _spans(cells: Sequence[int], signs: Sequence[str]) -> Iterator[tuple[int, int, bool]]:
    """Yield (first, end, False) of cells that are sent together: few known ones in between are sent, too."""
    begin = end = -1
    most = _JOIN_CELLS
    for x in cells:
        if begin < 0:
            begin = x
        elif x - end > most or UNKNOWN in signs[end:x]:
            yield begin, end, False
            begin, most = x, _JOIN_CELLS
        end = x + 1
        if not signs[x].isascii():
            most = _JOIN_PLACED
    if begin >= 0:
        yield begin, end, False
