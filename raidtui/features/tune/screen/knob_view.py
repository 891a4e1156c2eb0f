"""The part of pane 4 that reads and shows: the table of knobs, and the details of the chosen one."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.timer import Timer

from raidtui.features.tune.screen.tune_detail import body_lines, knob_lines
from raidtui.features.tune.screen.tune_lines import (
    KnobCell,
    column_at,
    head_line,
    marks_of,
    more_at,
    more_line,
    row_line,
)
from raidtui.features.tune.screen.tune_rows import KnobRow, rows_of
from raidtui.features.tune.session import TuneSession, still
from raidtui.first_frame import SMALLEST
from raidtui.frame.lines import Lines, ScrollLines
from raidtui.frame.list_pane import PanelPane, PanelRoom
from raidtui.frame.screen_shell import later
from raidtui.model.knob import KnobScope, Tuning
from raidtui.view.line import Line
from raidtui.view.text import visible
from raidtui.watch.watch import Report

EVERY_S = 3.0
_LIVE_S = 0.9


class KnobList(ScrollLines, can_focus=True, inherit_bindings=False):
    """The rows. Arrow keys and clicks move the choice."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", show=False),
        Binding("down,j", "move(1)", show=False),
    ]

    def __init__(self, move: Callable[[int], None], point: Callable[[int, int], None]) -> None:
        super().__init__(id="knob-list")
        self._move = move
        self._point = point

    def action_move(self, delta: int) -> None:
        """Choose the row ``delta`` rows below."""
        self._move(delta)

    def on_click(self, event: events.Click) -> None:
        """Choose the knob under the mouse."""
        self._point(event.x, event.y + self.scroll_offset.y)


class KnobRule(Lines):
    """The rule and, below it, the chosen row's knobs without a column; a click chooses one."""

    def __init__(self, point: Callable[[int], None]) -> None:
        super().__init__(id="knob-rule", lines=[[], []])
        self._point = point

    def on_click(self, event: events.Click) -> None:
        """Choose the knob under the mouse."""
        if event.y == 1:
            self._point(event.x)


class KnobView(PanelPane):
    """The table of knobs and the details below it.

    Args:
        report: the newest report; None before the first.
    """

    ID, STEM, NAME, LIST_CELLS = "tune-pane", "knob", "knobs", 126
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("shift+tab", "knob(-1)", show=False),
        Binding("pageup", "scroll_body(-1)", show=False),
        Binding("pagedown", "scroll_body(1)", show=False),
    ]

    def __init__(self, report: Report | None) -> None:
        super().__init__(report)
        self.tuning: Tuning | None = None
        self.chosen, self.knob, self.asked = "", "", ""
        self.apart = False
        """Whether each cpufreq policy has a row of its own, even where all values are equal."""
        self.acting = False
        """Whether a change is in progress; nothing else starts meanwhile."""
        """Whether a dialog is open or about to open."""
        self.news: tuple[tuple[str, str], ...] = ()
        """Sentences about what was set last, with their roles."""
        self._at = 0
        self._more: Line = []
        self._no_cpu: int | None = None
        """The number of the line that says that there is no cpufreq."""
        self._read_of: TuneSession | None = None
        self._reading: TuneSession | None = None
        self._once_more = False
        self._read_at_s = 0.0
        self._timer: Timer | None = None
        self._soon: Timer | None = None
        self.head = Lines(id="knob-head", lines=[[]])
        self.rows = KnobList(self.move, self._click)
        self.rule = KnobRule(self._point_more)
        self.body = ScrollLines(id="knob-body")
        self.body.can_focus = False

    def above(self) -> tuple[Lines, ...]:
        """The names of the columns."""
        return (self.head,)

    def on_mount(self) -> None:
        """Read every few seconds, while the pane is in view."""
        self._timer = self.set_interval(EVERY_S, self.look, pause=True)
        self.redraw()

    def come(self) -> None:
        """Read while the pane is in view, and only then."""
        if self._timer is None:
            return
        if self.display:
            self._timer.resume()
            self.action_read()
        else:
            self._timer.pause()

    # -- reading

    def knobs(self) -> TuneSession:
        """Return what reads and writes the knobs of the host in view."""
        return self.shell.session.of(TuneSession)

    def look(self) -> None:
        """Read the values, unless a change is in progress or the picture is held."""
        if self.display and not self.acting and not self.asked and not self._is_held():
            later(self, self.read)

    def _is_held(self) -> bool:
        return self.shell.held

    def action_read(self) -> None:
        """Read the values again, and what sets them."""
        later(self, partial(self.read, afresh=True))

    async def read(self, *, afresh: bool = False) -> None:
        """Read the values, and with ``afresh`` what sets them."""
        knobs, report = self.knobs(), self.report
        if knobs is None or report is None:
            return
        if self._reading is knobs:
            self._once_more = self._once_more or afresh  # the reading may have started before the change
            return
        self._reading = knobs
        try:
            tuning = await knobs.read(report.snapshot, afresh=afresh)
        finally:
            self._reading = None
        if knobs is self.knobs() and not self.acting:
            self._read_of = knobs
            self.own(tuning, anyway=afresh)
        if self._once_more:
            self._once_more = False
            await self.read(afresh=True)
        elif knobs.measuring and self.display:
            self._look_soon()

    def _look_soon(self) -> None:
        """Read again soon: a benchmark runs. During a sync each report leads to a reading."""
        if self._soon is not None:
            self._soon.stop()
        self._soon = self.set_timer(_LIVE_S, self.look)

    def own(self, tuning: Tuning, *, anyway: bool = False) -> None:
        """Take new values. A change of frequency alone redraws only during a sync or a benchmark."""
        before, self.tuning, self._read_at_s = self.tuning, tuning, time.monotonic()
        live = self._is_syncing() or (self._read_of is not None and self._read_of.measuring)
        if anyway or before is None or (before != tuning and (live or still(before) != still(tuning))):
            self.redraw()

    def _is_syncing(self) -> bool:
        return self.report is not None and bool(self.report.snapshot.syncing)

    def action_erc(self) -> None:
        """Ask the disks for SCT ERC."""
        later(self, self._ask_disks)

    async def _ask_disks(self) -> None:
        knobs, tuning = self.knobs(), self.tuning
        if knobs is None or tuning is None:
            return
        self.say("asking the disks …", "dim")
        answered = await knobs.ask_disks(tuning)
        self.say("" if answered else "no disk reports SCT ERC", "warn")
        await self.read(afresh=True)

    # -- showing

    def show_report(self, report: Report) -> None:
        """Take a report; read the knobs if arrays changed, and while a sync runs."""
        before, self.report = self.report, report
        if not self.display:
            return
        other = before is None or _shape(before) != _shape(report) or self._read_of is not self.knobs()
        live = bool(report.snapshot.syncing) and time.monotonic() - self._read_at_s >= _LIVE_S
        if other or live:
            self.look()

    def redraw(self) -> None:
        """Draw everything."""
        room = self.room
        width = room.list_cells
        if self.report is None or width < SMALLEST[0]:
            return
        tuning, rows = self.tuning, self._shown()
        self._settle_choice(rows)
        self.head.show([head_line(width)])
        marks = marks_of(tuning) if tuning is not None else frozenset()
        chosen = KnobCell(row=self._at, knob=self.knob, asked=self.asked)
        self._show_rows(rows, marks, chosen, room)
        row, width = rows[self._at] if rows else None, room.detail_cells
        self._more = more_line(row, marks, width, chosen) if row is not None else []
        if tuning is not None:
            self.show_titles(room, self.chosen)
            lines = body_lines(tuning, row, self.knob, width, self.news)
            self.show_body(room, lines, f"knobs of {visible(self.chosen)}", partial(knob_lines, row))
        self.redraw_frame()

    def show_rule(self, line: Line) -> None:
        """Show the rule, and the knobs of the row that have no column."""
        self.rule.show([line, self._more])

    def _show_rows(
        self, rows: tuple[KnobRow, ...], marks: frozenset[tuple[str, str]], chosen: KnobCell, room: PanelRoom
    ) -> None:
        no_cpu = self.tuning is not None and bool(self.tuning.no_cpufreq) and not self.wanted_text
        self._no_cpu = sum(row.subject.scope is KnobScope.DISK for row in rows) if no_cpu else None
        scrolls = len(rows) + no_cpu > self.most_rows(room)
        lines = [
            row_line(row, marks, room.list_cells - scrolls, chosen if number == self._at else None)
            for number, row in enumerate(rows)
        ]
        at = self._at
        if self._no_cpu is not None:
            lines.insert(self._no_cpu, [(" cpu       no cpufreq on this host", "dim")])
            at += at >= self._no_cpu
        lines = lines or self._nothing()
        self.lay_out(room, len(lines))
        self.rows.show(lines, selected=at if rows else None)
        self.rows.keep_in_view(at)

    def _nothing(self) -> list[Line]:
        if self.wanted_text:
            return [[(" Nothing matches. Esc shows all.", "plain")]]
        return [[(" Reading …" if self.tuning is None else " No knobs.", "plain")]]

    def _shown(self) -> tuple[KnobRow, ...]:
        if self.tuning is None:
            return ()
        wanted = self.wanted_text.lower()
        rows = rows_of(self.tuning, self.room.list_cells, apart=self.apart)
        return tuple(row for row in rows if not wanted or wanted in _words(row))

    def _settle_choice(self, rows: tuple[KnobRow, ...]) -> None:
        """Keep the choice on its subject; if that is gone, on its line."""
        if not rows:
            return
        found = (n for n, row in enumerate(rows) if self.chosen in [each.name for each in row.subjects])
        self._at = next(found, min(self._at, len(rows) - 1))
        row = rows[self._at]
        if self.chosen not in [each.name for each in row.subjects]:
            self.chosen, self.asked = row.subject.name, ""
        if self.knob not in row.knobs:
            self.knob, self.asked = row.knobs[0], ""  # the request was for another knob

    @property
    def row(self) -> KnobRow | None:
        """The chosen row."""
        rows = self._shown()
        self._settle_choice(rows)  # a window that is too small was not drawn
        return rows[self._at] if self._at < len(rows) else None

    # -- choosing

    def move(self, delta: int) -> None:
        """Choose the row ``delta`` rows below."""
        self._point(-1, max(0, self._at + delta))

    def action_knob(self, delta: int) -> None:
        """Choose the next knob of the row, or the previous one."""
        row = self.row
        if row is not None:
            self.settle()
            self.knob = row.knobs[(row.knobs.index(self.knob) + delta) % len(row.knobs)]
            self._rest()

    def _click(self, x: int, number: int) -> None:
        """Choose the row of a line; the line that says "no cpufreq" is not a row."""
        if number != self._no_cpu:
            self._point(x, number - (self._no_cpu is not None and number > self._no_cpu))

    def _point(self, x: int, number: int) -> None:
        rows = self._shown()
        if rows:
            self.settle()
            row = rows[min(number, len(rows) - 1)]
            self.chosen, self.knob = row.subject.name, column_at(row, x) or self.knob
            self._rest()

    def _point_more(self, x: int) -> None:
        row = self.row
        knob = more_at(row, x) if row is not None else ""
        if knob:
            self.settle()
            self.knob = knob
            self._rest()

    def action_apart(self) -> None:
        """Show each cpufreq policy in a row, or policies with equal values in one."""
        self.settle()
        self.apart = not self.apart
        self._rest()

    def settle(self) -> None:
        """Write the requested value: something else is about to be chosen."""

    def _rest(self) -> None:
        self.news = ()
        self.say("", "plain")
        self.redraw()

    def action_scroll_body(self, pages: int) -> None:
        """Scroll the details."""
        self.body.scroll_relative(y=pages * max(1, self.body.size.height - 1), animate=False)


def _shape(report: Report) -> list[tuple[str, str, bool, tuple[str, ...]]]:
    return [
        (array.key, array.title, array.active, tuple(member.name for member in array.members))
        for array in report.snapshot.arrays
    ]


def _words(row: KnobRow) -> str:
    words: list[str] = ["cpu", row.cpus] if row.subject.scope is KnobScope.POLICY else []
    for each in row.subjects:
        words += [each.name, each.title, each.kind, each.model, each.identity]
        words += [text for value in each.values.values() for text in (value.text, value.set_by.words)]
    return " ".join(words).lower()
