"""A comparison of an array's members from the screen: what can be compared, its job, and what was found."""

from __future__ import annotations

from raidtui.features.rescue.mismatch.compared_array import ComparedArray, compared_array
from raidtui.features.rescue.mismatch.comparison import limits_of
from raidtui.features.rescue.mismatch.comparison_job import (
    ComparisonProgress,
    begin_comparison,
    comparison_record,
    found_by,
    last_comparison,
    progress_by,
)
from raidtui.features.rescue.mismatch.mismatch_records import MismatchResult
from raidtui.host.readers.host_reader import HostReader
from raidtui.jobs.lock import JobError
from raidtui.jobs.spawn import cancel
from raidtui.jobs.states import UNDER_WAY, JobState
from raidtui.jobs.store import Job
from raidtui.model.array import Array
from raidtui.model.plan import Refusal, RefusalCode
from raidtui.watch.reading_thread import ReadingEndedError, ReadingThread

_PACE_S = 0.3
_BEGIN_S = 20.0


def comparison_of(root: HostReader, array: Array) -> ComparedArray | Refusal:
    """Return what can be compared of an array, or why nothing can, here and now."""
    if not root.live:
        return Refusal(code=RefusalCode.NOT_HERE, why="a simulated or captured host has no content of disks")
    return compared_array(array)


class MismatchRun(ReadingThread[MismatchResult]):
    """Follows the job that compares a whole array; who looks away does not end it.

    Args:
        job: it.
    """

    def __init__(self, job: Job) -> None:
        super().__init__("raidtui-mismatches")
        record = comparison_record(job)
        self.title = record.title
        self.members = tuple(member.device for member in record.array.members)
        self.made_s = job.line.made_s
        """When it was begun, epoch seconds; 0 where that is not known."""
        self.done: ComparisonProgress | None = None
        self._job = job

    @property
    def progress(self) -> object:
        """How much was compared."""
        return self.done

    def end(self) -> str:
        """Ask the job to end; return why it cannot be, or ""."""
        try:
            cancel(self._job)
        except JobError as error:
            return str(error)
        return ""

    def read(self) -> MismatchResult:
        """Follow it to its end."""
        waited = 0.0
        while True:
            state = self._job.state
            self.done = progress_by(self._job)
            if state not in UNDER_WAY and (state is not JobState.MADE or waited > _BEGIN_S):
                break
            if self.ends.wait(_PACE_S):
                raise ReadingEndedError
            waited += _PACE_S
        found = found_by(self._job)
        if found is None:
            entries = reversed(self._job.entries())
            why = next((str(each["reason"]) for each in entries if each.get("reason")), state.sentence)
            raise ReadingEndedError(f"{why} (job {self._job.id})")
        return found


def known_comparison(array: Array) -> MismatchRun | None:
    """Return the comparison of an array that runs, else the last one that came to its end; None for none."""
    job = last_comparison(array)
    return MismatchRun(job) if job is not None else None


def new_comparison(root: HostReader, array: Array, compared: ComparedArray) -> MismatchRun:
    """Begin a comparison of a whole array.

    Raises:
        JobError: it cannot be kept, or its worker cannot be started.
    """
    return MismatchRun(begin_comparison(root, array, compared, limits_of(array)))
