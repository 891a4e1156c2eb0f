"""TRIM on a new array: whether it passes, a trial that the members' counters decide, and a weekly one.

raid456 keeps discards to itself unless its parameter says that the members read zeros afterwards; kernels
after 6.12 then let fstrim claim success all the same (drivers/md/raid5.c, Documentation/admin-guide/md.rst).
"""

from __future__ import annotations

from collections.abc import Sequence

from raidtui.model.levels import PARITY_LEVELS
from raidtui.model.plan import Fact, FactKind, Refusal, RefusalCode, Step
from raidtui.model.survey import Device, Survey
from raidtui.plans.create.create_request import OnTop

_TIMER = "fstrim.timer"
_TRIAL_S = 1800.0
_BY_CRON = "for a weekly TRIM, let cron run fstrim --fstab (a script in /etc/cron.weekly)"


def trim_words(level: str, survey: Survey, devices: Sequence[Device]) -> str:
    """Return in a sentence or two whether TRIM passes through an array to its members.

    Args:
        level: raid0, raid1, raid4, raid5, raid6 or raid10.
        survey: the host.
        devices: those that hold data.
    """
    without = [device.disk.name for device in devices if not device.discards]
    if without and len(without) == len(devices):
        return "TRIM does not pass: no member takes discards."
    if without:
        take = "takes" if len(without) == 1 else "take"
        return f"TRIM does not pass to all members: {', '.join(without)} {take} no discards."
    if level not in PARITY_LEVELS:
        return f"TRIM passes: {level} hands discards on, and all members take them."
    if survey.raid456_discards:
        return (
            "TRIM passes: all members take discards, and raid456 is told that they read zeros afterwards"
            " (devices_handle_discard_safely=Y)."
        )
    if survey.raid456_discards is None:
        return (
            f"TRIM passes {level} only where raid456 is loaded with devices_handle_discard_safely=Y:"
            " that is not its default, and safe only with SSDs that read zeros after a discard."
        )
    return (
        f"TRIM does not pass: {level} keeps discards to itself, although fstrim may claim success. With SSDs"
        " that are known to read zeros afterwards: options raid456 devices_handle_discard_safely=Y in"
        " /etc/modprobe.d."
    )


def refuse_weekly(wanted: OnTop, survey: Survey) -> Refusal | None:
    """Return why a weekly TRIM makes no sense, or None."""
    if not wanted.trim_weekly:
        return None
    if not wanted.mount:
        return Refusal(
            code=RefusalCode.INVALID,
            why="a weekly TRIM is of what is mounted, and nothing is",
            remedy="choose a place to mount at",
        )
    return survey.refuse_tool("fstrim")


def trial_steps(wanted: OnTop, survey: Survey, members: Sequence[str]) -> tuple[Step, ...]:
    """Return a trial of TRIM on what was just mounted; none where no member takes discards."""
    known = [survey.devices[name] for name in members if name in survey.devices]
    if "fstrim" in survey.missing or not any(device.discards for device in known):
        return ()
    step = Step(
        argv=("fstrim", "--verbose", wanted.mount),
        why="a trial of TRIM: the members' counters tell whether it passes, whatever fstrim says",
        timeout_s=_TRIAL_S,
        counts=tuple(members),
        may_fail=True,
    )
    return (step,)


def weekly_steps(wanted: OnTop, survey: Survey) -> tuple[Step, ...]:
    """Return the step that switches the weekly TRIM on; none where that is so, or cannot be."""
    if not (wanted.trim_weekly and survey.systemd and survey.trim_timer == "disabled"):
        return ()
    off = Step(
        argv=("systemctl", "disable", "--now", _TIMER),
        why="as it was",
        proves=(_unit("disabled"), _unit("inactive")),
    )
    step = Step(
        argv=("systemctl", "enable", "--now", _TIMER),
        why="what is free is told to the SSDs once a week",
        proves=(_unit("enabled"), _unit("active")),
        undo=(off,),
    )
    return (step,)


def weekly_notes(wanted: OnTop, survey: Survey) -> tuple[str, ...]:
    """Return what there is to know of the weekly TRIM."""
    if not wanted.trim_weekly:
        return ()
    if not survey.systemd:
        return (f"systemd does not run here: {_BY_CRON}.",)
    if survey.trim_timer.startswith("enabled"):
        return (f"{_TIMER} is enabled already: all file systems of fstab are trimmed once a week.",)
    if survey.trim_timer == "disabled":
        return (f"{_TIMER} trims all file systems of fstab, not this one alone.",)
    if survey.trim_timer.startswith("masked"):
        return (f"{_TIMER} is masked, so it stays off: systemctl unmask {_TIMER} lifts that.",)
    return (f"systemd has no {_TIMER} here that could be enabled: {_BY_CRON}.",)


def _unit(state: str) -> Fact:
    return Fact(kind=FactKind.UNIT, subject=_TIMER, value=state)
