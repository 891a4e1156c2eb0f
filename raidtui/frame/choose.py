"""Dialogs to choose a row, and to type a line.

They draw themselves. Measured against Textual's widgets at 80x24: a move in a list of eight rows sends 206
bytes here and 1073 with an ``OptionList``, a typed letter 38 bytes here and 146 with an ``Input``; opening
takes as long and sends as much. Besides, rows arrive while they are read, and keys typed before the dialog
was shown are taken in their order: a widget of its own would get them after the screen.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from msgspec import Struct
from msgspec.structs import replace
from textual.binding import Binding, BindingType

from raidtui.frame.pages import FrameScreen
from raidtui.frame.text_field import TextFieldScreen, field_lines
from raidtui.view.line import Line
from raidtui.view.text import fit, visible
from raidtui.view.wrapping import wrapped

_DOT = "*"


class Option(Struct, frozen=True, kw_only=True):
    """A row to choose.

    Args:
        key: the result of choosing it.
        words: the text of the row.
        refusal: why it cannot be chosen; "" where it can.
        note: shown while the row is selected.
        pending: whether its device is still being read: Enter waits for it.
    """

    key: str
    words: str
    refusal: str = ""
    note: str = ""
    pending: bool = False


class Choice(FrameScreen[str]):
    """Rows: arrow keys move, Enter chooses; gives the row's key. A row that cannot be chosen says why.

    Args:
        title: the question.
        options: the rows.
        nothing: shown where there is no row.
        again: called with the key of a refused row that Enter was pressed on, to read it again.
    """

    accepts_type_ahead = True
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
        nothing: str = "there is nothing to choose",
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
        """Show other rows; a row that was moved to stays selected.

        Args:
            options: the rows.
            words: the progress of reading; "" when done.
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

    def holds_key(self, key: str) -> bool:
        """Whether a key waits: for rows that are still being read, or for the selected one."""
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
        self.show_foot(("↑↓", "select"), ("Enter", "choose"), ("Esc", "back"), note=note, role=role)

    def action_move(self, delta: int) -> None:
        """Select another row."""
        self._moved = True
        self._at = max(0, min(len(self._options) - 1, self._at + delta))
        self._draw()

    def action_take(self) -> None:
        """Choose the selected row; one that is refused is read again."""
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
    """A line to type; gives the text.

    Args:
        title: the question.
        hint: the accepted input.
        text: the text at first; where one is given, the answer may be empty.
        most: the most characters.
        secret: whether dots are shown instead.
    """

    def __init__(
        self, title: str, hint: str, *, text: str | None = None, most: int = 40, secret: bool = False
    ) -> None:
        super().__init__(title, text or "", most)
        self._hint = hint
        self._secret = secret
        self._may_be_empty = text is not None

    def draw(self) -> None:
        """Draw everything."""
        width = self.inner_width
        line = replace(self.line, text=_DOT * len(self.line.text)) if self._secret else self.line
        self.show_body([*field_lines(line, width), [], *wrapped(self._hint, width, "dim")])
        self.show_foot(("Enter", "continue"), ("Esc", "back"))

    def entered(self) -> None:
        """Close with the typed text."""
        if self.line.text or self._may_be_empty:
            self.dismiss(self.line.text)
