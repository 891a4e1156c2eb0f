"""Choosing one of several things, and typing a word."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from msgspec import Struct
from textual.binding import Binding, BindingType

from raidtui.ui.frame.pages import FrameScreen, wrapped
from raidtui.ui.frame.text_field import TextFieldScreen, field_lines
from raidtui.view.line import Line
from raidtui.view.text import fit, visible


class Option(Struct, frozen=True, kw_only=True):
    """One row.

    Args:
        key: what choosing it gives.
        words: what is shown.
        refusal: why it cannot be chosen, if so.
        note: what is known about it.
        pending: whether it is still being read, so that Enter waits for it.
    """

    key: str
    words: str
    refusal: str = ""
    note: str = ""
    pending: bool = False


class Choice(FrameScreen[str]):
    """Rows; arrows move, Enter takes. A row that cannot be taken says why.

    Args:
        title: what is asked.
        options: the rows.
        nothing: what is said where there is none.
        again: called with the key of a row that cannot be taken, to have it judged on a fresh reading.
    """

    takes_ahead = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", show=False),
        Binding("down,j", "move(1)", show=False),
        Binding("enter", "take", show=False),
    ]

    def __init__(
        self,
        title: str,
        options: tuple[Option, ...] = (),
        *,
        nothing: str = "there is nothing to choose from",
        again: Callable[[str], None] | None = None,
    ) -> None:
        super().__init__(title)
        self._asked = title
        self._nothing = nothing
        self._again = again
        self._options = options
        self._at = _first(options)
        self._moved = self._drawn = False
        self._words = ""

    def on_mount(self) -> None:
        """Draw."""
        self._drawn = True
        self._draw()
        self._body.focus()

    def show_options(self, options: tuple[Option, ...], words: str = "") -> None:
        """Show other rows; the choice stays where it was moved to.

        Args:
            options: the rows.
            words: what is still being read, if anything.
        """
        if (options, words) == (self._options, self._words):
            return
        here = self._options[self._at].key if self._moved and self._options else None
        at = next((number for number, each in enumerate(options) if each.key == here), None)
        self._at = _first(options) if at is None else at
        self._options, self._words = options, words
        if self._drawn:
            self._draw()
        self.release()

    def holds(self, key: str) -> bool:
        """Rows that are not there yet are waited for, and so is the chosen one."""
        if not self._options:
            return bool(self._words)
        return key == "enter" and self._options[self._at].pending

    def _draw(self) -> None:
        width = self.inner_width
        self._head.show([[(self._asked, "strong")], [(self._words, "dim")] if self._words else []])
        lines: list[Line] = [
            [(fit(" " + visible(each.words), width), "dim" if each.refusal else "plain")]
            for each in self._options
        ]
        nothing = "" if self._words else f" {self._nothing}"
        self.show_body(lines or [[(nothing, "warn")]], selected=self._at if lines else None)
        self._body.keep_in_view(self._at)
        here = self._options[self._at] if self._options else None
        note = visible(here.note) if here is not None else ""
        if here is not None and here.refusal:
            note = f"not available: {visible(here.refusal)}"
        role = "warn" if here is not None and here.refusal else "plain"
        self.show_foot(("↑↓", "choose"), ("Enter", "take"), ("Esc", "back"), note=note, role=role)

    def action_move(self, delta: int) -> None:
        """Move the choice."""
        self._moved = True
        self._at = max(0, min(len(self._options) - 1, self._at + delta))
        self._draw()

    def action_take(self) -> None:
        """Take the row, if it can be taken."""
        here = self._options[self._at] if self._options else None
        if here is None:
            return
        if not here.refusal:
            self.dismiss(here.key)
        elif self._again is not None:
            self._moved = True
            self._again(here.key)


def _first(options: tuple[Option, ...]) -> int:
    return next((number for number, each in enumerate(options) if not each.refusal or each.pending), 0)


class Ask(TextFieldScreen[str]):
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
