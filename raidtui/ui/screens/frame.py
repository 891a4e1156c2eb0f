"""What the dialogs that lead to a plan have in common: a frame, a body that scrolls, a line at the foot."""

from __future__ import annotations

import textwrap
from typing import ClassVar, Generic, TypeVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.reactive import Reactive
from textual.screen import ModalScreen
from textual.widget import Widget

from raidtui.model.brief import Line
from raidtui.ui.widgets.lines import Lines, ScrollLines

WIDTH = 92
T = TypeVar("T")


class FrameBody(ScrollLines, can_focus=True):
    """The part that scrolls."""


class FrameScreen(ModalScreen[T], Generic[T]):
    """A dialog. Esc gives None."""

    CSS = """
    .frame {
        width: 94; max-width: 100%; height: auto; max-height: 100%; border: round $r-accent; padding: 0 1;
        background: $r-background;
    }
    .frame-body { height: auto; max-height: 1fr; min-height: 3; }
    """
    focused: Reactive[Widget | None] = Reactive(None, repaint=False)
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "back", "Back", show=False)]

    def __init__(self, title: str) -> None:
        super().__init__()
        self._title = title
        self._head = Lines(lines=[[(title, "strong")], []])
        self._body = FrameBody()
        self._body.add_class("frame-body")
        self._foot = Lines(lines=[[], []])
        self.styles.align = ("center", "middle")
        self.styles.background = "transparent"

    def compose(self) -> ComposeResult:
        """Title, body, foot."""
        with Vertical(classes="frame"):
            yield self._head
            yield self._body
            yield self._foot

    @property
    def inner_width(self) -> int:
        """Cells of a line."""
        return max(20, min(WIDTH, self.app.size.width) - 4)

    def show_foot(self, *items: tuple[str, str], note: str = "", role: str = "warn") -> None:
        """Show keys with their words, and a sentence above them."""
        line: Line = []
        for key, words in items:
            line += [(f" {key} ", "key"), (f"{words}  ", "plain")]
        self._foot.show([[(note[: self.inner_width], role)] if note else [], line])

    def action_back(self) -> None:
        """Change nothing."""
        self.dismiss(None)


def wrapped(text: str, width: int, role: str, *, indent: int = 0) -> list[Line]:
    """Return a text as lines of at most ``width`` cells; the lines after the first are indented."""
    parts = textwrap.wrap(text, width, subsequent_indent=" " * indent, drop_whitespace=False) or [""]
    return [[(part, role)] for part in parts]
