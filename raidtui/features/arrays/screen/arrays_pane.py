"""Pane 1: all arrays; the chosen one with its sync, speed limits, members and findings."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.timer import Timer

from raidtui.features.arrays.screen.absent_detail import absent_body_lines, absent_head_lines
from raidtui.features.arrays.screen.array_commands import (
    ARRAYS,
    ASSEMBLE,
    BY_VERB,
    LIMITS,
    UNDO,
    ZERO,
    DirectFlow,
    offers,
    plan_of,
)
from raidtui.features.arrays.screen.array_detail import body_lines, first_and_rest, head_lines, unit_lines
from raidtui.features.arrays.screen.array_rows import (
    Chosen,
    Listed,
    brief_of,
    is_down,
    keep_choice,
    matches,
    news_lines,
    nothing_lines,
    offer_words,
    ordered,
    shared_titles,
)
from raidtui.features.arrays.screen.slider import LimitSliders, Slider
from raidtui.first_frame import SMALLEST
from raidtui.frame.command import Command
from raidtui.frame.lines import Lines
from raidtui.frame.list_pane import BodyLines, RowList
from raidtui.frame.pane import Pane
from raidtui.frame.screen_shell import later
from raidtui.model.absent import AbsentArray
from raidtui.model.array import Array
from raidtui.model.plan import Harm, Plan, Refusal, RefusalCode
from raidtui.model.snapshot import Snapshot
from raidtui.view.array_row import brief_line, list_width
from raidtui.view.line import Line, rule_line
from raidtui.watch.watch import Report, limit_path

_SETTLE_S = 0.12
_BESIDE_PANE = 4  # rows of a window for header, tabs and footer
_MOST_ABOVE, _MOST_BESIDE = 0.34, 0.6  # of the others, how many arrays get above the details, and beside them


class ArraysPane(Pane):
    """Pane 1. ``FlowWanted`` asks the app for what another room does."""

    ID = "arrays-pane"
    COMMANDS = ARRAYS
    BINDINGS: ClassVar[list[BindingType]] = [each for command in ARRAYS for each in command.bindings]

    class FlowWanted(Message):
        """A verb that a flow of another room carries out.

        Args:
            verb: assemble, zero, mismatches, grow, locate, pace.
            snapshot: the host.
            array: the one that is chosen; for assemble, if it does not run or has failed.
        """

        def __init__(self, verb: str, snapshot: Snapshot, array: Listed | None) -> None:
            super().__init__()
            self.verb = verb
            self.snapshot = snapshot
            self.array = array

    def __init__(self, report: Report | None = None) -> None:
        super().__init__(report)
        self._expected: str | None = None
        self._drawn_key: str | None = None
        self.chosen: str | None = None
        self._gone: str | None = None  # was chosen when it was stopped; nothing else was chosen since
        self._listed: list[Listed] = []
        self._known_rows: dict[str, tuple[tuple[object, ...], Line]] = {}
        self._made: tuple[Report, list[Listed], int, list[Line], dict[str, int]] | None = None
        self._settle: Timer | None = None
        self.acting = False
        """Whether a plan is being carried out: the next one waits for the report after it."""
        self._queued: Command | None = None
        self.rows = RowList(self.move, id="array-list")
        self.head = Lines(id="array-head")
        self.limits = LimitSliders()
        self.body = BodyLines(id="array-body")
        self.title = Lines(id="array-title")
        self.news = Lines(id="array-news")
        self.news.display = False
        self._news_size = (0, 0)
        self.panel = Vertical(self.title, self.rows, self.news, id="array-panel")
        self._shape: tuple[int, bool, int] | None = None
        if report is not None:
            self._listed = ordered(report)
            self._keep(self._listed)

    def compose(self) -> ComposeResult:
        """The list, and the chosen array: below it, or beside it in a wide window."""
        yield self.panel
        yield Vertical(self.head, *self.limits.both, self.body, id="array-detail")

    # -- showing

    @property
    def array(self) -> Array | None:
        """The chosen array."""
        return self.report.snapshot.array(self.chosen) if self.report else None

    @property
    def device(self) -> str:
        """See ``Pane.device``."""
        return self.array.name if self.array is not None else ""

    @property
    def absent(self) -> AbsentArray | None:
        """The chosen array, if it is one that does not run."""
        return self.report.snapshot.absent_array(self.chosen) if self.report else None

    def show_report(self, report: Report) -> None:
        """Draw a report; equal parts are not redrawn."""
        self.report = report
        shown = ordered(report)
        if self.wanted_text:
            shown = [array for array in shown if matches(array, self.wanted_text)]
        self._keep(shown)
        self._listed = shown
        self.redraw()

    def expect(self, key: str | None) -> None:
        """Choose an array as soon as it appears, unless another one is chosen before."""
        self._expected = key

    def choose(self, key: str) -> None:
        """Choose an array; the filter is ended, as it may hide it."""
        self.chosen, self._gone, self._expected = key, None, None
        self.narrow("")

    def _keep(self, shown: list[Listed]) -> None:
        if self._expected is not None and any(array.key == self._expected for array in shown):
            self.chosen, self._gone, self._expected = self._expected, None, None
        before = Chosen(key=self.chosen, gone=self._gone)
        is_there = self.array is not None or self.absent is not None
        now = keep_choice(before, shown, self._listed, is_there=is_there)
        self.chosen, self._gone = now.key, now.gone

    def redraw(self) -> None:
        """Draw everything from the report at hand."""
        report = self.report
        width, height = self.app.size
        if report is None or width < SMALLEST[0]:
            return
        panel = list_width(width)
        lines, places = self._make_rows(report, panel)
        selected = places.get(self.chosen or "")
        self.rows.show(lines or nothing_lines(report, self.wanted_text, panel), selected=selected)
        self._lay_out(panel, width, height)
        if selected is not None:
            self.rows.keep_in_view(selected)
        array, absent = self.array, self.absent
        beside = width - panel or width
        self.head.display = self.body.display = array is not None or absent is not None
        if array is None:
            self.limits.hide()
            if absent is not None:
                self.head.show(absent_head_lines(report, absent, beside))
                self.body.show(absent_body_lines(report, absent, beside))
            return
        first, rest = first_and_rest(report, array, beside, self.shell.keymap)
        self.head.show(head_lines(report, array, beside, first, beside=panel < SMALLEST[0]))
        self.limits.show(report, array)
        if array.key != self._drawn_key:
            self._drawn_key = array.key
            self.body.scroll_home(animate=False)
        self.body.show([*unit_lines(array, beside), *body_lines(report, array, beside, height, rest)])

    def _lay_out(self, panel: int, width: int, height: int) -> None:
        """Put the details below the list, or beside it; then what happened last is below the list."""
        wide = panel < width
        most = max(1, int((height - _BESIDE_PANE) * (_MOST_BESIDE if wide else _MOST_ABOVE)))
        if self._shape != (panel, wide, most):
            self._shape = (panel, wide, most)
            self.set_class(wide, "-wide")
            self.title.display = self.news.display = wide
            self.title.show([rule_line(panel, "arrays")])
            self.panel.styles.width = panel if wide else "1fr"
            self.rows.styles.max_height = most
        self._news_size = (panel, max(0, height - _BESIDE_PANE - min(most, len(self._listed)) - 1))
        self.show_news()

    def show_news(self) -> None:
        """Show what happened last, where the list has room below it."""
        if self.news.display:
            self.news.show(news_lines(self.shell.log_events, *self._news_size))

    def _make_rows(self, report: Report, width: int) -> tuple[list[Line], dict[str, int]]:
        """Return the rows, and the place of each array; they are made once of a report."""
        made = self._made
        if made is None or made[0] is not report or made[1] is not self._listed or made[2] != width:
            shared = shared_titles(report)
            lines = [self._row(report, array, width, shared) for array in self._listed]
            places = {array.key: place for place, array in enumerate(self._listed)}
            made = self._made = (report, self._listed, width, lines, places)
        return made[3], made[4]

    def _row(self, report: Report, array: Listed, width: int, shared: frozenset[str]) -> Line:
        """Return an array's row; an unchanged one is not made again."""
        of_host = (array.title in shared, report.snapshot.stale is not None, report.snapshot.trials)
        of_sync = (report.estimates.get(array.key), report.turns.get(array.key))
        facts = (array, report.healths[array.key], *of_sync, width, *of_host)
        known = self._known_rows.get(array.key)
        if known is None or known[0] != facts:
            known = (facts, brief_line(brief_of(report, array, shared), width))
            self._known_rows[array.key] = known
        return known[1]

    @property
    def offer(self) -> str:
        """The offer of the guide, a sentence; "" where it needs none."""
        report = self.report
        key = ASSEMBLE.shown_key(self.shell.keymap)
        return offer_words(report, self.array or self.absent, key) if report is not None else ""

    # -- choosing

    def move(self, delta: int) -> None:
        """Choose the array ``delta`` rows further down."""
        if not self._listed:
            return
        at = next((i for i, each in enumerate(self._listed) if each.key == self.chosen), 0)
        row = max(0, min(len(self._listed) - 1, at + delta))
        self.chosen, self._gone, self._expected = self._listed[row].key, None, None
        self.redraw()
        self.say("", "plain")

    def narrow(self, text: str) -> None:
        """Show only arrays that contain ``text``."""
        self.wanted_text = text
        if self.report is not None:
            self.show_report(self.report)

    # -- acting

    def plan_of(self, command: Command) -> Plan | Refusal | None:
        """Return what a command would do now; None for commands that change nothing."""
        return plan_of(command, self.report, self.chosen, system_scope=self.limits.of_system)

    def why_not(self, command_id: str) -> str:
        """Return why a command cannot be used now; "" where it can."""
        plan = next((self.plan_of(each) for each in ARRAYS if each.id == command_id), None)
        return plan.sentence if isinstance(plan, Refusal) else ""

    def foot(self) -> list[tuple[Command, str, bool]]:
        """Return (command, label now, whether it can be done) for the footer and the help."""
        return offers(self.report, self.chosen, system_scope=self.limits.of_system)

    def _carry_out(self, plan: Plan) -> None:
        self.acting = True
        if plan.harm is Harm.HARMLESS:
            later(self, partial(self._execute, plan))
        else:
            self.shell.open_flow(partial(self._confirm, plan))

    async def _confirm(self, plan: Plan) -> None:
        confirmed = False
        try:
            confirmed = await DirectFlow(self.shell).confirm(plan)
        finally:
            if not confirmed:
                self._end_acting()
        if confirmed:
            await self._execute(plan)

    async def _execute(self, plan: Plan, *, is_undo: bool = False) -> None:
        if not await DirectFlow(self.shell).execute(plan, is_undo=is_undo):
            self.limits.forget_asked()
        self._end_acting()

    def _end_acting(self) -> None:
        """Carry out the command that was given meanwhile."""
        self.acting = False
        queued, self._queued = self._queued, None
        if queued is not None:
            self._do(queued)

    def _do(self, command: Command) -> None:
        self._gone = None
        if self.acting:
            self._queued = command
            return
        if command is UNDO:
            self.acting = True
            later(self, self._undo)
            return
        plan = self.plan_of(command)
        if isinstance(plan, Refusal):
            self.say(plan.sentence)
        elif plan is not None:
            self._carry_out(plan)

    async def _undo(self) -> None:
        loop = self.shell.session.loop
        plan = await loop.on_host_thread(loop.watch.take_undo)
        if plan is None:
            self.say("nothing to undo")
            self._end_acting()
        else:
            self.limits.forget_asked()
            await self._execute(plan, is_undo=True)

    def action_do(self, verb: str) -> None:
        """Carry out a command that has no form: check, cancel, pause, give_back, undo."""
        self._do(BY_VERB[verb])

    def _can_open(self, verb: str) -> bool:
        """Whether the form of a verb can be opened; why not is shown."""
        refusal = self.plan_of(BY_VERB[verb])
        if self.report is not None and not isinstance(refusal, Refusal):
            return True
        self.shell.drop_held_keys()
        self.say(refusal.sentence if isinstance(refusal, Refusal) else "")
        return False

    def action_repair(self, verb: str) -> None:
        """Open the form of a verb that changes members or the array."""
        if self._can_open(verb) and self.report is not None and self.array is not None:
            from raidtui.features.arrays.screen.repair_flow import RepairFlow  # noqa: PLC0415

            self.shell.open_flow(partial(RepairFlow(self.shell).run, verb, self.array, self.report.snapshot))

    def action_flow(self, verb: str) -> None:
        """Let another feature carry out a verb: assemble, zero, mismatches, grow, locate, pace."""
        if self._can_open(verb) and self.report is not None:
            self.shell.begin_opening()
            array, of_absent = self.array, BY_VERB[verb] in {ASSEMBLE, ZERO}
            is_fallen = array is not None and is_down(self.report, array)
            about = array if is_fallen or not of_absent else self.absent
            self.post_message(self.FlowWanted(verb, self.report.snapshot, about))

    def action_limits(self) -> None:
        """Go to the max slider."""
        slider = self.limits.high
        if slider.display:
            self.screen.set_focus(slider)  # at once: digits may be waiting behind this key
        else:
            self._do(LIMITS)

    def action_scope(self) -> None:
        """Switch the sliders between this array and the system."""
        self.limits.of_system = not self.limits.of_system
        self.redraw()
        scope = "all arrays that have no limits of their own" if self.limits.of_system else "this array alone"
        self.say(f"the sliders now set the limits of {scope}", "accent")

    def on_slider_left(self, message: Slider.Left) -> None:
        """Give the focus back to the list."""
        message.stop()
        self.rows.focus()

    def on_slider_refused(self, message: Slider.Refused) -> None:
        """Show why a typed figure cannot be requested."""
        message.stop()
        self.say(message.text)

    def on_slider_asked(self, message: Slider.Asked) -> None:
        """Plan once the slider rests; min stays at or below max."""
        message.stop()
        self._gone = None
        if trouble := self.limits.keep_apart(message.slider):
            self.say(trouble)
        else:
            path = limit_path(None if self.limits.of_system else self.array, message.slider.word)
            self.say(f"writes {message.slider.value_kib_s} to {path}", "accent")
        if self._settle is not None:
            self._settle.stop()
        self._settle = self.set_timer(_SETTLE_S, self._ask)

    def _ask(self) -> None:
        if self.acting:
            self._settle = self.set_timer(_SETTLE_S, self._ask)
            return
        plan = self.limits.plan(self.report.snapshot, self.chosen) if self.report is not None else None
        if isinstance(plan, Refusal):
            self.limits.forget_asked()
            if plan.code is not RefusalCode.NOTHING_TO_DO:
                self.say(plan.sentence)
        elif plan is not None:
            self._carry_out(plan)
