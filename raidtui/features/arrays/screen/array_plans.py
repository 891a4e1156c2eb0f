"""The plans of pane 1: what each command would do to the chosen array now, and its label.

Plans that only write the kernel's files are carried out here, without a job; where they harm, they are
confirmed first.
"""

from __future__ import annotations

from msgspec.structs import replace

from raidtui.features.arrays.screen.array_rows import is_down
from raidtui.features.arrays.screen.keys import ARRAYS, ASSEMBLE
from raidtui.frame.command import Command
from raidtui.frame.screen_shell import ScreenShell
from raidtui.model.array import Array
from raidtui.model.plan import Plan, Refusal, RefusalCode
from raidtui.plans.pace_plan import refuse_pacing
from raidtui.plans.sync import is_paused, plan_cancel, plan_check, plan_pause, plan_resume
from raidtui.plans.sync_speed import plan_give_back, plan_limits
from raidtui.plans.target import needs_root
from raidtui.watch.watch import Report

_REPAIRS = frozenset(
    f"arrays.{verb}"
    for verb in ("replace", "add", "fail", "remove", "grow", "rename", "stop", "locate", "mismatches")
)
_NOT_PLAYED = {
    "arrays.assemble": "the demo host is simulated: its members hold no data to rescue",
    "arrays.locate": "the demo host is simulated: there is no disk to pull",
    "arrays.mismatches": "the demo host is simulated: its members hold no data to compare",
}
_OF_DEVICES = frozenset({"arrays.assemble", "arrays.zero"})


def plan_of(
    command_id: str, report: Report | None, key: str | None, *, system_scope: bool
) -> Plan | Refusal | None:
    """Return what a command would do now; None for commands that change nothing.

    Args:
        command_id: of a ``Command``.
        report: the last report; None before the first.
        key: of the chosen array, if one is.
        system_scope: whether the sliders move the system's limits.
    """
    if report is None:
        return Refusal(code=RefusalCode.UNKNOWN, why="the host has not been read yet")
    snapshot = report.snapshot
    array = snapshot.array(key)
    if array is not None and snapshot.is_trial(array) and command_id not in _OF_DEVICES | {"arrays.undo"}:
        return Refusal(code=RefusalCode.BUSY, why=f"{array.name} is a rescue trial", remedy="a shows it")
    if command_id == "arrays.check":
        return plan_check(snapshot, key)
    if command_id == "arrays.cancel":
        return plan_cancel(snapshot, key)
    if command_id == "arrays.pause":
        return plan_resume(snapshot, key) if array and is_paused(array) else plan_pause(snapshot, key)
    if command_id == "arrays.give_back":
        return (
            plan_give_back(snapshot, key)
            if key
            else Refusal(code=RefusalCode.NOT_FOUND, why="no array is chosen")
        )
    if command_id == "arrays.limits" and array is None and not system_scope:
        return Refusal(code=RefusalCode.NOT_FOUND, why="no array is chosen")
    if command_id == "arrays.limits" and array is not None and array.speed_limit is None:
        return plan_limits(snapshot, key, 1, 1)
    if command_id == "arrays.pace":
        return _refuse_pace(report, array)
    if command_id in {"arrays.limits", "arrays.undo"}:
        return needs_root(snapshot)
    if command_id == "arrays.assemble" and snapshot.host.source != "demo":
        return None  # what happened is said anywhere; what cannot be done, the guide says
    if command_id in _REPAIRS | _OF_DEVICES:
        if snapshot.host.source == "demo" and command_id in _NOT_PLAYED:
            return Refusal(code=RefusalCode.NOT_HERE, why=_NOT_PLAYED[command_id])
        chosen = array is not None or command_id in _OF_DEVICES
        return needs_root(snapshot) or (
            None if chosen else Refusal(code=RefusalCode.NOT_FOUND, why="no array is chosen")
        )
    return None


def _refuse_pace(report: Report, array: Array | None) -> Refusal | None:
    """Return why the chosen array cannot be paced now, nor its pacing be ended; None where one can."""
    if array is None:
        return Refusal(code=RefusalCode.NOT_FOUND, why="no array is chosen")
    if report.snapshot.host.source == "demo":
        return Refusal(
            code=RefusalCode.NOT_HERE, why="the demo host is simulated: its disks serve no requests"
        )
    if array.key in report.pacing:
        return needs_root(report.snapshot)
    return needs_root(report.snapshot) or refuse_pacing(array)


def offers(report: Report | None, key: str | None, *, system_scope: bool) -> list[tuple[Command, str, bool]]:
    """Return (command, label now, whether it can be done) of the pane's commands, for footer and help."""
    array = report.snapshot.array(key) if report else None
    down = report is not None and needs_guide(report, key)
    items = []
    for each in (ASSEMBLE, *(other for other in ARRAYS if other is not ASSEMBLE)) if down else ARRAYS:
        command = replace(each, foot=True) if down and each is ASSEMBLE else each
        label = "Rescue" if down and each is ASSEMBLE else command.label
        if command.id == "arrays.pause" and array is not None and is_paused(array):
            label = "Resume"
        plan = plan_of(command.id, report, key, system_scope=system_scope)
        items.append((command, label, not isinstance(plan, Refusal)))
    return items


def needs_guide(report: Report, key: str | None) -> bool:
    """Whether the guide is the first thing to offer: the chosen array does not run, or a trial is there."""
    snapshot = report.snapshot
    array = snapshot.array(key)
    return (
        bool(snapshot.trials)
        or snapshot.absent_array(key) is not None
        or (array is not None and is_down(report, array))
    )


class DirectFlow:
    """Asks, writes, and shows what became of it.

    Args:
        shell: the app.
    """

    def __init__(self, shell: ScreenShell) -> None:
        self._shell = shell

    async def confirm(self, plan: Plan) -> bool:
        """Show a plan and return whether it is to be carried out."""
        from raidtui.frame.dialog import Question, plan_lines  # noqa: PLC0415

        answer = await self._shell.ask(Question(plan_lines(plan), (("y", "do it"),)))
        if answer != "y":
            self._shell.say("nothing was changed", "plain")
        return answer == "y"

    async def execute(self, plan: Plan, *, is_undo: bool = False) -> bool:
        """Carry a plan out, show the state after it, and return whether all of it was done."""
        loop = self._shell.session.loop
        with self._shell.writing():
            outcome, report = await loop.execute(plan, is_undo=is_undo)
        self._shell.own_report(report)
        done = outcome.failed is None
        note = f" · {trouble}" if (trouble := loop.watch.journal.trouble) else ""
        undo = " · u undoes it" if done and plan.undo and not is_undo else ""
        words = f"{plan.subject}: {outcome.sentence}{undo}{note}"
        self._shell.say(words, "ok" if done else "bad", logged=False)
        return done
