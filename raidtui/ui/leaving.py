"""The way out: what this session changed for now is offered back, limits and knobs alike."""

from __future__ import annotations

from msgspec.structs import replace

from raidtui.model.plan import Plan
from raidtui.ui.frame.shell import ScreenShell


async def may_leave(shell: ScreenShell) -> bool:
    """Whether the console is left; it asks first where something would be left changed, and restores it."""
    plan = await left(shell)
    if plan is not None and plan_is_real(shell):
        from raidtui.ui.frame.dialog import Question, plan_lines  # noqa: PLC0415

        lines = [[("This session changed what lasts until reboot. As it was before:", "strong")]]
        lines += plan_lines(plan)[1:]
        answers = (("r", "restore and leave"), ("k", "keep and leave"))
        answer = await shell.ask(Question(lines, answers, harmless="stay"))
        if answer == "stay":
            return False
        if answer == "r":
            return await _restored(shell, plan)
    return True


def plan_is_real(shell: ScreenShell) -> bool:
    """Whether what was changed is there after the end: the demo host's is not."""
    return shell.session.root.source != "demo"


async def left(shell: ScreenShell) -> Plan | None:
    """Return the plan that puts back what this session changed for now and nobody has put back, or None.

    A limit that was set as a limit and as a knob goes back to what it was before it was set as a limit.
    """
    if shell.report is None:
        return None
    limits = await shell.session.loop.left_changed()
    tuned = shell.session.tuned
    knobs = await tuned.left() if tuned is not None else None
    if limits is None or knobs is None:
        return limits or knobs
    known = {step.path for step in limits.steps}
    return replace(limits, steps=(*limits.steps, *(step for step in knobs.steps if step.path not in known)))


async def _restored(shell: ScreenShell, plan: Plan) -> bool:
    outcome, _ = await shell.session.loop.execute(plan, is_undo=True)
    if outcome.failed is not None:
        shell.say(outcome.sentence, "bad")
        return False
    if shell.session.tuned is not None:
        await shell.session.tuned.put_back()
    return True
