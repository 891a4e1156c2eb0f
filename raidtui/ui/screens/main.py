"""The one screen: header, tabs, the pane in view, message line, footer."""

from __future__ import annotations

import time

from textual.app import ComposeResult
from textual.containers import Container
from textual.screen import Screen

from raidtui.console import Report
from raidtui.first_frame import SMALLEST, TABS
from raidtui.model.brief import Line, counts_line, header_line, tab_line
from raidtui.model.text import fit, visible
from raidtui.ui.commands import HELP, PALETTE
from raidtui.ui.panes.arrays import ArrayList, ArraysPane
from raidtui.ui.panes.log import LogPane
from raidtui.ui.present.rows import counts_of
from raidtui.ui.widgets.filter import FilterLine
from raidtui.ui.widgets.lines import Lines


class MainScreen(Screen[None]):
    """See the module."""

    def __init__(self) -> None:
        super().__init__(id="main")
        self.report: Report | None = None
        self.pane = "arrays"
        self.held = False
        self._message: Line = []

    def compose(self) -> ComposeResult:
        """All parts; the log is mounted at once, since it takes events from the start."""
        yield Lines(id="header")
        yield Lines(id="tabs")
        with Container(id="pane"):
            yield ArraysPane()
            log = LogPane()
            log.display = False
            yield log
        yield Lines(id="too-small")
        yield FilterLine(id="filter")
        yield Lines(id="message")
        yield Lines(id="footer")

    def on_mount(self) -> None:
        """The list has the focus from the start."""
        self.query_one(ArrayList).focus(scroll_visible=False)

    @property
    def arrays(self) -> ArraysPane:
        """Pane 1."""
        return self.query_one(ArraysPane)

    @property
    def log_pane(self) -> LogPane:
        """Pane 6."""
        return self.query_one(LogPane)

    def show_report(self, report: Report) -> None:
        """Take a report: the log always, the picture unless it is held."""
        self.report = report
        self.log_pane.add(report.new_events)
        if not self.held:
            self.arrays.show_report(report)
        self.redraw_frame()

    def show_pane(self, name: str) -> None:
        """Bring a pane into view."""
        self.pane = name
        self.arrays.display = name == "arrays"
        self.log_pane.display = name == "log"
        (self.query_one(ArrayList) if name == "arrays" else self.log_pane).focus()
        self.call_after_refresh(self.redraw)

    def redraw(self) -> None:
        """Draw the pane in view and the frame around it."""
        if self.pane == "arrays":
            self.arrays.redraw()
        else:
            self.log_pane.redraw()
        self.redraw_frame()

    def redraw_frame(self) -> None:
        """Draw header, tabs and footer."""
        width = self.size.width
        report = self.report
        small = width < SMALLEST[0] or self.size.height < SMALLEST[1]
        self.set_class(small, "-too-small")
        if small:
            words = (
                f"make the window at least {SMALLEST[0]} x {SMALLEST[1]} (it is {width} x {self.size.height})"
            )
            self.query_one("#too-small", Lines).show([[(fit(words, width), "warn")]])
            return
        self.query_one("#tabs", Lines).show(
            [tab_line(TABS, "Arrays" if self.pane == "arrays" else "Log", width)]
        )
        if report is not None:
            self.query_one("#header", Lines).show([self._header(report, width)])
        self.query_one("#footer", Lines).show([self._footer(width)])

    def _header(self, report: Report, width: int) -> Line:
        snapshot = report.snapshot
        host = snapshot.host
        release = f" · Linux {(host.kernel or '').partition('-')[0]}" if host.kernel else ""
        name = host.name or host.source or "this host"
        rights = "root" if host.is_root else "read-only"
        if host.source:
            rights = "demo" if host.source == "demo" else "capture"
        stamp = time.strftime("%H:%M", time.localtime(snapshot.taken_s))
        middle = counts_line(counts_of(report))
        if snapshot.stale is not None:
            since = time.strftime("%H:%M:%S", time.localtime(snapshot.stale.since_s))
            middle = [(f"▲ stale since {since}", "warn")]
        if self.held:
            middle = [*middle, (" ", "plain"), ("▮▮ held", "accent")]
        return header_line(f"{name}{release}", middle, f"{rights}  {stamp}", width)

    def _footer(self, width: int) -> Line:
        line: Line = []
        if self.pane == "arrays":
            for command, label, possible in self.arrays.foot():
                if command.foot:
                    line.append((f" {command.shown_key}", "key" if possible else "dim"))
                    line.append((f" {label} ", "plain" if possible else "dim"))
        else:
            line = [(" ↑↓", "key"), (" Scroll ", "plain"), (" /", "key"), (" Filter ", "plain")]
        for command in (HELP, PALETTE):
            line += [(f" {command.shown_key}", "key"), (f" {command.label} ", "plain")]
        used = sum(len(text) for text, _ in line)
        return [*line, (" " * max(0, width - used), "plain")]

    def say(self, text: str, role: str = "warn") -> None:
        """Show a sentence above the footer; an empty one clears it."""
        self._message = [(fit(" " + visible(text), max(1, self.size.width)), role)] if text else []
        self.query_one("#message", Lines).show([self._message])

    def on_resize(self) -> None:
        """Draw in the new size."""
        self.call_after_refresh(self.redraw)
