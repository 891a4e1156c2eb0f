"""A line that is being typed, a dialog with one, and the line of the filter.

They draw themselves. Measured at the terminal (80x24, Textual 8.2), a typed letter sends 17 bytes and a move
of the cursor 18; with Textual's ``Input`` 68 and 80, and with its blinking cursor 57 bytes a second at rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from msgspec import Struct
from msgspec.structs import replace
from textual import events
from textual.message import Message
from textual.widget import Widget

from raidtui.frame.lines import Lines
from raidtui.frame.pages import FrameScreen
from raidtui.view.line import Line
from raidtui.view.text import cell_width, visible

_CURSOR = "▏"
if TYPE_CHECKING:
    _Base = Widget
else:
    _Base = object  # a mixin: Textual takes styles from one line of base classes alone


class TextField(Struct, frozen=True, kw_only=True):
    """A line that is being typed. A value: a key gives another one.

    Args:
        text: as it was typed or pasted.
        at: the number of characters before the cursor.
        most: the most characters.
        refused: characters that are not text here; as keys, they do something else.
        only: where given, the only characters that are text.
    """

    text: str = ""
    at: int = 0
    most: int = 40
    refused: str = ""
    only: str = ""

    def pressed(self, key: str, character: str | None) -> TextField | None:
        """Return the line after a key; None where the key does not edit.

        Args:
            key: Textual's name of the key.
            character: the character it prints, if any.
        """
        at, end = self.at, len(self.text)
        word = len(self.text[:at].rstrip().rpartition(" ")[0])
        moves = {
            "left": max(0, at - 1),
            "right": min(end, at + 1),
            "home": 0,
            "ctrl+a": 0,
            "end": end,
            "ctrl+e": end,
        }
        cuts = {
            "backspace": (max(0, at - 1), at),
            "delete": (at, at + 1),
            "ctrl+u": (0, at),
            "ctrl+w": (word + 1 if word else 0, at),
            "ctrl+k": (at, end),
        }
        if key in moves:
            return replace(self, at=moves[key])
        if key in cuts:
            first, last = cuts[key]
            return replace(self, text=self.text[:first] + self.text[last:], at=first)
        if character and character.isprintable() and self._takes(character):
            return self.pasted(character)
        return None

    def _takes(self, character: str) -> bool:
        return character not in self.refused and (not self.only or character in self.only)

    def pasted(self, text: str) -> TextField:
        """Return the line with a text inserted at the cursor: its first line, as far as it fits."""
        first = next(iter(text.splitlines()), "")
        room = max(0, self.most - len(self.text))
        kept = "".join(char for char in first if char.isprintable() and self._takes(char))[:room]
        return replace(self, text=self.text[: self.at] + kept + self.text[self.at :], at=self.at + len(kept))

    @property
    def shown(self) -> str:
        """The line as it is drawn, with its cursor."""
        return visible(self.text[: self.at]) + _CURSOR + visible(self.text[self.at :])


def field_of(text: str, most: int) -> TextField:
    """Return a line with a text, the cursor at its end."""
    kept = text[:most]
    return TextField(text=kept, at=len(kept), most=most)


def field_lines(line: TextField, width: int, *, indent: int = 3) -> list[Line]:
    """Return a line and its cursor, wrapped to ``width`` cells."""
    room = max(4, width - indent)
    parts = [""]
    for char in line.shown:
        if cell_width(parts[-1]) + cell_width(char) > room:
            parts.append("")
        parts[-1] += char
    return [[(" " * indent, "plain"), (part, "strong")] for part in parts]


class Typing(_Base):
    """A widget or screen on which a line is typed: edits it by keys and by what is pasted."""

    line: TextField | None = None
    """The line; None while none is typed."""

    def edited(self) -> None:
        """Called when the line was edited."""

    def edits(self, event: events.Key) -> bool:
        """Edit the line by a key, and return whether the key does; it is handled then."""
        line = self.line.pressed(event.key, event.character) if self.line is not None else None
        if line is not None:
            self.line = line
            event.stop()
            event.prevent_default()
            self.edited()
        return line is not None

    def takes_paste(self, event: events.Paste) -> bool:
        """Whether pasted text is for the line."""
        del event
        return True

    def on_paste(self, event: events.Paste) -> None:
        """Insert pasted text. No subclass has its own: Textual would call both."""
        if self.line is not None and self.takes_paste(event):
            self.line = self.line.pasted(event.text)
            event.stop()
            self.edited()


T = TypeVar("T")


class TextFieldScreen(Typing, FrameScreen[T], Generic[T]):
    """See the module.

    Args:
        title: what is asked.
        text: the text at first.
        most: the most characters.
    """

    accepts_type_ahead = True
    line: TextField

    def __init__(self, title: str, text: str, most: int) -> None:
        super().__init__(title)
        self.line = field_of(text, most)

    def draw(self) -> None:
        """Draw everything."""

    def entered(self) -> None:
        """Called when Enter was pressed."""

    def edited(self) -> None:
        """Draw the line."""
        self.draw()

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
            event.stop()
            event.prevent_default()
            self.entered()
            self.draw()
        else:
            self.edits(event)


class FilterLine(Typing, Lines, can_focus=True):
    """Filters the pane while it is typed; Enter keeps the filter, Esc ends it."""

    class Changed(Message):
        """The text to filter by has changed."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Closed(Message):
        """The line was left: the pane gets the focus back."""

    def __init__(self, text: str = "", *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.line: TextField = replace(TextField(), text=text, at=len(text))

    def on_mount(self) -> None:
        """Show the line."""
        self._draw()

    def take(self, text: str) -> None:
        """Show the filter of another pane."""
        self.line = replace(self.line, text=text, at=len(text))
        self._draw()

    def _draw(self) -> None:
        self.show([[(" / ", "key"), (self.line.shown, "strong"), ("   Enter keeps, Esc ends", "dim")]])

    def edited(self) -> None:
        """Draw the line, and filter."""
        self._draw()
        self.post_message(self.Changed(self.line.text))

    def on_key(self, event: events.Key) -> None:
        """Edit the line; Enter and Esc leave it."""
        if self.edits(event) or event.key not in {"escape", "enter"}:
            return
        event.stop()
        event.prevent_default()
        if event.key == "escape":
            self.line = TextField()
        self.edited()
        self.post_message(self.Closed())
        if not self.line.text:
            self.remove()
