"""From a way back to its proof: the trial, its job, what it has shown, and the real plan."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from msgspec.structs import replace

from raidtui.features.rescue import session_trials as trials
from raidtui.features.rescue.screen.trial_pages import (
    PLAN,
    SAVE_TO,
    TAKE_DOWN,
    TRY_AGAIN,
    ProofScreen,
    TrialScreen,
)
from raidtui.features.rescue.session_trials import KnownTrial, TrialWish
from raidtui.frame.choose import Ask
from raidtui.frame.plan_flow import GOING, PlanFlow
from raidtui.frame.plan_view import JobView
from raidtui.jobs.lock import JobError
from raidtui.jobs.states import SETTLED, UNDER_WAY, JobState
from raidtui.model.plan import Plan, Refusal
from raidtui.model.survey import Survey
from raidtui.view.units import binary_size
from raidtui.watch import storage

Rooms = tuple[tuple[str, int], ...]
"""Folders for stores, the best first, with the free bytes of each."""
Fresh = Callable[[], Coroutine[Any, Any, Survey | None]]
"""Reads the members again; gives None where Esc was pressed."""


class TrialView(JobView):
    """A trial, live; closes with ``over`` when it has come to its end."""

    async def _look(self) -> None:
        await super()._look()
        if self.state in _OVER:
            self.dismiss(OVER)


OVER = "over"
_OVER = SETTLED | {JobState.FAILED, JobState.CANCELLED}
"""The trial was taken down: its result is shown."""


class TrialFlow(PlanFlow):
    """What follows from a way that is tried first."""

    async def attempt(self, wish: TrialWish, fresh: Fresh) -> bool:
        """Try a way back, show the proof, and offer the plan; return False where it was left before.

        Args:
            wish: what is tried.
            fresh: reads the members again.
        """
        loop, reader = self._shell.session.loop, self._shell.session.reader
        rooms = await loop.on_disk_thread(lambda: trials.trial_rooms(reader))
        said = ""
        while True:
            screen = TrialScreen(wish, rooms, said)
            chosen = await self._shell.ask(screen)
            if chosen is not None and screen.wants_folder:
                wish, rooms, said = await self._folder(chosen, rooms)
                continue
            if chosen is not None and screen.wants_passphrase:
                wish, said = await self._opened(chosen), ""
                continue
            survey = await fresh() if chosen is not None else None
            if chosen is None or survey is None:
                return False
            wish = chosen
            try:
                with self._shell.writing():
                    job = await loop.on_disk_thread(partial(trials.start_trial, reader, survey, wish))
            except JobError as error:
                said = str(error)
                continue
            if isinstance(job, Refusal):
                said = job.sentence
                continue
            if not await self.watch(job):
                return True
            taken = await self.proof(job, fresh)
            if taken != TRY_AGAIN:
                return taken == PLAN
            said = ""

    async def _opened(self, wish: TrialWish) -> TrialWish:
        """Ask for the passphrase of what is encrypted; return the wish with it."""
        hint = "The LUKS passphrase for the array. It is opened read-only, for this trial only."
        typed = await self._shell.ask(Ask("Open with which passphrase?", hint, most=512, secret=True))
        return replace(wish, passphrase=typed) if typed else wish

    async def _folder(self, wish: TrialWish, rooms: Rooms) -> tuple[TrialWish, Rooms, str]:
        """Ask for a folder for the stores; return the wish and the folders with it, or why it is not used."""
        need = binary_size(wish.room_bytes)
        hint = f"A folder with its full path, not on a member. It needs at most {need} there."
        typed = await self._shell.ask(Ask("Keep the stores in which folder?", hint, most=200))
        if not typed:
            return wish, rooms, ""
        found = await self._shell.session.loop.on_disk_thread(
            partial(trials.store_room, typed, wish.room_bytes)
        )
        if isinstance(found, str):
            return wish, rooms, found
        others = tuple(room for room in rooms if room[0] != found[0])
        return replace(wish, store=found[0]), (found, *others), ""

    async def watch(self, job_id: str, begun_after: int = 0) -> bool:
        """Show a trial while it runs; return whether it has come to its end.

        Args:
            job_id: the trial.
            begun_after: how many entries its journal had before the worker was started that is waited for.
        """
        trial = await self._shell.session.loop.on_disk_thread(lambda: trials.known_trial(job_id))
        while True:
            view = TrialView(job_id, trial.title, partial(self._news, begun_after))
            order = await self._shell.ask(view)
            self._shell.session.loop.sample_soon()
            if order == OVER:
                return True
            if order is None:
                words = GOING if view.state in UNDER_WAY else view.state
                self._shell.say(f"{trial.title}: {words}", "plain")
                return view.state not in UNDER_WAY and trial.outcome is not None
            try:
                with self._shell.writing():
                    begun_after = await self._shell.session.loop.on_disk_thread(
                        partial(self.give, order, job_id)
                    )
            except JobError as error:
                self._shell.say(str(error), "bad")
                return False

    @staticmethod
    def give(order: str, job_id: str) -> int:
        """Cancel, resume or roll back; return the number of journal entries before the worker started."""
        if order == "cancel":
            storage.cancel_job(job_id)
            return 0
        return storage.restart_job(job_id, back=order == "rollback")

    async def proof(self, job_id: str, fresh: Fresh) -> str | None:
        """Show what a trial has shown; return ``plan`` where its plan was taken, ``again``, or None.

        Args:
            job_id: the trial.
            fresh: reads the members again.
        """
        loop, folder = self._shell.session.loop, ""
        while True:
            trial = await loop.on_disk_thread(lambda: trials.known_trial(job_id))
            survey = await fresh()
            if survey is None:
                return None
            real = await loop.on_disk_thread(partial(trials.plan_of_trial, survey, trial, folder))
            answer = await self._shell.ask(ProofScreen(trial, real))
            if answer == SAVE_TO:
                folder = await self._save_to(folder)
                continue
            if answer == TAKE_DOWN:
                if not await self._take_down(job_id):
                    return None
                continue
            if answer != PLAN or not isinstance(real, Plan):
                return answer
            check = trial.outcome.proof.check if trial.outcome is not None else "not tried"
            if await self.offer(
                real, survey.devices, title=f"{_title(trial)}: the real step", right=f"trial: {check}"
            ):
                return PLAN

    async def _save_to(self, folder: str) -> str:
        """Ask for the folder where the ends of the members are saved; return it, or the one before."""
        hint = (
            "Both ends of each member are saved there before superblocks are written, and the undo"
            " restores them. A folder with its full path, not on a member."
        )
        typed = await self._shell.ask(Ask("Save the members' ends in which folder?", hint, most=200))
        return folder if typed is None or not typed.strip() else str(typed)

    async def _take_down(self, job_id: str) -> bool:
        """Take down what is left of a trial, and follow that; return whether it has come to its end."""
        try:
            with self._shell.writing():
                begun_after = await self._shell.session.loop.on_disk_thread(
                    partial(self.give, "rollback", job_id)
                )
        except JobError as error:
            self._shell.say(str(error), "bad")
            return False
        return await self.watch(job_id, begun_after)


def _title(trial: KnownTrial) -> str:
    return trial.record.request.label
