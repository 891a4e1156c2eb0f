"""A line that is being typed: its text, and where the next character goes. Pure."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from raidtui.view.line import Line
from raidtui.view.text import cell_width, visible

_CURSOR = "▏"


class Field(Struct, frozen=True, kw_only=True):
    """What stands there.

    Args:
        text: as it was typed or pasted.
        at: so many characters are before the cursor.
        most: how many characters it may have.
    """

    text: str = ""
    at: int = 0
    most: int = 40

    def pressed(self, key: str, character: str | None) -> Field | None:
        """Return the line after a key; None where the key does nothing in a line.

        Args:
            key: Textual's name of it.
            character: what it prints, if anything.
        """
        before, after = self.text[: self.at], self.text[self.at :]
        moves = {
            "left": max(0, self.at - 1),
            "right": min(len(self.text), self.at + 1),
            "home": 0,
            "ctrl+a": 0,
            "end": len(self.text),
            "ctrl+e": len(self.text),
        }
        if key in moves:
            return replace(self, at=moves[key])
        if key == "backspace":
            return replace(self, text=before[:-1] + after, at=max(0, self.at - 1))
        if key == "delete":
            return replace(self, text=before + after[1:])
        if key == "ctrl+u":
            return replace(self, text=after, at=0)
        if character and character.isprintable():
            return self.pasted(character)
        return None

    def pasted(self, text: str) -> Field:
        """Return the line with a text put in at the cursor: of several lines the first, as far as it fits."""
        first = next(iter(text.splitlines()), "")
        kept = "".join(char for char in first if char.isprintable())[: max(0, self.most - len(self.text))]
        return replace(self, text=self.text[: self.at] + kept + self.text[self.at :], at=self.at + len(kept))


def field_of(text: str, most: int) -> Field:
    """Return a line in which a text stands already, the cursor behind it."""
    kept = text[:most]
    return Field(text=kept, at=len(kept), most=most)


def field_lines(line: Field, width: int, *, indent: int = 3) -> list[Line]:
    """Return a line with its cursor, in as many lines of at most ``width`` cells as it takes."""
    shown = visible(line.text[: line.at]) + _CURSOR + visible(line.text[line.at :])
    room = max(4, width - indent)
    parts = [""]
    for char in shown:
        if cell_width(parts[-1]) + cell_width(char) > room:
            parts.append("")
        parts[-1] += char
    return [[(" " * indent, "plain"), (part, "strong")] for part in parts]
