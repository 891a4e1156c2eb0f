"""One line to type a filter into. Narrows as it is typed; Enter keeps it, Esc ends it."""

from __future__ import annotations

from textual import events
from textual.message import Message

from raidtui.ui.frame.lines import Lines
from raidtui.view.text import visible


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
