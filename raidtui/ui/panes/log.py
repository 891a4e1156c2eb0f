"""Pane 6: one timeline of kernel and device events, verdicts and our own actions; newest last."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import ClassVar

from textual.binding import BindingType

from raidtui.model.brief import Line
from raidtui.model.event import Event, Kind, Tone
from raidtui.model.text import fit, visible
from raidtui.ui.widgets.lines import ScrollLines

_ROLES = {Tone.PLAIN: "plain", Tone.GOOD: "ok", Tone.WARN: "warn", Tone.BAD: "bad"}
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
            event_line(event, self.app.size.width)
            for event in self._events
            if wanted in event.text.lower() or wanted in event.subject.lower() or wanted in event.kind.value
        ]
        self.show(lines or [[(" Nothing that holds this text." if wanted else " Nothing yet.", "dim")]])
        if following:
            self.scroll_end(animate=False)

    def on_resize(self) -> None:
        """Open at the end."""
        if not self._opened:
            self._opened = True
            self.call_after_refresh(self.scroll_end, animate=False)


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
