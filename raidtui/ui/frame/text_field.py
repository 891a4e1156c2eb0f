"""A line that is being typed: its text, and where the next character goes. Pure."""

from __future__ import annotations

from typing import Generic, TypeVar

from msgspec import Struct
from msgspec.structs import replace
from textual import events
from textual.message import Message

from raidtui.ui.frame.lines import Lines
from raidtui.ui.frame.pages import FrameScreen
from raidtui.view.line import Line
from raidtui.view.text import cell_width, visible

_CURSOR = "▏"


class TextField(Struct, frozen=True, kw_only=True):
    """What stands there.

    Args:
        text: as it was typed or pasted.
        at: so many characters are before the cursor.
        most: how many characters it may have.
    """

    text: str = ""
    at: int = 0
    most: int = 40

    def pressed(self, key: str, character: str | None) -> TextField | None:
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

    def pasted(self, text: str) -> TextField:
        """Return the line with a text put in at the cursor: of several lines the first, as far as it fits."""
        first = next(iter(text.splitlines()), "")
        kept = "".join(char for char in first if char.isprintable())[: max(0, self.most - len(self.text))]
        return replace(self, text=self.text[: self.at] + kept + self.text[self.at :], at=self.at + len(kept))


def field_of(text: str, most: int) -> TextField:
    """Return a line in which a text stands already, the cursor behind it."""
    kept = text[:most]
    return TextField(text=kept, at=len(kept), most=most)


def field_lines(line: TextField, width: int, *, indent: int = 3) -> list[Line]:
    """Return a line with its cursor, in as many lines of at most ``width`` cells as it takes."""
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
        text: what stands there at first.
        most: how many characters it may have.
    """

    takes_ahead = True

    def __init__(self, title: str, text: str, most: int) -> None:
        super().__init__(title)
        self.line = field_of(text, most)

    def draw(self) -> None:
        """Draw everything."""

    def entered(self) -> None:
        """Enter was pressed."""

    def edited(self) -> None:
        """The line is another one."""

    def on_mount(self) -> None:
        """Draw."""
        self.draw()
        self._body.focus()

    def on_resize(self) -> None:
        """Draw in the new size."""
        self.draw()

    def on_key(self, event: events.Key) -> None:
        """Go on, or change the line."""
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
        """Take what is pasted."""
        self.line = self.line.pasted(event.text)
        self.edited()
        event.stop()
        self.draw()


class FilterLine(Lines, can_focus=True):
    """Mounted when it is wanted, and removed with its text."""

    class Changed(Message):
        """The wanted text is another."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Closed(Message):
        """The focus shall go back."""

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
