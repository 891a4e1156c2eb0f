"""Pane 6: one timeline of kernel and device events, verdicts and actions of raidtui; newest last."""

from __future__ import annotations

import textwrap
import time
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType

from raidtui.model.finding import Event, EventKind, Tone
from raidtui.session.watch import Report
from raidtui.ui.frame.lines import ScrollLines
from raidtui.ui.frame.pane import Pane
from raidtui.view.line import Line
from raidtui.view.text import cell_width, fit, visible

_ROLES = {Tone.PLAIN: "plain", Tone.GOOD: "ok", Tone.WARN: "warn", Tone.BAD: "bad"}
_HEAD = 24
_MARKS = {Tone.PLAIN: " ", Tone.GOOD: "●", Tone.WARN: "▲", Tone.BAD: "✖"}


class LogLines(ScrollLines, can_focus=True):
    """The lines of the log; they open at their end."""

    BINDINGS: ClassVar[list[BindingType]] = [("k", "scroll_up", "Up"), ("j", "scroll_down", "Down")]

    def __init__(self) -> None:
        super().__init__(id="log-lines")
        self._opened = False

    @property
    def follows(self) -> bool:
        """Whether the newest line is in view, so that a newer one scrolls in."""
        return self.scroll_offset.y >= self.max_scroll_y or not self._opened

    def on_resize(self) -> None:
        """Open at the end."""
        if not self._opened:
            self._opened = True
            self.call_after_refresh(self.scroll_end, animate=False)


class LogPane(Pane):
    """Follows the newest line while the end is in view."""

    ID = "log-pane"

    def __init__(self, report: Report | None) -> None:
        super().__init__(report)
        self.rows: LogLines = LogLines()

    def compose(self) -> ComposeResult:
        """The lines alone."""
        yield self.rows

    def show_report(self, report: Report) -> None:
        """Take a report; its events are in the log already."""
        self.report = report

    def redraw(self) -> None:
        """Draw the events that hold the filter's text, oldest first."""
        follows = self.rows.follows
        wanted = self.wanted_text.lower()
        lines = [
            line
            for event in self.shell.log_events
            if wanted in event.text.lower() or wanted in event.subject.lower() or wanted in event.kind.value
            for line in event_lines(event, self.app.size.width)
        ]
        self.rows.show(lines or [[(" No event contains this text." if wanted else " Nothing yet.", "dim")]])
        if follows:
            self.rows.scroll_end(animate=False)


def event_lines(event: Event, width: int) -> list[Line]:
    """Return an event in lines: time, subject and text; the text is wrapped."""
    stamp = time.strftime("%H:%M:%S", time.localtime(event.at_s))
    role = _ROLES[event.tone]
    mark = "›" if event.kind is EventKind.ACTION else _MARKS[event.tone]
    head: Line = [
        (f" {stamp}  ", "dim"),
        (fit(visible(event.subject), 10) + " ", "strong"),
        (f"{mark} ", role),
    ]
    text, room = visible(event.text), max(1, width - _HEAD - 1)
    parts = [text] if cell_width(text) <= room else textwrap.wrap(text, room, break_on_hyphens=False) or [""]
    further: Line = [(" " * _HEAD, "plain")]
    return [[*(further if number else head), (fit(part, room), role)] for number, part in enumerate(parts)]
