"""What each command would do to the chosen array now, and its label. No widgets."""

from __future__ import annotations

from raidtui.model.plan import Plan, Refusal, RefusalCode
from raidtui.plans.sync import is_paused, plan_cancel, plan_check, plan_pause, plan_resume
from raidtui.plans.sync_speed import plan_give_back, plan_limits
from raidtui.plans.target import needs_root
from raidtui.session.watch import Report
from raidtui.ui.commands import ARRAYS, Command

_REPAIRS = frozenset(
    f"arrays.{verb}" for verb in ("replace", "add", "fail", "remove", "rename", "stop", "locate")
)
_OF_DEVICES = frozenset({"arrays.assemble", "arrays.zero"})


def plan_of(
    command_id: str, report: Report | None, key: str | None, *, system_scope: bool
) -> Plan | Refusal | None:
    """Return what a command would do now; None for commands that change nothing.

    Args:
        command_id: as in ``raidtui.ui.commands``.
        report: what is known of the host, if anything.
        key: of the chosen array, if one is.
        system_scope: whether the sliders move the system's limits.
    """
    if report is None:
        return Refusal(code=RefusalCode.UNKNOWN, why="the host has not been read yet")
    snapshot = report.snapshot
    array = snapshot.array(key)
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
    if command_id in {"arrays.limits", "arrays.undo"}:
        return needs_root(snapshot)
    if command_id in _REPAIRS | _OF_DEVICES:
        if snapshot.host.source == "demo":
            return Refusal(
                code=RefusalCode.NOT_HERE, why="the demo host is simulated: its members cannot be changed"
            )
        chosen = array is not None or command_id in _OF_DEVICES
        return needs_root(snapshot) or (
            None if chosen else Refusal(code=RefusalCode.NOT_FOUND, why="no array is chosen")
        )
    return None


def offers(report: Report | None, key: str | None, *, system_scope: bool) -> list[tuple[Command, str, bool]]:
    """Return (command, label now, whether it can be done) of the pane's commands, for footer and help."""
    array = report.snapshot.array(key) if report else None
    items = []
    for command in ARRAYS:
        label = command.label
        if command.id == "arrays.pause" and array is not None and is_paused(array):
            label = "Resume"
        plan = plan_of(command.id, report, key, system_scope=system_scope)
        items.append((command, label, not isinstance(plan, Refusal)))
    return items
