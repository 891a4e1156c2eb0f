"""raidtui's own timers: their files, and that they run now and after each start."""

from __future__ import annotations

from raidtui.model.fact import Fact, FactKind
from raidtui.model.plan import Harm, NothingToDo, Plan, Refusal, RefusalCode, RunTool, Step
from raidtui.model.refuse_silence import refuse_silence
from raidtui.model.snapshot import Snapshot
from raidtui.model.timer_setup import TimerSetup
from raidtui.plans.persist import put_file
from raidtui.plans.target import needs_root

UNIT_S = 60.0
"""How long systemd may take for a unit, in seconds."""
RELOAD = RunTool(argv=("systemctl", "daemon-reload"), why="systemd reads its units again")


def plan_timer(snapshot: Snapshot, setup: TimerSetup, why: str) -> Plan | Refusal:
    """Return the plan that has a timer run.

    Args:
        snapshot: the arrays.
        setup: what is there.
        why: what the timer does, a phrase.
    """
    if refusal := needs_root(snapshot):
        return refusal
    if not setup.systemd:
        return Refusal(
            code=RefusalCode.UNSUPPORTED,
            why=f"{setup.timer} needs systemd, which does not run here",
            remedy="have cron call what it calls",
        )
    for answer in (setup.enabled, setup.active):
        if refusal := refuse_silence(answer, package="systemd"):
            return refusal
    steps = tuple(timer_steps(setup, why))
    if not steps:
        return NothingToDo(why=f"{setup.timer} runs already")
    return Plan(
        title=f"{setup.timer} runs",
        subject="system",
        steps=steps,
        undo=tuple(step for each in reversed(steps) for step in each.undo),
        harm=Harm.HARMLESS,
        rolls_back=True,
    )


def timer_steps(setup: TimerSetup, why: str) -> list[Step]:
    """Return the steps that have a timer run: () where it does, with the files that it is to have."""
    changed = [path for path, text in setup.units.items() if setup.texts.get(path) != text]
    if not changed and setup.enabled.value and setup.active.value:
        return []
    steps: list[Step] = []
    for index, path in enumerate(changed):
        after = (RELOAD,) if index == 0 else ()
        steps.append(put_file(setup.texts.get(path), path, setup.units[path], why=why, after=after))
    steps += [RELOAD] if changed else []
    back = ("stop",) if setup.enabled.value else ("disable",) if setup.active.value else ("disable", "--now")
    as_before = RunTool(argv=("systemctl", *back, setup.timer), why="as it was")
    steps.append(
        RunTool(
            argv=("systemctl", "enable", "--now", setup.timer),
            why="it runs now, and after each start",
            timeout_s=UNIT_S,
            proves=(Fact(kind=FactKind.UNIT, subject=setup.timer, value="enabled"),),
            undo=() if setup.enabled.value and setup.active.value else (as_before,),
        )
    )
    return steps
