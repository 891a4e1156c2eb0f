"""How cells are drawn, and the shortest sequence from one way to another (SGR, ECMA-48)."""

from __future__ import annotations

from functools import cache

from msgspec import Struct

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
