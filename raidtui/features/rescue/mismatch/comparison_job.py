"""A comparison as a job: it may take hours, outlives the terminal, and leaves other jobs their turn."""

from __future__ import annotations

import time

import msgspec
from msgspec import Struct

from raidtui.features.rescue.mismatch.compared_array import ComparedArray
from raidtui.features.rescue.mismatch.comparison import ReadingLimits, compare
from raidtui.features.rescue.mismatch.mismatch_records import MismatchResult
from raidtui.features.rescue.mismatch.mismatch_words import summary_text
from raidtui.host.readers.host_reader import HostReader
from raidtui.jobs.job_kinds import COMPARISON_FILE
from raidtui.jobs.lock import JobError
from raidtui.jobs.spawn import begin_with
from raidtui.jobs.states import UNDER_WAY, JobState
from raidtui.jobs.store import Job, all_jobs
from raidtui.jobs.worker import Worker
from raidtui.model.array import Array
from raidtui.model.plan import Plan

_FOUND_FILE = "mismatches.json"
_COMPARED = "compared"
_STEP = 1000
"""Progress is noted at each thousandth."""
_LEAST_S = 1.0
_KNOWN_S = 10.0
"""Before that, a speed says little."""


class ComparisonRecord(Struct, frozen=True, kw_only=True):
    """What a comparison compares.

    Args:
        uuid: the array's; "" where the kernel does not say.
        title: what the array is called.
    """

    uuid: str
    title: str
    array: ComparedArray
    limits: ReadingLimits


def begin_comparison(root: HostReader, array: Array, compared: ComparedArray, limits: ReadingLimits) -> Job:
    """Make a job of a comparison of a whole array, and start its worker. Other jobs may run meanwhile.

    Raises:
        JobError: it cannot be kept, or its worker cannot be started.
    """
    plan = Plan(
        title=f"compare: the members of {array.title}",
        subject=array.name,
        steps=(),
        devices=tuple(member.device for member in compared.members),
    )
    record = ComparisonRecord(uuid=array.uuid or "", title=array.title, array=compared, limits=limits)
    data = msgspec.json.encode(record)
    return begin_with(plan, host=root.hostname or "", name=COMPARISON_FILE, data=data)


def comparison_record(job: Job) -> ComparisonRecord:
    """Return what a comparison compares.

    Raises:
        JobError: it cannot be read.
    """
    return job.kept(COMPARISON_FILE, ComparisonRecord)


def found_by(job: Job) -> MismatchResult | None:
    """Return what a comparison has found; None where it has not come to an end."""
    return job.kept_or_none(_FOUND_FILE, MismatchResult)


class ComparisonProgress(Struct, frozen=True, kw_only=True):
    """How far a comparison is.

    Args:
        done: bytes of the array that were compared.
        total: all of them.
        left_s: how long the rest takes at the speed so far; None where that is not known yet.
    """

    done: int
    total: int
    left_s: float | None = None


def progress_by(job: Job) -> ComparisonProgress | None:
    """Return how far a comparison is; None before it has compared anything."""
    begun_s, found = 0.0, None
    for entry in job.entries():
        done, total = entry.get("done"), entry.get("total")
        if entry["event"] == "work":
            begun_s, found = entry["at_s"], None
        elif entry["event"] == _COMPARED and isinstance(done, int) and isinstance(total, int):
            took_s = entry["at_s"] - begun_s
            left_s = took_s * (total - done) / done if done and took_s >= _KNOWN_S else None
            found = ComparisonProgress(done=done, total=total, left_s=left_s)
    return found


def last_comparison(array: Array) -> Job | None:
    """Return the comparison of an array that runs, else the last one that has found something or nothing."""
    for job in reversed(all_jobs()):
        if not (job.folder / COMPARISON_FILE).is_file():
            continue
        try:
            record = comparison_record(job)
        except JobError:
            continue
        same = record.uuid == array.uuid if record.uuid else record.array.name == array.name
        if same and (job.state in UNDER_WAY or found_by(job) is not None):
            return job
    return None


class ComparisonWorker(Worker):
    """Works on a comparison. It does not take the lock of jobs: nothing is changed."""

    def work(self) -> JobState:
        """Compare; return the state that the job ends in.

        Raises:
            JobError: the comparison cannot be read.
        """
        self._listen()
        record = comparison_record(self._job)
        self._noted = (-1, 0.0)
        with self._job.following():
            self._cancelled |= self._job.note_work()
            try:
                found = compare(
                    self._root,
                    record.array,
                    None,
                    record.limits,
                    progress=self._at,
                    ended=lambda: self._cancelled,
                    pause=time.sleep,
                )
            except OSError as error:
                why = f"{error.filename or 'a member'} cannot be read: {error.strerror}"
                return self._end(JobState.FAILED, reason=why)
            self._job.keep(_FOUND_FILE, msgspec.json.encode(found))
            self._job.note(event="output", text=summary_text(found))
            return self._end(JobState.CANCELLED if found.cancelled else JobState.DONE)

    def _at(self, done: int, total: int) -> None:
        share, now_s = _STEP * done // total if total else _STEP, time.monotonic()
        last, noted_s = self._noted
        if done >= total or (share != last and now_s - noted_s >= _LEAST_S):
            self._noted = (share, now_s)
            self._job.note(event=_COMPARED, done=done, total=total)
