"""Pane 4: the kernel's knobs: their values, who has set them, and new values for now or over reboots."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from msgspec.structs import replace
from textual.binding import BindingType
from textual.timer import Timer

from raidtui.features.tune.screen.knob_view import KnobView
from raidtui.features.tune.screen.tune_detail import title_of
from raidtui.features.tune.screen.tune_rows import KnobRow
from raidtui.frame.command import Command
from raidtui.frame.pane import KnobPair, Pane
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


def _refuse_writing(pane: Pane) -> str:
    """Return why a pane may set nothing; "" where it may."""
    refusal = needs_root(pane.report.snapshot) if pane.report is not None else None
    return refusal.sentence if refusal is not None else ""


LESS = Command(
    id="tune.less", keys="left", action="turn(-1)", label="Lower", foot=False,
    help="Set the chosen knob for now to the value below: the previous choice, or half the number.",
    refuse=_refuse_writing,
)  # fmt: skip
MORE = Command(
    id="tune.more", keys="right", action="turn(1)", label="Higher", foot=False,
    help="Set the chosen knob for now to the value above: the next choice, or twice the number.",
    refuse=_refuse_writing,
)  # fmt: skip
EXACT = Command(
    id="tune.value", keys="enter", action="exact", label="Value", foot=False,
    words="scheduler read-ahead queue set",
    help="Type a value for the chosen knob, or choose it from a list.",
    refuse=_refuse_writing,
)  # fmt: skip
NEXT_KNOB = Command(
    id="tune.next", keys="tab", action="knob(1)", label="Next knob", foot=False,
    help="Choose the next knob of the row; Shift+Tab chooses the previous one.",
)  # fmt: skip
SAME = Command(
    id="tune.same", keys="equals_sign", action="same", label="Same for all",
    help="Give this disk's value to all members of its array; a processor's to all processors.",
    refuse=_refuse_writing,
)  # fmt: skip
KEEP = Command(
    id="tune.keep", keys="k", action="keep", label="Keep",
    help="Keep values across reboots, in raidtui's own files. The plan is shown first.",
    refuse=_refuse_writing,
)  # fmt: skip
FORGET = Command(
    id="tune.forget", keys="K", action="forget", label="Forget", foot=False,
    help="Stop keeping a value. The current one stays until the next reboot.",
    refuse=_refuse_writing,
)  # fmt: skip
UNDO_TUNE = Command(
    id="tune.undo", keys="u", action="undo", label="Undo",
    help="Undo what was set last here or by raidtui tune; pane 1 undoes its own.",
    refuse=_refuse_writing,
)  # fmt: skip
PROFILE = Command(
    id="tune.profile", keys="P", action="profile", label="Profile",
    words="preset tuned scheduler",
    help="Set several values together: published recommendations, the kernel's own, or your profiles.",
    refuse=_refuse_writing,
)  # fmt: skip
ASK_ERC = Command(
    id="tune.erc", keys="e", action="erc", label="Ask for ERC", foot=False,
    help="Read how long the disks retry a bad sector (SCT ERC). Sleeping disks are not woken.",
)  # fmt: skip
TEST = Command(
    id="tune.test", keys="t", action="test", label="Test",
    words="fio benchmark measure",
    help="Measure with fio what the chosen knob does: its current value against another one.",
    refuse=_refuse_writing,
)  # fmt: skip
APART = Command(
    id="tune.apart", keys="o", action="apart", label="One by one", foot=False,
    help="Show each processor policy in a row of its own, or join those that are alike.",
)  # fmt: skip
READ_TUNE = Command(
    id="tune.read", keys="r", action="read", label="Read again", foot=False,
    help="Read the values now, and the rules and services that set them.",
)  # fmt: skip
TUNE = (LESS, MORE, NEXT_KNOB, EXACT, SAME, KEEP, FORGET, UNDO_TUNE, PROFILE, TEST, APART, ASK_ERC,
        READ_TUNE)  # fmt: skip


class TunePane(KnobView):
    """``KnobView`` with the keys that change something."""

    COMMANDS, BY_ARROWS = TUNE, (LESS, MORE)
    BINDINGS: ClassVar[list[BindingType]] = [each for command in TUNE for each in command.bindings]

    _settling: Timer | None = None

    def _flow(self) -> TuneFlow | None:
        knobs = self.knobs()
        if knobs is None or self.report is None or self.tuning is None:
            return None
        from raidtui.features.tune.screen.tune_flow import TuneFlow  # noqa: PLC0415

        return TuneFlow(self.shell, knobs, self.report.snapshot, self.tuning)

    def _may(self, command: Command, *, waits: bool = False) -> KnobRow | None:
        """Return the chosen row; or None, and show why the command is not possible.

        Args:
            command: of this pane.
            waits: whether the command is possible while another value is being written.
        """
        busy = self.shell.in_flow or (self.acting and not waits)
        why = self.why_not(command.id) or (_BUSY if busy else "")
        if why:
            self.shell.drop_held_keys()
            self.say(why, "warn")
        return self.row if not why else None

    def action_turn(self, delta: int) -> None:
        """Request the next value below or above; it is written once no further key follows."""
        row = self._may(LESS, waits=True)
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
        row, flow = self._may(EXACT), self._flow()
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
        row = self._may(SAME)
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
        row, flow = self._may(KEEP), self._flow()
        if row is not None and flow is not None:
            knob = self.knob
            self.shell.open_flow(lambda: self._then_read(lambda: flow.keep(row, knob)))

    def action_forget(self) -> None:
        """Stop keeping values."""
        row, flow = self._may(FORGET), self._flow()
        if row is not None and flow is not None:
            knob = self.knob
            self.shell.open_flow(lambda: self._then_read(lambda: flow.forget(row, knob)))

    async def _then_read(self, dialog: Callable[[], Awaitable[None]]) -> None:
        await dialog()
        self.action_read()  # after the flow, which holds keys for its forms

    def action_profile(self) -> None:
        """Choose a profile, show its changes, and set them."""
        row, flow = self._may(PROFILE), self._flow()
        if row is not None and flow is not None:
            self.shell.open_flow(lambda: self._profile(flow))

    async def _profile(self, flow: TuneFlow) -> None:
        plan = await flow.profile()
        if plan is not None:
            self._do(plan)

    def action_test(self) -> None:
        """Measure with fio what the chosen knob does: the present value against the next one."""
        row, knobs = self._may(TEST), self.knobs()
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
        if self._may(UNDO_TUNE) is not None:
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
