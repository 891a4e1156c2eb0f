"""The way out: what this session changed for now is offered back, limits and knobs alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from raidtui.model.plan import Plan

if TYPE_CHECKING:
    from raidtui.ui.app import RaidApp


async def leave(app: RaidApp) -> None:
    """Leave the console; ask first where something would be left changed."""
    plan = await left(app)
    if plan is not None and plan_is_real(app):
        from raidtui.ui.screens.confirm import Question, plan_lines  # noqa: PLC0415

        lines = [[("This session changed what lasts until reboot. As it was before:", "strong")]]
        lines += plan_lines(plan)[1:]
        answers = (("r", "restore and leave"), ("k", "keep and leave"))
        answer = await app.push_screen_wait(Question(lines, answers, harmless="stay"))
        if answer == "stay":
            return
        if answer == "r" and not await _restored(app, plan):
            return
    if app.pulse is not None:
        await app.pulse.stop()
    app.exit(0)


def plan_is_real(app: RaidApp) -> bool:
    """Whether what was changed is there after the end: the demo host's is not."""
    return app.pulse is not None and app.pulse.console.root.source != "demo"


async def left(app: RaidApp) -> Plan | None:
    """Return the plan that puts back what this session changed for now and nobody has put back, or None.

    A limit that was set as a limit and as a knob goes back to what it was before it was set as a limit.
    """
    if app.pulse is None or app.report is None:
        return None
    limits = await app.pulse.left_changed()
    tuned = app.sides.tuned
    knobs = await tuned.left() if tuned is not None else None
    if limits is None or knobs is None:
        return limits or knobs
    known = {step.path for step in limits.steps}
    return replace(limits, steps=(*limits.steps, *(step for step in knobs.steps if step.path not in known)))


async def _restored(app: RaidApp, plan: Plan) -> bool:
    if app.pulse is None:
        return True
    outcome, _ = await app.pulse.execute(plan, is_undo=True)
    if outcome.failed is not None:
        app.main.say(outcome.sentence, "bad")
        return False
    if app.sides.tuned is not None:
        await app.sides.tuned.put_back()
    return True
