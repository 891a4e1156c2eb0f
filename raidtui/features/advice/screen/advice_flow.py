"""What is done with advice: its plan is shown, or it is ignored with a reason."""

from __future__ import annotations

from raidtui.features.advice.advice import Advice
from raidtui.features.advice.ignored import Ignored, IgnoredError
from raidtui.features.advice.session import AdviceSession, mending
from raidtui.frame.choose import Ask, Choice, Option
from raidtui.frame.plan_flow import PlanFlow
from raidtui.frame.screen_shell import ScreenShell
from raidtui.frame.surveying import surveying
from raidtui.watch import storage

_ENDS = {"30": "for 30 days", "365": "for a year", "": "for good"}


async def mend(shell: ScreenShell, each: Advice) -> None:
    """Show the plan that fixes it, and carry it out if it is confirmed.

    Args:
        shell: the app.
        each: the advice, with an order.
    """
    report = shell.report
    if report is None:
        return
    snapshot = report.snapshot
    if each.order[:2] != ("plan", "bitmap"):
        of = f"{each.subject}: " if each.order[1] == "boot" else ""
        await PlanFlow(shell).end(await shell.plan_of(each.order), {}, of=of)
        return
    array = next((array for array in snapshot.arrays if array.title == each.subject), None)
    with surveying(shell, snapshot, storage.form_scope(each.order[1], array, snapshot)) as found:
        survey = await found.read(each.subject)
        mended = None if survey is None else mending(survey, each)
    await PlanFlow(shell).end(mended, {}, of=f"{each.subject}: ")


async def ignore(shell: ScreenShell, advice: AdviceSession, each: Advice) -> None:
    """Ask for how long and why, and ignore it.

    Args:
        shell: the app.
        advice: what keeps it.
        each: the advice.
    """
    options = tuple(Option(key=days or "always", words=words) for days, words in _ENDS.items())
    chosen = await shell.ask(Choice("Ignore this advice for how long?", options))
    if chosen is None:
        shell.say("nothing was changed", "plain")
        return
    hint = "For others, and for yourself in a year; may be empty. The advice returns when it gets worse."
    why = await shell.ask(Ask("Why is it ignored?", hint, text="", most=200))
    if why is None:
        shell.say("nothing was changed", "plain")
        return
    days = None if chosen == "always" else float(chosen)
    try:
        with shell.writing():
            await advice.ignore(each, days, why)
    except IgnoredError as error:
        shell.say(str(error), "bad")
        return
    shell.say(f"ignored {_ENDS[chosen if days else '']}; a shows it", "ok")


async def unignore(shell: ScreenShell, advice: AdviceSession, each: Advice, row: Ignored) -> None:
    """Say it again.

    Args:
        shell: the app.
        advice: what keeps it.
        each: the advice.
        row: by what it is ignored.
    """
    try:
        with shell.writing():
            await advice.unignore(row)
    except IgnoredError as error:
        shell.say(str(error), "bad")
        return
    shell.say(f"no longer ignored: {each.text}", "ok")
