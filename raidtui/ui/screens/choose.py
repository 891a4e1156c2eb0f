"""Choosing one of several things, and typing a word."""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct
from textual.binding import Binding, BindingType

from raidtui.model.brief import Line
from raidtui.model.text import fit, visible
from raidtui.ui.present.field import field_lines
from raidtui.ui.screens.field import FieldScreen
from raidtui.ui.screens.frame import FrameScreen, wrapped


class Option(Struct, frozen=True, kw_only=True):
    """One row.

    Args:
        key: what choosing it gives.
        words: what is shown.
        refusal: why it cannot be chosen, if so.
        note: what is known about it.
    """

    key: str
    words: str
    refusal: str = ""
    note: str = ""


class Choice(FrameScreen[str]):
    """Rows; arrows move, Enter takes. A row that cannot be taken says why."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", show=False),
        Binding("down,j", "move(1)", show=False),
        Binding("enter", "take", show=False),
    ]

    def __init__(self, title: str, options: tuple[Option, ...]) -> None:
        super().__init__(title)
        self._options = options
        self._at = next((i for i, each in enumerate(options) if not each.refusal), 0)

    def on_mount(self) -> None:
        """Draw."""
        self._draw()
        self._body.focus()

    def _draw(self) -> None:
        width = self.inner_width
        lines: list[Line] = [
            [(fit(" " + visible(each.words), width), "dim" if each.refusal else "plain")]
            for each in self._options
        ]
        self.show_body(lines or [[(" there is nothing to choose from", "warn")]], selected=self._at)
        self._body.keep_in_view(self._at)
        here = self._options[self._at] if self._options else None
        note = visible(here.note) if here is not None else ""
        if here is not None and here.refusal:
            note = f"not this one: {visible(here.refusal)}"
        role = "warn" if here is not None and here.refusal else "plain"
        self.show_foot(("↑↓", "choose"), ("Enter", "take"), ("Esc", "back"), note=note, role=role)

    def action_move(self, delta: int) -> None:
        """Move the choice."""
        self._at = max(0, min(len(self._options) - 1, self._at + delta))
        self._draw()

    def action_take(self) -> None:
        """Take the row, if it can be taken."""
        if self._options and not self._options[self._at].refusal:
            self.dismiss(self._options[self._at].key)


class Ask(FieldScreen[str]):
    """One line to type into.

    Args:
        title: what is asked.
        hint: what may be typed.
        text: what stands there at first; where one is given, the answer may be empty.
        most: how many characters it may have.
    """

    def __init__(self, title: str, hint: str, *, text: str | None = None, most: int = 40) -> None:
        super().__init__(title, text or "", most)
        self._hint = hint
        self._may_be_empty = text is not None

    def draw(self) -> None:
        """Draw everything."""
        width = self.inner_width
        self.show_body([*field_lines(self.line, width), [], *wrapped(self._hint, width, "dim")])
        self.show_foot(("Enter", "go on"), ("Esc", "back"))

    def entered(self) -> None:
        """Give what was typed."""
        if self.line.text or self._may_be_empty:
            self.dismiss(self.line.text)
