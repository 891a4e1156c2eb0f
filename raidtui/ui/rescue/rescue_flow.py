"""From an array that does not start to a plan: the guide."""

from __future__ import annotations

from msgspec.structs import replace

from raidtui.host.reading import ReadingProgress, ReadingScope
from raidtui.model.snapshot import Snapshot
from raidtui.model.survey import Survey
from raidtui.rescue.diagnosis import diagnose
from raidtui.rescue.records import RescueArray, RescueFacts
from raidtui.session import storage
from raidtui.ui.frame.choose import Option
from raidtui.ui.frame.plan_flow import Offered, PlanFlow
from raidtui.ui.frame.surveying import Surveying, surveying
from raidtui.ui.rescue.guide_lines import title_of
from raidtui.ui.rescue.guide_rows import GuideRow, guide_rows
from raidtui.ui.rescue.guide_screen import AGAIN, TITLE, GuideScreen
from raidtui.view.text import fit
from raidtui.view.units import counted

_WHICH = "Start or rescue which array?"
_NONE_AT_REST = "no device has a superblock of an array that is not running"
_LOOSE = "-"
"""Stands for the devices without a superblock."""


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
            with surveying(self._shell, snapshot, _scope(snapshot)) as found:
                if uuid is None:
                    uuid = await self.row(found, _WHICH, _at_rest, nothing=_NONE_AT_REST)
                again = uuid is not None and await self._of_array(found, uuid, label)
            report = self._shell.report
            snapshot = report.snapshot if report is not None else snapshot
        if uuid is None:
            self._shell.say("nothing was changed", "plain")

    async def _of_array(self, found: Surveying, uuid: str, label: str) -> bool:
        """Show an array and its ways until one was taken; return whether all is to be read again."""
        key = ""
        while True:
            chosen = await self._page(found, uuid, label, key)
            if chosen is None:
                self._shell.say("nothing was changed", "plain")
                return False
            if chosen == AGAIN:
                return True
            key = chosen
            named = _array_of(found.survey(), uuid)
            names = tuple(member.device for member in named.members) if named is not None else ()
            survey = await found.fresh(TITLE, names)
            row = _row_of(survey, uuid, chosen) if survey is not None else None
            if survey is None:
                self._shell.say("nothing was changed", "plain")
                return False
            if row is None or row.plan is None:
                why = row.way.why_not if row is not None else "it is no longer there"
                self._shell.say(why)
                continue
            plan = replace(row.plan, notes=(row.way.text, *row.plan.notes))
            if await self.offer(plan, survey.devices):
                return False

    async def _page(self, found: Surveying, uuid: str, label: str, key: str) -> str | None:
        screen = GuideScreen(label, key)

        def show(survey: Survey, progress: ReadingProgress) -> None:
            screen.show_array(_array_of(survey, uuid), survey, progress.words)

        return await found.shown(screen, show)


def _scope(snapshot: Snapshot) -> ReadingScope:
    return storage.form_scope("assemble", None, snapshot)


def _array_of(survey: Survey, uuid: str) -> RescueArray | None:
    arrays = diagnose(RescueFacts(survey=survey))
    return next((array for array in arrays if (array.uuid or _LOOSE) == uuid), None)


def _row_of(survey: Survey, uuid: str, key: str) -> GuideRow | None:
    array = _array_of(survey, uuid)
    rows = guide_rows(array, survey) if array is not None else ()
    return next((row for row in rows if row.key == key), None)


def _at_rest(survey: Survey) -> list[Offered]:
    """Return the arrays that do not run, and what has no superblock."""
    found = []
    for array in diagnose(RescueFacts(survey=survey)):
        if not array.running:
            option = Option(key=array.uuid or _LOOSE, words=_array_words(array))
            found.append(Offered(option=option, made=None))
    return found


def _array_words(array: RescueArray) -> str:
    names = " ".join(member.device for member in array.members)
    if array.uuid is None:
        return f"{title_of(array).capitalize()}: {names}"
    there = sum(member.superblock is not None and not member.same_as for member in array.members)
    count = f"{there} of {counted(array.raid_disks, 'member')}" if array.raid_disks else ""
    return f"{fit(title_of(array), 12)} {fit(array.level or '?', 7)} {count}  {names}"
