"""Rows of which one is chosen: arrays, disks."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType

from raidtui.ui.commands import DOWN, UP
from raidtui.ui.frame.lines import ScrollLines


class RowList(ScrollLines, can_focus=True, inherit_bindings=False):
    """Rows; keys and clicks move the choice, and it stays in view.

    The page keys, too, are bindings: one typed before the list has the focus reaches it as a binding alone,
    and Textual's own would scroll the rows without the choice.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        *UP.bindings,
        *DOWN.bindings,
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("home", "move(-1000000)", show=False),
        Binding("end", "move(1000000)", show=False),
    ]

    def __init__(self, move: Callable[[int], None], *, id: str) -> None:  # noqa: A002
        super().__init__(id=id)
        self._move = move  # a message could be overtaken by the next key

    def action_move(self, delta: int) -> None:
        """Choose the row ``delta`` further down."""
        self._move(delta)

    def action_page(self, pages: int) -> None:
        """Choose the row as many pages further down."""
        self._move(pages * max(1, self.size.height))

    def on_click(self, event: events.Click) -> None:
        """Choose the row under the mouse."""
        row = event.y + self.scroll_offset.y
        if self._selected is not None and row < len(self.lines):
            self._move(row - self._selected)
