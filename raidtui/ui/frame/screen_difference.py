"""Sends a terminal the cells that differ from what it shows, instead of whole pages.

A page of 80x24 is 4 to 8 kB as Textual writes it: over a serial line of 9600 baud, 4 to 8 seconds. What stays
(titles, rules, blanks) is most of it, and of the rest colours cost more than text.

The terminal is known only as long as every sequence is understood: after any other one, after a resize, and
after a resume, nothing is taken for known, and all cells are sent again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from msgspec import Struct
from rich.cells import cell_len

_TOKEN = re.compile(
    r"(?P<text>[^\x00-\x1f\x7f]+)|\x1b\[(?P<keys>[0-9;]*)(?P<verb>[mH])|(?P<mode>\x1b\[\?(?P<number>\d+)[hl])|\n"
)
_SYNC = 2026
_HARMLESS = frozenset({7, 25, 1000, 1003, 1004, 1006, 1015, 1016, 2004, _SYNC, 2048})
"""Modes that change no cell: wrap, cursor, mouse, focus, paste, synchronized output, sizes in band."""
_SYNC_BEGIN, _SYNC_END = f"\x1b[?{_SYNC}h", f"\x1b[?{_SYNC}l"
_RESET, _ERASE = "0", "\x1b[K"
_BLANKS = re.compile(" {11,}")  # longer than what erases and skips them
_JOIN_CELLS = 4  # as long as the sequence that would skip them
_ALWAYS_SEEN = frozenset({"4", "7", "9", "21", "53"})
"""Attributes that show on a blank: underline, reverse, strike, double underline, overline."""
_MARKS = _ALWAYS_SEEN | {"1", "2", "3", "5", "6", "8"}
_UNKNOWN = "\0"


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
        if self.marks <= other.marks:
            part = [*sorted(other.marks - self.marks)]
            part += [other.ink or "39"] if other.ink != self.ink else []
            part += [other.paper or "49"] if other.paper != self.paper else []
            whole = min(whole, ";".join(part), key=len)
        return f"\x1b[{'' if whole == _RESET else whole}m"


_PLAIN = Pen()


@cache
def _blank(pen: Pen) -> Pen:
    """Return the pen of a space: what does not show is left out."""
    return pen if pen.marks & _ALWAYS_SEEN else Pen(paper=pen.paper)


class _Row:
    """What a line shows: the sign of each cell, and its pen; the second cell of a wide sign has none."""

    def __init__(self, columns: int) -> None:
        self.signs = [_UNKNOWN] * columns
        self.pens = [_PLAIN] * columns

    def copy(self) -> _Row:
        other = _Row(0)
        other.signs, other.pens = self.signs.copy(), self.pens.copy()
        return other

    def put(self, x: int, signs: Sequence[str], pen: Pen) -> None:
        end = x + len(signs)
        if signs and x and self.signs[x] == "":  # half of a wide sign is left: terminals blank it
            self.signs[x - 1] = " "
        if signs and self.signs[end : end + 1] == [""]:
            self.signs[end] = " "
        self.signs[x:end] = signs
        self.pens[x:end] = [pen] * len(signs)
        if " " in signs:
            blank = _blank(pen)
            for at, sign in enumerate(signs, start=x):
                if sign == " ":
                    self.pens[at] = blank

    @property
    def is_even(self) -> bool:
        """Whether each sign takes one cell."""
        return "" not in self.signs


class ScreenDifference:
    """What a terminal shows, and the shortest way to what it is to show.

    Args:
        columns, rows: its size.
    """

    def __init__(self, columns: int, rows: int) -> None:
        self.size = (columns, rows)
        self._rows = [_Row(columns) for _ in range(rows)]
        self._pen = _PLAIN  # what Textual has set
        self._pens: dict[tuple[Pen, str], Pen | None] = {}
        self._sent: Pen | None = None  # what the terminal has
        self._begin = ""

    def difference(self, data: str) -> str:
        """Return what is to be sent instead of ``data``; ``data`` itself where it is not understood."""
        drawn: dict[int, _Row] = {}
        out: list[str] = []
        at: tuple[int, int] | None = None
        end = 0
        placed, before = False, self._pen
        for token in _TOKEN.finditer(data):
            if token.start() != end:
                break
            end = token.end()
            placed = False
            if text := token["text"]:
                at = self._draw(drawn, at, text)
                if at is None:
                    end = -1
                    break
            elif token["verb"] == "m":
                if (pen := self._after(token["keys"])) is None:
                    end = -1
                    break
                self._pen = pen
            elif token["verb"] == "H":
                y, _, x = token["keys"].partition(";")
                at, placed = (int(x or 1) - 1, int(y or 1) - 1), True
            elif token["mode"]:
                if int(token["number"]) not in _HARMLESS:
                    end = -1
                    break
                out += [*self._changes(drawn), *self._mode(token["mode"])]
                drawn = {}
            elif at is None or at[1] + 1 >= self.size[1]:
                end = -1  # it may scroll
                break
            else:
                at = None  # a new line; where it begins is said next
        if end != len(data):
            return self._not_understood(data, before)
        changes = list(self._changes(drawn))
        if changes and placed and at is not None:
            changes.append(f"\x1b[{at[1] + 1};{at[0] + 1}H")
        if changes and self._begin:
            out.append(self._begin)
            self._begin = ""
        return "".join((*out, *changes))

    def _mode(self, sequence: str) -> Iterator[str]:
        """Hold back the beginning of synchronized output: with nothing in it, neither end is sent."""
        if sequence == _SYNC_BEGIN:
            self._begin = sequence
        elif sequence == _SYNC_END and self._begin:
            self._begin = ""
        else:
            yield sequence

    def _not_understood(self, data: str, pen: Pen) -> str:
        begin, self._begin = self._begin, ""
        whole = Pen(marks=frozenset({_UNKNOWN})).change_to(pen)
        self.forget()
        self._pen = _PLAIN
        return f"{begin}{whole}{data}"

    def whole(self) -> str:
        """Return what draws all that is known, whatever the terminal shows."""
        known = dict(enumerate(self._rows))
        self.forget()
        return "".join(self._changes(known))

    def forget(self) -> None:
        """Take nothing for known."""
        self._rows = [_Row(self.size[0]) for _ in self._rows]
        self._sent = None

    def _after(self, keys: str) -> Pen | None:
        key = (self._pen, keys)
        if key not in self._pens:
            self._pens[key] = self._pen.written(keys)
        return self._pens[key]

    def _draw(self, drawn: dict[int, _Row], at: tuple[int, int] | None, text: str) -> tuple[int, int] | None:
        """Draw on copies of lines; return where it ends, or None where that is not known."""
        if at is None or at[1] >= self.size[1]:
            return None
        x, y = at
        row = drawn.get(y)
        if row is None:
            row = drawn[y] = self._rows[y].copy()
        signs = list(text) if text.isascii() else _cells(text)
        row.put(x, signs[: max(0, self.size[0] - x)], self._pen)
        return (x + len(signs), y)

    def _changes(self, drawn: dict[int, _Row]) -> Iterator[str]:
        for y, row in sorted(drawn.items()):
            old, self._rows[y] = self._rows[y], row
            if old.signs == row.signs and old.pens == row.pens:
                continue
            yield from self._line(y, old, row)

    def _line(self, y: int, old: _Row, new: _Row) -> Iterator[str]:
        """Yield what makes a line another; a line with wide signs is sent whole."""
        columns = len(new.signs)
        if new.is_even and old.is_even:
            differing = [
                x
                for x in range(columns)
                if new.signs[x] != old.signs[x]
                or (new.pens[x] is not old.pens[x] and new.pens[x] != old.pens[x])
            ]
        else:
            differing = [x for x in range(columns) if new.signs[x] != _UNKNOWN]
        at = -1
        for begin, end in _spans(differing, new.signs):
            if at >= 0:
                yield f"\x1b[{begin - at}C"
            else:
                yield f"\x1b[{y + 1};{begin + 1}H" if begin else f"\x1b[{y + 1}H"
            yield from self._cells_of(new, begin, end)
            # A terminal may have its own opinion of how wide a sign is: behind one, the place is said anew.
            at = end if "".join(new.signs[begin:end]).isascii() else -1

    def _cells_of(self, row: _Row, begin: int, end: int) -> Iterator[str]:
        x = begin
        while x < end:
            if not self._fits(row, x):
                pen = row.pens[x]
                yield "\x1b[m" if self._sent is None else ""
                yield (self._sent or _PLAIN).change_to(pen)
                self._sent = pen
            first = x
            while x < end and self._fits(row, x):
                x += 1
            text = "".join(row.signs[first:x])
            if self._sent is not None and not self._sent.paper and not self._sent.marks & _ALWAYS_SEEN:
                text = _erased(text, to_end=x == len(row.signs))
            yield text

    def _fits(self, row: _Row, x: int) -> bool:
        """Whether a cell can be drawn with the terminal's pen: a blank has no ink."""
        pen, sent = row.pens[x], self._sent
        if sent is None or pen is sent:
            return sent is not None
        if row.signs[x] != " " or pen.marks:
            return pen == sent
        return pen.paper == sent.paper and not sent.marks & _ALWAYS_SEEN


def _erased(text: str, *, to_end: bool) -> str:
    """Return a text on the terminal's own paper, in which long blanks are erased cells."""
    if to_end and len(text) - len(kept := text.rstrip(" ")) > len(_ERASE):
        return _BLANKS.sub(_erase, kept) + _ERASE
    return _BLANKS.sub(_erase, text)


def _erase(blanks: re.Match[str]) -> str:
    count = len(blanks[0])
    return f"\x1b[{count}X\x1b[{count}C"


def _cells(text: str) -> list[str]:
    """Return the signs of a text by cells: "" behind a wide one; what takes no cell joins the one before."""
    signs: list[str] = []
    for sign in text:
        width = cell_len(sign)
        if not width and signs:
            signs[-1 if signs[-1] else -2] += sign
        else:
            signs += [sign, ""][: max(1, width)]
    return signs


def _spans(cells: Sequence[int], signs: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield (first, end) of cells that are sent together: few known ones in between are sent, too."""
    begin = end = -1
    for x in cells:
        if begin < 0:
            begin = x
        elif x - end > _JOIN_CELLS or _UNKNOWN in signs[end:x]:
            yield begin, end
            begin = x
        end = x + 1
    if begin >= 0:
        yield begin, end
