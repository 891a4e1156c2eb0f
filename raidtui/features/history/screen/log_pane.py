"""Pane 6: the timeline of the host's logs, of raidtui's jobs, and of what this console sees; newest last.

Nothing is read before the pane is opened. What this console sees is shown at once, while logs are being read,
too.
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from textual.binding import BindingType
from textual.timer import Timer

from raidtui.features.history.screen.log_lines import (
    DrawnRows,
    LogRow,
    LogRows,
    card_lines,
    read_words,
    rows_by_day,
    trouble_lines,
)
from raidtui.features.history.session import HistoryRun, HostHistory, TimelineSession
from raidtui.first_frame import SMALLEST
from raidtui.frame.command import Command
from raidtui.frame.list_pane import ListPane, PanelRoom, RowList, Rows
from raidtui.frame.screen_shell import later
from raidtui.view.line import Line
from raidtui.watch.watch import Report

_PACE_S = 0.25
_BY_DAY = 120
"""From this width on, a day is a rule between its rows, where all have room."""
_STEM = "raidtui-history"
_FORMS = {
    "html": "incidents that open, in one page",
    "json": "everything, for programs",
    "txt": "text, each line as it was written",
}


JUMP = Command(
    id="log.jump", keys="enter", action="jump", label="Go to", words="array disk open",
    help="Show the array or the disk that the chosen row is about.",
    refuse=lambda pane: pane.refuse_jump(),
)  # fmt: skip
TROUBLES = Command(
    id="log.troubles", keys="t", action="troubles", label="Troubles", words="warnings errors only",
    help="Show only warnings and worse, or all.",
    now=lambda pane: "All" if pane.only_troubles else "Troubles",
)  # fmt: skip
RAW = Command(
    id="log.raw", keys="w", action="raw", label="As written", foot=False, words="raw kernel lines text",
    help="Show the lines of the chosen row as they were written, or what they mean.",
    now=lambda pane: "Our words" if pane.raw else "As written",
)  # fmt: skip
EXPORT_LOG = Command(
    id="log.export", keys="e", action="export", label="Export", words="report html text json history",
    help="Export the history, as far as it is shown: HTML, JSON or text.",
    refuse=lambda pane: pane.refuse_export(),
)  # fmt: skip
READ_LOG = Command(
    id="log.read", keys="r", action="read", label="Read again", foot=False, words="refresh journal",
    help="Read the journal, jobs and benchmarks again; what this console sees is added as it happens.",
)  # fmt: skip
END_LOG = Command(
    id="log.end", keys="x", action="end", label="End reading", foot=False, words="cancel stop",
    help="Stop reading a long journal. What has been read so far is shown.",
    refuse=lambda pane: "" if pane.run is not None else "nothing is being read",
)  # fmt: skip
LOG = (JUMP, TROUBLES, RAW, EXPORT_LOG, READ_LOG, END_LOG)


class LogLines(RowList):
    """The rows of the log; they open at their end."""

    def watch_show_vertical_scrollbar(self, shown: bool) -> None:  # noqa: FBT001  (Textual calls it)
        """Tell a scroll bar that appears where the rows are: they may have been scrolled before it."""
        if shown:
            self.vertical_scrollbar.position = self.scroll_y


class LogPane(ListPane[LogRow]):
    """See the module. While the newest row is chosen, a newer one is chosen as it comes."""

    ID, STEM, NAME, LIST_CELLS, LIST_SHARE = "log-pane", "log", "log", 96, 0.57
    COMMANDS = LOG
    BINDINGS: ClassVar[list[BindingType]] = [each for command in LOG for each in command.bindings]

    def __init__(self, report: Report | None) -> None:
        super().__init__(report)
        self.history: HostHistory | None = None
        self.run: HistoryRun | None = None
        self._read_of: TimelineSession | None = None
        self._rows, self._drawn = LogRows(), DrawnRows()
        self._shown: list[LogRow] = []
        self._at: int | None = None
        self.only_troubles = False
        self.raw = False
        self._pace: Timer | None = None

    def make_rows(self) -> LogLines:
        """See ``ListPane``."""
        return LogLines(self.move, id="log-lines")

    def on_mount(self) -> None:
        """Draw what this console has seen."""
        self.redraw()

    # -- reading

    def come(self) -> None:
        """The pane comes into view: read what was not read of this host yet."""
        if self.display and self._read_of is not self._session():
            self.action_read()

    def _session(self) -> TimelineSession:
        return self.shell.session.of(TimelineSession)

    def action_read(self) -> None:
        """Read the logs again."""
        later(self, self._read)

    def action_end(self) -> None:
        """End the reading; what was read until then is shown."""
        if self.run is not None:
            self.run.end()

    async def _read(self) -> None:
        timeline = self._session()
        if self.run is not None and self._read_of is timeline:
            return
        self._read_of, run = timeline, HistoryRun()
        self.run = run
        self._pace = self._pace or self.set_interval(_PACE_S, self._show_progress)
        self.redraw()
        snapshot = self.report.snapshot if self.report is not None else None
        try:
            history = await timeline.read(run, snapshot)
        finally:
            if self.run is run:
                self.run = None
                self._stop_pace()
        if timeline is self._session():  # else another host is in view now
            self.history = history
            self._rows.take(history)
            self.redraw()

    def _stop_pace(self) -> None:
        if self._pace is not None:
            self._pace.stop()
            self._pace = None

    def _show_progress(self) -> None:
        if self.display:
            self._show_rule(self.room)

    # -- acting

    def action_jump(self) -> None:
        """Show the array or the disk that the chosen row is about."""
        if not self.refuses(JUMP):
            array, disk = self._target()
            self.post_message(self.Wanted("arrays" if array else "wear", array or disk))

    def _target(self) -> tuple[str, str]:
        """Return the key of the array and the name of the disk that the chosen row is about."""
        row, report = self.row, self.report
        if row is None or report is None:
            return "", ""
        snapshot = report.snapshot
        if row.event is not None:
            named = [array for array in snapshot.arrays if array.title == row.event.subject]
            if len(named) == 1:
                return named[0].key, ""
            disks = {disk.disk for disk in snapshot.disks.values()}
            return "", row.event.subject if row.event.subject in disks else ""
        array = next((each.key for each in row.subject.arrays if snapshot.array(each.key) is not None), "")
        return array, next(iter(row.subject.disks), "")

    def action_troubles(self) -> None:
        """Show only warnings and worse, or all."""
        self.only_troubles = not self.only_troubles
        self.redraw()

    def action_raw(self) -> None:
        """Show the lines as they were written, or in our words."""
        self.raw = not self.raw
        self.redraw()

    def action_export(self) -> None:
        """Write what is shown of the history to a file."""
        if not self.refuses(EXPORT_LOG):
            self.shell.open_flow(self._export, nothing="nothing was exported")

    async def _export(self) -> None:
        from raidtui.features.history.history_report import HistoryReport, report_bytes  # noqa: PLC0415
        from raidtui.frame.export_form import ExportForm  # noqa: PLC0415
        from raidtui.jobs.new_files import write_new_file  # noqa: PLC0415
        from raidtui.view.units import counted  # noqa: PLC0415

        history = self.history
        if history is None:
            return
        report = HistoryReport(
            incidents=tuple(row.incident for row in self._shown if row.incident is not None),
            troubles=history.troubles,
            today=history.today,
            host=self.shell.session.reader.hostname or "",
            at_s=history.at_s,
        )

        def write(path: Path, kind: str) -> Path:
            return write_new_file(path, report_bytes("text" if kind == "txt" else kind, report))

        title = f"Export {counted(len(report.incidents), 'incident')}"
        written = await self.shell.ask(ExportForm(title, _STEM, _FORMS, write))
        self.say(f"written: {written}" if written is not None else "nothing was exported", "plain")

    # -- showing

    def on_unmount(self) -> None:
        """End a reading with the console."""
        if self.run is not None:
            self.run.end()

    def show_report(self, report: Report) -> None:
        """Take a report; its events are in the log already. Of another host, nothing was read yet."""
        self.report = report
        if self._read_of is not None and self._read_of is not self._session():
            self.history = self._read_of = None
            self._rows.take(None)
            self.come()

    def listed(self) -> list[LogRow]:
        """See ``ListPane``."""
        return self._shown

    def key_of(self, row: LogRow) -> tuple[float, str, str]:
        """See ``ListPane``."""
        return row.key

    @property
    def place(self) -> int | None:
        """The number of the chosen row, as it was drawn."""
        return self._at

    def _find(self) -> int | None:
        """Return the number of the chosen row: the last one, where none was chosen or it is gone."""
        rows, chosen = self._shown, self.chosen
        if isinstance(chosen, tuple):
            for place, row in enumerate(rows):
                if row.at_s == chosen[0] and row.key == chosen:
                    return place
        return len(rows) - 1 if rows else None

    def move(self, delta: int) -> None:
        """Choose the row ``delta`` further down; the newest is not held on to, but the one after it."""
        if self._at is not None and max(0, self._at + delta) >= len(self._shown) - 1:
            self.chosen = None
            self.redraw()
        else:
            super().move(delta)

    def redraw(self) -> None:
        """Draw everything."""
        width = self.app.size.width
        if width < SMALLEST[0]:
            return
        wanted = self.wanted_text.lower()
        self._shown = self._rows.shown(self.shell.log_events, wanted, troubles=self.only_troubles)
        self._at = self._find()
        room = self.room
        lines = self._drawn.lines(self._shown, room.list_cells, self.shell.now_s())
        few = width >= _BY_DAY and len(lines) < self.most_rows(room)
        whole = rows_by_day(self._shown, room.list_cells) if few else Rows()
        self.show_rows(room, lines, [(f" {self._nothing()}", "dim")], whole)
        self._show_rule(room)
        self.show_body(room, self._card(self.row, room.detail_cells))
        self.redraw_frame()

    def _show_rule(self, room: PanelRoom) -> None:
        words = read_words(self.history, self.run, troubles=self.only_troubles)
        row = self.row
        self.show_titles(room, "" if row is None else row.about, words)

    def _card(self, row: LogRow | None, width: int) -> list[Line]:
        card = [] if row is None else card_lines(row, width, raw=self.raw)
        gaps = trouble_lines(self.history, width) if self.history is not None else []
        return [*card, *([[]] if card and gaps else []), *gaps]

    def _nothing(self) -> str:
        if self.wanted_text:
            return "No event contains this text."
        return "No warnings, no errors. t shows all." if self.only_troubles else "Nothing yet."

    def refuse_export(self) -> str:
        """Return why there is nothing to export; "" where there is."""
        if self.history is not None:
            return ""
        return "the logs are still being read" if self.run is not None else "nothing was read"

    def refuse_jump(self) -> str:
        """Return why the chosen row leads nowhere; "" where it does."""
        if self.row is None:
            return "no row is chosen"
        gone = "this is not about an array or a disk known to be here now"
        return "" if any(self._target()) else gone
