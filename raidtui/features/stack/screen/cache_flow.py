"""The dialog of key c in the stack: a cache is written back or detached, by a job."""

from __future__ import annotations

from raidtui.features.stack.plan_caches import flush_and_detach
from raidtui.features.stack.session import StackSession
from raidtui.frame.choose import Choice, Option
from raidtui.frame.plan_flow import PlanFlow
from raidtui.frame.screen_shell import ScreenShell
from raidtui.model.plan import Plan, Refusal


async def offer_caches(shell: ScreenShell) -> None:
    """Ask what to do with which cache, show the plan, and carry it out if it is confirmed.

    Args:
        shell: the app.
    """
    report = shell.report
    if report is None:
        return
    snapshot = report.snapshot
    choice = Choice("Caches", nothing="no cache is known here")
    choice.show_options((), "reading the caches …")
    caches = await shell.session.of(StackSession).caches(snapshot)
    made: dict[str, Plan | Refusal] = {}
    options = []
    for cache in caches:
        for key, words, planner in flush_and_detach(cache):
            name = f"{key} {cache.name}"
            plan = made[name] = planner(snapshot, cache)
            refusal = plan.sentence if isinstance(plan, Refusal) else ""
            options.append(Option(key=name, words=words, refusal=refusal))
    choice.show_options(tuple(options))
    chosen = await shell.ask(choice)
    await PlanFlow(shell).end(made.get(chosen) if chosen else None, {})
