"""A dialog with one line to type into. Enter goes on; the rest edits the line."""

from __future__ import annotations

from typing import Generic, TypeVar

from textual import events

from raidtui.ui.frame.field import field_of
from raidtui.ui.frame.pages import FrameScreen

T = TypeVar("T")


class FieldScreen(FrameScreen[T], Generic[T]):
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
