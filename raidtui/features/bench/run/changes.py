"""The changes that a benchmark makes to the host, one plan on top of another, and their undo.

Each change is a job of its own in the benchmark's folder, carried out by the jobs' worker: its journal is on
disk before anything happens, so that a change is known, and can be undone, after a crash. Only the worker of
the benchmark reacts to a request to stop, so that a change is always completed.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from raidtui.host.readers.host_reader import HostReader
from raidtui.jobs.lock import JobError
from raidtui.jobs.runner import do_step
from raidtui.jobs.states import JobState
from raidtui.jobs.store import Job, all_jobs
from raidtui.jobs.worker import Worker
from raidtui.model.plan import Plan

SETTLED = "settled"
"""A journal entry of a change that could not be undone and is not tried again."""


class ChangeError(Exception):
    """A change failed and was undone. The message says why."""


class StuckError(ChangeError):
    """A change could not be undone. The message says which one, and what to do."""


class Restored(Struct, frozen=True, kw_only=True):
    """The outcome for what an earlier worker of a benchmark left.

    Args:
        job: the benchmark's id; "" of its changes alone.
        back: titles of what was put back.
        left: what could not be, each with the reason; it stays as it is.
    """

    job: str = ""
    back: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


class Changes:
    """The changes of one benchmark, as a stack.

    Args:
        reader: the host.
        folder: the benchmark's folder.
    """

    def __init__(self, reader: HostReader, folder: Path) -> None:
        self._reader = reader
        self._folder = folder / "changes"
        self._made: list[tuple[str, Job | None]] = []

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the changes in force, oldest first."""
        return tuple(key for key, _ in self._made)

    def make(self, key: str, plan: Plan) -> None:
        """Carry a plan out.

        Raises:
            ChangeError: it failed, and was undone.
            StuckError: it failed, and could not be undone.
        """
        if not plan.steps:
            self._made.append((key, None))
            return
        try:
            job = Job.create(plan, host=self._reader.hostname or "", folder=self._folder)
            state = Worker(self._reader, job, listens=False).work()
        except JobError as error:
            raise ChangeError(str(error)) from error
        if state == JobState.DONE:
            self._made.append((key, job))
            return
        why = last_reason(job)
        if state != JobState.ROLLED_BACK:
            self._undo(job)
        raise ChangeError(f"{plan.title}: {why}")

    def take_back(self, *, down_to: int = 0) -> None:
        """Undo changes, the newest first, until so many are left.

        Raises:
            StuckError: one could not be; it and those below it stay.
        """
        while len(self._made) > down_to:
            job = self._made[-1][1]
            if job is not None:
                self._undo(job)
            self._made.pop()

    def _undo(self, job: Job) -> None:
        state = JobState.ROLLED_BACK
        try:
            state = Worker(self._reader, job, listens=False).roll_back()
        except JobError as error:
            if job.done_steps() != (set(), set()):
                raise StuckError(str(error)) from error
        if state != JobState.ROLLED_BACK:
            raise StuckError(f"{title_of(job)} could not be taken back: {last_reason(job)}")

    def take_back_rest(self, *, settle: bool = False) -> Restored:
        """Undo what an earlier worker left when it was killed.

        Args:
            settle: whether changes that cannot be undone are left for good, without another try.

        Raises:
            StuckError: one could not be, and ``settle`` is not set.
        """
        back: list[str] = []
        left: list[str] = []
        for job in reversed(all_jobs(self._folder)):
            if not _is_open(job):
                continue
            since = len(job.entries())
            try:
                self._undo(job)
                back.append(title_of(job))
            except StuckError as error:
                if not settle:
                    raise
                left += _not_undone(job, since) or [str(error)]
                job.note(event=SETTLED, reason=str(error))
        return Restored(back=tuple(back), left=tuple(left))

    def try_out(self, plans: Sequence[Plan]) -> str:
        """Check that the kernel accepts the values of these plans; return why not, or "".

        The present values are written back first, which changes nothing: a file that refuses what it has now
        could not be put back. Then each plan is carried out and undone. Tools are not run.

        Raises:
            StuckError: a value was taken, and the old one was refused.
        """
        plans = [plan for plan in plans if plan.steps and not any(step.argv for step in plan.steps)]
        back = {(each.path, each.text): each for plan in plans for step in plan.steps for each in step.undo}
        for step in back.values():
            if why := "" if step.argv else do_step(self._reader, step, lambda _: None):
                return f"writing the present value to {step.path} ({step.text}) is refused: {why}"
        for plan in plans:
            try:
                self.make("trial", plan)
            except StuckError:
                raise
            except ChangeError as error:
                return str(error)
            self.take_back(down_to=len(self._made) - 1)
        return ""


def left_behind(folder: Path) -> bool:
    """Whether a benchmark's folder has changes that were neither undone nor settled."""
    return any(_is_open(job) for job in all_jobs(folder / "changes"))


def _is_open(job: Job) -> bool:
    if job.state in {JobState.MADE, JobState.ROLLED_BACK} or job.done_steps() == (set(), set()):
        return False
    return not any(entry.get("event") == SETTLED for entry in job.entries())


def title_of(job: Job) -> str:
    """Return a job's title, or its id where its plan cannot be read."""
    try:
        return job.plan.title
    except JobError:
        return job.id


def _not_undone(job: Job, since: int) -> list[str]:
    """Return what could not be undone, as commands, each with its reason."""
    found, command = [], ""
    for entry in job.entries()[since:]:
        if entry.get("event") == "undo":
            command = str(entry.get("command", ""))
        elif entry.get("event") == "undo failed":
            found.append(f"{command}: {entry.get('reason', '')}")
    return found


def last_reason(job: Job) -> str:
    """Return the last reason in a job's journal."""
    reasons = (str(each["reason"]) for each in reversed(job.entries()) if each.get("reason"))
    return next(reasons, "no reason was noted")
