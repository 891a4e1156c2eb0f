"""A line that is being typed, a dialog with one, and the line of the filter.

They draw themselves; ``raidtui.frame.choose`` has the figures.
"""

from __future__ import annotations

from typing import Generic, TypeVar

from msgspec import Struct
from msgspec.structs import replace
from textual import events
from textual.message import Message

from raidtui.frame.lines import Lines
from raidtui.frame.pages import FrameScreen
from raidtui.view.line import Line
from raidtui.view.text import cell_width, visible

_CURSOR = "▏"


class TextField(Struct, frozen=True, kw_only=True):
    """A line that is being typed. A value: a key gives another one.

    Args:
        text: as it was typed or pasted.
        at: the number of characters before the cursor.
        most: the most characters.
    """

    text: str = ""
    at: int = 0
    most: int = 40

    def pressed(self, key: str, character: str | None) -> TextField | None:
        """Return the line after a key; None where the key does not edit.

        Args:
            key: Textual's name of the key.
            character: the character it prints, if any.
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

    def pasted(self, text: str) -> TextField:
        """Return the line with a text inserted at the cursor: its first line, as far as it fits."""
        first = next(iter(text.splitlines()), "")
        kept = "".join(char for char in first if char.isprintable())[: max(0, self.most - len(self.text))]
        return replace(self, text=self.text[: self.at] + kept + self.text[self.at :], at=self.at + len(kept))


def field_of(text: str, most: int) -> TextField:
    """Return a line with a text, the cursor at its end."""
    kept = text[:most]
    return TextField(text=kept, at=len(kept), most=most)


def field_lines(line: TextField, width: int, *, indent: int = 3) -> list[Line]:
    """Return a line and its cursor, wrapped to ``width`` cells."""
    shown = visible(line.text[: line.at]) + _CURSOR + visible(line.text[line.at :])
    room = max(4, width - indent)
    parts = [""]
    for char in shown:
        if cell_width(parts[-1]) + cell_width(char) > room:
            parts.append("")
        parts[-1] += char
    return [[(" " * indent, "plain"), (part, "strong")] for part in parts]


T = TypeVar("T")


class TextFieldScreen(FrameScreen[T], Generic[T]):
    """See the module.

    Args:
        title: what is asked.
        text: the text at first.
        most: the most characters.
    """

    accepts_type_ahead = True

    def __init__(self, title: str, text: str, most: int) -> None:
        super().__init__(title)
        self.line = field_of(text, most)

    def draw(self) -> None:
        """Draw everything."""

    def entered(self) -> None:
        """Called when Enter was pressed."""

    def edited(self) -> None:
        """Called when the line was edited."""

    def on_mount(self) -> None:
        """Draw."""
        self.draw()
        self._body.focus()

    def on_resize(self) -> None:
        """Draw in the new size."""
        self.draw()

    def on_key(self, event: events.Key) -> None:
        """Call ``entered`` on Enter; edit the line otherwise."""
        if event.key == "enter":
            self.entered()
        elif (line := self.line.pressed(event.key, event.character)) is not None:
            self.line = line
            self.edited()
        else:
            return
        event.stop()
        event.prevent_default()
        self.draw()

    def on_paste(self, event: events.Paste) -> None:
        """Insert pasted text."""
        self.line = self.line.pasted(event.text)
        self.edited()
        event.stop()
        self.draw()


class FilterLine(Lines, can_focus=True):
    """Filters the pane while it is typed; Enter keeps the filter, Esc ends it."""

    class Changed(Message):
        """The text to filter by has changed."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Closed(Message):
        """The line was left: the pane gets the focus back."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.typed = ""

    def on_mount(self) -> None:
        """Show the line."""
        self._draw()

    def _draw(self) -> None:
        self.show(
            [[(" / ", "key"), (visible(self.typed) + "▏", "strong"), ("   Enter keeps, Esc ends", "dim")]]
        )

    def on_key(self, event: events.Key) -> None:
        """Collect characters."""
        if event.key == "escape":
            self.typed = ""
        elif event.key == "backspace":
            self.typed = self.typed[:-1]
        elif event.is_printable and event.character:
            self.typed = (self.typed + event.character)[:40]
        elif event.key != "enter":
            return
        event.stop()
        event.prevent_default()
        self._draw()
        self.post_message(self.Changed(self.typed))
        if event.key in {"escape", "enter"}:
            self.post_message(self.Closed())
            if not self.typed:
                self.remove()
