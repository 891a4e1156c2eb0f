"""Plans that begin with devices and not with an array: build, zero a superblock."""

from __future__ import annotations

from msgspec.structs import replace

from raidtui.features.create.screen.wizard_screen import TITLE, WizardScreen
from raidtui.frame.plan_flow import Offered, PlanFlow, labels_on, offered_devices
from raidtui.frame.surveying import Surveying, surveying
from raidtui.model.plan import Plan, Refusal
from raidtui.model.snapshot import Snapshot
from raidtui.model.survey import Survey
from raidtui.plans.create.create_plan import new_array_words
from raidtui.plans.leave import plan_zero_superblock
from raidtui.plans.wizard.build_warnings import Gravity, warnings_of
from raidtui.plans.wizard.wizard_draft import WizardDraft, plan_draft
from raidtui.plans.wizard.wizard_steps import DEVICES, PAGE
from raidtui.watch import storage

_NO_SUPERBLOCK = "no device has an md superblock"


class BuildFlow(PlanFlow):
    """From a key to a job, for plans that begin with devices."""

    async def build(self, snapshot: Snapshot) -> None:
        """Build a new array: wizard, review, job. In the review, Esc leads back to the last step."""
        with surveying(self._shell, snapshot, storage.form_scope("build", None, snapshot)) as found:
            await self._build(found)

    async def _build(self, found: Surveying) -> None:
        draft: WizardDraft | None = None
        step, said = DEVICES, ""
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
            step, said = PAGE, ""
            uuid = storage.new_uuid()
            made = plan_draft(draft, survey, uuid, storage.new_file_system_uuid())
            made = made if isinstance(made, Refusal) else await self.tried(made)
            if isinstance(made, Refusal):
                said = made.sentence
            else:
                title = f"{TITLE}: {new_array_words(draft.name, draft.level, len(draft.slots))}"
                grave = any(each.weight is Gravity.STOP for each in warnings_of(draft, survey))
                self._shell.expect_array(uuid)
                if await self.offer(made, survey.devices, title=title, asks_name=grave or bool(made.losses)):
                    return
                self._shell.expect_array(None)

    async def zero(self, snapshot: Snapshot) -> None:
        """Zero a superblock: choose the device, review, job."""
        with surveying(self._shell, snapshot, storage.form_scope("zero-superblock", None, snapshot)) as found:
            title = "Which device's md superblock is zeroed?"
            made, devices = await self.choose(found, title, _with_superblock, nothing=_NO_SUPERBLOCK)
        await self.end(made, devices)


def _with_superblock(survey: Survey) -> list[Offered]:
    found = {name: each for name, each in survey.devices.items() if each.superblock is not None}
    return offered_devices(replace(survey, devices=found), lambda name, _: _zeroed(survey, name))


def _zeroed(survey: Survey, name: str) -> Plan | Refusal:
    """The plan asks for the array's name, so it is not asked for before; what hangs on it is said there."""
    made = plan_zero_superblock(survey, name)
    given = plan_zero_superblock(survey, name, destroys=labels_on(survey, name))
    if isinstance(made, Plan) or isinstance(given, Refusal):
        return made
    return replace(given, warning=f"{made.why}. {given.warning}")
