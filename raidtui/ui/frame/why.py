"""A page to read: what there is to know before one decides."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType

from raidtui.ui.frame.pages import PageScreen
from raidtui.view.line import Line

_WIDEST = 100


class WhyScreen(PageScreen[None]):
    """Shows paragraphs; a line that begins with a blank stays as it is."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("question_mark,f1,q,enter", "back", "Back", show=False),
        Binding("k", "scroll(-1)", show=False),
        Binding("j", "scroll(1)", show=False),
        Binding("space", "scroll(10)", show=False),
    ]

    def __init__(self, title: str, page: Sequence[str]) -> None:
        super().__init__(title)
        self._page = page

    def on_mount(self) -> None:
        """Draw."""
        self._body.focus()
        self.draw()

    def draw(self) -> None:
        """Draw everything."""
        self.show_head(self._title)
        width = min(_WIDEST, self.inner_width - 1)
        lines: list[Line] = []
        for text in self._page:
            parts = [text] if text[:1] in {"", " "} else textwrap.wrap(text, width)
            lines += [[(part, "plain")] for part in parts]
        self.show_body(lines)
        self.show_keys(("↑↓", "scroll"), ("Esc", "back"))
