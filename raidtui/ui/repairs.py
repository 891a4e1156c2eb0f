"""From a key to a job: choose a member or a device, see the plan, confirm it, follow it.

Everything that reads the host or begins something runs in the host's thread.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from raidtui import desk
from raidtui.actions.build import Draft, plan_build
from raidtui.actions.power import plan_stop
from raidtui.actions.rename import plan_rename
from raidtui.actions.repair import plan_add, plan_fail, plan_re_add, plan_remove, plan_replace
from raidtui.jobs.store import JobError
from raidtui.model.array import Array
from raidtui.model.plan import Plan, Refusal
from raidtui.model.snapshot import Snapshot
from raidtui.model.survey import Device, Survey
from raidtui.model.text import fit, tail
from raidtui.model.units import short_binary
from raidtui.ui.screens.build import BuildScreen
from raidtui.ui.screens.choose import Ask, Choice, Option
from raidtui.ui.screens.job_view import JobView
from raidtui.ui.screens.plan_view import SAVE, PlanView

if TYPE_CHECKING:
    from raidtui.ui.app import RaidApp

Made = Plan | Refusal | None
"""None: nothing is wanted any more."""


class Repairs:
    """The ways from a verb to a job.

    Args:
        app: the console.
    """

    def __init__(self, app: RaidApp) -> None:
        self._app = app

    async def run(self, verb: str, array: Array, snapshot: Snapshot) -> None:
        """Go the whole way of a verb: replace, add, fail, remove, rename or stop."""
        pulse = self._app.pulse
        if pulse is None:
            return
        look = partial(desk.survey, pulse.console.root, snapshot)
        survey = await pulse.work(look)
        made = await self._plan(verb, survey, array)
        if isinstance(made, Refusal):
            self._app.main.say(f"{array.title}: {made.sentence}")
        elif made is not None:
            await self.offer(made)

    async def build(self, snapshot: Snapshot) -> None:
        """Go the whole way of a new array."""
        pulse = self._app.pulse
        if pulse is None:
            return
        draft: Draft | None = None
        while True:
            survey = await pulse.work(partial(desk.survey, pulse.console.root, snapshot))
            draft = await self._app.push_screen_wait(BuildScreen(survey, draft))
            if draft is None:
                self._app.main.say("nothing was built", "plain")
                return
            made = plan_build(draft, survey, desk.new_uuid(), desk.new_file_system_uuid())
            if isinstance(made, Plan):
                await self.offer(made)
                return
            self._app.main.say(made.sentence)

    async def offer(self, plan: Plan) -> None:
        """Show a plan; carry it out where it is confirmed."""
        app, pulse = self._app, self._app.pulse
        answer = await app.push_screen_wait(PlanView(plan))
        if answer is None or pulse is None:
            app.main.say("nothing was changed", "plain")
            return
        if answer == SAVE:
            try:
                path = await pulse.work(lambda: desk.save_script(plan))
            except OSError as error:
                app.main.say(f"the script cannot be written: {error}")
            else:
                app.main.say(f"saved as {path}; nothing was changed", "ok")
            return
        try:
            job_id = await pulse.work(lambda: desk.begin(pulse.console.root, plan))
        except JobError as error:
            app.main.say(str(error), "bad")
            return
        await self.follow(job_id, plan.title)

    async def follow(self, job_id: str, title: str) -> None:
        """Show a job until the view is left, and do what is asked for there."""
        app, pulse = self._app, self._app.pulse
        if pulse is None:
            return
        begun_after = 0
        while True:
            view = JobView(job_id, title, partial(self._news, begun_after))
            order = await app.push_screen_wait(view)
            pulse.look()
            if order is None:
                app.main.say(f"{title}: {view.state or 'goes on; J shows it'}", "plain")
                return
            try:
                begun_after = await pulse.work(partial(_give, order, job_id))
            except JobError as error:
                app.main.say(str(error), "bad")
                return

    async def _news(self, begun_after: int, job_id: str, since: int) -> desk.JobNews:
        pulse = self._app.pulse
        if pulse is None:
            return desk.JobNews(entries=(), state="interrupted")
        return await pulse.work(lambda: desk.news(job_id, since, begun_after))

    async def jobs(self) -> None:
        """Show the jobs that run or were interrupted."""
        pulse = self._app.pulse
        if pulse is None:
            return
        found = await pulse.work(desk.unfinished)
        if not found:
            self._app.main.say("no job runs, and none was interrupted", "plain")
            return
        options = tuple(Option(key=job, words=f"{state:<12} {title}") for job, state, title in found)
        chosen = await self._app.push_screen_wait(Choice("Jobs", options))
        if chosen:
            await self.follow(chosen, next(title for job, _, title in found if job == chosen))

    async def _plan(self, verb: str, survey: Survey, array: Array) -> Made:
        if verb == "stop":
            return plan_stop(survey, array)
        if verb == "rename":
            hint = "The array is stopped for a moment; three digits, or a word."
            name = await self._app.push_screen_wait(Ask(f"A new name for {array.title}", hint))
            return plan_rename(survey, array, name, references=True) if name else None
        if verb in {"fail", "remove"}:
            plan = plan_fail if verb == "fail" else plan_remove
            return await self._choose(
                f"{verb.capitalize()} which member of {array.title}?",
                _members(array, lambda name: plan(survey, array, name)),
            )
        if verb == "add":
            return await self._choose(
                f"Add which device to {array.title}?",
                _devices(survey, lambda name: _added(survey, array, name)),
            )
        return await self._replace(survey, array)

    async def _replace(self, survey: Survey, array: Array) -> Made:
        spares = [member.name for member in array.members if member.has("spare") and member.slot is None]
        news = (*spares, *(name for name in survey.devices if name not in spares))

        def first(name: str) -> Plan | Refusal:
            """Whether a member can be replaced at all shows with any device that would do."""
            made = [plan_replace(survey, array, name, new) for new in news]
            return next(
                (each for each in made if isinstance(each, Plan)),
                made[0] if made else Refusal(why="no device"),
            )

        options = _members(array, first)
        old = await self._app.push_screen_wait(
            Choice(f"Replace which member of {array.title}?", tuple(option for option, _ in options))
        )
        if not old:
            return None
        return await self._choose(
            f"Replace {old} by which device?",
            _devices(survey, lambda name: plan_replace(survey, array, old, name), spares),
        )

    async def _choose(self, title: str, options: list[tuple[Option, Plan | Refusal]]) -> Made:
        chosen = await self._app.push_screen_wait(Choice(title, tuple(option for option, _ in options)))
        return next((made for option, made in options if option.key == chosen), None)


def _give(order: str, job_id: str) -> int:
    """Return how many entries the journal had before a worker was started; 0 for the one that runs."""
    if order == "cancel":
        desk.stop_job(job_id)
        return 0
    return desk.again(job_id, back=order == "rollback")


def _added(survey: Survey, array: Array, name: str) -> Plan | Refusal:
    """Re-add is tried before add: it copies only what changed."""
    again = plan_re_add(survey, array, name)
    return again if isinstance(again, Plan) else plan_add(survey, array, name)


def _members(array: Array, plan: Callable[[str], Plan | Refusal]) -> list[tuple[Option, Plan | Refusal]]:
    found = []
    for member in sorted(array.members, key=lambda each: (each.slot is None, each.slot or 0)):
        made = plan(member.name)
        slot = "spare" if member.slot is None else f"slot {member.slot}"
        words = f"{member.name:<10} {slot:<8} {member.role}"
        found.append((_option(member.name, words, made), made))
    return found


def _devices(
    survey: Survey, plan: Callable[[str], Plan | Refusal], spares: list[str] | None = None
) -> list[tuple[Option, Plan | Refusal]]:
    found = []
    for name in dict.fromkeys((*(spares or ()), *survey.devices)):
        made = plan(name)
        device = survey.devices.get(name)
        found.append((_option(name, _device_words(name, device), made), made))
    return sorted(found, key=lambda each: bool(each[0].refusal))  # what can be taken first


def _device_words(name: str, device: Device | None) -> str:
    if device is None:
        return name
    disk = device.disk
    size = short_binary(disk.size_bytes) if disk.size_bytes else "?"
    has = device.superblock.label if device.superblock else ""
    uses = ", ".join(use.words for use in disk.uses) or ("old member of " + has if has else "empty")
    return (
        f"{name:<10} {size:>6}  {(disk.model or '')[:20]:<20} {fit(tail(disk.identity or '', 14), 14)} {uses}"
    )


def _option(key: str, words: str, made: Plan | Refusal) -> Option:
    return Option(key=key, words=words, refusal=made.sentence if isinstance(made, Refusal) else "")
