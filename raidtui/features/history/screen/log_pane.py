"""Pane 6: the timeline of the host's logs, of raidtui's jobs, and of what this console sees; newest last.

Nothing is read before the pane is opened. What this console sees is shown at once, while logs are being read,
too.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.timer import Timer

from raidtui.features.history.screen.keys import LOG
from raidtui.first_frame import SMALLEST
from raidtui.frame.command import Command
from raidtui.frame.lines import Lines, ScrollLines
from raidtui.frame.pane import Pane, RowList
from raidtui.frame.screen_shell import later
from raidtui.view.line import Line
from raidtui.watch.watch import Report

if TYPE_CHECKING:
    from raidtui.features.history.screen.log_lines import DrawnRows
    from raidtui.features.history.screen.log_rows import LogRow, LogRows
    from raidtui.features.history.session import HistoryRun, HostHistory, TimelineSession

_PACE_S = 0.25
_STEM = "raidtui-history"
_FORMS = {
    "html": "incidents that open, in one page",
    "json": "everything, for programs",
    "txt": "text, each line as it was written",
}


class LogLines(RowList):
    """The rows of the log; they open at their end."""

    def watch_show_vertical_scrollbar(self, shown: bool) -> None:  # noqa: FBT001  (Textual calls it)
        """Tell a scroll bar that appears where the rows are: they may have been scrolled before it."""
        if shown:
            self.vertical_scrollbar.position = self.scroll_y


class LogBody(ScrollLines, can_focus=True):
    """The card of the chosen row."""


class LogPane(Pane):
    """See the module. While the newest row is chosen, a newer one is chosen as it comes."""

    ID = "log-pane"
    BINDINGS: ClassVar[list[BindingType]] = [each for command in LOG for each in command.bindings]

    def __init__(self, report: Report | None) -> None:
        super().__init__(report)
        self.history: HostHistory | None = None
        self.run: HistoryRun | None = None
        self._read_of: TimelineSession | None = None
        self._rows: LogRows | None = None
        self._drawn: DrawnRows | None = None
        self._shown: list[LogRow] = []
        self._at: int | None = None
        self._chosen: tuple[float, str, str] | None = None
        self._troubles = False
        self._raw = False
        self._pace: Timer | None = None
        self.rows: LogLines = LogLines(self.move, id="log-lines")
        self.rule = Lines(id="log-rule", lines=[[]])
        self.body = LogBody(id="log-body")

    def compose(self) -> ComposeResult:
        """Rows, rule, card."""
        yield from (self.rows, self.rule, self.body)

    def on_mount(self) -> None:
        """Draw what this console has seen."""
        self.redraw()

    # -- reading

    def come(self) -> None:
        """The pane comes into view: read what was not read of this host yet."""
        if self.display and self._read_of is not self._session():
            self.action_read()

    def _session(self) -> TimelineSession:
        from raidtui.features.history.session import TimelineSession  # noqa: PLC0415

        return self.shell.session.of(TimelineSession)

    def action_read(self) -> None:
        """Read the logs again."""
        later(self, self._read)

    def action_end(self) -> None:
        """End the reading; what was read until then is shown."""
        if self.run is not None:
            self.run.end()

    async def _read(self) -> None:
        from raidtui.features.history.session import HistoryRun  # noqa: PLC0415

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
            self._take().take(history)
            self.redraw()

    def _stop_pace(self) -> None:
        if self._pace is not None:
            self._pace.stop()
            self._pace = None

    def _drawing(self) -> DrawnRows:
        if self._drawn is None:
            from raidtui.features.history.screen.log_lines import DrawnRows  # noqa: PLC0415

            self._drawn = DrawnRows()
        return self._drawn

    def _show_progress(self) -> None:
        if self.display:
            self._show_rule(self.app.size.width)

    def _take(self) -> LogRows:
        if self._rows is None:
            from raidtui.features.history.screen.log_rows import LogRows  # noqa: PLC0415

            self._rows = LogRows()
        return self._rows

    # -- acting

    def action_jump(self) -> None:
        """Show the array or the disk that the chosen row is about."""
        if why := self.why_not("log.jump"):
            self.say(why)
            return
        array, disk = self._target()
        self.post_message(self.Wanted("arrays" if array else "wear", array or disk))

    def _target(self) -> tuple[str, str]:
        """Return the key of the array and the name of the disk that the chosen row is about."""
        row, report = self._row(), self.report
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
        self._troubles = not self._troubles
        self.redraw()

    def action_raw(self) -> None:
        """Show the lines as they were written, or in our words."""
        self._raw = not self._raw
        self.redraw()

    def action_export(self) -> None:
        """Write what is shown of the history to a file."""
        if why := self.why_not("log.export"):
            self.say(why)
            return
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
            host=self.shell.session.root.hostname or "",
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
            self._take().take(None)
            self.come()

    def _row(self) -> LogRow | None:
        return self._shown[self._at] if self._at is not None else None

    def _place(self) -> int | None:
        """Return the number of the chosen row: the last one, where none was chosen or it is gone."""
        rows, chosen = self._shown, self._chosen
        if chosen is not None:
            for place, row in enumerate(rows):
                if row.at_s == chosen[0] and row.key == chosen:
                    return place
        return len(rows) - 1 if rows else None

    def move(self, delta: int) -> None:
        """Choose the row ``delta`` further down."""
        if self._at is not None:
            at = max(0, min(len(self._shown) - 1, self._at + delta))
            # The newest is not held on to: the one after it is chosen as it comes.
            self._chosen = None if at == len(self._shown) - 1 else self._shown[at].key
            self.redraw()

    def redraw(self) -> None:
        """Draw everything."""
        width = self.app.size.width
        if width < SMALLEST[0]:
            return
        rows = self._take()
        wanted = self.wanted_text.lower()
        self._shown = rows.shown(self.shell.log_events, wanted, troubles=self._troubles)
        self._at = self._place()
        lines = self._drawing().lines(self._shown, width, self.shell.now_s())
        self.rows.show(lines or self._nothing(), selected=self._at)
        if self._at is not None:
            self.rows.keep_in_view(self._at)
        self._show_rule(width)
        self.body.show(self._card(self._row(), width))
        self.redraw_frame()

    def _show_rule(self, width: int) -> None:
        from raidtui.features.history.screen.log_lines import rule_line  # noqa: PLC0415

        self.rule.show([rule_line(self.history, self.run, width, troubles=self._troubles)])

    def _card(self, row: LogRow | None, width: int) -> list[Line]:
        from raidtui.features.history.screen.log_lines import card_lines, trouble_lines  # noqa: PLC0415

        card = [] if row is None else card_lines(row, width, raw=self._raw)
        gaps = trouble_lines(self.history, width) if self.history is not None else []
        return [*card, *([[]] if card and gaps else []), *gaps]

    def _nothing(self) -> list[Line]:
        if self.wanted_text:
            text = "No event contains this text."
        elif self._troubles:
            text = "No warnings, no errors. t shows all."
        else:
            text = "Nothing yet."
        return [[(f" {text}", "dim")]]

    def why_not(self, command_id: str) -> str:
        """Return why a command cannot be used now; "" where it can."""
        if command_id == "log.end" and self.run is None:
            return "nothing is being read"
        if command_id == "log.export" and self.history is None:
            return "the logs are still being read" if self.run is not None else "nothing was read"
        if command_id == "log.jump":
            row = self._row()
            if row is None:
                return "no row is chosen"
            if not any(self._target()):
                return "this is about no array and no disk that is known to be here now"
        return ""

    def foot(self) -> list[tuple[Command, str, bool]]:
        """Return (command, label now, whether it can be used now) for footer, help and palette."""
        labels = {
            "log.troubles": "All" if self._troubles else "Troubles",
            "log.raw": "Our words" if self._raw else "As written",
        }
        return [(each, labels.get(each.id, each.label), not self.why_not(each.id)) for each in LOG]
