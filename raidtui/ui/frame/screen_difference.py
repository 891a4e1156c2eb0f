"""Sends a terminal the cells that differ from what it shows, instead of whole pages.

A page of 80x24 is 4 to 8 kB as Textual writes it: over a serial line of 9600 baud, 4 to 8 seconds. What stays
(titles, rules, blanks) is most of it, and of the rest colours cost more than text.

The terminal is known only as long as every sequence is understood: after any other one, after a resize, and
after a resume, nothing is taken for known, and all cells are sent again.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cache

from msgspec import Struct
from rich.cells import cell_len

_TOKEN = re.compile(
    r"(?P<text>[^\x00-\x1f\x7f]+)|\x1b\[(?P<keys>[0-9;]*)(?P<verb>[mH])|(?P<mode>\x1b\[\?(?P<number>\d+)[hl])|\n"
    r"|\x1b\]22;(?P<pointer>[a-z-]*)(?:\x07|\x1b\\)"
)
_SYNC = 2026
_HARMLESS = frozenset({7, 25, 1000, 1003, 1004, 1006, 1015, 1016, 2004, _SYNC, 2048})
"""Modes that change no cell: wrap, cursor, mouse, focus, paste, synchronized output, sizes in band."""
_SYNC_BEGIN, _SYNC_END = f"\x1b[?{_SYNC}h", f"\x1b[?{_SYNC}l"
_RESET, _ERASE = "0", "\x1b[K"
_ERASES = re.compile(r"\x1b\[\d*[KX]")  # the cursor stays before what is erased
_JOIN_CELLS, _JOIN_PLACED = 4, 7  # as long as the sequences that would skip them
_ALWAYS_SEEN = frozenset({"4", "7", "9", "21", "53"})
"""Attributes that show on a blank: underline, reverse, strike, double underline, overline."""
_MARKS = _ALWAYS_SEEN | {"1", "2", "3", "5", "6", "8"}
_ENDS = {"1": "22", "2": "22", "4": "24", "7": "27"}
"""What ends an attribute alone; terminals do not agree on how the others end."""
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
        gone = self.marks - other.marks
        if gone <= _ENDS.keys():
            ended = {_ENDS[mark] for mark in gone}
            kept = {mark for mark in self.marks & other.marks if _ENDS.get(mark) not in ended}
            part = [*sorted(ended), *sorted(other.marks - kept)]
            part += [other.ink or "39"] if other.ink != self.ink else []
            part += [other.paper or "49"] if other.paper != self.paper else []
            whole = min(whole, ";".join(part), key=len)
        return f"\x1b[{'' if whole == _RESET else whole}m"


_PLAIN, _PLAIN_SENT = Pen(), "\x1b[m"


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
        knows_more: whether it erases with the paper that is set, else with its own (terminfo's ``bce``), and
            goes to a column (``hpa``).
    """

    def __init__(self, columns: int, rows: int, *, knows_more: bool = False) -> None:
        self.size = (columns, rows)
        self._knows_more = knows_more
        self._rows = [_Row(columns) for _ in range(rows)]
        self._pen = _PLAIN  # what Textual has set
        self._pens: dict[tuple[Pen, str], Pen | None] = {}
        self._sent: Pen | None = None  # what the terminal has
        self._begin = ""
        self._shape = "default"

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
            elif token["pointer"] is not None:
                out += [*self._changes(drawn), *self._pointer(token["pointer"], token[0])]
                drawn = {}
            elif at is None or at[1] + 1 >= self.size[1]:
                end = -1  # it may scroll
                break
            else:
                at = None  # a new line; where it begins is said next
        if end != len(data):
            return self._not_understood(data, before)
        changes = list(self._changes(drawn))
        erased = changes and at is not None and at[0] < self.size[0] and _ERASES.fullmatch(changes[-1])
        if changes and at is not None and (placed or erased):
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

    def _pointer(self, shape: str, sequence: str) -> Iterator[str]:
        """Yield the mouse pointer's shape (OSC 22) where it is another one; each page sets it anew."""
        if shape != self._shape:
            self._shape = shape
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
        at, in_line = -1, False
        for begin, end, blank in _pieces(differing, new, tints=self._knows_more):
            if at < 0 and in_line and self._knows_more:
                yield f"\x1b[{begin + 1}G"
            elif at < 0:
                # Anew in each line: the kernel may write on a console, too, and would move all that follows.
                yield f"\x1b[{y + 1};{begin + 1}H" if begin else f"\x1b[{y + 1}H"
            elif begin > at:
                yield _skip(begin - at)
            in_line = True
            if blank:
                yield self._papered(new.pens[begin])
                yield _ERASE if end == columns else _erase(end - begin)
                at = begin
                continue
            yield from self._cells_of(new, begin, end)
            # A terminal may have its own opinion of how wide a sign is: behind one, the place is said anew.
            at = end if "".join(new.signs[begin:end]).isascii() else -1

    def _papered(self, pen: Pen) -> str:
        """Return what makes the terminal erase with the paper of a blank; "" where it would."""
        sent = self._sent
        if sent is not None and sent.paper == pen.paper and not sent.marks & _ALWAYS_SEEN:
            return ""
        self._sent = pen
        return f"{'' if sent is not None else _PLAIN_SENT}{(sent or _PLAIN).change_to(pen)}"

    def _cells_of(self, row: _Row, begin: int, end: int) -> Iterator[str]:
        x = begin
        while x < end:
            if not self._fits(row, x):
                pen = row.pens[x]
                yield _PLAIN_SENT if self._sent is None else ""
                yield (self._sent or _PLAIN).change_to(pen)
                self._sent = pen
            first = x
            while x < end and self._fits(row, x):
                x += 1
            yield "".join(row.signs[first:x])

    def _fits(self, row: _Row, x: int) -> bool:
        """Whether a cell can be drawn with the terminal's pen: a blank has no ink."""
        pen, sent = row.pens[x], self._sent
        if sent is None or pen is sent:
            return sent is not None
        if row.signs[x] != " " or pen.marks:
            return pen == sent
        return pen.paper == sent.paper and not sent.marks & _ALWAYS_SEEN


def _skip(cells: int) -> str:
    return f"\x1b[{cells if cells > 1 else ''}C"


def _erase(cells: int) -> str:
    return f"\x1b[{cells}X"


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


def knows_more(term: str) -> bool:
    """Whether a terminal has what ``ScreenDifference`` can use beyond what all have.

    Args:
        term: TERM. Of others than these it is not known; screen and tmux erase with their own paper.
    """
    return term.split("-", 1)[0] in {"xterm", "linux", "rxvt"}


def _pieces(differing: Sequence[int], row: _Row, *, tints: bool) -> Iterator[tuple[int, int, bool]]:
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


def _blank_ends(row: _Row, *, tints: bool) -> list[int]:
    """Return for each cell where the blanks on one paper end that begin there; the cell where it is none.

    Without ``tints``, they are those on the terminal's own paper.
    """
    end = len(row.signs)
    ends = [end] * (end + 1)
    follows = _PLAIN
    for x in range(end - 1, -1, -1):
        pen = row.pens[x]
        if row.signs[x] != " " or pen.marks or not (tints or pen == _PLAIN):
            end = x
        elif pen != follows:
            end = x + 1
        ends[x] = end
        follows = pen
    return ends


def _is_erased(first: int, last: int, following: int, *, to_end: bool) -> bool:
    """Whether the sequence that erases blanks, and the one that skips them then, is shorter than spaces."""
    if to_end:
        return last - first > len(_ERASE)
    gap = following - last
    spaces = last - first + (gap if gap <= _JOIN_CELLS else len(_skip(gap)))
    return len(_erase(last - first)) + len(_skip(following - first)) < spaces


def _spans(cells: Sequence[int], signs: Sequence[str]) -> Iterator[tuple[int, int, bool]]:
    """Yield (first, end, False) of cells that are sent together: few known ones in between are sent, too."""
    begin = end = -1
    most = _JOIN_CELLS
    for x in cells:
        if begin < 0:
            begin = x
        elif x - end > most or _UNKNOWN in signs[end:x]:
            yield begin, end, False
            begin, most = x, _JOIN_CELLS
        end = x + 1
        if not signs[x].isascii():
            most = _JOIN_PLACED
    if begin >= 0:
        yield begin, end, False
