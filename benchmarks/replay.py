"""Stored output, replayed chunk by chunk as a person at the terminal saw it."""

import re
from collections.abc import Callable

from benchmarks.records import Script
from benchmarks.terminal import Screen

Chunk = tuple[float, bytes]


class Replay:
    """Walks through stored chunks with an emulator; counts when a painted screen was blank again."""

    def __init__(self, script: Script) -> None:
        """Start before the first chunk."""
        self.screen = Screen(columns=script.columns, lines=script.lines)
        self.flashes = 0
        self._next = 0
        self._inked = False
        self._blank = True

    def until(self, chunks: list[Chunk], holds: Callable[[Screen], bool]) -> float | None:
        """Show chunks until `holds` is true; return the time, or None at the end."""
        while self._next < len(chunks):
            at_s = self._show(chunks)
            if holds(self.screen):
                return at_s
        return None

    def rest(self, chunks: list[Chunk], look: Callable[[Screen, float], None] | None = None) -> None:
        """Show everything that has arrived; `look` sees the screen and the time after each chunk."""
        while self._next < len(chunks):
            at_s = self._show(chunks)
            if look is not None:
                look(self.screen, at_s)

    def _show(self, chunks: list[Chunk]) -> float:
        at_s, data = chunks[self._next]
        self._next += 1
        self.screen.feed(data)
        if not self.screen.held_back:
            blank = self.screen.inked_cells() == 0
            if blank and self._inked and not self._blank:
                self.flashes += 1
            self._blank = blank
            self._inked = self._inked or not blank
        return at_s


class Milestones:
    """The moments of a start, in seconds since exec: first picture, content there, content gone by a key.

    A program may draw its content more than once while it starts; it counts as gone from the last time on.
    """

    def __init__(self, script: Script) -> None:
        """Start with nothing seen."""
        self._script = script
        self._pattern = re.compile(script.expect, re.MULTILINE)
        self.first_s: float | None = None
        self.expect_s: float | None = None
        self.gone_s: float | None = None

    @property
    def complete(self) -> bool:
        """Whether all that the script asks for has been seen."""
        seen = (self.first_s, self.expect_s, self.gone_s if self._script.answer_key else self.first_s)
        return None not in seen

    def look(self, screen: Screen, at_s: float) -> None:
        """Record the screen of one moment."""
        if screen.held_back or screen.inked_cells() < self._script.min_cells:
            return
        if self.first_s is None:
            self.first_s = at_s
        if self._pattern.search(screen.text()):
            self.gone_s = None
            if self.expect_s is None:
                self.expect_s = at_s
        elif self.expect_s is not None and self.gone_s is None:
            self.gone_s = at_s
