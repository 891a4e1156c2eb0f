"""Pane 6: one timeline of kernel and device events, verdicts and our own actions; newest last."""

from __future__ import annotations

import textwrap
import time
from collections.abc import Sequence
from typing import ClassVar

from textual.binding import BindingType

from raidtui.model.finding import Event, EventKind, Tone
from raidtui.ui.frame.lines import ScrollLines
from raidtui.view.line import Line
from raidtui.view.text import cell_width, fit, visible

_ROLES = {Tone.PLAIN: "plain", Tone.GOOD: "ok", Tone.WARN: "warn", Tone.BAD: "bad"}
_HEAD = 24
_MARKS = {Tone.PLAIN: " ", Tone.GOOD: "●", Tone.WARN: "▲", Tone.BAD: "✖"}


class LogPane(ScrollLines, can_focus=True):
    """Follows the newest line while the end is in view."""

    BINDINGS: ClassVar[list[BindingType]] = [("k", "scroll_up", "Up"), ("j", "scroll_down", "Down")]

    def __init__(self) -> None:
        super().__init__(id="log-pane")
        self._events: Sequence[Event] = ()
        self._opened = False
        self.wanted_text = ""

    def show_events(self, events: Sequence[Event]) -> None:
        """Show events, oldest first."""
        self._events = events
        self._draw()

    def narrow(self, text: str) -> None:
        """Show only events that hold ``text``."""
        self.wanted_text = text
        self._draw()

    def _draw(self) -> None:
        following = self.scroll_offset.y >= self.max_scroll_y or not self._opened
        wanted = self.wanted_text.lower()
        lines = [
            line
            for event in self._events
            if wanted in event.text.lower() or wanted in event.subject.lower() or wanted in event.kind.value
            for line in event_lines(event, self.app.size.width)
        ]
        self.show(lines or [[(" Nothing that holds this text." if wanted else " Nothing yet.", "dim")]])
        if following:
            self.scroll_end(animate=False)

    def on_resize(self) -> None:
        """Open at the end."""
        if not self._opened:
            self._opened = True
            self.call_after_refresh(self.scroll_end, animate=False)


def event_lines(event: Event, width: int) -> list[Line]:
    """Return time, subject and text; the text in as many lines as it needs."""
    stamp = time.strftime("%H:%M:%S", time.localtime(event.at_s))
    role = _ROLES[event.tone]
    mark = "›" if event.kind is EventKind.ACTION else _MARKS[event.tone]
    head: Line = [
        (f" {stamp}  ", "dim"),
        (fit(visible(event.subject), 10) + " ", "strong"),
        (f"{mark} ", role),
    ]
    text, room = visible(event.text), max(1, width - _HEAD - 1)
    parts = [text] if cell_width(text) <= room else textwrap.wrap(text, room) or [""]
    further: Line = [(" " * _HEAD, "plain")]
    return [[*(further if number else head), (fit(part, room), role)] for number, part in enumerate(parts)]
