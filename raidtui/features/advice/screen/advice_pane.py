"""Pane 7: what could be better on a host that works: a row for each finding, and the chosen one's card."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType

from raidtui.features.advice.screen.advice_lines import Row, card_lines, row_line, rule_line, unread_lines
from raidtui.features.advice.screen.keys import ADVICE
from raidtui.features.advice.session import AdviceLook, AdviceSession
from raidtui.first_frame import SMALLEST
from raidtui.frame.command import Command
from raidtui.frame.lines import Lines, ScrollLines
from raidtui.frame.pane import ReadingPane, RowList
from raidtui.frame.screen_shell import later
from raidtui.view.line import Line
from raidtui.watch.watch import Report


class AdviceBody(ScrollLines, can_focus=True):
    """The card of the chosen advice."""


class AdvicePane(ReadingPane[AdviceSession, AdviceLook]):
    """See the module.

    Args:
        report: the last report; None before the first.
    """

    ID = "advice-pane"
    BINDINGS: ClassVar[list[BindingType]] = [each for command in ADVICE for each in command.bindings]

    def __init__(self, report: Report | None) -> None:
        super().__init__(report)
        self.everything = False
        self._chosen: tuple[str, str] | None = None
        self.rows = RowList(self.move, id="advice-list")
        self.rule = Lines(id="advice-rule", lines=[[]])
        self.body = AdviceBody(id="advice-body")

    def compose(self) -> ComposeResult:
        """Rows, rule, card."""
        yield from (self.rows, self.rule, self.body)

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
        """Show the plan that mends the chosen one."""
        if why := self.why_not("advice.plan"):
            self.say(why)
        elif (row := self._row()) is not None:
            self.shell.open_flow(partial(self._mend, row))

    async def _mend(self, row: Row) -> None:
        from raidtui.features.advice.screen.advice_flow import mend  # noqa: PLC0415

        await mend(self.shell, row[0])
        self.action_read()

    def action_ignore(self) -> None:
        """Ignore the chosen one, or stop ignoring it."""
        if why := self.why_not("advice.ignore"):
            self.say(why)
        elif (row := self._row()) is not None:
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
        if why := self.why_not("advice.ignored"):
            self.say(why)
            return
        self.everything = not self.everything
        self.redraw()

    # -- showing

    def show_report(self, report: Report) -> None:
        """Take a report; what is shown is read on its own."""
        self.report = report

    def _shown(self) -> list[Row]:
        look, wanted = self.look, self.wanted_text.lower()
        if look is None or not self.is_of_this_host:
            return []
        rows: list[Row] = [(each, None) for each in look.reported]
        rows += look.ignored if self.everything else ()
        return [row for row in rows if wanted in f"{row[0].text} {row[0].subject} {row[0].code}".lower()]

    def _row(self) -> Row | None:
        rows = self._shown()
        return next((row for row in rows if _name(row) == self._chosen), rows[0] if rows else None)

    def move(self, delta: int) -> None:
        """Choose the row ``delta`` further down."""
        rows, chosen = self._shown(), self._row()
        if chosen is not None:
            at = rows.index(chosen)
            self._chosen = _name(rows[max(0, min(len(rows) - 1, at + delta))])
            self.redraw()

    def redraw(self) -> None:
        """Draw everything."""
        width = self.app.size.width
        if width < SMALLEST[0]:
            return
        rows, chosen = self._shown(), self._row()
        at = rows.index(chosen) if chosen is not None else None
        self.rows.show([row_line(row, width) for row in rows] or self._nothing(), selected=at)
        if at is not None:
            self.rows.keep_in_view(at)
        self.rule.show([rule_line(self.look, width, everything=self.everything, busy=self.is_reading)])
        self.body.show(self._body(chosen, width))
        self.redraw_frame()

    def _body(self, chosen: Row | None, width: int) -> list[Line]:
        look = self.look
        if look is None:
            return []
        card = [] if chosen is None else card_lines(chosen, look, width)
        unread = unread_lines(look, width)
        return [*card, *([[]] if unread else []), *unread]

    def _nothing(self) -> list[Line]:
        look = self.look
        if look is None or not self.is_of_this_host:
            text = "Reading."
        elif self.wanted_text:
            text = "No advice matches. Esc shows all."
        elif look.ignored:
            text = "Nothing else: all that was found is ignored. a shows it."
        else:
            text = "No advice for this host."
        return [[(f" {text}", "plain")]]

    def why_not(self, command_id: str) -> str:
        """Return why a command cannot be used now; "" where it can."""
        row = self._row()
        if command_id in {"advice.plan", "advice.ignore"} and row is None:
            return "no advice is chosen"
        if command_id == "advice.plan" and row is not None and not row[0].order:
            return "there is no plan for this: see what to do below"
        if command_id == "advice.ignore":
            return self.source().why_not_kept()
        if command_id == "advice.ignored" and not (self.look and self.look.ignored):
            return "nothing is ignored"
        return ""

    def foot(self) -> list[tuple[Command, str, bool]]:
        """Return (command, label now, whether it can be done) for the footer and the help."""
        row = self._row()
        labels = {
            "advice.ignore": "Heed" if row is not None and row[1] is not None else "Ignore",
            "advice.ignored": "Not ignored" if self.everything else "All",
        }
        return [(each, labels.get(each.id, each.label), not self.why_not(each.id)) for each in ADVICE]


def _name(row: Row) -> tuple[str, str]:
    return str(row[0].code), row[0].key
