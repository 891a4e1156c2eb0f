"""The cells of a terminal: how they are drawn, and the pieces of a line that are sent.

A piece is cells as they are, or an erased blank. From one way to draw to another leads the shortest sequence
(SGR, ECMA-48).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cache

from msgspec import Struct
from rich.cells import cell_len

_RESET = "0"
ALWAYS_SEEN = frozenset({"4", "7", "9", "21", "53"})
"""Attributes that show on a blank: underline, reverse, strike, double underline, overline."""
_MARKS = ALWAYS_SEEN | {"1", "2", "3", "5", "6", "8"}
_ENDS = {"1": "22", "2": "22", "4": "24", "7": "27"}
"""What ends an attribute alone; terminals do not agree on how the others end."""


class Pen(Struct, frozen=True, kw_only=True):
    """How cells are drawn, as the parameters of SGR; "" for the terminal's own colours."""

    ink: str = ""
    paper: str = ""
    marks: frozenset[str] = frozenset()

    def written(self, keys: str) -> Pen | None:
        """Return the pen after an SGR sequence with these parameters; None where one is not known."""
        ink, paper, marks = self.ink, self.paper, self.marks
        words = iter((keys or _RESET).split(";"))
        for word in words:
            if word in {"", _RESET}:
                ink, paper, marks = "", "", frozenset()
            elif word in {"38", "48"}:
                kind = next(words, "5")
                colour = ";".join((word, kind, *(next(words, "0") for _ in range(3 if kind == "2" else 1))))
                ink, paper = (colour, paper) if word == "38" else (ink, colour)
            elif word in {"39", "49"}:
                ink, paper = ("", paper) if word == "39" else (ink, "")
            elif len(word) > 1 and word[:-1] in {"3", "9"}:
                ink = word
            elif len(word) > 1 and word[:-1] in {"4", "10"}:
                paper = word
            elif word in _MARKS:
                marks |= {word}
            else:
                return None
        return Pen(ink=ink, paper=paper, marks=marks)

    def change_to(self, other: Pen) -> str:
        """Return the shorter SGR sequence from this pen to another."""
        if self == other:
            return ""
        whole = ";".join((_RESET, *sorted(other.marks), *filter(None, (other.ink, other.paper))))
        gone = self.marks - other.marks
        if gone <= _ENDS.keys():
            ended = {_ENDS[mark] for mark in gone}
            kept = {mark for mark in self.marks & other.marks if _ENDS.get(mark) not in ended}
            part = [*sorted(ended), *sorted(other.marks - kept)]
            part += [other.ink or "39"] if other.ink != self.ink else []
            part += [other.paper or "49"] if other.paper != self.paper else []
            whole = min(whole, ";".join(part), key=len)
        return f"\x1b[{'' if whole == _RESET else whole}m"


PLAIN, PLAIN_SENT = Pen(), "\x1b[m"
"""The terminal's own colours, and what sets them."""


@cache
def blank_pen(pen: Pen) -> Pen:
    """Return the pen of a space: what does not show is left out."""
    return pen if pen.marks & ALWAYS_SEEN else Pen(paper=pen.paper)


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
