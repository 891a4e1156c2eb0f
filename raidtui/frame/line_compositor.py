"""Draws the few cells that changed, without visiting every widget of the screen.

Textual's own partial update renders each widget between the first changed line and the last, and cuts them
to pieces; before that, each changed widget sends the screen two messages, and a timer runs. Once a second,
that is the larger part of what a resync costs. tests/frame/test_painting.py compares what both draw.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.control import Control
from textual.geometry import Region, Size
from textual.screen import Screen
from textual.strip import Strip

from raidtui.frame.textual_private import (
    ChopsUpdate,
    CompositorMap,
    CompositorUpdate,
    OpenCompositor,
    ReflowResult,
)

if TYPE_CHECKING:
    from textual.widget import Widget

Span = tuple[int, int, int]
"""A line, its first changed cell, and the one after its last."""


class SpansUpdate(CompositorUpdate):
    """Pieces of lines, each at its place (x, y)."""

    def __init__(self, pieces: list[tuple[int, int, Strip]]) -> None:
        self._pieces = pieces

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the pieces as rich wants them."""
        del console, options
        for x, y, strip in self._pieces:
            yield Control.move_to(x, y).segment
            yield from strip

    def render_segments(self, console: Console) -> str:
        """Return what is written to the terminal."""
        return "".join(
            Control.move_to(x, y).segment.text + strip.render(console) for x, y, strip in self._pieces
        )


class LineCompositor(OpenCompositor):
    """Textual's compositor; a partial update renders only the widgets that changed.

    Textual compares a layout with the last map of places, and any query of a place while a layout is due
    makes a new map: what has moved is then neither drawn nor resized. This one compares a layout with the
    layout before it, and an update with the update before it.
    """

    def __init__(self) -> None:
        super().__init__()
        self._laid_out: CompositorMap = {}
        self._painted: dict[Widget, tuple[Region, Region]] = {}

    def clear(self) -> None:
        """Forget all widgets."""
        super().clear()
        self._laid_out, self._painted = {}, {}

    def reflow(self, parent: Widget, size: Size) -> ReflowResult:
        """Lay out; the result names what differs from the last layout."""
        self.full_places = self._laid_out
        result = super().reflow(parent, size)
        self._laid_out = self.full_places
        return result

    def render_update(
        self,
        full: bool = False,  # noqa: FBT001, FBT002
        screen_stack: list[Screen[Any]] | None = None,
        simplify: bool = False,  # noqa: FBT001, FBT002
    ) -> RenderableType | None:
        """Return what to send; of a widget that has moved since the last update, all of it."""
        places = self.visible_widgets
        if places is not self._painted:
            moved = places.items() ^ self._painted.items()
            regions = (place.intersection(clip) for _, (place, clip) in moved)
            self.dirty.update(region for region in regions if region)
            self._painted = places
        return super().render_update(full, screen_stack, simplify)

    def render_partial_update(self) -> ChopsUpdate | SpansUpdate | None:  # type: ignore[override]
        """Return the changed cells; Textual's own update where widgets overlap in them."""
        inside = self.size.region.intersection
        regions = [region for each in self.dirty if (region := inside(each))]
        spans = list(self.spans(regions))
        owned = self._owners(spans)
        if owned is None:
            return super().render_partial_update()
        self.dirty.clear()
        pieces = [piece for widget, (place, own) in owned.items() for piece in _pieces(widget, place, own)]
        return SpansUpdate(pieces) if pieces else None

    def _owners(self, spans: Iterable[Span]) -> dict[Widget, tuple[Region, list[Span]]] | None:
        """Return the place and the spans of each widget, or None where a span lies in more than one.

        The places are taken all at once: drawing may find that a layout is due, and a widget is gone then.
        """
        owned: dict[Widget, tuple[Region, list[Span]]] = {}
        for span in spans:
            y, x1, x2 = span
            region = Region(x1, y, x2 - x1, 1)
            for widget, (place, clip) in self.visible_widgets.items():  # the one in front comes first
                seen = place.intersection(clip)
                if seen.contains_region(region):
                    owned.setdefault(widget, (place, []))[1].append(span)
                    break
                if seen.overlaps(region):
                    return None
        return owned


def _pieces(widget: Widget, place: Region, spans: list[Span]) -> Iterable[tuple[int, int, Strip]]:
    top, end = spans[0][0], spans[-1][0] + 1
    lines = widget.render_lines(Region(0, top - place.y, place.width, end - top))
    for y, x1, x2 in spans:
        yield x1, y, lines[y - top].crop(x1 - place.x, x2 - place.x)
