"""From an array that does not start to a plan: the guide."""

from __future__ import annotations

from functools import partial

from msgspec.structs import replace

from raidtui.features.rescue.mdadm_words import Recreation
from raidtui.features.rescue.records import RescueArray, WayCode
from raidtui.features.rescue.screen.copy_flow import CopyFlow
from raidtui.features.rescue.screen.diagnosing import LOOSE, Diagnosing
from raidtui.features.rescue.screen.guide_lines import title_of
from raidtui.features.rescue.screen.guide_pages import here_only, left_words, trial_words, without_root
from raidtui.features.rescue.screen.guide_rows import GuideRow, guide_rows
from raidtui.features.rescue.screen.guide_screen import AGAIN, LAST, TITLE, GuideScreen
from raidtui.features.rescue.screen.proof_screen import PLAN, TRY_AGAIN
from raidtui.features.rescue.screen.search_screen import SearchScreen
from raidtui.features.rescue.screen.trial_flow import Fresh, TrialFlow
from raidtui.features.rescue.search.results import CandidateEvidence
from raidtui.features.rescue.session_search import SearchRun
from raidtui.features.rescue.session_trials import KnownTrial, TrialWish, last_trial, open_trial
from raidtui.features.rescue.trial.trial_request import TrialMethod
from raidtui.frame.choose import Choice, Option
from raidtui.frame.pages import WhyScreen
from raidtui.frame.surveying import Surveying, surveying
from raidtui.host.readers.host_reader import READONLY
from raidtui.host.reading import ReadingProgress
from raidtui.model.snapshot import Snapshot
from raidtui.model.survey import Survey
from raidtui.view.text import fit
from raidtui.view.units import counted
from raidtui.watch import storage

_WHICH = "Start or rescue which array?"
_TRIAL = "trial"
"""Stands for the trial that runs, or of which something is left."""
_NOTHING_MORE = ""
_NONE_AT_REST = "no device has a superblock of an array that is not running"


class RescueFlow(TrialFlow):
    """From a key to a job, for arrays that do not start."""

    async def guide(self, snapshot: Snapshot, uuid: str | None = None, label: str = "") -> None:
        """Say what happened to an array, and offer the ways back.

        Args:
            snapshot: the host.
            uuid: of the array, if one was chosen.
            label: what it is called.
        """
        root = self._shell.session.root
        if root.live and not root.writable:
            await self._shell.ask(WhyScreen(TITLE, without_root(snapshot)))
            self._shell.say(READONLY if root.readonly else "nothing was changed", "plain")
            return
        again = True
        while again:
            scope = replace(storage.form_scope("assemble", None, snapshot), members=True)
            with surveying(self._shell, snapshot, scope) as found:
                known = Diagnosing(self._shell.session, found)
                try:
                    if uuid is None:
                        uuid = await self._which(found, known)
                    again = (
                        uuid is not None
                        and uuid != _NOTHING_MORE
                        and await self._of_array(found, known, uuid, label)
                    )
                finally:
                    known.close()
            report = self._shell.report
            snapshot = report.snapshot if report is not None else snapshot
        if uuid is None:
            self._shell.say("nothing was changed", "plain")

    async def _which(self, found: Surveying, known: Diagnosing) -> str | None:
        """Ask for an array that does not run."""
        choice = Choice(_WHICH, nothing=_NONE_AT_REST)
        opened = await self._shell.session.loop.on_disk_thread(self._open_trial)
        first = (Option(key=_TRIAL, words=trial_words(opened)),) if opened is not None else ()

        def show(survey: Survey, progress: ReadingProgress) -> None:
            words = known.words(progress)
            arrays = known.arrays(survey) if progress.ready else ()
            rows = (
                Option(key=array.uuid or LOOSE, words=_array_words(array))
                for array in arrays
                if not array.running
            )
            choice.show_options((*first, *rows), words)

        chosen = await found.shown(choice, show)
        if chosen != _TRIAL or opened is None:
            return chosen
        names = opened.record.request.made.devices
        if not await self._found_again(opened, lambda: found.fresh(TITLE, names)):
            self._shell.say("nothing was written to the members", "plain")
        return _NOTHING_MORE

    def _open_trial(self) -> KnownTrial | None:
        return None if here_only(self._shell.session.root) else open_trial()

    async def _of_array(self, found: Surveying, known: Diagnosing, uuid: str, label: str) -> bool:
        """Show an array and its ways until one was taken; return whether all is to be read again."""
        key = ""

        async def fresh() -> Survey | None:
            array = known.array(found.survey(), uuid)
            names = tuple(member.device for member in array.members) if array is not None else ()
            return await found.fresh(TITLE, names)

        while True:
            array = known.array(found.survey(), uuid)
            names = tuple(member.device for member in array.members) if array is not None else ()
            only = here_only(self._shell.session.root)
            last = (
                None
                if only
                else await self._shell.session.loop.on_disk_thread(partial(last_trial, uuid, names))
            )
            page = GuideScreen(label, key, last, here_only=only)
            chosen = await self._page(found, known, uuid, page)
            if chosen is None:
                self._shell.say(left_words(last), "plain")
                return False
            if chosen == AGAIN:
                return True
            if chosen == LAST:
                if last is not None and await self._found_again(last, fresh):
                    return False
                continue
            key = chosen
            survey = await fresh()
            if survey is None:
                self._shell.say("nothing was changed", "plain")
                return False
            row = self._row(known, survey, uuid, key)
            if row is None or not row.enters:
                self._shell.say(row.way.why_not if row is not None else "it is no longer there")
            elif row.copy:
                if await CopyFlow(self._shell).copy(found, row.copy):
                    return False
            elif row.search:
                if await self._search(row.search, known.array(survey, uuid), survey, fresh):
                    return False
            elif row.trial is not None:
                array = known.array(survey, uuid)
                name = title_of(array) if array is not None else label
                looks = row.way.code is WayCode.LOOK
                wish = TrialWish(made=row.trial, method=row.method, label=f"{row.words}: {name}", files=looks)
                if await self.attempt(wish, fresh):
                    return False
            elif row.plan is not None:
                plan = replace(row.plan, notes=(row.way.text, *row.plan.notes))
                if await self.offer(plan, survey.devices):
                    return False

    async def _search(
        self, names: tuple[str, ...], array: RescueArray | None, survey: Survey, fresh: Fresh
    ) -> bool:
        """Search for a geometry, try the one that is chosen; return whether that led to its end."""
        root = self._shell.session.root
        if not root.live:
            self._shell.say("a simulated or captured host has no content of disks")
            return False
        run = SearchRun(root.thread_safe_copy() or root, survey, names)
        run.start()
        name = title_of(array) if array is not None and array.name else "rescued"
        uuid = (array.uuid if array is not None else None) or storage.new_uuid()
        while True:
            geometry = await self._shell.ask(SearchScreen(run, name))
            if geometry is None:
                return False
            made = Recreation(geometry=geometry, uuid=uuid, name=name, homehost=survey.homehost)
            words = f"raid{geometry.level} of {' '.join(geometry.order)}"
            seen = run.result.evidence_of(geometry) if run.result is not None else CandidateEvidence()
            wish = TrialWish(made=made, method=TrialMethod.OVERLAYS, label=words, evidence=seen)
            if await self.attempt(wish, fresh):
                return True

    async def _found_again(self, trial: KnownTrial, fresh: Fresh) -> bool:
        """Follow a trial that was left, or show what it has shown; return whether its plan was taken."""
        if trial.runs and not await self.watch(trial.job_id):
            return True
        taken = await self.proof(trial.job_id, fresh)
        if taken != TRY_AGAIN:
            return taken == PLAN
        request = trial.record.request
        wish = TrialWish(
            made=request.made, method=request.method, label=request.label, evidence=request.evidence
        )
        return await self.attempt(wish, fresh)

    @staticmethod
    def _row(known: Diagnosing, survey: Survey, uuid: str, key: str) -> GuideRow | None:
        array = known.array(survey, uuid)
        rows = guide_rows(array, survey) if array is not None else ()
        return next((each for each in rows if each.key == key), None)

    @staticmethod
    async def _page(found: Surveying, known: Diagnosing, uuid: str, screen: GuideScreen) -> str | None:
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
