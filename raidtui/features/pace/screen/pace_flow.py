"""``y``: let the sync of an array yield to its users; asks for the latency, shows what is written."""

from __future__ import annotations

from raidtui.features.pace.session import end_pacing, start_pacing, typed_request
from raidtui.frame.choose import Ask
from raidtui.frame.dialog import Question
from raidtui.frame.screen_shell import ScreenShell
from raidtui.jobs.lock import JobError
from raidtui.model.array import Array
from raidtui.model.pace import PaceNews, PaceRequest
from raidtui.model.plan import Plan, Refusal
from raidtui.plans.pace_plan import plan_pace
from raidtui.plans.pace_words import pace_sentence
from raidtui.view.line import Line
from raidtui.view.text import visible
from raidtui.view.wrapping import labelled
from raidtui.watch.watch import Report

_WIDTH = 72
_HINT = (
    "Milliseconds that 99 of 100 requests may take, such as 20. If the sync has to end in time, add"
    " the hours: 20 24. It moves the limits of this array; they come back at the end."
)


class PaceFlow:
    """Begins or ends the pacing of one array.

    Args:
        shell: the app.
    """

    def __init__(self, shell: ScreenShell) -> None:
        self._shell = shell

    async def run(self, array: Array, report: Report) -> None:
        """Begin it, or end the one that is under way."""
        if (news := report.pacing.get(array.key)) is not None:
            await self._end(array, news)
            return
        text = await self._shell.ask(Ask(f"Which latency to hold on {array.title}?", _HINT))
        if text is None:
            self._shell.say("nothing was changed", "plain")
            return
        request = typed_request(array, text, self._shell.now_s())
        if isinstance(request, str):
            self._shell.say(request)
            return
        plan = plan_pace(report.snapshot, request)
        if isinstance(plan, Refusal):
            self._shell.say(f"{array.title}: {plan.sentence}")
        elif await self._shell.ask(Question(_lines(plan.title, plan.notes), (("y", "do it"),))) == "y":
            await self._begin(array, plan, request)
        else:
            self._shell.say("nothing was changed", "plain")

    async def _begin(self, array: Array, plan: Plan, request: PaceRequest) -> None:
        session = self._shell.session
        try:
            with self._shell.writing():
                await session.loop.on_disk_thread(lambda: start_pacing(session.reader, plan, request))
        except JobError as error:
            self._shell.say(str(error), "bad")
            return
        session.loop.sample_soon()
        self._shell.say(f"{array.title}: {plan.title}; y ends it", "ok")

    async def _end(self, array: Array, news: PaceNews) -> None:
        words = (pace_sentence(news, self._shell.now_s()), "At its end, the previous limits return.")
        title = f"{array.title} is paced"
        if await self._shell.ask(Question(_lines(title, words), (("y", "end the pacing"),))) != "y":
            self._shell.say("nothing was changed", "plain")
            return
        session = self._shell.session
        with self._shell.writing():
            why = await session.loop.on_disk_thread(lambda: end_pacing(news))
        session.loop.sample_soon()
        self._shell.say(why or f"{array.title}: the limits are as before the pacing", "bad" if why else "ok")


def _lines(title: str, sentences: tuple[str, ...]) -> list[Line]:
    lines: list[Line] = [[(visible(title), "strong")], []]
    for each in sentences:
        lines += labelled("· ", each, _WIDTH)
    return lines
