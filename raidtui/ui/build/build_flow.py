"""Plans that begin with devices and not with an array: build, assemble, zero a superblock."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from raidtui.model.plan import Plan, Refusal
from raidtui.model.snapshot import Snapshot
from raidtui.model.survey import Device, Survey
from raidtui.plans.assemble import StartMethod, start_methods, stopped_arrays
from raidtui.plans.create.create_plan import new_array_words
from raidtui.plans.leave import plan_zero_superblock
from raidtui.plans.wizard.wizard_draft import WizardDraft, plan_draft
from raidtui.plans.wizard.wizard_steps import REVIEW, asked
from raidtui.session import storage
from raidtui.ui.build.wizard_screen import TITLE, WizardScreen
from raidtui.ui.frame.choose import Option
from raidtui.ui.frame.plan_flow import Made, Offered, PlanFlow, labels_on, offered_devices
from raidtui.ui.frame.surveying import Surveying, surveying

_ASSEMBLE = "Assemble which array?"
_NONE_AT_REST = "no device has a superblock of an array that is not running"
_NO_SUPERBLOCK = "no device has an md superblock"


class BuildFlow(PlanFlow):
    """From a key to a job, for plans that begin with devices."""

    async def build(self, snapshot: Snapshot) -> None:
        """Build a new array: wizard, review, job. In the review, Esc leads back to the last step."""
        with surveying(self._shell, snapshot, storage.form_scope("build", None, snapshot)) as found:
            await self._build(found)

    async def _build(self, found: Surveying) -> None:
        draft: WizardDraft | None = None
        step, said = "devices", ""
        survey = Survey(snapshot=found.snapshot)
        while True:
            screen = WizardScreen(survey, draft, step=step, said=said)
            taken = await found.shown(
                screen,
                lambda survey, progress, screen=screen: screen.show_survey(  # type: ignore[misc]
                    survey, progress.words, ready=progress.ready
                ),
            )
            fresh = await found.fresh(TITLE, taken.named) if taken is not None else None
            if taken is None or fresh is None:
                self._shell.say("nothing was built", "plain")
                return
            draft, survey = taken, fresh
            steps = asked(draft, survey)
            step, said = steps[-1], ""
            uuid = storage.new_uuid()
            made = plan_draft(draft, survey, uuid, storage.new_file_system_uuid())
            if isinstance(made, Refusal):
                said = made.sentence
            else:
                number = len(steps) + 1
                title = f"{TITLE}: {new_array_words(draft.name, draft.level, len(draft.slots))}"
                right = f"step {number} of {number}: {REVIEW}"
                self._shell.expect_array(uuid)
                if await self.offer(made, survey.devices, title=title, right=right):
                    return
                self._shell.expect_array(None)

    async def begin(self, verb: str, snapshot: Snapshot, uuid: str | None) -> None:
        """Assemble the array with this UUID, or one that is chosen; or zero a superblock.

        Args:
            verb: assemble, zero.
            snapshot: the host.
            uuid: of the array to assemble, if one was chosen.
        """
        if verb == "assemble":
            await self.assemble(snapshot, uuid)
        else:
            await self.zero(snapshot)

    async def assemble(self, snapshot: Snapshot, uuid: str | None = None) -> None:
        """Start an array that is not running: choose it, choose how, review, job.

        Args:
            snapshot: the host.
            uuid: of the array that was chosen before, if one was.
        """
        with surveying(self._shell, snapshot, storage.form_scope("assemble", None, snapshot)) as found:
            if uuid is not None:
                survey = await found.read(_ASSEMBLE)
                if survey is None:
                    return
                if all(each.block.uuid != uuid for each in stopped_arrays(survey)):
                    uuid = None
            if uuid is None:
                uuid = await self.row(found, _ASSEMBLE, _at_rest, nothing=_NONE_AT_REST)
            at_rest = {each.block.uuid: each for each in stopped_arrays(found.survey())}
            array = at_rest.get(uuid) if uuid else None
            made: Made = None
            devices: Mapping[str, Device] = {}
            if array is not None:
                made, devices = await self.choose(
                    found,
                    f"How to start {array.block.label}?",
                    lambda survey: _start_methods(survey, uuid or ""),
                    names=lambda _: array.names,
                )
        await self.end(made, devices)

    async def zero(self, snapshot: Snapshot) -> None:
        """Zero a superblock: choose the device, review, job."""
        with surveying(self._shell, snapshot, storage.form_scope("zero-superblock", None, snapshot)) as found:
            title = "Zero the md superblock of which device?"
            made, devices = await self.choose(found, title, _with_superblock, nothing=_NO_SUPERBLOCK)
        await self.end(made, devices)


def _at_rest(survey: Survey) -> list[Offered]:
    return [
        Offered(option=Option(key=each.block.uuid or "", words=each.words), made=None)
        for each in stopped_arrays(survey)
    ]


def _start_methods(survey: Survey, uuid: str) -> list[Offered]:
    found = (each for each in stopped_arrays(survey) if each.block.uuid == uuid)
    return [_start_method(method) for array in found for method in start_methods(array, survey)]


def _with_superblock(survey: Survey) -> list[Offered]:
    found = {name: each for name, each in survey.devices.items() if each.superblock is not None}
    return offered_devices(replace(survey, devices=found), lambda name, _: _zeroed(survey, name))


def _start_method(method: StartMethod) -> Offered:
    """Return the row of a start method; its note is shown again where it is confirmed."""
    made = method.made
    if isinstance(made, Refusal):
        return Offered(option=Option(key=method.key, words=method.words, refusal=made.sentence), made=made)
    option = Option(key=method.key, words=method.words, note=method.note)
    return Offered(option=option, made=replace(made, notes=(method.note, *made.notes)))


def _zeroed(survey: Survey, name: str) -> Plan | Refusal:
    """The plan asks for the array's name, so it is not asked for before; what hangs on it is said there."""
    made = plan_zero_superblock(survey, name)
    given = plan_zero_superblock(survey, name, destroys=labels_on(survey, name))
    if isinstance(made, Plan) or isinstance(given, Refusal):
        return made
    return replace(given, warning=f"{made.why}. {given.warning}")
