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


class FrameBody(ScrollLines, can_focus=True, inherit_bindings=False):
    """The part that scrolls. Keys are the screen's alone: what comes in a burst stays in its order."""


class FrameScreen(ModalScreen[T], Generic[T]):
    """A dialog. Esc gives None."""

    CSS = """
    .frame {
        width: 94; max-width: 100%; height: auto; max-height: 100%; border: round $r-accent; padding: 0 1;
        background: $r-background;
    }
    .frame-body { height: auto; min-height: 1; }
    """
    focused: Reactive[Widget | None] = Reactive(None, repaint=False)
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Back", show=False),
        Binding("up", "scroll(-1)", show=False),
        Binding("down", "scroll(1)", show=False),
        Binding("pageup", "scroll(-10)", show=False),
        Binding("pagedown", "scroll(10)", show=False),
    ]

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
        return max(20, min(WIDTH, self.app.size.width) - 5)  # frame, padding, a scroll bar

    def show_body(self, lines: list[Line], *, selected: int | None = None) -> None:
        """Show the part that scrolls."""
        self._body.show(lines, selected=selected)
        self._fit()

    def _fit(self) -> None:
        """What is asked at the foot is always in view: the body gets what is left."""
        taken = len(self._head.lines) + len(self._foot.lines) + 2
        self._body.styles.max_height = max(1, self.app.size.height - taken)

    def on_resize(self) -> None:
        """Another size, another share."""
        self._fit()

    def show_foot(self, *items: tuple[str, str], note: str = "", role: str = "warn") -> None:
        """Show keys with their words, and a sentence above them."""
        line: Line = []
        for key, words in items:
            line += [(f" {key} ", "key"), (f"{words}  ", "plain")]
        notes = wrapped(note, self.inner_width, role) if note else [[]]
        self._foot.show([*notes[:2], line])
        self._fit()

    def action_scroll(self, lines: int) -> None:
        """Scroll the body."""
        self._body.scroll_relative(y=lines, animate=False)

    def action_back(self) -> None:
        """Change nothing."""
        self.dismiss(None)


def wrapped(text: str, width: int, role: str, *, indent: int = 0) -> list[Line]:
    """Return a text as lines of at most ``width`` cells; the lines after the first are indented."""
    parts = textwrap.wrap(text, width, subsequent_indent=" " * indent, drop_whitespace=False) or [""]
    return [[(part, role)] for part in parts]
