"""The ways that begin with devices and not with an array: build one, assemble one, wipe a superblock."""

from __future__ import annotations

from msgspec.structs import replace

from raidtui import desk
from raidtui.actions.assembly import Way, arrays_at_rest, ways
from raidtui.actions.leave import plan_zero_superblock
from raidtui.actions.wizard.steps import REVIEW, Draft, asked, plan_build
from raidtui.model.plan import Plan, Refusal
from raidtui.model.snapshot import Snapshot
from raidtui.model.survey import Survey
from raidtui.ui.repairs import Offered, Repairs, labels_on, offered_devices
from raidtui.ui.screens.build import TITLE, BuildScreen
from raidtui.ui.screens.choose import Choice, Option


class Building(Repairs):
    """See the module."""

    async def build(self, snapshot: Snapshot) -> None:
        """Go the whole way of a new array; from the review Esc leads back to the last step."""
        draft: Draft | None = None
        step, said = "devices", ""
        while True:
            survey = await self.survey(snapshot, build=True)
            if survey is None:
                return
            draft = await self._app.push_screen_wait(BuildScreen(survey, draft, step=step, said=said))
            if draft is None:
                self._app.main.say("nothing was built", "plain")
                return
            steps = asked(draft, survey)
            step, said = steps[-1], ""
            made = plan_build(draft, survey, desk.new_uuid(), desk.new_file_system_uuid())
            if isinstance(made, Refusal):
                said = made.sentence
            else:
                number = len(steps) + 1
                title = f"{TITLE}: {made.title.removeprefix('create: ')}"
                right = f"step {number} of {number}: {REVIEW}"
                if await self.offer(made, survey.devices, title=title, right=right):
                    return

    async def assemble(self, snapshot: Snapshot, uuid: str | None = None) -> None:
        """Go the whole way of starting an array that is there and does not run.

        Args:
            snapshot: the host.
            uuid: of the array that was chosen before, if one was.
        """
        survey = await self.survey(snapshot)
        if survey is None:
            return
        found = arrays_at_rest(survey)
        if not found:
            self._app.main.say("no device has a superblock of an array that does not run", "plain")
            return
        array = next((each for each in found if uuid is not None and each.block.uuid == uuid), None)
        if array is None:
            options = tuple(Option(key=str(number), words=each.words) for number, each in enumerate(found))
            chosen = await self._app.push_screen_wait(Choice("Assemble which array?", options))
            if not chosen:
                return
            array = found[int(chosen)]
        made = await self.choose(
            f"How shall {array.block.label} start?", [_way(each) for each in ways(array, survey)]
        )
        if isinstance(made, Plan):
            await self.offer(made, survey.devices)

    async def zero(self, snapshot: Snapshot) -> None:
        """Go the whole way of wiping a superblock."""
        survey = await self.survey(snapshot)
        if survey is None:
            return
        found = {name: each for name, each in survey.devices.items() if each.superblock is not None}
        if not found:
            self._app.main.say("no device has an md superblock", "plain")
            return
        made = await self.choose(
            "Wipe md's superblock from which device?",
            offered_devices(replace(survey, devices=found), lambda name, _: _zeroed(survey, name)),
        )
        if isinstance(made, Plan):
            await self.offer(made, survey.devices)


def _way(way: Way) -> Offered:
    """What is known of a way is said again where it is confirmed."""
    made = way.made
    if isinstance(made, Refusal):
        return Offered(option=Option(key=way.words, words=way.words, refusal=made.sentence), made=made)
    option = Option(key=way.words, words=way.words, note=way.note)
    return Offered(option=option, made=replace(made, notes=(way.note, *made.notes)))


def _zeroed(survey: Survey, name: str) -> Plan | Refusal:
    """The plan asks for the array's name, so it is not asked for before; what hangs on it is said there."""
    made = plan_zero_superblock(survey, name)
    given = plan_zero_superblock(survey, name, destroys=labels_on(survey, name))
    if isinstance(made, Plan) or isinstance(given, Refusal):
        return made
    return replace(given, warning=f"{made.why}. {given.warning}")
