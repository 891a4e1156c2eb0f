"""Pane 4: the kernel's knobs; who has set them, what they are, and another value for now or for good."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from msgspec.structs import replace
from textual.binding import BindingType
from textual.message import Message
from textual.timer import Timer

from raidtui.model.knob import KnobScope, neighbours
from raidtui.model.plan import Plan, Refusal
from raidtui.plans.target import needs_root
from raidtui.plans.tune.now import AskedValue, plan_same, plan_set
from raidtui.ui.commands import TUNE, Command
from raidtui.ui.frame.screen_shell import later
from raidtui.ui.tune.knob_view import KnobView
from raidtui.ui.tune.tune_detail import title_of
from raidtui.ui.tune.tune_lines import KnobRow

if TYPE_CHECKING:
    from raidtui.session.tuning import TuneResult
    from raidtui.ui.tune.tune_flow import TuneFlow

_SETTLE_S = 0.3
_NOT_ALIKE = {
    KnobScope.ARRAY: "arrays are not compared: = is for the members of one, and for processors",
    KnobScope.SYSTEM: "there is one system: = is for the members of an array, and for processors",
    KnobScope.CPU: "there is one driver for all processors: it is the same for them already",
}
_BUSY = "something else is being done: press the key again"
_ANYBODY = frozenset({"tune.next", "tune.apart", "tune.erc", "tune.read"})
"""What changes nothing."""


class TunePane(KnobView):
    """See the module. What it takes is told in ``KnobView``."""

    BINDINGS: ClassVar[list[BindingType]] = [each for command in TUNE for each in command.bindings]

    class MeasureWanted(Message):
        """Two values of a knob are to be measured against each other.

        Args:
            knob: its key in ``raidtui.model.knob_table``.
            values: the one of now, and the other.
            array: the title of the array that it is measured on; "" for none.
        """

        def __init__(self, knob: str, values: tuple[str, str], array: str) -> None:
            super().__init__()
            self.knob = knob
            self.values = values
            self.array = array

    _settling: Timer | None = None

    def why_not(self, command_id: str) -> str:
        """Return why a command cannot be used now; "" where it can."""
        if command_id in _ANYBODY or self.report is None:
            return ""
        refusal = needs_root(self.report.snapshot)
        return refusal.sentence if refusal is not None else ""

    def foot(self) -> list[tuple[Command, str, bool]]:
        """Return (command, label now, whether it can be done) for the footer and the help."""
        return [(each, each.label, not self.why_not(each.id)) for each in TUNE]

    def _ways(self) -> TuneFlow | None:
        knobs = self.knobs()
        if knobs is None or self.report is None or self.tuning is None:
            return None
        from raidtui.ui.tune.tune_flow import TuneFlow  # noqa: PLC0415

        return TuneFlow(self.shell, knobs, self.report.snapshot, self.tuning)

    def _may(self, command_id: str, *, waits: bool = False) -> KnobRow | None:
        """Return the row that a command is about, or say why it is not possible.

        Args:
            command_id: as in ``raidtui.ui.commands``.
            waits: whether it can be asked for while another value is being written.
        """
        busy = self.on_the_way or (self.acting and not waits)
        why = self.why_not(command_id) or (_BUSY if busy else "")
        if why:
            self.shell.drop_held_keys()
            self.say(why, "warn")
        return self.row if not why else None

    def action_turn(self, delta: int) -> None:
        """Ask for the value below or above; it is written when the key rests."""
        row = self._may("tune.less", waits=True)
        if row is None:
            return
        value = row.value(self.knob)
        if value is None:
            self.say(row.why_not(self.knob), "warn")
            return
        text = self.asked or value.text
        wanted = neighbours(replace(value, text=text))[delta > 0]
        if wanted is None:
            end = f": nothing {'above' if delta > 0 else 'below'} {text}"
            if not (value.choices or text.isdigit()):
                end = f" is {text}: Enter takes a value"
            self.say(f"{title_of(row, self.knob)}{end}", "warn")
            return
        self.asked = wanted
        self.redraw()
        if self._settling is not None:
            self._settling.stop()
        self._settling = self.set_timer(_SETTLE_S, self._settle_later)

    def _settle_later(self) -> None:
        """The key rests; where another value is still being written, this one comes after it."""
        if self.acting:
            self._settling = self.set_timer(_SETTLE_S, self._settle_later)
        else:
            self.settle()

    def settle(self) -> None:
        """Write what was asked for."""
        asked, self.asked = self.asked, ""
        if self._settling is not None:
            self._settling.stop()
            self._settling = None
        row = self.row
        if asked and row is not None:
            self._set(row, self.knob, asked)

    def _weighty(self) -> frozenset[str]:
        """What changes much at once, and is seen before it is done: the processors' driver."""
        driver = self.tuning.subject("cpu") if self.tuning is not None else None
        mode = driver.values.get("driver_mode") if driver is not None else None
        return frozenset({mode.path} if mode is not None else ())

    def _set(self, row: KnobRow, knob: str, text: str) -> None:
        asked = [AskedValue(subject=each.name, knob=knob, value=text) for each in row.of(knob)]
        if self.report is not None and self.tuning is not None:
            self._do(plan_set(self.report.snapshot, self.tuning, asked))

    def _do(self, plan: Plan | Refusal) -> None:
        self.told = ()
        if isinstance(plan, Refusal):
            self.say(plan.sentence, "warn")
            self.redraw()
        elif self.acting:
            self.say(_BUSY, "warn")
        else:
            self.acting = True
            later(self, partial(self._carry_out, plan))

    async def _carry_out(self, plan: Plan) -> None:
        knobs, report, tuning, ways = self.knobs(), self.report, self.tuning, self._ways()
        try:
            if knobs is None or report is None or tuning is None or ways is None:
                return
            if any(step.argv for step in plan.steps):
                await ways.offer(plan)  # by a tool, such as mdadm: nothing that is done at a key's stroke
                return
            if any(step.path in self._weighty() for step in plan.steps) and not await ways.confirm(plan):
                return
            result = await knobs.carry_out(plan, report.snapshot, tuning)
        finally:
            self.acting = False
        if isinstance(result, Refusal):
            self.say(result.sentence, "warn")
        else:
            self._tell(result, plan.notes, f"{plan.title} · u undoes it", knobs.trouble)

    def _tell(self, result: TuneResult, notes: tuple[str, ...], done: str, trouble: str) -> None:
        """Say what became of it: whole below the rule where it was not all done."""
        failed = result.sentences if not result.as_asked else ()
        self.told = (*((text, "bad") for text in failed), *((note, "plain") for note in notes if not failed))
        if trouble:
            self.told = (*self.told, (trouble, "warn"))
        not_done = next((each.sentence for each in (result.outcome,) if each.failed is not None), "")
        self.say(not_done or (failed[0] if failed else done), "bad" if failed else "ok")
        self.own(result.tuning, anyway=True)

    def action_exact(self) -> None:
        """Type a value, or choose it from a list."""
        row, ways = self._may("tune.value"), self._ways()
        if row is not None and ways is not None and row.value(self.knob) is not None:
            self.settle()
            knob = self.knob  # by the time that the dialog opens, another one may be chosen
            self._go(lambda: self._exact(ways, row, knob))

    async def _exact(self, ways: TuneFlow, row: KnobRow, knob: str) -> None:
        text = await ways.exact(row, knob)
        if text:
            self._set(row, knob, text)

    def action_same(self) -> None:
        """Give the others the value of this disk, or of these processors."""
        row = self._may("tune.same")
        if row is None or self.report is None or self.tuning is None:
            return
        self.settle()
        subject, value = row.of(self.knob)[0], row.value(self.knob)
        if subject.scope is KnobScope.DISK:
            self._do(plan_same(self.report.snapshot, self.tuning, subject.name, self.knob))
        elif subject.scope is KnobScope.POLICY and value is not None:
            policies = [each for each in self.tuning.of(KnobScope.POLICY) if self.knob in each.values]
            asked = [AskedValue(subject=each.name, knob=self.knob, value=value.text) for each in policies]
            self._do(plan_set(self.report.snapshot, self.tuning, asked))
        else:
            self.say(_NOT_ALIKE.get(subject.scope, row.why_not(self.knob)), "warn")

    def action_keep(self) -> None:
        """Keep values over reboots."""
        row, ways = self._may("tune.keep"), self._ways()
        if row is not None and ways is not None:
            knob = self.knob
            self._go(lambda: self._then_read(lambda: ways.keep(row, knob)))

    def action_forget(self) -> None:
        """Keep values no longer."""
        row, ways = self._may("tune.forget"), self._ways()
        if row is not None and ways is not None:
            knob = self.knob
            self._go(lambda: self._then_read(lambda: ways.forget(row, knob)))

    def _go(self, way: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Open one way of dialogs at a time: keys typed ahead of the first must not open another."""
        self.on_the_way = True
        self.shell.begin_opening()
        later(self, partial(self._through, way))

    async def _through(self, way: Callable[[], Coroutine[Any, Any, None]]) -> None:
        try:
            await way()
        finally:
            self.on_the_way = False
            self.shell.end_opening()

    async def _then_read(self, way: Callable[[], Awaitable[None]]) -> None:
        await way()
        await self.read(afresh=True)

    def action_profile(self) -> None:
        """Choose a profile, see what it would change, and set that."""
        row, ways = self._may("tune.profile"), self._ways()
        if row is not None and ways is not None:
            self._go(lambda: self._profile(ways))

    async def _profile(self, ways: TuneFlow) -> None:
        plan = await ways.profile()
        if plan is not None:
            self._do(plan)

    def action_test(self) -> None:
        """Measure with fio what the chosen knob does: its value of now against the one beside it."""
        row, knobs = self._may("tune.test"), self.knobs()
        value = row.subject.values.get(self.knob) if row is not None else None
        if row is None or knobs is None or value is None:
            return
        low, high = neighbours(value)
        other = low if high is None else high
        if other is None:
            self.say(f"{title_of(row, self.knob)} has no other value to measure against", "warn")
            return
        self.settle()
        arrays = row.subject.arrays or (row.subject.name,)
        found = self.tuning.array(arrays[0]) if self.tuning is not None else None
        array = found.title if found is not None else ""
        self.post_message(self.MeasureWanted(self.knob, (value.text, other), array))

    def action_undo(self) -> None:
        """Put back what was set last."""
        if self._may("tune.undo") is not None:
            self.asked = ""
            self.acting = True
            later(self, self._undo)

    async def _undo(self) -> None:
        knobs, report, tuning, ways = self.knobs(), self.report, self.tuning, self._ways()
        try:
            if knobs is None or report is None or tuning is None or ways is None:
                return
            done, own = await knobs.last()
            if isinstance(done, Refusal):
                self.say(done.sentence, "warn")
                return
            if not own and not await ways.confirm(done.undo, f"Undo what {done.who} set in another run"):
                return
            result = await knobs.undo(done, report.snapshot, tuning)
        finally:
            self.acting = False
        self._tell(result, (), done.undo.title, knobs.trouble)
