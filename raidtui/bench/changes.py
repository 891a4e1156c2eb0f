"""What a benchmark changes on the host, one plan on top of another, and taking it all back.

Each change is a job of its own in the benchmark's folder, carried out by the jobs' worker: its journal is on
disk before anything happens, so that what was changed is known, and taken back, after a crash too. A wish to
stop is heard by the benchmark's worker alone, so that a change is always made whole.
"""

from __future__ import annotations

from pathlib import Path

from raidtui.host.root import Root
from raidtui.jobs.store import Job, JobError, all_jobs
from raidtui.jobs.worker import Worker
from raidtui.model.plan import Plan


class ChangeError(Exception):
    """A change could not be made; what was done of it has been taken back. The message says why."""


class StuckError(ChangeError):
    """A change could not be taken back. The message says which, and what to do."""


class Changes:
    """The changes of one benchmark, the last one on top.

    Args:
        root: the host.
        folder: the benchmark's folder.
    """

    def __init__(self, root: Root, folder: Path) -> None:
        self._root = root
        self._folder = folder / "changes"
        self._made: list[tuple[str, Job | None]] = []

    @property
    def keys(self) -> tuple[str, ...]:
        """What was made and not taken back, the first one first."""
        return tuple(key for key, _ in self._made)

    def make(self, key: str, plan: Plan) -> None:
        """Carry a plan out.

        Raises:
            ChangeError: it failed, and was taken back.
            StuckError: it failed, and could not be taken back.
        """
        if not plan.steps:
            self._made.append((key, None))
            return
        try:
            job = Job.create(plan, host=self._root.hostname or "", folder=self._folder)
            state = Worker(self._root, job, listens=False).work()
        except JobError as error:
            raise ChangeError(str(error)) from error
        if state == "done":
            self._made.append((key, job))
            return
        why = last_reason(job)
        if state != "rolled back":
            self._undo(job)
        raise ChangeError(f"{plan.title}: {why}")

    def take_back(self, *, down_to: int = 0) -> None:
        """Take changes back, the last one first, until so many are left.

        Raises:
            StuckError: one could not be; it and those below it stay.
        """
        while len(self._made) > down_to:
            job = self._made[-1][1]
            if job is not None:
                self._undo(job)
            self._made.pop()

    def _undo(self, job: Job) -> None:
        state = "rolled back"
        try:
            state = Worker(self._root, job, listens=False).roll_back()
        except JobError as error:
            if job.done_steps() != (set(), set()):
                raise StuckError(str(error)) from error
        if state != "rolled back":
            raise StuckError(f"{job.plan.title} could not be taken back: {last_reason(job)}")

    def take_back_rest(self) -> list[str]:
        """Take back what an earlier worker left when it was killed; return the titles of what was.

        Raises:
            StuckError: one could not be.
        """
        found = []
        for job in reversed(all_jobs(self._folder)):
            if job.state not in {"made", "rolled back"} and job.done_steps() != (set(), set()):
                self._undo(job)
                found.append(job.plan.title)
        return found


def left_behind(folder: Path) -> bool:
    """Whether a benchmark's folder has changes that were not taken back."""
    return any(
        job.state not in {"made", "rolled back"} and job.done_steps() != (set(), set())
        for job in all_jobs(folder / "changes")
    )


def last_reason(job: Job) -> str:
    """Return the last reason in a job's journal."""
    reasons = (str(each["reason"]) for each in reversed(job.entries()) if each.get("reason"))
    return next(reasons, "no reason was noted")
