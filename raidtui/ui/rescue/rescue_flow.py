"""From an array that does not start to a plan: the guide."""

from __future__ import annotations

from msgspec.structs import replace

from raidtui.host.reading import ReadingProgress
from raidtui.model.snapshot import Snapshot
from raidtui.model.survey import Survey
from raidtui.rescue.records import RescueArray
from raidtui.session import storage
from raidtui.ui.frame.choose import Choice, Option
from raidtui.ui.frame.plan_flow import PlanFlow
from raidtui.ui.frame.surveying import Surveying, surveying
from raidtui.ui.rescue.diagnosing import LOOSE, Diagnosing
from raidtui.ui.rescue.guide_lines import title_of
from raidtui.ui.rescue.guide_rows import guide_rows
from raidtui.ui.rescue.guide_screen import AGAIN, TITLE, GuideScreen
from raidtui.view.text import fit
from raidtui.view.units import counted

_WHICH = "Start or rescue which array?"
_NONE_AT_REST = "no device has a superblock of an array that is not running"


class RescueFlow(PlanFlow):
    """From a key to a job, for arrays that do not start."""

    async def guide(self, snapshot: Snapshot, uuid: str | None = None, label: str = "") -> None:
        """Say what happened to an array, and offer the ways back.

        Args:
            snapshot: the host.
            uuid: of the array, if one was chosen.
            label: what it is called.
        """
        again = True
        while again:
            scope = storage.form_scope("assemble", None, snapshot)
            with surveying(self._shell, snapshot, scope) as found:
                known = Diagnosing(self._shell.session, found)
                try:
                    if uuid is None:
                        uuid = await self._which(found, known)
                    again = uuid is not None and await self._of_array(found, known, uuid, label)
                finally:
                    known.close()
            report = self._shell.report
            snapshot = report.snapshot if report is not None else snapshot
        if uuid is None:
            self._shell.say("nothing was changed", "plain")

    async def _which(self, found: Surveying, known: Diagnosing) -> str | None:
        """Ask for an array that does not run."""
        choice = Choice(_WHICH, nothing=_NONE_AT_REST)

        def show(survey: Survey, progress: ReadingProgress) -> None:
            words = known.words(progress)
            arrays = known.arrays(survey) if progress.ready else ()
            choice.show_options(
                tuple(
                    Option(key=array.uuid or LOOSE, words=_array_words(array))
                    for array in arrays
                    if not array.running
                ),
                words,
            )

        return await found.shown(choice, show)

    async def _of_array(self, found: Surveying, known: Diagnosing, uuid: str, label: str) -> bool:
        """Show an array and its ways until one was taken; return whether all is to be read again."""
        key = ""
        while True:
            chosen = await self._page(found, known, uuid, label, key)
            if chosen is None:
                self._shell.say("nothing was changed", "plain")
                return False
            if chosen == AGAIN:
                return True
            key = chosen
            array = known.array(found.survey(), uuid)
            names = tuple(member.device for member in array.members) if array is not None else ()
            survey = await found.fresh(TITLE, names)
            if survey is None:
                self._shell.say("nothing was changed", "plain")
                return False
            array = known.array(survey, uuid)
            rows = guide_rows(array, survey) if array is not None else ()
            row = next((each for each in rows if each.key == chosen), None)
            if row is None or row.plan is None:
                self._shell.say(row.way.why_not if row is not None else "it is no longer there")
                continue
            plan = replace(row.plan, notes=(row.way.text, *row.plan.notes))
            if await self.offer(plan, survey.devices):
                return False

    async def _page(self, found: Surveying, known: Diagnosing, uuid: str, label: str, key: str) -> str | None:
        screen = GuideScreen(label, key)

        def show(survey: Survey, progress: ReadingProgress) -> None:
            words = known.words(progress)
            screen.show_array(known.array(survey, uuid), survey, words)

        return await found.shown(screen, show)


def _array_words(array: RescueArray) -> str:
    names = " ".join(member.device for member in array.members)
    if array.uuid is None:
        return f"{title_of(array).capitalize()}: {names}"
    there = sum(member.superblock is not None and not member.same_as for member in array.members)
    count = f"{there} of {counted(array.raid_disks, 'member')}" if array.raid_disks else ""
    return f"{fit(title_of(array), 12)} {fit(array.level or '?', 7)} {count}  {names}"
