"""Pane 5 as a display: the running benchmark, the history, and the chosen one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.timer import Timer

from raidtui.features.bench.results.compare import series_of
from raidtui.features.bench.results.run_store import BenchHistory, ResultsError, fits
from raidtui.features.bench.screen.history_lines import (
    HistoryEntry,
    details_lines,
    entries_of,
    history_head,
    history_line,
)
from raidtui.features.bench.screen.keys import STOP_BENCH
from raidtui.features.bench.screen.live_lines import live_lines
from raidtui.features.bench.session import BenchSession
from raidtui.first_frame import SMALLEST
from raidtui.frame.commands import DOWN, UP
from raidtui.frame.lines import Lines, ScrollLines
from raidtui.frame.list_pane import PanelPane
from raidtui.frame.screen_shell import later
from raidtui.jobs.states import JobState
from raidtui.model.finding import Tone
from raidtui.view.line import Line, rule_line
from raidtui.view.text import visible
from raidtui.view.wrapping import wrapped
from raidtui.watch.watch import Report

if TYPE_CHECKING:
    from raidtui.features.bench.results.run_record import RunSample
    from raidtui.features.bench.run.bench_progress import BenchProgress

_LIVE_S = 0.4
"""At least two updates a second: fio reports four times."""
_REST_S = 2.0
_CURVE_ROWS, _MOST_RUNS = 20, 60
_TONES: dict[str, Tone] = {
    JobState.DONE: Tone.GOOD,
    JobState.CANCELLED: Tone.WARN,
    JobState.ROLLED_BACK: Tone.WARN,
}
_ROLES = {Tone.GOOD: "ok", Tone.WARN: "warn", Tone.BAD: "bad"}
_NOTHING = (
    "No benchmark yet. n measures one thing: a preset, an fio job file, or a block size and depth of your"
    " choice. s runs through values: block sizes, depths, schedulers, chunks of arrays that are made for it."
    " a compares two settings and says whether they differ. Files in a folder of your choice are used,"
    " unless you choose a device."
)


class BenchList(ScrollLines, can_focus=True, inherit_bindings=False):
    """The history, newest first. Arrow keys move the choice; so does a click."""

    BINDINGS: ClassVar[list[BindingType]] = [*UP.bindings, *DOWN.bindings]

    def __init__(self, move: Callable[[int], None], point: Callable[[int], None]) -> None:
        super().__init__(id="bench-list")
        self._move = move
        self._point = point

    def action_move(self, delta: int) -> None:
        """Choose the row ``delta`` further down."""
        self._move(delta)

    def on_click(self, event: events.Click) -> None:
        """Choose the row under the mouse."""
        self._point(event.y + self.scroll_offset.y)


class BenchView(PanelPane):
    """See the module.

    Args:
        report: the last report; None before the first.
    """

    ID, STEM, NAME, LIST_CELLS, LIST_SHARE = "bench-pane", "bench", "benchmarks", 126, 0.34
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("pageup", "scroll_body(-1)", show=False),
        Binding("pagedown", "scroll_body(1)", show=False),
    ]

    def __init__(self, report: Report | None) -> None:
        super().__init__(report)
        self.progress: BenchProgress | None = None
        self.history: BenchHistory | None = None
        self.chosen = ""
        """The id of the chosen benchmark."""
        self.marked: set[str] = set()
        self.interrupted: tuple[str, ...] = ()
        self._entries: tuple[HistoryEntry, ...] = ()
        self._rows_made: tuple[HistoryEntry, ...] = ()
        self._shown_of: tuple[BenchHistory | None, list[str]] = (None, [])
        self._details: tuple[HistoryEntry | None, int, list[Line]] = (None, 0, [])
        self._samples: tuple[HistoryEntry | None, Mapping[int, Sequence[RunSample]]] = (None, {})
        self._looking = False
        self._read_of: BenchSession | None = None
        self._timer: Timer | None = None
        self.live = Lines(id="bench-live", lines=[])
        self.live_rule = Lines(id="bench-live-rule", lines=[[]])
        self.head = Lines(id="bench-head", lines=[[]])
        self.rows = BenchList(self.move, self._point)
        self.rule = Lines(id="bench-rule", lines=[[]])
        self.body = ScrollLines(id="bench-body")
        self.body.can_focus = False

    def above(self) -> tuple[Lines, ...]:
        """What runs, a rule, the names of the columns."""
        return (self.live, self.live_rule, self.head)

    def on_mount(self) -> None:
        """Draw the present state."""
        self.live.display = self.live_rule.display = False
        self.redraw()

    def come(self) -> None:
        """The pane comes into view, or goes: what no one sees is looked at only while something runs."""
        if self.display:
            self.action_read()

    # -- reading

    def session(self) -> BenchSession:
        """Return the benchmarks of the host in view."""
        return self.shell.session.of(BenchSession)

    def action_read(self) -> None:
        """Read the history again, and look whether something runs."""
        later(self, partial(self.look, afresh=True))

    async def look(self, *, afresh: bool = False) -> None:
        """Look at what runs; read the history where a run has ended meanwhile, or ``afresh``."""
        session = self.session()
        if self._looking:
            return
        self._looking = True
        try:
            before = self.progress if self._read_of is session else None
            progress = await session.look()
            other = self._read_of is not session or _state_of_history(before) != _state_of_history(progress)
            if afresh or self.history is None or other:
                self.history = await session.history()
                self.interrupted = (
                    await session.interrupted() if progress is None or not progress.works else ()
                )
        finally:
            self._looking = False
        if session is not self.session():
            later(self, self.look)  # another host came into view meanwhile
            return
        self._read_of = session
        self._own(before, progress)
        self._look_again()

    def _own(self, before: BenchProgress | None, progress: BenchProgress | None) -> None:
        self.progress = progress
        if progress is not None and progress.works and (before is None or progress.job != before.job):
            self.chosen = progress.job
        elif progress is not None and before is not None and before.works and not progress.works:
            self._report_end(progress)
        if not self.shell.held:
            self.redraw()

    def _report_end(self, progress: BenchProgress) -> None:
        tone = _TONES.get(progress.state, Tone.BAD)
        words = {"cancelled": "stopped"}.get(progress.state, progress.state)
        kept = (
            "; what was measured is kept"
            if progress.state in {JobState.CANCELLED, JobState.FAILED, JobState.INTERRUPTED}
            else ""
        )
        why = f": {progress.reason}" if progress.reason and progress.state != JobState.CANCELLED else ""
        text = f"{progress.title}: {words}{why}{kept}"
        self.shell.say(text, _ROLES[tone], logged=False)
        self.session().note(text, tone)

    def _look_again(self) -> None:
        """Soon while something runs and is seen, seldom otherwise; not at all where no one would see it."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        works = self.progress is not None and self.progress.works
        if self.display or works:
            pause_s = _LIVE_S if works and self.display else _REST_S
            self._timer = self.set_timer(pause_s, lambda: later(self, self.look))

    # -- showing

    def show_report(self, report: Report) -> None:
        """Take a report: its arrays are what the forms offer."""
        self.report = report

    def redraw(self) -> None:
        """Draw everything."""
        room = self.room
        width, height = room.list_cells, self.app.size.height
        if width < SMALLEST[0]:
            return
        progress = self.progress if self.progress is not None and self.progress.works else None
        shows = progress is not None
        if self.live.display != shows:
            self.live.display = self.live_rule.display = shows
        if progress is not None:
            stop_key = STOP_BENCH.shown_key(self.shell.keymap)
            self.live.show(live_lines(progress, width, height, stop_key=stop_key))
            self.live_rule.show([rule_line(width)])
        self._entries = self._shown()
        self._settle_choice()
        self.head.show([history_head(width)])
        now_s = self.session().reader.now_s()
        lines = [history_line(each, width, each.key in self.marked, now_s=now_s) for each in self._entries]
        at = next((n for n, each in enumerate(self._entries) if each.key == self.chosen), None)
        lines = lines or self._nothing(width)
        self.lay_out(room, len(lines))
        self.rows.show(lines, selected=at)
        if at is not None:
            self.rows.keep_in_view(at)
        self.show_titles(room, self.entry.title if self.entry is not None else "")
        self.show_body(room, self._body(room.detail_cells), "IOPS over time", self._curves)
        self.redraw_frame()

    def _body(self, width: int) -> list[Line]:
        lines: list[Line] = []
        for title in self.interrupted:
            words = f"{title} was interrupted: what it changed is not put back yet. R puts it back."
            lines += wrapped(" " + visible(words), width - 1, "warn", hang=1)
        entry = self.entry
        if entry is not None:
            if self._details[0] is not entry or self._details[1] != width:
                self._details = (entry, width, details_lines(entry, width))
            return [*lines, *self._details[2]]
        return [*lines, *([[(" None of its runs has finished yet.", "dim")]] if self._awaited else [])]

    def _curves(self, cells: int, rows: int) -> list[Line]:
        """Return what the chosen benchmark's runs reached over time; it is read where it is not known yet."""
        entry = self.entry
        if entry is None:
            return []
        if entry is not self._samples[0]:
            self._samples = (entry, {})
            later(self, partial(self._read_samples, entry))
            return []
        from raidtui.features.bench.screen.curves import MOST, curve_lines, drawn_of, has_braille  # noqa: PLC0415

        drawn = drawn_of(series_of(entry.records)[:MOST], self._samples[1], "iops")
        if not any(each.points for each in drawn):
            return []
        return curve_lines(drawn, "iops", cells, min(rows, _CURVE_ROWS), braille=has_braille())

    async def _read_samples(self, entry: HistoryEntry) -> None:
        try:
            files = await self.session().files([run.id for run in entry.records[:_MOST_RUNS]])
        except ResultsError:
            return  # the history above says why
        if entry is self._samples[0]:
            self._samples = (entry, files.samples)
            self.redraw()

    def _nothing(self, width: int) -> list[Line]:
        if self.history is None:
            return [[(" Reading …", "plain")]]
        if self.history.trouble:
            return wrapped(" " + visible(self.history.trouble), width - 1, "bad", hang=1)
        if self.wanted_text:
            return [[(" No benchmark matches. Esc shows all.", "plain")]]
        if self.progress is not None and self.progress.works:
            return [[(" This is the first one.", "dim")]]
        refusal = self.session().refusal
        return wrapped(" " + (f"{refusal}." if refusal else _NOTHING), width - 1, "plain", hang=1)

    def _shown(self) -> tuple[HistoryEntry, ...]:
        """Return the rows; they are made again only for another history or filter."""
        history, words = self.history, self.wanted_text.split()
        if history is not self._shown_of[0] or words != self._shown_of[1]:
            records = history.records if history is not None else ()
            wanted = [each for each in records if all(fits(each, word) for word in words)]
            self._rows_made = entries_of(wanted)
            self._shown_of = (history, words)
        return self._rows_made

    def _settle_choice(self) -> None:
        keys = [each.key for each in self._entries]
        self.marked &= set(keys) if not self.wanted_text else self.marked
        if self.chosen not in keys and keys and not self._awaited:
            self.chosen = keys[0]

    @property
    def _awaited(self) -> bool:
        """Whether the chosen one runs, and has no run to its end yet."""
        return self.progress is not None and self.progress.works and self.progress.job == self.chosen

    @property
    def entry(self) -> HistoryEntry | None:
        """The chosen benchmark."""
        return next((each for each in self._entries if each.key == self.chosen), None)

    # -- choosing

    def move(self, delta: int) -> None:
        """Choose the benchmark ``delta`` rows further down."""
        at = next((n for n, each in enumerate(self._entries) if each.key == self.chosen), -1)
        self._point(max(0, at + delta))

    def _point(self, number: int) -> None:
        if self._entries:
            self.chosen = self._entries[min(number, len(self._entries) - 1)].key
            self.say("", "plain")
            self.body.scroll_to(y=0, animate=False)
            self.redraw()

    def action_scroll_body(self, pages: int) -> None:
        """Scroll what is below the rule."""
        self.body.scroll_relative(y=pages * max(1, self.body.size.height - 1), animate=False)


def _state_of_history(progress: BenchProgress | None) -> tuple[str, int, bool] | None:
    """Return the part of the state that changes with the history."""
    return None if progress is None else (progress.job, progress.done, progress.works)
