"""From a choice to a job: offer a plan, follow the job that carries it out, choose a device for it.

The form is there at once; what it needs to know is read meanwhile, in other threads than the watching. What
was chosen is read again, and judged by that, before its plan is shown or refused.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from raidtui.host.reading import ReadingProgress
from raidtui.jobs.lock import JobError
from raidtui.jobs.states import UNDER_WAY
from raidtui.jobs.store import JobLine
from raidtui.model.plan import Plan, Refusal, RefusalCode
from raidtui.model.survey import Device, Survey
from raidtui.plans.candidates import old_arrays, word_of
from raidtui.session import storage
from raidtui.ui.frame.choose import Ask, Choice, Option
from raidtui.ui.frame.job_view import JobView
from raidtui.ui.frame.plan_view import SAVE, PlanView
from raidtui.ui.frame.screen_shell import ScreenShell
from raidtui.ui.frame.surveying import Surveying
from raidtui.view.text import fit, tail
from raidtui.view.units import short_binary

GOING = "goes on; J shows it"
Made = Plan | Refusal | None
"""None: nothing is wanted any more."""
Tried = Callable[[str, tuple[str, ...]], Plan | Refusal]
"""Returns the plan for a device; the names are of arrays at rest that may be destroyed."""
Judge = Callable[[Survey], "list[Offered]"]
"""Returns the rows by what has been read."""
_GONE = Refusal(code=RefusalCode.NOT_FOUND, why="it is not there any more")


class Offered(Struct, frozen=True, kw_only=True):
    """A row to choose, and what choosing it would do.

    Args:
        destroys: names of arrays at rest that would be destroyed: they are typed first.
        why: what is said of them.
    """

    option: Option
    made: Made
    destroys: tuple[str, ...] = ()
    why: str = ""


class PlanFlow:
    """What every flow from a key to a job does alike.

    Args:
        shell: the app.
    """

    def __init__(self, shell: ScreenShell) -> None:
        self._shell = shell

    async def end(self, made: Made, devices: Mapping[str, Device], *, of: str = "") -> None:
        """Offer a plan, or say why there is none.

        Args:
            made: the plan, or the refusal, that a flow returned.
            devices: what is known of the devices.
            of: what a refusal begins with.
        """
        if isinstance(made, Refusal):
            self._shell.say(f"{of}{made.sentence}")
        elif made is not None:
            await self.offer(made, devices)
        else:
            self._shell.say("nothing was changed", "plain")

    async def offer(
        self,
        plan: Plan,
        devices: Mapping[str, Device] | None = None,
        *,
        title: str = "",
        right: str = "review",
    ) -> bool:
        """Show a plan; carry it out where it is confirmed. False: it was looked at, and left."""
        shell, session = self._shell, self._shell.session
        answer = await shell.ask(PlanView(plan, devices, title=title, right=right))
        if answer is None:
            shell.say("nothing was changed", "plain")
            return False
        if answer == SAVE:
            try:
                path = await session.loop.aside(lambda: storage.save_script(plan))
            except OSError as error:
                shell.say(f"the script cannot be written: {error}")
            else:
                shell.say(f"saved as {path}; nothing was changed", "ok")
            return True
        await self.carry_out(plan)
        return True

    async def carry_out(self, plan: Plan) -> None:
        """Make a job of a plan that was confirmed, and follow it."""
        shell, session = self._shell, self._shell.session
        try:
            job_id = await session.loop.aside(lambda: storage.start_job(session.root, plan))
        except JobError as error:
            shell.say(str(error), "bad")
            return
        await self.follow(job_id, plan.title)

    async def follow(self, job_id: str, title: str) -> None:
        """Show a job until the view is left, and do what is asked for there."""
        shell, session = self._shell, self._shell.session
        begun_after = 0
        while True:
            view = JobView(job_id, title, partial(self._news, begun_after))
            order = await shell.ask(view)
            session.loop.look()
            if order is None:
                shell.say(f"{title}: {GOING if view.state in UNDER_WAY else view.state}", "plain")
                return
            try:
                begun_after = await session.loop.aside(partial(_give, order, job_id))
            except JobError as error:
                shell.say(str(error), "bad")
                return

    async def _news(self, begun_after: int, job_id: str, since: int) -> storage.JobNews:
        return await self._shell.session.loop.aside(lambda: storage.job_news(job_id, since, begun_after))

    async def jobs(self) -> None:
        """Show the last jobs; those that run or were interrupted first."""
        session = self._shell.session
        choice = Choice("Jobs", nothing="there was no job yet")
        choice.show_options((), "reading the jobs …")
        found: tuple[JobLine, ...] = ()

        async def fill() -> None:
            nonlocal found
            found = await session.loop.aside(storage.recent_jobs)
            choice.show_options(tuple(Option(key=job.id, words=_job_words(job)) for job in found))

        filling = asyncio.ensure_future(fill())
        try:
            chosen = await self._shell.ask(choice)
        finally:
            filling.cancel()
        if chosen:
            await self.follow(chosen, next(job.title for job in found if job.id == chosen))

    async def choose(
        self,
        found: Surveying,
        title: str,
        judge: Judge,
        *,
        names: Callable[[str], tuple[str, ...]] = lambda name: (name,),
        nothing: str = "there is nothing to choose from",
    ) -> tuple[Made, Mapping[str, Device]]:
        """Let one choose, read that again, and judge it by that; what would be destroyed is typed before.

        Args:
            found: what is read.
            title: what is asked.
            judge: the rows.
            names: the devices that a row is about.
            nothing: what is said where there is no row.
        """
        chosen = await self.row(found, title, judge, names=names, nothing=nothing)
        survey = await found.fresh(title, names(chosen)) if chosen else None
        if survey is None:
            return None, {}
        offered = next((each for each in judge(survey) if each.option.key == chosen), None)
        if offered is None:
            return _GONE, {}
        for label in offered.destroys:
            asked = Ask("To destroy that array for good, type its name", offered.why)
            typed = await self._shell.ask(asked)
            if typed != label:
                return None, {}
        return offered.made, survey.devices

    async def row(
        self,
        found: Surveying,
        title: str,
        judge: Judge,
        *,
        names: Callable[[str], tuple[str, ...]] = lambda name: (name,),
        nothing: str = "there is nothing to choose from",
    ) -> str | None:
        """Let one choose a row, while they come in; return its key. See ``choose``."""
        choice = Choice(title, nothing=nothing, again=lambda key: found.again(names(key)))

        def show(survey: Survey, progress: ReadingProgress) -> None:
            rows = judge(survey) if progress.ready else ()
            choice.show_options(tuple(each.option for each in rows), progress.words)

        return await found.shown(choice, show)


def _job_words(job: JobLine) -> str:
    at = time.strftime("%d %b %H:%M", time.localtime(job.made_s)) if job.made_s else ""
    return f"{job.state:<12} {at:<12}  {job.title}"


def _give(order: str, job_id: str) -> int:
    """Return how many entries the journal had before a worker was started; 0 for the one that runs."""
    if order == "cancel":
        storage.cancel_job(job_id)
        return 0
    return storage.restart_job(job_id, back=order == "rollback")


def labels_on(survey: Survey, name: str) -> tuple[str, ...]:
    """Return what is typed to give up the arrays at rest that have a member on a device: names, or UUIDs."""
    device = survey.devices.get(name)
    found = old_arrays((device,), survey).values() if device is not None else ()
    return tuple(dict.fromkeys(word_of(block, survey) for block, _ in found))


def offered_devices(survey: Survey, plan: Tried, spares: list[str] | None = None) -> list[Offered]:
    """Return all devices as rows, those first that can be taken."""
    found = []
    for name in dict.fromkeys((*(spares or ()), *survey.devices)):
        unread = survey.refuse_unread(name) is not None
        words = _device_words(name, survey.devices.get(name), unread=unread)
        made = plan(name, ())
        labels = labels_on(survey, name)
        doomed = plan(name, labels) if labels and isinstance(made, Refusal) else made
        if isinstance(made, Refusal) and isinstance(doomed, Plan):
            option = Option(key=name, words=words)
            found.append(Offered(option=option, made=doomed, destroys=labels, why=made.why))
        else:
            option = option_of(name, words, made)
            option = replace(option, pending=survey.is_pending(name, made))
            found.append(Offered(option=option, made=made))
    return sorted(found, key=lambda each: bool(each.option.refusal) and not each.option.pending)


def _device_words(name: str, device: Device | None, *, unread: bool) -> str:
    if device is None:
        return name
    disk = device.disk
    size = short_binary(disk.size_bytes) if disk.size_bytes else "?"
    has = device.superblock.label if device.superblock else ""
    uses = ", ".join(use.words for use in disk.uses) or ("superblock of " + has if has else "empty")
    if unread:
        uses = "not read yet"
    return (
        f"{name:<10} {size:>6}  {(disk.model or '')[:20]:<20} {fit(tail(disk.identity or '', 14), 14)} {uses}"
    )


def option_of(key: str, words: str, made: Made) -> Option:
    """Return a row, with the refusal of what choosing it would do."""
    return Option(key=key, words=words, refusal=made.sentence if isinstance(made, Refusal) else "")
