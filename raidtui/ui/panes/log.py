"""Pane 6: one timeline of kernel and device events, verdicts and our own actions; newest last."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable
from typing import ClassVar

from textual.binding import BindingType
from textual.geometry import Size

from raidtui.model.brief import Line
from raidtui.model.event import Event, Kind, Tone
from raidtui.model.text import fit, visible
from raidtui.ui.widgets.lines import Lines

_KEEP = 2000
_ROLES = {Tone.PLAIN: "plain", Tone.GOOD: "ok", Tone.WARN: "warn", Tone.BAD: "bad"}
_MARKS = {Tone.PLAIN: " ", Tone.GOOD: "●", Tone.WARN: "▲", Tone.BAD: "✖"}


class LogPane(Lines, can_focus=True):
    """Follows the newest line while the end is in view."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("k", "scroll_up", "Up"),
        ("j", "scroll_down", "Down"),
    ]

    def __init__(self) -> None:
        super().__init__(id="log-pane")
        self._events: deque[Event] = deque(maxlen=_KEEP)
        self.wanted_text = ""

    def add(self, events: Iterable[Event]) -> None:
        """Append events."""
        before = len(self._events)
        self._events.extend(events)
        if len(self._events) != before or before == _KEEP:
            self.redraw()

    def narrow(self, text: str) -> None:
        """Show only events that hold ``text``."""
        self.wanted_text = text
        self.redraw()

    def redraw(self) -> None:
        """Draw all events that are wanted."""
        width = self.size.width
        if width < 20:
            return
        following = self.scroll_offset.y >= self.max_scroll_y
        wanted = self.wanted_text.lower()
        lines = [
            event_line(event, width)
            for event in self._events
            if wanted in event.text.lower() or wanted in event.subject.lower() or wanted in event.kind.value
        ]
        self.show(lines or [[(" Nothing has happened yet.", "dim")]])
        if following:
            self.scroll_end(animate=False, immediate=True)

    def on_resize(self) -> None:
        """Draw in the new width."""
        self.virtual_size = Size(self.size.width, len(self.lines))
        self.redraw()


def event_line(event: Event, width: int) -> Line:
    """Return one line: time, subject, text."""
    stamp = time.strftime("%H:%M:%S", time.localtime(event.at_s))
    role = _ROLES[event.tone]
    mark = "›" if event.kind is Kind.ACTION else _MARKS[event.tone]
    return [
        (f" {stamp}  ", "dim"),
        (fit(visible(event.subject), 10) + " ", "strong"),
        (f"{mark} ", role),
        (fit(visible(event.text), width - 24), role),
    ]
