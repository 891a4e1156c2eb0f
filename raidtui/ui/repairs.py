"""From a key to a job: choose a member or a device, see the plan, confirm it, follow it.

Everything that reads the host or begins something runs in the host's thread.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct

from raidtui import desk
from raidtui.actions.devices import old_arrays
from raidtui.actions.leave import plan_fail, plan_remove
from raidtui.actions.locate import plan_locate, slot_of
from raidtui.actions.power import plan_stop
from raidtui.actions.rename import plan_rename
from raidtui.actions.repair import plan_add, plan_re_add, plan_replace
from raidtui.jobs.store import JobError
from raidtui.model.array import Array
from raidtui.model.plan import Plan, Refusal
from raidtui.model.snapshot import Snapshot
from raidtui.model.survey import Device, Survey
from raidtui.model.text import fit, tail
from raidtui.model.units import short_binary
from raidtui.ui.screens.choose import Ask, Choice, Option
from raidtui.ui.screens.job_view import JobView
from raidtui.ui.screens.plan_view import SAVE, PlanView

if TYPE_CHECKING:
    from raidtui.ui.app import RaidApp

GOING = "goes on; J shows it"
Made = Plan | Refusal | None
"""None: nothing is wanted any more."""
Tried = Callable[[str, tuple[str, ...]], Plan | Refusal]
"""Returns the plan for a device; the names are of arrays at rest that may be destroyed."""


class Offered(Struct, frozen=True, kw_only=True):
    """A row to choose, and what choosing it would do.

    Args:
        destroys: names of arrays at rest that would be destroyed: they are typed first.
        why: what is said of them.
    """

    option: Option
    made: Plan | Refusal
    destroys: tuple[str, ...] = ()
    why: str = ""


class Repairs:
    """The ways from a verb to a job.

    Args:
        app: the console.
    """

    def __init__(self, app: RaidApp) -> None:
        self._app = app

    async def run(self, verb: str, array: Array, snapshot: Snapshot) -> None:
        """Go the whole way of a verb: replace, add, fail, remove, locate, rename, stop."""
        survey = await self.survey(snapshot)
        if survey is None:
            return
        made = await self._plan(verb, survey, array)
        if isinstance(made, Refusal):
            self._app.main.say(f"{array.title}: {made.sentence}")
        elif made is not None:
            await self.offer(made, survey.devices)

    async def survey(self, snapshot: Snapshot, *, build: bool = False) -> Survey | None:
        """Return the host with all its devices; None where it is not watched any more."""
        pulse = self._app.pulse
        if pulse is None:
            return None
        self._app.main.say("reading what is on the devices …", "dim")
        read = desk.build_survey if build else desk.survey
        survey = await pulse.work(partial(read, pulse.console.root, snapshot))
        self._app.main.say("", "plain")
        return survey

    async def offer(
        self,
        plan: Plan,
        devices: Mapping[str, Device] | None = None,
        *,
        title: str = "",
        right: str = "review",
    ) -> bool:
        """Show a plan; carry it out where it is confirmed. False: it was looked at, and left."""
        app, pulse = self._app, self._app.pulse
        answer = await app.push_screen_wait(PlanView(plan, devices, title=title, right=right))
        if answer is None or pulse is None:
            app.main.say("nothing was changed", "plain")
            return False
        if answer == SAVE:
            try:
                path = await pulse.work(lambda: desk.save_script(plan))
            except OSError as error:
                app.main.say(f"the script cannot be written: {error}")
            else:
                app.main.say(f"saved as {path}; nothing was changed", "ok")
            return True
        try:
            job_id = await pulse.work(lambda: desk.begin(pulse.console.root, plan))
        except JobError as error:
            app.main.say(str(error), "bad")
            return True
        await self.follow(job_id, plan.title)
        return True

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
                app.main.say(f"{title}: {GOING if view.state in {'', 'goes on'} else view.state}", "plain")
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
            return await self.choose(
                f"{verb.capitalize()} which member of {array.title}?",
                _members(survey, array, lambda name: plan(survey, array, name)),
            )
        if verb == "locate":
            return await self.choose(
                f"The light of which disk of {array.title}?",
                _members(survey, array, lambda name: plan_locate(survey, name)),
            )
        if verb == "add":
            return await self.choose(
                f"Add which device to {array.title}?",
                offered_devices(survey, lambda name, destroys: _added(survey, array, name, destroys)),
            )
        return await self._replace(survey, array)

    async def _replace(self, survey: Survey, array: Array) -> Made:
        spares = [member.name for member in array.members if member.has("spare") and member.slot is None]
        news = (*spares, *(name for name in survey.devices if name not in spares))

        def first(name: str) -> Plan | Refusal:
            """Whether a member can be replaced at all shows with any device that would do."""
            made = [plan_replace(survey, array, name, new, destroys=labels_on(survey, new)) for new in news]
            return next(
                (each for each in made if isinstance(each, Plan)),
                made[0] if made else Refusal(why="no device"),
            )

        options = tuple(each.option for each in _members(survey, array, first))
        old = await self._app.push_screen_wait(Choice(f"Replace which member of {array.title}?", options))
        if not old:
            return None
        return await self.choose(
            f"Replace {old} by which device?",
            offered_devices(
                survey,
                lambda name, destroys: plan_replace(survey, array, old, name, destroys=destroys),
                spares,
            ),
        )

    async def choose(self, title: str, offered: list[Offered]) -> Made:
        """Let one choose; what would be destroyed for good is typed before."""
        chosen = await self._app.push_screen_wait(Choice(title, tuple(each.option for each in offered)))
        found = next((each for each in offered if each.option.key == chosen), None)
        if found is None:
            return None
        for label in found.destroys:
            asked = Ask("To destroy that array for good, type its name", found.why)
            typed = await self._app.push_screen_wait(asked)
            if typed != label:
                self._app.main.say("nothing was changed", "plain")
                return None
        return found.made


def labels_on(survey: Survey, name: str) -> tuple[str, ...]:
    """Return the names of the arrays at rest that have a member on a device."""
    device = survey.devices.get(name)
    found = old_arrays((device,), survey).values() if device is not None else ()
    return tuple(dict.fromkeys(block.label for block, _ in found))


def offered_devices(survey: Survey, plan: Tried, spares: list[str] | None = None) -> list[Offered]:
    """Return all devices as rows, those first that can be taken."""
    found = []
    for name in dict.fromkeys((*(spares or ()), *survey.devices)):
        words = _device_words(name, survey.devices.get(name))
        made = plan(name, ())
        labels = labels_on(survey, name)
        doomed = plan(name, labels) if labels and isinstance(made, Refusal) else made
        if isinstance(made, Refusal) and isinstance(doomed, Plan):
            option = Option(key=name, words=words)
            found.append(Offered(option=option, made=doomed, destroys=labels, why=made.why))
        else:
            found.append(Offered(option=_option(name, words, made), made=made))
    return sorted(found, key=lambda each: bool(each.option.refusal))


def _give(order: str, job_id: str) -> int:
    """Return how many entries the journal had before a worker was started; 0 for the one that runs."""
    if order == "cancel":
        desk.stop_job(job_id)
        return 0
    return desk.again(job_id, back=order == "rollback")


def _added(survey: Survey, array: Array, name: str, destroys: tuple[str, ...]) -> Plan | Refusal:
    """Re-add is tried before add: it copies only what changed."""
    again = plan_re_add(survey, array, name)
    return again if isinstance(again, Plan) else plan_add(survey, array, name, destroys=destroys)


def _which(device: Device | None) -> str:
    """What tells a member's disk from its neighbours, as far as it is known."""
    if device is None:
        return ""
    model, identity, slot = device.disk.model or "", device.disk.identity, slot_of(device)
    return f"{fit(model, 16)}  {fit(tail(identity, 11), 11)}  {tail(slot, 11)}".rstrip()


def _members(survey: Survey, array: Array, plan: Callable[[str], Plan | Refusal]) -> list[Offered]:
    found = []
    for member in sorted(array.members, key=lambda each: (each.slot is None, each.slot or 0)):
        made = plan(member.name)
        slot = "spare" if member.slot is None else f"slot {member.slot}"
        words = f"{member.name:<10} {slot:<8} {member.role:<9} {_which(survey.devices.get(member.name))}"
        found.append(Offered(option=_option(member.name, words, made), made=made))
    return found


def _device_words(name: str, device: Device | None) -> str:
    if device is None:
        return name
    disk = device.disk
    size = short_binary(disk.size_bytes) if disk.size_bytes else "?"
    has = device.superblock.label if device.superblock else ""
    uses = ", ".join(use.words for use in disk.uses) or ("superblock of " + has if has else "empty")
    return (
        f"{name:<10} {size:>6}  {(disk.model or '')[:20]:<20} {fit(tail(disk.identity or '', 14), 14)} {uses}"
    )


def _option(key: str, words: str, made: Plan | Refusal) -> Option:
    return Option(key=key, words=words, refusal=made.sentence if isinstance(made, Refusal) else "")
