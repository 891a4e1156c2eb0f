"""From an array that does not start to a plan: the guide, with its diagnosis while it is made, and copies."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial

from msgspec.structs import replace

from raidtui.features.rescue import copies
from raidtui.features.rescue.copy_plan import plan_copy
from raidtui.features.rescue.diagnosis import diagnose
from raidtui.features.rescue.mdadm_words import Recreation
from raidtui.features.rescue.records import RescueArray, RescueFacts, WayCode
from raidtui.features.rescue.screen.following_pages import SearchScreen
from raidtui.features.rescue.screen.guide_lines import title_of
from raidtui.features.rescue.screen.guide_rows import GuideRow, guide_rows
from raidtui.features.rescue.screen.guide_screen import AGAIN, LAST, TITLE, GuideScreen
from raidtui.features.rescue.screen.trial_flow import Fresh, TrialFlow
from raidtui.features.rescue.screen.trial_pages import PLAN, TRY_AGAIN
from raidtui.features.rescue.search.results import CandidateEvidence
from raidtui.features.rescue.session import look_closer
from raidtui.features.rescue.session_search import SearchRun
from raidtui.features.rescue.session_trials import KnownTrial, TrialWish, last_trial, open_trial
from raidtui.features.rescue.trial.trial_record import TrialMethod
from raidtui.frame.choose import Ask, Choice, Option
from raidtui.frame.pages import WhyScreen
from raidtui.frame.plan_flow import Judge, Offered, PlanFlow, offered_devices
from raidtui.frame.surveying import Surveying, surveying
from raidtui.host.readers.host_reader import READONLY, HostReader
from raidtui.host.reading import ReadingProgress
from raidtui.jobs.lock import JobError
from raidtui.model.plan import Plan, Refusal
from raidtui.model.snapshot import Snapshot
from raidtui.model.survey import Survey
from raidtui.view.text import fit, visible
from raidtui.view.units import counted, joined
from raidtui.watch import storage
from raidtui.watch.session import Session

LOOSE = "-"
"""Stands for the devices without a superblock."""
_CLOSER = "looking at the devices and their SMART …"
_FILE = "/"
"""Stands for an image file: no device is called so."""
_NO_DEVICE = ""
_WHICH = "Start or rescue which array?"
_TRIAL = "trial"
"""Stands for the trial that runs, or of which something is left."""
_NOTHING_MORE = ""
_NONE_AT_REST = "no device has a superblock of an array that is not running"


class Diagnosing:
    """One diagnosis of the host, for one flow.

    Args:
        session: of the host.
        found: the reading of its devices.
    """

    def __init__(self, session: Session, found: Surveying) -> None:
        self._session = session
        self._found = found
        self._facts: RescueFacts | None = None
        self._closer: asyncio.Future[None] | None = None

    def close(self) -> None:
        """End it; what is being read is no longer waited for."""
        if self._closer is not None:
            self._closer.cancel()

    def words(self, progress: ReadingProgress) -> str:
        """Return what is still being read, and look closer once all superblocks have been read."""
        if not progress.enough:
            return progress.words or "reading …"
        if self._closer is None:
            self._closer = asyncio.ensure_future(self._look_closer())
        return "" if self._facts is not None else _CLOSER

    async def _look_closer(self) -> None:
        survey, reader = self._found.survey(), self._session.reader
        apart = reader.thread_safe_copy()
        run = self._session.loop.on_host_thread if apart is None else self._session.loop.on_disk_thread
        self._facts = await run(lambda: look_closer(apart or reader, survey, self._found.snapshot))
        self._found.draw_again()

    def facts(self, survey: Survey) -> RescueFacts:
        """Return what is known; of the devices themselves, what was seen when they were looked at."""
        if self._facts is None:
            return RescueFacts(survey=survey)
        return replace(
            self._facts, survey=replace(survey, silent={**self._facts.survey.silent, **survey.silent})
        )

    def arrays(self, survey: Survey) -> tuple[RescueArray, ...]:
        """Return the arrays, and the devices without a superblock."""
        return diagnose(self.facts(survey))

    def array(self, survey: Survey, uuid: str) -> RescueArray | None:
        """Return an array by its UUID; ``LOOSE`` for the devices without a superblock."""
        return next((each for each in self.arrays(survey) if (each.uuid or LOOSE) == uuid), None)


def here_only(reader: HostReader) -> str:
    """Return why no way back can be gone on a host, a sentence; "" where they can."""
    if reader.source == "demo":
        return "This is the demo host, which is simulated: nothing can be tried on it."
    return "" if reader.writable else "This is a capture: it is done on the host itself."


def trial_words(trial: KnownTrial) -> str:
    """Return what a trial is called among the arrays."""
    what = (
        "a trial that runs"
        if trial.runs
        else "a trial that is held"
        if trial.held
        else "what is left of a trial"
    )
    return f"{what}: {trial.record.request.label}"


def left_words(last: KnownTrial | None) -> str:
    """Return what is said where the guide was left: a trial that is there stays."""
    if last is None or not (last.runs or last.left):
        return "nothing was changed"
    return (
        "the trial continues; a shows it"
        if last.runs
        else "the trial is there until it is taken down; a shows it"
    )


def without_root(snapshot: Snapshot) -> list[str]:
    """Return what can be said without reading superblocks, a paragraph each."""
    here = "Only root can read superblocks: sudo raidtui."
    if snapshot.host.readonly:
        here = (
            "A read-only console (--readonly) reads no superblocks; raidtui rescue reads them,"
            " and writes nothing."
        )
    page = [here, "Without them, what happened is not known, and no way back can be tried.", ""]
    for absent in snapshot.absent:
        names = joined([member.name for member in absent.members if member.present])
        words = f"{absent.title}: {absent.count_short}" + (f" ({names})" if names else "")
        page.append(visible(words))
    if not snapshot.absent:
        page.append("udev knows no array that is not running.")
    if not snapshot.host.readonly:
        page += ["", "raidtui rescue reads them, too, and writes nothing; it needs root as well."]
    return page


class CopyFlow(PlanFlow):
    """From a disk that fails to its copy."""

    async def copy(self, found: Surveying, names: tuple[str, ...]) -> bool:
        """Ask for the target, review, and start the copy; return False where it was left.

        Args:
            found: the reading of the host.
            names: kernel names of the disks that fail.
        """
        source: str | None = names[0]
        if len(names) > 1:
            options = tuple(Option(key=name, words=name) for name in names)
            source = await self._shell.ask(Choice("Copy which disk first?", options))
        if not source:
            return False
        target = await self.row(found, f"Copy {source} to what?", self._targets(source))
        if target is None:
            return False
        path = ""
        if target == _FILE:
            hint = "The image file, with its full path. Its folder needs room for the whole disk."
            path = await self._shell.ask(Ask(f"Copy {source} to which file?", hint, most=200)) or ""
            if not path.startswith("/"):
                self._shell.say("nothing was changed: give the file's full path", "plain")
                return False
        named = (source,) if path else (source, target)
        survey = await found.fresh(f"Copy {source}", named)
        if survey is None:
            return False
        made = self._plan(survey, source, _NO_DEVICE if path else target, path)
        if isinstance(made, Refusal):
            self._shell.say(made.sentence)
            return True
        return await self.offer(made, survey.devices)

    def _plan(self, survey: Survey, source: str, target: str, path: str = "") -> Plan | Refusal:
        return plan_copy(survey, copies.copy_request(self._shell.session.reader, source, target, path))

    def _targets(self, source: str) -> Judge:
        """Return what makes the rows: an image file, then the devices."""

        def rows(survey: Survey) -> list[Offered]:
            judge: Callable[[str, tuple[str, ...]], Plan | Refusal] = lambda name, _: self._plan(  # noqa: E731
                survey, source, name
            )
            file = Option(key=_FILE, words="an image file", note="It needs room for the whole disk.")
            return [Offered(option=file, made=None), *offered_devices(survey, judge)]

        return rows

    async def carry_out(self, plan: Plan) -> None:
        """Start a copy that was confirmed, and follow it."""
        shell, session = self._shell, self._shell.session
        try:
            with shell.writing():
                job_id = await session.loop.on_disk_thread(lambda: copies.start_copy(session.reader, plan))
        except JobError as error:
            shell.say(str(error), "bad")
            return
        await self.follow(job_id, plan.title)


class RescueFlow(TrialFlow):
    """From a key to a job, for arrays that do not start."""

    async def guide(self, snapshot: Snapshot, uuid: str | None = None, label: str = "") -> None:
        """Say what happened to an array, and offer the ways back.

        Args:
            snapshot: the host.
            uuid: of the array, if one was chosen.
            label: what it is called.
        """
        reader = self._shell.session.reader
        if reader.live and not reader.writable:
            await self._shell.ask(WhyScreen(TITLE, without_root(snapshot)))
            self._shell.say(READONLY if reader.readonly else "nothing was changed", "plain")
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
        only = here_only(self._shell.session.reader)
        opened = None if only else await self._shell.session.loop.on_disk_thread(open_trial)
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
            only = here_only(self._shell.session.reader)
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
        reader = self._shell.session.reader
        if not reader.live:
            self._shell.say("a simulated or captured host has no content of disks")
            return False
        run = SearchRun(reader.thread_safe_copy() or reader, survey, names)
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
