"""Quitting: offers to restore what this session changed until reboot, limits and knobs."""

from __future__ import annotations

from raidtui.app.registry import FEATURES
from raidtui.frame.screen_shell import ScreenShell
from raidtui.model.plan import Plan
from raidtui.view.line import Line


async def may_leave(shell: ScreenShell) -> bool:
    """Return whether to quit; asks first where changes would remain, and restores them if wanted."""
    if not await shell.session.loop.answers():
        return not shell.session.loop.has_written or await _leaves_unrestored(shell)
    plan = await left(shell)
    if plan is not None and plan_is_real(shell):
        from raidtui.frame.dialog import Question, plan_lines  # noqa: PLC0415

        lines = [[("This session made changes that last until reboot. To restore them:", "strong")]]
        lines += plan_lines(plan)[1:]
        answers = (("r", "restore and quit"), ("k", "keep and quit"))
        answer = await shell.ask(Question(lines, answers, harmless="stay"))
        if answer == "stay":
            return False
        if answer == "r":
            return await _restored(shell, plan)
    return True


def plan_is_real(shell: ScreenShell) -> bool:
    """Whether changes last after the end: those of the demo host do not."""
    return shell.session.reader.source != "demo"


async def left(shell: ScreenShell) -> Plan | None:
    """Return the plan that restores what this session set until reboot and was not restored, or None."""
    if shell.report is None:
        return None
    plan = await shell.session.loop.left_changed()
    for feature in FEATURES:
        if plan is not None and feature.unrestored is not None:
            plan = await feature.unrestored(shell.session, plan)
    return plan


async def _leaves_unrestored(shell: ScreenShell) -> bool:
    """Whether the console is left though the kernel does not answer: nothing can be read or restored."""
    from raidtui.frame.dialog import Question  # noqa: PLC0415

    lines: list[Line] = [
        [("The kernel does not answer.", "strong")],
        [("What this session set cannot be restored now; it lasts until reboot.", "plain")],
    ]
    return await shell.ask(Question(lines, (("l", "leave"),), harmless="stay")) == "l"


async def _restored(shell: ScreenShell, plan: Plan) -> bool:
    with shell.writing():
        outcome, _ = await shell.session.loop.execute(plan, is_undo=True)
        if outcome.failed is not None:
            shell.say(outcome.sentence, "bad")
            return False
        await shell.session.loop.on_host_thread(shell.session.loop.watch.record.drop_own)
    return True
