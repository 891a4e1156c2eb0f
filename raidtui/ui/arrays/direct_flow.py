"""Plans of pane 1 that write the kernel's files at once, without a job: after a question where they harm."""

from __future__ import annotations

from raidtui.model.plan import Plan
from raidtui.ui.frame.screen_shell import ScreenShell


class DirectFlow:
    """Asks, writes, and shows what became of it.

    Args:
        shell: the app.
    """

    def __init__(self, shell: ScreenShell) -> None:
        self._shell = shell

    async def confirm(self, plan: Plan) -> bool:
        """Show a plan and return whether it is to be carried out."""
        from raidtui.ui.frame.dialog import Question, plan_lines  # noqa: PLC0415

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
