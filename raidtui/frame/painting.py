"""A screen that draws what changes together at once, in one write.

Textual sends the screen two messages for each changed widget, and draws them up to a sixtieth of a second
later. Left to it, a key is answered 5 to 10 ms later, and a resync takes a third more of a processor
(0.76 and 0.83 % without, 1.13 % with it, 80x24); the bytes are the same.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextlib import AbstractContextManager

from textual.geometry import Region
from textual.screen import Screen
from textual.widget import Widget

from raidtui.frame.stock import STOCK
from raidtui.frame.textual_private import draw, is_batching, mark_dirty


class PaintingScreen(Screen[None]):
    """A screen on which what changes within ``painting`` is sent in one write at its end."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._gathered: set[Widget] | None = None

    @contextlib.contextmanager
    def painting(self) -> Iterator[None]:
        """Gather the widgets that change within this block, then draw them in one write."""
        if (
            STOCK
            or self._gathered is not None
            or not (self.is_active and self.is_running and not is_batching(self.app))
        ):
            yield
            return
        self._gathered = set()
        try:
            yield
        finally:
            gathered, self._gathered = self._gathered, None
            if gathered:
                draw(self, gathered)

    def gather(self, widget: Widget, regions: list[Region]) -> bool:
        """Note changed regions of a widget; False outside of ``painting``: Textual has to draw them."""
        if self._gathered is None or not widget.is_mounted:
            return False
        mark_dirty(widget, regions)
        self._gathered.add(widget)
        return True


def painted(widget: Widget) -> AbstractContextManager[None]:
    """Draw what changes within the block at once: a key's answer does not wait for Textual's timer."""
    screen = widget.screen
    return screen.painting() if isinstance(screen, PaintingScreen) else contextlib.nullcontext()
