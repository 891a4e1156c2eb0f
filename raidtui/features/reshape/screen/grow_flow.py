"""From key G to a job: another shape for an array that runs."""

from __future__ import annotations

from functools import partial

from raidtui.features.reshape.backup_places import propose_backup, read_backup_place
from raidtui.features.reshape.plan.backup_place import BackupPlace
from raidtui.features.reshape.plan.grow_draft import GrowDraft, plan_of_draft
from raidtui.features.reshape.screen.grow_screen import GrowScreen
from raidtui.frame.choose import Ask
from raidtui.frame.plan_flow import PlanFlow, labels_on
from raidtui.frame.surveying import Surveying, surveying
from raidtui.model.array import Array
from raidtui.model.plan import Refusal
from raidtui.model.snapshot import Snapshot
from raidtui.model.survey import Survey
from raidtui.watch import storage


class GrowFlow(PlanFlow):
    """The page, the review, the job."""

    async def run(self, array: Array, snapshot: Snapshot) -> None:
        """Give an array another shape. In the review, Esc leads back to the page."""
        with surveying(self._shell, snapshot, storage.form_scope("grow", array, snapshot)) as found:
            await self._run(found, array)

    async def _run(self, found: Surveying, array: Array) -> None:
        draft: GrowDraft | None = None
        survey, said = Survey(snapshot=found.snapshot), ""
        while True:
            screen = GrowScreen(survey, array, draft, said=said, places=partial(self._place, array))
            chosen = await found.shown(
                screen,
                lambda survey, progress, screen=screen: screen.show_survey(  # type: ignore[misc]
                    survey, progress.words, ready=progress.ready
                ),
            )
            members = tuple(member.name for member in array.members)
            fresh = (
                await found.fresh(array.title, (*members, *chosen.devices)) if chosen is not None else None
            )
            if chosen is None or fresh is None:
                self._shell.say("nothing was changed", "plain")
                return
            draft, survey, said = chosen, fresh, ""
            labels = dict.fromkeys(label for name in chosen.devices for label in labels_on(survey, name))
            for label in labels:
                why = "A chosen device belongs to it, and it does not run."
                if await self._shell.ask(Ask(f"To destroy {label} for good, type its name", why)) != label:
                    said = f"{label} stays: choose another device"
                    break
            if said:
                continue
            made = plan_of_draft(
                survey, survey.snapshot.array(array.key) or array, chosen, destroys=tuple(labels)
            )
            if isinstance(made, Refusal):
                said = made.sentence
            elif await self.offer(made, survey.devices):
                return

    async def _place(self, array: Array, path: str, survey: Survey) -> BackupPlace:
        """Look at the place of a backup file, in a thread that monitoring does not wait for."""
        loop, apart = self._shell.session.loop, self._shell.session.reader.thread_safe_copy()
        reader = apart or self._shell.session.reader

        def look() -> BackupPlace:
            return read_backup_place(reader, path) if path else propose_backup(reader, survey, array)

        return await (loop.on_host_thread(look) if apart is None else loop.on_disk_thread(look))
