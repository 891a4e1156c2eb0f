"""Flows from a key to a job: choose a device, review the plan, follow the job.

A form is shown at once; what it needs is read meanwhile, in other threads than monitoring. What was chosen is
read again before its plan is made or refused.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterable, Mapping
from functools import partial
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from raidtui.frame.choose import Ask, Choice, Option
from raidtui.frame.plan_view import SAVE, JobView, PlanView
from raidtui.frame.screen_shell import ScreenShell
from raidtui.frame.surveying import Surveying
from raidtui.host.reading import ReadingProgress
from raidtui.jobs.lock import JobError
from raidtui.jobs.states import UNDER_WAY, JobState
from raidtui.jobs.store import JobLine
from raidtui.jobs.writable import refuse_unwritable
from raidtui.model.array import Array
from raidtui.model.plan import Plan, Refusal, RefusalCode
from raidtui.model.survey import Device, Survey
from raidtui.plans.candidates import old_arrays, word_of
from raidtui.plans.locate import slot_of
from raidtui.view.text import fit, tail
from raidtui.view.units import short_size
from raidtui.watch import storage

GOING = "continues; J shows it"
Made = Plan | Refusal | None
"""A plan, why there is none, or None where the flow was left."""
Tried = Callable[[str, tuple[str, ...]], Plan | Refusal]
"""Returns the plan for a device; the names are those of stopped arrays that it may destroy."""
Judge = Callable[[Survey], "list[Offered]"]
"""Returns the rows, judged by what has been read."""
_GONE = Refusal(code=RefusalCode.NOT_FOUND, why="it is no longer there")


class Offered(Struct, frozen=True, kw_only=True):
    """A row to choose, and its plan or refusal.

    Args:
        destroys: names of stopped arrays that would be destroyed: each has to be typed.
        why: shown where they are typed.
    """

    option: Option
    made: Made
    destroys: tuple[str, ...] = ()
    why: str = ""


class PlanFlow:
    """What all flows from a key to a job share.

    Args:
        shell: the app.
    """

    def __init__(self, shell: ScreenShell) -> None:
        self._shell = shell

    async def end(self, made: Made, devices: Mapping[str, Device], *, of: str = "") -> None:
        """Offer a plan, or show the refusal.

        Args:
            made: the plan or refusal.
            devices: the devices, by kernel name.
            of: what a refusal begins with.
        """
        if isinstance(made, Refusal):
            self._shell.say(f"{of}{made.sentence}")
        elif made is not None:
            await self.offer(made, devices)
        else:
            self._shell.say("nothing was changed", "plain")

    async def tried(self, plan: Plan) -> Plan | Refusal:
        """Return a plan, or why a folder that one of its steps writes to takes nothing."""
        loop = self._shell.session.loop
        return (
            await loop.on_disk_thread(lambda: refuse_unwritable(plan)) if loop.reader.live else None
        ) or plan

    async def offer(
        self,
        plan: Plan,
        devices: Mapping[str, Device] | None = None,
        *,
        title: str = "",
        right: str = "review",
        asks_name: bool | None = None,
    ) -> bool:
        """Show a plan; start its job where it is confirmed. Return False where the review was left.

        The arguments are those of ``PlanView``.
        """
        shell, session = self._shell, self._shell.session
        if isinstance(refusal := await self.tried(plan), Refusal):
            shell.say(refusal.sentence)
            return False
        right = f"demo · {right}" if session.plays else right
        answer = await shell.ask(PlanView(plan, devices, title=title, right=right, asks_name=asks_name))
        if answer is None:
            shell.say("nothing was changed", "plain")
            return False
        if answer == SAVE and session.plays:
            shell.say("not saved: the demo host is simulated, and its plan must not run on a real one")
            return True
        await (self.save(plan) if answer == SAVE else self.carry_out(plan))
        return True

    async def save(self, plan: Plan) -> None:
        """Save a plan as a script."""
        shell = self._shell
        try:
            with shell.writing():
                path = await shell.session.loop.on_disk_thread(lambda: storage.save_script(plan))
        except OSError as error:
            shell.say(f"the script cannot be written: {error}")
        else:
            shell.say(f"saved as {path}; nothing was changed", "ok")

    async def carry_out(self, plan: Plan) -> None:
        """Make a job of a plan that was confirmed, and follow it."""
        shell, session = self._shell, self._shell.session
        try:
            with shell.writing():
                job_id = await (
                    session.loop.on_host_thread(lambda: session.played.start(plan))
                    if session.plays
                    else session.loop.on_disk_thread(lambda: storage.start_job(session.reader, plan))
                )
        except JobError as error:
            shell.say(str(error), "bad")
            return
        await self.began(job_id)
        await self.follow(job_id, plan.title)

    async def began(self, job_id: str) -> None:
        """Do what a flow keeps of a job that has begun: nothing, as a rule."""

    async def resume(self, job_id: str, title: str) -> None:
        """Resume a job that was interrupted, and follow it."""
        begun_after = await self._given("resume", job_id)
        if begun_after is not None:
            await self.follow(job_id, title, begun_after=begun_after)

    async def _given(self, command: str, job_id: str) -> int | None:
        """Cancel, resume or roll back a job; return how many entries it had, None where it was refused."""
        shell, session = self._shell, self._shell.session
        try:
            with shell.writing():
                return await (
                    session.loop.on_host_thread(partial(session.played.give, command, job_id))
                    if session.plays
                    else session.loop.on_disk_thread(partial(_give, command, job_id))
                )
        except JobError as error:
            shell.say(str(error), "bad")
            return None

    async def follow(self, job_id: str, title: str, *, begun_after: int = 0) -> None:
        """Show a job until its view is closed; cancel, resume or roll it back as asked there.

        Args:
            job_id: the job.
            title: its plan's.
            begun_after: how many entries there were before the worker was started that is waited for.
        """
        shell, session = self._shell, self._shell.session
        while True:
            view = JobView(job_id, title, partial(self._news, begun_after), acts=not session.reader.readonly)
            command = await shell.ask(view)
            session.loop.sample_soon()
            if command is None:
                shell.say(f"{title}: {GOING if view.state in UNDER_WAY else view.state}", "plain")
                return
            if view.backs and view.state is JobState.DONE:
                hint = (
                    "Its steps are undone, last one first. Where a step can no longer be undone, the reason"
                    " is shown."
                )
                typed = await shell.ask(Ask(f"To undo {title}, type undo", hint))
                if typed != "undo":
                    continue
            given = await self._given(command, job_id)
            if given is None:
                return
            begun_after = given

    async def _news(self, begun_after: int, job_id: str, since: int) -> storage.JobNews:
        session = self._shell.session
        if session.plays:
            return await session.loop.on_host_thread(partial(session.played.news, job_id, since))
        return await session.loop.on_disk_thread(lambda: storage.job_news(job_id, since, begun_after))

    async def ask_while(self, choice: Choice, filling: Coroutine[Any, Any, None]) -> str | None:
        """Ask with a choice, while its rows are being read; return the key of the chosen one."""
        task = asyncio.ensure_future(filling)
        try:
            return await self._shell.ask(choice)
        finally:
            task.cancel()

    async def typed(self, labels: Iterable[str], why: str) -> bool:
        """Let the names of stopped arrays be typed that a plan destroys; return whether all were.

        Args:
            labels: the names, or UUIDs.
            why: why each is asked for.
        """
        for label in labels:
            asked = Ask("To destroy that array for good, type its name", why)
            if await self._shell.ask(asked) != label:
                return False
        return True

    async def jobs(self) -> None:
        """Show the last jobs, running and interrupted ones first, and follow the chosen one."""
        session = self._shell.session
        choice = Choice("Jobs", nothing="there are no jobs yet")
        choice.show_options((), "reading the jobs …")
        found: tuple[JobLine, ...] = ()

        async def fill() -> None:
            nonlocal found
            found = await (
                session.loop.on_host_thread(session.played.lines)
                if session.plays
                else session.loop.on_disk_thread(storage.recent_jobs if session.reader.live else tuple)
            )
            choice.show_options(tuple(_job_option(job) for job in found))

        if chosen := await self.ask_while(choice, fill()):
            await self.follow(chosen, next(job.title for job in found if job.id == chosen))

    async def choose(
        self,
        found: Surveying,
        title: str,
        judge: Judge,
        *,
        names: Callable[[str], tuple[str, ...]] = lambda name: (name,),
        nothing: str = "there is nothing to choose",
    ) -> tuple[Made, Mapping[str, Device]]:
        """Ask for a row, read its devices again, and return its plan or refusal by that, and the devices.

        Args:
            found: the reading.
            title: the question.
            judge: makes the rows.
            names: returns the devices that a row is about, by its key.
            nothing: shown where there is no row.
        """
        chosen = await self.row(found, title, judge, names=names, nothing=nothing)
        survey = await found.fresh(title, names(chosen)) if chosen else None
        if survey is None:
            return None, {}
        offered = next((each for each in judge(survey) if each.option.key == chosen), None)
        if offered is None:
            return _GONE, {}
        if not await self.typed(offered.destroys, offered.why):
            return None, {}
        return offered.made, survey.devices

    async def row(
        self,
        found: Surveying,
        title: str,
        judge: Judge,
        *,
        names: Callable[[str], tuple[str, ...]] = lambda name: (name,),
        nothing: str = "there is nothing to choose",
    ) -> str | None:
        """Ask for a row, while rows are being read; return its key. Arguments as for ``choose``."""
        choice = Choice(title, nothing=nothing, again=lambda key: found.again(names(key)))

        def show(survey: Survey, progress: ReadingProgress) -> None:
            rows = judge(survey) if progress.ready else ()
            choice.show_options(tuple(each.option for each in rows), progress.words)

        return await found.shown(choice, show)


def _job_option(job: JobLine) -> Option:
    if job.state is JobState.NOT_TRUSTED:
        return Option(key=job.id, words=f"{job.state:<12} {job.id}", refusal=job.title)
    at = time.strftime("%d %b %H:%M", time.localtime(job.made_s)) if job.made_s else ""
    return Option(key=job.id, words=f"{job.state:<12} {at:<12}  {job.title}")


def _give(command: str, job_id: str) -> int:
    """Cancel, resume or roll back; return the number of journal entries before the worker started, else 0."""
    if command == "cancel":
        storage.cancel_job(job_id)
        return 0
    return storage.restart_job(job_id, back=command == "rollback")


def labels_on(survey: Survey, name: str) -> tuple[str, ...]:
    """Return what is typed to destroy the stopped arrays with a member on a device: names, or UUIDs."""
    device = survey.devices.get(name)
    found = old_arrays((device,), survey).values() if device is not None else ()
    return tuple(dict.fromkeys(word_of(block, survey) for block, _ in found))


def offered_devices(survey: Survey, plan: Tried, spares: list[str] | None = None) -> list[Offered]:
    """Return all devices as rows, those that can be chosen first."""
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
    size = short_size(disk.size_bytes) if disk.size_bytes else "?"
    has = device.superblock.label if device.superblock else ""
    uses = ", ".join(use.words for use in disk.uses) or ("superblock of " + has if has else "empty")
    if unread:
        uses = "not read yet"
    return (
        f"{name:<10} {size:>6}  {(disk.model or '')[:20]:<20} {fit(tail(disk.identity or '', 14), 14)} {uses}"
    )


def offered_members(
    survey: Survey, array: Array, plan: Callable[[Survey, Array, str], Plan | Refusal | None]
) -> list[Offered]:
    """Return the members of an array as rows, by slot, with what their choice would do.

    Args:
        survey: the host.
        array: the array.
        plan: returns the plan of a member, or why there is none.
    """
    now, found = survey.snapshot.array(array.key) or array, []
    for member in sorted(now.members, key=lambda each: (each.slot is None, each.slot or 0)):
        made = plan(survey, now, member.name)
        is_spare = member.has("spare") and not member.has("faulty")
        slot = f"slot {member.slot}" if member.slot is not None else "spare" if is_spare else "no slot"
        words = f"{member.name:<10} {slot:<8} {member.role:<9} {_which(survey.devices.get(member.name))}"
        found.append(Offered(option=option_of(member.name, words, made), made=made))
    return found


def _which(device: Device | None) -> str:
    """Return model, serial number and slot of a member's disk, as far as known."""
    if device is None:
        return ""
    model, identity, slot = device.disk.model or "", device.disk.identity, slot_of(device)
    return f"{fit(model, 16)}  {fit(tail(identity, 11), 11)}  {tail(slot, 11)}".rstrip()


def option_of(key: str, words: str, made: Made) -> Option:
    """Return a row, with the refusal of what choosing it would do."""
    return Option(key=key, words=words, refusal=made.sentence if isinstance(made, Refusal) else "")
