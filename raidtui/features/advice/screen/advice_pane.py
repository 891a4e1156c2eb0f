"""Pane 7: what could be better on a host that works: a row for each finding, and the chosen one's card."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from textual.binding import BindingType

from raidtui.features.advice.screen.advice_lines import (
    Row,
    card_lines,
    read_words,
    row_line,
    row_lines,
    unread_lines,
)
from raidtui.features.advice.session import AdviceLook, AdviceSession
from raidtui.first_frame import SMALLEST
from raidtui.frame.command import Command
from raidtui.frame.list_pane import ListPane, rows_of
from raidtui.frame.pane import ReadingPane
from raidtui.frame.screen_shell import later
from raidtui.view.line import Line
from raidtui.watch.watch import Report

MEND = Command(
    id="advice.plan", keys="enter", action="mend", label="Plan", words="mend repair fix",
    help="Show the plan that fixes what the chosen advice is about.",
    refuse=lambda pane: pane.refuse_plan(),
)  # fmt: skip
IGNORE = Command(
    id="advice.ignore", keys="i", action="ignore", label="Ignore", words="silence dismiss hide unignore",
    help="Ignore the chosen advice, for good or for a while; or stop ignoring it.",
    refuse=lambda pane: pane.refuse_ignoring(), now=lambda pane: "Heed" if pane.is_ignored else "Ignore",
)  # fmt: skip
IGNORED = Command(
    id="advice.ignored", keys="a", action="ignored", label="All", words="ignored hidden",
    help="Also show ignored advice, with who ignored it and why.",
    refuse=lambda pane: "" if pane.look and pane.look.ignored else "nothing is ignored",
    now=lambda pane: "Not ignored" if pane.everything else "All",
)  # fmt: skip
READ_ADVICE = Command(
    id="advice.read", keys="r", action="read", label="Read again", words="refresh",
    help="Read the host again; this happens every ten minutes while the pane is in view.",
)  # fmt: skip
ADVICE = (MEND, IGNORE, IGNORED, READ_ADVICE)


class AdvicePane(ListPane[Row], ReadingPane[AdviceSession, AdviceLook]):
    """See the module.

    Args:
        report: the last report; None before the first.
    """

    ID, STEM, NAME, LIST_CELLS = "advice-pane", "advice", "advice", 48
    COMMANDS = ADVICE
    BINDINGS: ClassVar[list[BindingType]] = [each for command in ADVICE for each in command.bindings]

    def __init__(self, report: Report | None) -> None:
        super().__init__(report)
        self.everything = False

    # -- reading

    def source(self) -> AdviceSession:
        """What finds advice about the host in view."""
        return self.shell.session.of(AdviceSession)

    def action_read(self) -> None:
        """Look at the host again."""
        later(self, self._read)

    async def _read(self) -> None:
        if await self.take(lambda advice: advice.look()) is not None:
            self.redraw()

    # -- acting

    def action_mend(self) -> None:
        """Show the plan that fixes the chosen one."""
        if not self.refuses(MEND) and (row := self.row) is not None:
            self.shell.open_flow(partial(self._mend, row))

    async def _mend(self, row: Row) -> None:
        from raidtui.features.advice.screen.advice_flow import mend  # noqa: PLC0415

        await mend(self.shell, row[0])
        self.action_read()

    def action_ignore(self) -> None:
        """Ignore the chosen one, or stop ignoring it."""
        if not self.refuses(IGNORE) and (row := self.row) is not None:
            self.shell.open_flow(partial(self._ignore, row))

    async def _ignore(self, row: Row) -> None:
        from raidtui.features.advice.screen.advice_flow import ignore, unignore  # noqa: PLC0415

        each, ignored = row
        if ignored is None:
            await ignore(self.shell, self.source(), each)
        else:
            await unignore(self.shell, self.source(), each, ignored)
        self.action_read()

    def action_ignored(self) -> None:
        """Show what is ignored, too, or only what is not."""
        if not self.refuses(IGNORED):
            self.everything = not self.everything
            self.redraw()

    # -- showing

    def show_report(self, report: Report) -> None:
        """Take a report; what is shown is read on its own."""
        self.report = report

    def listed(self) -> list[Row]:
        """See ``ListPane``."""
        look, wanted = self.look, self.wanted_text.lower()
        if look is None or not self.is_of_this_host:
            return []
        rows: list[Row] = [(each, None) for each in look.reported]
        rows += look.ignored if self.everything else ()
        return [row for row in rows if wanted in f"{row[0].text} {row[0].subject} {row[0].code}".lower()]

    def key_of(self, row: Row) -> tuple[str, str]:
        """See ``ListPane``."""
        return str(row[0].code), row[0].key

    def redraw(self) -> None:
        """Draw everything."""
        if self.app.size.width < SMALLEST[0]:
            return
        room, listed, row = self.room, self.listed(), self.row
        width = room.list_cells
        self.show_rows(
            room,
            [row_line(each, width) for each in listed],
            [(f" {self._nothing()}", "plain")],
            rows_of([row_lines(each, width) for each in listed]),
        )
        words = read_words(self.look, everything=self.everything, busy=self.is_reading)
        self.show_titles(room, "" if row is None else row[0].subject or "this host", words)
        self.show_body(room, self._body(row, room.detail_cells))
        self.redraw_frame()

    def _body(self, chosen: Row | None, width: int) -> list[Line]:
        look = self.look
        if look is None:
            return []
        card = [] if chosen is None else card_lines(chosen, look, width)
        unread = unread_lines(look, width)
        return [*card, *([[]] if unread else []), *unread]

    def _nothing(self) -> str:
        look = self.look
        if look is None or not self.is_of_this_host:
            return "Reading."
        if self.wanted_text:
            return "No advice matches. Esc shows all."
        if look.ignored:
            return "No other advice: all that was found is ignored. a shows it."
        return "No advice for this host."

    @property
    def is_ignored(self) -> bool:
        """Whether the chosen advice is ignored."""
        row = self.row
        return row is not None and row[1] is not None

    def refuse_plan(self) -> str:
        """Return why there is no plan for the chosen advice; "" where there is one."""
        row = self.row
        if row is None:
            return "no advice is chosen"
        return "" if row[0].order else "there is no plan for this: its card says what to do"

    def refuse_ignoring(self) -> str:
        """Return why the chosen advice cannot be ignored; "" where it can."""
        return self.source().why_not_kept() or ("no advice is chosen" if self.row is None else "")
