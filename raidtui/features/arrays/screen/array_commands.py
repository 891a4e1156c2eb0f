"""The commands of pane 1, in the order in which they are shown, and what each would do to an array now.

Plans that only write the kernel's files are carried out here, without a job; where they harm, they are
confirmed first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from raidtui.features.arrays.screen.array_rows import is_down
from raidtui.frame.command import Command
from raidtui.frame.screen_shell import ScreenShell
from raidtui.model.array import Array
from raidtui.model.plan import Plan, Refusal, RefusalCode
from raidtui.plans.pace_plan import refuse_pacing
from raidtui.plans.sync import is_paused, plan_cancel, plan_check, plan_pause, plan_resume
from raidtui.plans.sync_speed import plan_give_back, plan_limits
from raidtui.plans.target import needs_root
from raidtui.watch.watch import Report

CHECK = Command(
    id="arrays.check", keys="c", action="do('check')", label="Check",
    words="scrub verify compare parity mismatches consistency",
    help="Read every member, rewrite sectors that cannot be read, and count mismatches.",
)  # fmt: skip
MISMATCHES = Command(
    id="arrays.mismatches", keys="m", action="flow('mismatches')", label="Mismatches", foot=False,
    words="verify compare differ parity copies which file repair rescue",
    help="Compare members: which sectors differ, which member disagrees, which file lies there.",
)  # fmt: skip
CANCEL = Command(
    id="arrays.cancel", keys="x", action="do('cancel')", label="Cancel", foot=False,
    words="abort end stop check idle",
    help="End a check or repair; the next one starts at the beginning.",
)  # fmt: skip
PAUSE = Command(
    id="arrays.pause", keys="p", action="do('pause')", label="Pause",
    words="freeze suspend resume continue",
    help="Pause a resync, recovery, reshape or check, or resume it.",
)  # fmt: skip
LIMITS = Command(
    id="arrays.limits", keys="l", action="limits", label="Limits", first=True,
    words="speed throttle slow fast minimum maximum bandwidth rate sync_speed_min sync_speed_max slider",
    help="Go to the sliders: arrows, Shift with arrows, digits (MB/s, k for KiB/s), mouse.",
)  # fmt: skip
SCOPE = Command(
    id="arrays.scope", keys="s", action="scope", label="Scope", foot=False,
    words="speed limits global system local",
    help="Switch the sliders between this array's limits and the system's.",
)  # fmt: skip
GIVE_BACK = Command(
    id="arrays.give_back", keys="g", action="do('give_back')", label="Give back", foot=False,
    words="speed limits system default reset",
    help="Return this array to the system's limits; it follows them from then on.",
)  # fmt: skip
PACE = Command(
    id="arrays.pace", keys="y", action="flow('pace')", label="Yield", foot=False,
    words="pace latency throttle slow users p99 background nice resync governor",
    help="Let a sync yield to the users: hold a latency, and give md all remaining speed.",
)  # fmt: skip
UNDO = Command(
    id="arrays.undo", keys="u", action="do('undo')", label="Undo", foot=False, words="revert back",
    help="Undo the last change made in this pane; pane 4 undoes its own."
)  # fmt: skip
REPLACE = Command(
    id="arrays.replace", keys="R", action="repair('replace')", label="Replace",
    words="swap exchange disk drive member hot",
    help="Copy a member to another device while it stays in use: no redundancy is lost.",
)  # fmt: skip
ADD = Command(
    id="arrays.add", keys="A", action="repair('add')", label="Add",
    words="spare re-add readd disk drive member recover rebuild grow",
    help="Add a device: a former member (only what changed is copied), a member, or a spare.",
)  # fmt: skip
FAIL = Command(
    id="arrays.fail", keys="F", action="repair('fail')", label="Fail",
    words="faulty broken bad set-faulty kick",
    help="Mark a member as failed. Prefer replace while it still works.",
)  # fmt: skip
REMOVE = Command(
    id="arrays.remove", keys="M", action="repair('remove')", label="Remove", foot=False,
    words="detach take out member",
    help="Remove a failed member or a spare from the array.",
)  # fmt: skip
GROW = Command(
    id="arrays.grow", keys="G", action="flow('grow')", label="Grow", foot=False,
    words="reshape convert shrink level layout chunk larger expand devices journal ppl bitmap migrate",
    help="Change the array's shape: devices, level, layout, chunk, size; a journal or a bitmap.",
)  # fmt: skip
RENAME = Command(
    id="arrays.rename", keys="N", action="repair('rename')", label="Rename", words="name label homehost",
    help="Rename the array in its superblocks, mdadm.conf, the initramfs and fstab.",
)  # fmt: skip
STOP = Command(
    id="arrays.stop", keys="T", action="repair('stop')", label="Stop", foot=False,
    words="deactivate shut down", help="Stop the array; nothing on it is changed.",
)  # fmt: skip
WRITABLE = Command(
    id="arrays.writable", keys="W", action="repair('read-write')", label="Writable", foot=False,
    words="read-write readwrite read-only readonly auto-read-only pending begin start",
    help="Make a read-only array writable; what waits to be synced begins.",
)  # fmt: skip
ASSEMBLE = Command(
    id="arrays.assemble", keys="a", action="flow('assemble')", label="Start", foot=False,
    words="assemble run activate import rescue recover force stale kicked superblock lost",
    help="Start or rescue an array that does not run: what happened, the ways back, what each writes.",
)  # fmt: skip
LOCATE = Command(
    id="arrays.locate", keys="i", action="flow('locate')", label="Pull disk", foot=False,
    words="led light blink bay slot serial number find identify locate exchange swap hotplug which",
    help="Pull a disk: identify it, light its bay, see which disk leaves, and put the new one in.",
)  # fmt: skip
ZERO = Command(
    id="arrays.zero", keys="Z", action="flow('zero')", label="Zero", foot=False,
    words="wipe erase superblock zero-superblock clear",
    help="Erase the md superblock of a device that no array uses, so that nothing assembles it.",
)  # fmt: skip
ARRAYS = (
    CHECK, CANCEL, PAUSE, LIMITS, SCOPE, GIVE_BACK, PACE, UNDO, REPLACE, ADD, FAIL, REMOVE, GROW, RENAME,
    STOP, WRITABLE, LOCATE, MISMATCHES, ASSEMBLE, ZERO,
)  # fmt: skip
BY_VERB = {command.id.removeprefix("arrays."): command for command in ARRAYS} | {"read-write": WRITABLE}
"""The commands by the argument of their action."""
_NOT_CHOSEN = Refusal(code=RefusalCode.NOT_FOUND, why="no array is chosen")
_NOT_PLAYED = {
    ASSEMBLE.id: "the demo host is simulated: its members hold no data to rescue",
    LOCATE.id: "the demo host is simulated: there is no disk to pull",
    MISMATCHES.id: "the demo host is simulated: its members hold no data to compare",
    PACE.id: "the demo host is simulated: its disks serve no requests",
}
_NEED_NO_ARRAY = frozenset({ASSEMBLE.id, ZERO.id})


class ArrayChoice(Struct, frozen=True, kw_only=True):
    """What a command of pane 1 is about.

    Args:
        report: the last report.
        key: of the chosen array, if one is.
        system_scope: whether the sliders move the system's limits.
    """

    report: Report
    key: str | None
    system_scope: bool = False

    @property
    def array(self) -> Array | None:
        """The chosen array, if it runs."""
        return self.report.snapshot.array(self.key)


Made = Plan | Refusal | None


def _plan_pause(choice: ArrayChoice) -> Made:
    plan = plan_resume if choice.array and is_paused(choice.array) else plan_pause
    return plan(choice.report.snapshot, choice.key)


def _plan_limits(choice: ArrayChoice) -> Made:
    array = choice.array
    if array is None and not choice.system_scope:
        return _NOT_CHOSEN
    if array is not None and array.speed_limit is None:
        return plan_limits(choice.report.snapshot, choice.key, 1, 1)
    return needs_root(choice.report.snapshot)


def _refuse_pace(choice: ArrayChoice) -> Made:
    """Return why the chosen array cannot be paced now, nor its pacing be ended; None where one can."""
    array, report = choice.array, choice.report
    if array is None:
        return _NOT_CHOSEN
    if refusal := _refuse_demo(PACE, report) or needs_root(report.snapshot):
        return refusal
    return None if array.key in report.pacing else refuse_pacing(array)


def _refuse_demo(command: Command, report: Report) -> Refusal | None:
    why = _NOT_PLAYED.get(command.id) if report.snapshot.host.source == "demo" else None
    return Refusal(code=RefusalCode.NOT_HERE, why=why) if why else None


def _refuse_form(command: Command, choice: ArrayChoice) -> Refusal | None:
    """Return why the form of a command cannot be opened; what cannot be done to the array, the form says."""
    report = choice.report
    if refusal := _refuse_demo(command, report):
        return refusal
    if command is ASSEMBLE:
        return None  # what happened is said anywhere; what cannot be done, the guide says
    if refusal := needs_root(report.snapshot):
        return refusal
    if choice.array is None:
        return None if command.id in _NEED_NO_ARRAY else _NOT_CHOSEN
    if command is WRITABLE and not choice.array.read_only:
        return Refusal(code=RefusalCode.NOTHING_TO_DO, why=f"{choice.array.title} is already read-write")
    return None


_PLANS: Mapping[str, Callable[[ArrayChoice], Made]] = {
    CHECK.id: lambda choice: plan_check(choice.report.snapshot, choice.key),
    CANCEL.id: lambda choice: plan_cancel(choice.report.snapshot, choice.key),
    PAUSE.id: _plan_pause,
    LIMITS.id: _plan_limits,
    SCOPE.id: lambda _: None,
    GIVE_BACK.id: lambda choice: (
        plan_give_back(choice.report.snapshot, choice.key) if choice.key else _NOT_CHOSEN
    ),
    PACE.id: _refuse_pace,
    UNDO.id: lambda choice: needs_root(choice.report.snapshot),
}
"""What commands do that have no form."""


def plan_of(command: Command, report: Report | None, key: str | None, *, system_scope: bool) -> Made:
    """Return what a command would do now; None for commands that open something or change nothing.

    Args:
        command: of this pane.
        report: the last report; None before the first.
        key: of the chosen array, if one is.
        system_scope: whether the sliders move the system's limits.
    """
    if report is None:
        return Refusal(code=RefusalCode.UNKNOWN, why="the host has not been read yet")
    choice = ArrayChoice(report=report, key=key, system_scope=system_scope)
    array, anywhere = choice.array, _NEED_NO_ARRAY | {UNDO.id}
    if array is not None and report.snapshot.is_trial(array) and command.id not in anywhere:
        return Refusal(code=RefusalCode.BUSY, why=f"{array.name} is a rescue trial", remedy="a shows it")
    plan = _PLANS.get(command.id)
    return plan(choice) if plan is not None else _refuse_form(command, choice)


def offers(report: Report | None, key: str | None, *, system_scope: bool) -> list[tuple[Command, str, bool]]:
    """Return (command, label now, whether it can be done) of the pane's commands, for footer and help.

    The one that ends what an array waits in comes first.
    """
    array = report.snapshot.array(key) if report else None
    down = report is not None and needs_guide(report, key)
    ends = ASSEMBLE if down else WRITABLE if array is not None and array.read_only else None
    items = []
    for each in (ends, *(other for other in ARRAYS if other is not ends)) if ends is not None else ARRAYS:
        command = replace(each, foot=True) if each is ends else each
        label = "Rescue" if down and each is ASSEMBLE else command.label
        if each is PAUSE and array is not None and is_paused(array):
            label = "Resume"
        plan = plan_of(each, report, key, system_scope=system_scope)
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
        """Carry out a plan, show the state afterwards, and return whether every step succeeded."""
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
