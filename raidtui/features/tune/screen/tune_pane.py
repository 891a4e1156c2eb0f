"""Pane 4: the kernel's knobs: their values, who has set them, and new values for now or over reboots."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from msgspec.structs import replace
from textual.binding import BindingType
from textual.timer import Timer

from raidtui.features.tune.screen.keys import TUNE
from raidtui.features.tune.screen.knob_view import KnobView
from raidtui.features.tune.screen.tune_detail import title_of
from raidtui.features.tune.screen.tune_rows import KnobRow
from raidtui.frame.command import Command
from raidtui.frame.pane import KnobPair
from raidtui.frame.screen_shell import later
from raidtui.model.knob import KnobScope, neighbours
from raidtui.model.plan import Harm, Plan, Refusal
from raidtui.plans.target import needs_root
from raidtui.plans.tune.now import AskedValue, plan_same, plan_set, titled_back

if TYPE_CHECKING:
    from raidtui.features.tune.screen.tune_flow import TuneFlow
    from raidtui.features.tune.session import TuneResult

_SETTLE_S = 0.3
_NOT_ALIKE = {
    KnobScope.ARRAY: "= is for the members of an array and for processors, not for arrays",
    KnobScope.CACHE: "= is for the members of an array and for processors, not for caches",
    KnobScope.SYSTEM: "= is for the members of an array and for processors; there is only one system",
    KnobScope.CPU: "all processors share one driver: the value is already the same",
}
_BUSY = "another change is still in progress: press the key again"
_READ_ONLY = frozenset({"tune.next", "tune.apart", "tune.erc", "tune.read"})
"""The commands that change nothing and need no root."""


class TunePane(KnobView):
    """``KnobView`` with the keys that change something."""

    BINDINGS: ClassVar[list[BindingType]] = [each for command in TUNE for each in command.bindings]

    _settling: Timer | None = None

    def why_not(self, command_id: str) -> str:
        """Return why a command cannot be used now; "" where it can."""
        if command_id in _READ_ONLY or self.report is None:
            return ""
        refusal = needs_root(self.report.snapshot)
        return refusal.sentence if refusal is not None else ""

    def foot(self) -> list[tuple[Command, str, bool]]:
        """Return (command, label now, whether it can be done) for the footer and the help."""
        return [(each, each.label, not self.why_not(each.id)) for each in TUNE]

    def _flow(self) -> TuneFlow | None:
        knobs = self.knobs()
        if knobs is None or self.report is None or self.tuning is None:
            return None
        from raidtui.features.tune.screen.tune_flow import TuneFlow  # noqa: PLC0415

        return TuneFlow(self.shell, knobs, self.report.snapshot, self.tuning)

    def _may(self, command_id: str, *, waits: bool = False) -> KnobRow | None:
        """Return the chosen row; or None, and show why the command is not possible.

        Args:
            command_id: as in ``raidtui.frame.commands``.
            waits: whether the command is possible while another value is being written.
        """
        busy = self.shell.in_flow or (self.acting and not waits)
        why = self.why_not(command_id) or (_BUSY if busy else "")
        if why:
            self.shell.drop_held_keys()
            self.say(why, "warn")
        return self.row if not why else None

    def action_turn(self, delta: int) -> None:
        """Request the next value below or above; it is written once no further key follows."""
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
            end = f": there is nothing {'above' if delta > 0 else 'below'} {text}"
            if not (value.choices or text.isdigit()):
                end = f" is {text}: press Enter to type a value"
            self.say(f"{title_of(row, self.knob)}{end}", "warn")
            return
        self.asked = wanted
        self.redraw()
        if self._settling is not None:
            self._settling.stop()
        self._settling = self.set_timer(_SETTLE_S, self._settle_later)

    def _settle_later(self) -> None:
        """Write the requested value, after one that is still being written."""
        if self.acting:
            self._settling = self.set_timer(_SETTLE_S, self._settle_later)
        else:
            self.settle()

    def settle(self) -> None:
        """Write the requested value at once."""
        asked, self.asked = self.asked, ""
        if self._settling is not None:
            self._settling.stop()
            self._settling = None
        row = self.row
        if asked and row is not None:
            self._set(row, self.knob, asked)

    def _weighty(self) -> frozenset[str]:
        """Return the files whose plan is shown first, as they change much at once: the driver's mode."""
        driver = self.tuning.subject("cpu") if self.tuning is not None else None
        mode = driver.values.get("driver_mode") if driver is not None else None
        return frozenset({mode.path} if mode is not None else ())

    def _set(self, row: KnobRow, knob: str, text: str) -> None:
        asked = [AskedValue(subject=each.name, knob=knob, value=text) for each in row.of(knob)]
        if self.report is not None and self.tuning is not None:
            self._do(plan_set(self.report.snapshot, self.tuning, asked))

    def _do(self, plan: Plan | Refusal) -> None:
        self.news = ()
        if isinstance(plan, Refusal):
            self.say(plan.sentence, "warn")
            self.redraw()
        elif self.acting:
            self.say(_BUSY, "warn")
        else:
            self.acting = True
            later(self, partial(self._carry_out, plan))

    async def _carry_out(self, plan: Plan) -> None:
        knobs, report, tuning, flow = self.knobs(), self.report, self.tuning, self._flow()
        try:
            if knobs is None or report is None or tuning is None or flow is None:
                return
            if any(step.argv and not step.text for step in plan.steps):
                await flow.offer(plan)  # a tool such as mdadm does it: not at a single key
                return
            weighty = any(step.path in self._weighty() for step in plan.steps)
            if (weighty or plan.harm is not Harm.HARMLESS) and not await flow.confirm(plan):
                return
            tool = next((step.command for step in plan.steps if step.argv), "")
            if tool:  # it may take a while: LVM writes back what is dirty
                self.say(f"{tool} …", "dim")
            result = await knobs.carry_out(plan, report.snapshot, tuning)
        finally:
            self.acting = False
        if isinstance(result, Refusal):
            self.say(result.sentence, "warn")
        else:
            self._show_result(result, plan.notes, f"{plan.title} · u undoes it", knobs.trouble)

    def _show_result(self, result: TuneResult, notes: tuple[str, ...], done: str, trouble: str) -> None:
        """Show the result; below the rule in full where not everything was done."""
        failed = result.sentences if not result.as_asked else ()
        self.news = (*((text, "bad") for text in failed), *((note, "plain") for note in notes if not failed))
        if trouble:
            self.news = (*self.news, (trouble, "warn"))
        not_done = next((each.sentence for each in (result.outcome,) if each.failed is not None), "")
        self.say(not_done or (failed[0] if failed else done), "bad" if failed else "ok")
        self.own(result.tuning, anyway=True)

    def action_exact(self) -> None:
        """Type a value, or choose it from a list."""
        row, flow = self._may("tune.value"), self._flow()
        if row is not None and flow is not None and row.value(self.knob) is not None:
            self.settle()
            knob = self.knob  # by the time that the dialog opens, another one may be chosen
            self.shell.open_flow(lambda: self._exact(flow, row, knob))

    async def _exact(self, flow: TuneFlow, row: KnobRow, knob: str) -> None:
        text = await flow.exact(row, knob)
        if text:
            self._set(row, knob, text)

    def action_same(self) -> None:
        """Give the other members the value of this disk, or all processors that of these."""
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
        row, flow = self._may("tune.keep"), self._flow()
        if row is not None and flow is not None:
            knob = self.knob
            self.shell.open_flow(lambda: self._then_read(lambda: flow.keep(row, knob)))

    def action_forget(self) -> None:
        """Stop keeping values."""
        row, flow = self._may("tune.forget"), self._flow()
        if row is not None and flow is not None:
            knob = self.knob
            self.shell.open_flow(lambda: self._then_read(lambda: flow.forget(row, knob)))

    async def _then_read(self, dialog: Callable[[], Awaitable[None]]) -> None:
        await dialog()
        self.action_read()  # after the flow, which holds keys for its forms

    def action_profile(self) -> None:
        """Choose a profile, show its changes, and set them."""
        row, flow = self._may("tune.profile"), self._flow()
        if row is not None and flow is not None:
            self.shell.open_flow(lambda: self._profile(flow))

    async def _profile(self, flow: TuneFlow) -> None:
        plan = await flow.profile()
        if plan is not None:
            self._do(plan)

    def action_test(self) -> None:
        """Measure with fio what the chosen knob does: the present value against the next one."""
        row, knobs = self._may("tune.test"), self.knobs()
        value = row.subject.values.get(self.knob) if row is not None else None
        if row is None or knobs is None or value is None:
            return
        if row.subject.scope is KnobScope.CACHE:
            self.say("a sweep does not change caches: set the value, and measure before and after", "warn")
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
        pair = KnobPair(knob=self.knob, values=(value.text, other), array=array)
        self.post_message(self.Wanted("bench", pair=pair))

    def action_undo(self) -> None:
        """Undo the last change."""
        if self._may("tune.undo") is not None:
            self.asked = ""
            self.acting = True
            later(self, self._undo)

    async def _undo(self) -> None:
        knobs, report, tuning, flow = self.knobs(), self.report, self.tuning, self._flow()
        try:
            if knobs is None or report is None or tuning is None or flow is None:
                return
            done, own = await knobs.last()
            if isinstance(done, Refusal):
                self.say(done.sentence, "warn")
                return
            back = titled_back(done.undo, tuning)
            if not own and not await flow.confirm(back, f"Undo what {done.who} set in another run"):
                return
            result = await knobs.undo(done, report.snapshot, tuning)
        finally:
            self.acting = False
        self._show_result(result, (), back.title, knobs.trouble)
