"""Sends a terminal the cells that differ from what it shows, instead of whole pages.

A page of 80x24 is 4 to 8 kB as Textual writes it: over a serial line of 9600 baud, 4 to 8 seconds. What stays
(titles, rules, blanks) is most of it, and of the rest colours cost more than text.

The terminal is known only as long as every sequence is understood: after any other one, after a resize, and
after a resume, nothing is taken for known, and all cells are sent again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from raidtui.frame.terminal_cells import (
    ALWAYS_SEEN,
    ERASE,
    PLAIN,
    PLAIN_SENT,
    UNKNOWN,
    Pen,
    TerminalRow,
    cells_of,
    erase,
    pieces_of,
    skip,
)

_TOKEN = re.compile(
    r"(?P<text>[^\x00-\x1f\x7f]+)|\x1b\[(?P<keys>[0-9;]*)(?P<verb>[mH])|(?P<mode>\x1b\[\?(?P<number>\d+)[hl])|\n"
    r"|\x1b\]22;(?P<pointer>[a-z-]*)(?:\x07|\x1b\\)"
)
_SYNC = 2026
_HARMLESS = frozenset({7, 25, 1000, 1003, 1004, 1006, 1015, 1016, 2004, _SYNC, 2048})
"""Modes that change no cell: wrap, cursor, mouse, focus, paste, synchronized output, sizes in band."""
_SYNC_BEGIN, _SYNC_END = f"\x1b[?{_SYNC}h", f"\x1b[?{_SYNC}l"
_ERASES = re.compile(r"\x1b\[\d*[KX]")  # the cursor stays before what is erased


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
        self._rows = [TerminalRow(columns) for _ in range(rows)]
        self._held: dict[int, TerminalRow] = {}  # lines as they are to be, where that is held back
        self._cursor: tuple[int, int] | None = None  # where it is to be then
        self._pen = PLAIN  # what Textual has set
        self._pens: dict[tuple[Pen, str], Pen | None] = {}
        self._sent: Pen | None = None  # what the terminal has
        self._begin = ""
        self._shape = "default"

    def difference(self, data: str, *, hold: bool = False) -> str:
        """Return what is to be sent instead of ``data``; ``data`` itself where it is not understood.

        Args:
            data: what Textual writes.
            hold: whether cells are held back until ``held``, however many pages are drawn meanwhile.
        """
        drawn: dict[int, TerminalRow] = {}
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
            elif token["mode"] or token["pointer"] is not None:
                if token["mode"] and int(token["number"]) not in _HARMLESS:
                    end = -1
                    break
                if not hold:
                    out += self._changes(drawn)
                    drawn = {}
                out += self._passed(token, hold=hold)
            elif at is None or at[1] + 1 >= self.size[1]:
                end = -1  # it may scroll
                break
            else:
                at = None  # a new line; where it begins is said next
        if end != len(data):
            return self._not_understood(data, before)
        if hold:
            self._held |= drawn
            self._cursor = at if at is not None and at[0] < self.size[0] else None
            return "".join(out)
        changes = list(self._changes(drawn))
        erased = changes and at is not None and at[0] < self.size[0] and _ERASES.fullmatch(changes[-1])
        if changes and at is not None and (placed or erased):
            changes.append(f"\x1b[{at[1] + 1};{at[0] + 1}H")
        if changes and self._begin:
            out.append(self._begin)
            self._begin = ""
        return "".join((*out, *changes))

    def held(self) -> str:
        """Return what draws all that was held back."""
        held, self._held = self._held, {}
        changes = "".join(self._changes(held))
        if not changes or self._cursor is None:
            return changes
        x, y = self._cursor
        return f"{changes}\x1b[{y + 1};{x + 1}H"

    def _passed(self, token: re.Match[str], *, hold: bool) -> Iterator[str]:
        """Yield a sequence that changes no cell, where it is needed.

        With nothing in it, neither end of synchronized output is; the mouse pointer's shape (OSC 22), which
        each page sets, is where it is another one.
        """
        sequence, shape = token[0], token["pointer"]
        if shape is not None:
            if shape != self._shape:
                self._shape = shape
                yield sequence
        elif sequence == _SYNC_BEGIN:
            self._begin = "" if hold else sequence
        elif sequence != _SYNC_END or not (hold or self._begin):
            yield sequence
        else:
            self._begin = ""

    def _not_understood(self, data: str, pen: Pen) -> str:
        begin, self._begin = f"{self.held()}{self._begin}", ""
        whole = Pen(marks=frozenset({UNKNOWN})).change_to(pen)
        self.forget()
        self._pen = PLAIN
        return f"{begin}{whole}{data}"

    def whole(self) -> str:
        """Return what draws all that is known, whatever the terminal shows."""
        known = {**dict(enumerate(self._rows)), **self._held}
        self._held = {}
        self.forget()
        return "".join(self._changes(known))

    def forget(self) -> None:
        """Take nothing for known."""
        self._rows = [TerminalRow(self.size[0]) for _ in self._rows]
        self._sent = None

    def _after(self, keys: str) -> Pen | None:
        key = (self._pen, keys)
        if key not in self._pens:
            self._pens[key] = self._pen.written(keys)
        return self._pens[key]

    def _draw(
        self, drawn: dict[int, TerminalRow], at: tuple[int, int] | None, text: str
    ) -> tuple[int, int] | None:
        """Draw on copies of lines; return where it ends, or None where that is not known."""
        if at is None or at[1] >= self.size[1]:
            return None
        x, y = at
        row = drawn.get(y)
        if row is None:
            row = drawn[y] = self._held.get(y, self._rows[y]).copy()
        signs = list(text) if text.isascii() else cells_of(text)
        row.put(x, signs[: max(0, self.size[0] - x)], self._pen)
        return (x + len(signs), y)

    def _changes(self, drawn: dict[int, TerminalRow]) -> Iterator[str]:
        for y, row in sorted(drawn.items()):
            old, self._rows[y] = self._rows[y], row
            if old.signs == row.signs and old.pens == row.pens:
                continue
            yield from self._line(y, old, row)

    def _line(self, y: int, old: TerminalRow, new: TerminalRow) -> Iterator[str]:
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
            differing = [x for x in range(columns) if new.signs[x] != UNKNOWN]
        at, in_line = -1, False
        for begin, end, blank in pieces_of(differing, new, tints=self._knows_more):
            if at < 0 and in_line and self._knows_more:
                yield f"\x1b[{begin + 1}G"
            elif at < 0:
                # Anew in each line: the kernel may write on a console, too, and would move all that follows.
                yield f"\x1b[{y + 1};{begin + 1}H" if begin else f"\x1b[{y + 1}H"
            elif begin > at:
                yield skip(begin - at)
            in_line = True
            if blank:
                yield self._papered(new.pens[begin])
                yield ERASE if end == columns else erase(end - begin)
                at = begin
                continue
            yield from self._cells_of(new, begin, end)
            # A terminal may have its own opinion of how wide a sign is: behind one, the place is said anew.
            at = end if "".join(new.signs[begin:end]).isascii() else -1

    def _papered(self, pen: Pen) -> str:
        """Return what makes the terminal erase with the paper of a blank; "" where it would."""
        sent = self._sent
        if sent is not None and sent.paper == pen.paper and not sent.marks & ALWAYS_SEEN:
            return ""
        self._sent = pen
        return f"{'' if sent is not None else PLAIN_SENT}{(sent or PLAIN).change_to(pen)}"

    def _cells_of(self, row: TerminalRow, begin: int, end: int) -> Iterator[str]:
        x = begin
        while x < end:
            if not self._fits(row, x):
                pen = row.pens[x]
                yield PLAIN_SENT if self._sent is None else ""
                yield (self._sent or PLAIN).change_to(pen)
                self._sent = pen
            first = x
            while x < end and self._fits(row, x):
                x += 1
            yield "".join(row.signs[first:x])

    def _fits(self, row: TerminalRow, x: int) -> bool:
        """Whether a cell can be drawn with the terminal's pen: a blank has no ink."""
        pen, sent = row.pens[x], self._sent
        if sent is None or pen is sent:
            return sent is not None
        if row.signs[x] != " " or pen.marks:
            return pen == sent
        return pen.paper == sent.paper and not sent.marks & ALWAYS_SEEN


def knows_more(term: str) -> bool:
    """Whether a terminal has what ``ScreenDifference`` can use beyond what all have.

    Args:
        term: TERM. Of others than these it is not known; screen and tmux erase with their own paper.
    """
    return term.split("-", 1)[0] in {"xterm", "linux", "rxvt"}
