"""A comparison of an array's members as a whole, and as a job: at what pace, how far it is, what was found.

It may take hours, outlives the terminal, and leaves other jobs their turn.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import msgspec
from msgspec import Struct
from msgspec.structs import asdict, replace

from raidtui.features.rescue.mismatch.compared_array import ComparedArray, Span, compared_array
from raidtui.features.rescue.mismatch.find_mismatches import MismatchWatch, find_mismatches
from raidtui.features.rescue.mismatch.member_windows import OthersAtWork, Pace, ReadingLimits
from raidtui.features.rescue.mismatch.mismatch_records import MismatchResult, summary_text
from raidtui.features.rescue.mismatch.what_lies_there import add_contents
from raidtui.host.block import BLOCK
from raidtui.host.readers.host_reader import HostReader
from raidtui.jobs.job_kinds import COMPARISON_FILE
from raidtui.jobs.lock import JobError
from raidtui.jobs.spawn import begin_with, cancel
from raidtui.jobs.states import UNDER_WAY, JobState
from raidtui.jobs.store import Job, all_jobs
from raidtui.jobs.worker import Worker
from raidtui.model.array import Array
from raidtui.model.plan import Plan, Refusal, RefusalCode
from raidtui.watch.reading_thread import ReadingEndedError, ReadingThread

_STILL = frozenset({"idle", "check", "frozen"})
_APART = frozenset({"faulty", "replacement", "journal"})
_FOUND_FILE = "mismatches.json"
_COMPARED = "compared"
_STEP = 1000
"""Progress is noted at each thousandth."""
_LEAST_S = 1.0
_KNOWN_S = 10.0
"""Before that, a speed says little."""
_PACE_S = 0.3
_BEGIN_S = 20.0


def read_limits(array: Array) -> ReadingLimits:
    """Return the limits of a check of an array, as they are in force."""
    limit = array.speed_limit
    if limit is None:
        return ReadingLimits()
    return ReadingLimits(max_kib_s=limit.ceiling_kib_s, min_kib_s=limit.min_kib_s)


def compare(
    reader: HostReader,
    array: ComparedArray,
    spans: Sequence[Span] | None,
    limits: ReadingLimits,
    *,
    progress: Callable[[int, int], None] | None,
    ended: Callable[[], bool],
    pause: Callable[[float], object],
) -> MismatchResult:
    """Compare an array's members, and look up what lies where they do not match. Nothing is written.

    Args:
        reader: the host.
        array: what is compared.
        spans: parts of its walk; None for all.
        limits: how fast members are read.
        progress: called with the bytes of the array that are done, and all of them.
        ended: whether to end.
        pause: waits for so many seconds.

    Raises:
        OSError: a member cannot be opened.
    """
    watch = MismatchWatch(progress, ended, pause, lambda: why_changed(reader, array))
    others = OthersAtWork(reader, array.name, [member.device for member in array.members])
    pace = Pace(**asdict(limits), others=others)
    found = find_mismatches(array, spans, watch, pace=pace)
    return replace(found, stretches=add_contents(reader, array.name, found.stretches, ended))


def why_changed(reader: HostReader, array: ComparedArray) -> str:
    """Return why members may not match although nothing is wrong, a clause; "" where all is as it was.

    A member that was failed or replaced, or that md writes to, would differ everywhere.
    """
    folder = f"{BLOCK}/{array.name}/md"
    action = (reader.text(f"{folder}/sync_action") or "").strip()
    if not action:
        return f"{array.name} was stopped"
    if action not in _STILL:
        return f"a {action} of {array.name} has begun"
    now = {}
    for name in reader.names(folder):
        states = set((reader.text(f"{folder}/{name}/state") or "").strip().split(","))
        if name.startswith("dev-") and "in_sync" in states and not states & _APART:
            slot = (reader.text(f"{folder}/{name}/slot") or "").strip()
            now[name.removeprefix("dev-").replace("!", "/")] = slot
    if now != {member.device: str(member.slot) for member in array.members}:
        return f"the members of {array.name} have changed"
    return ""


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


def begin_comparison(reader: HostReader, array: Array, compared: ComparedArray, limits: ReadingLimits) -> Job:
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
    return begin_with(plan, host=reader.hostname or "", name=COMPARISON_FILE, data=data)


def read_comparison(job: Job) -> ComparisonRecord:
    """Return what a comparison compares.

    Raises:
        JobError: it cannot be read.
    """
    return job.kept(COMPARISON_FILE, ComparisonRecord)


def read_found(job: Job) -> MismatchResult | None:
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


def read_progress(job: Job) -> ComparisonProgress | None:
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


def find_last_comparison(array: Array) -> Job | None:
    """Return the comparison of an array that runs, else the last one that has found something or nothing."""
    for job in reversed(all_jobs()):
        if not (job.folder / COMPARISON_FILE).is_file():
            continue
        try:
            record = read_comparison(job)
        except JobError:
            continue
        same = record.uuid == array.uuid if record.uuid else record.array.name == array.name
        if same and (job.state in UNDER_WAY or read_found(job) is not None):
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
        record = read_comparison(self._job)
        self._noted = (-1, 0.0)
        with self._job.following():
            self._cancelled |= self._job.note_work()
            try:
                found = compare(
                    self._reader,
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


def comparison_of(reader: HostReader, array: Array) -> ComparedArray | Refusal:
    """Return what can be compared of an array, or why nothing can, here and now."""
    if not reader.live:
        return Refusal(code=RefusalCode.NOT_HERE, why="a simulated or captured host has no content of disks")
    return compared_array(array)


class MismatchRun(ReadingThread[MismatchResult]):
    """Follows the job that compares a whole array; who looks away does not end it.

    Args:
        job: it.
    """

    def __init__(self, job: Job) -> None:
        super().__init__("raidtui-mismatches")
        record = read_comparison(job)
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
            self.done = read_progress(self._job)
            if state not in UNDER_WAY and (state is not JobState.MADE or waited > _BEGIN_S):
                break
            if self.ends.wait(_PACE_S):
                raise ReadingEndedError
            waited += _PACE_S
        found = read_found(self._job)
        if found is None:
            entries = reversed(self._job.entries())
            why = next((str(each["reason"]) for each in entries if each.get("reason")), state.sentence)
            raise ReadingEndedError(f"{why} (job {self._job.id})")
        return found


def known_comparison(array: Array) -> MismatchRun | None:
    """Return the comparison of an array that runs, else the last one that came to its end; None for none."""
    job = find_last_comparison(array)
    return MismatchRun(job) if job is not None else None


def new_comparison(reader: HostReader, array: Array, compared: ComparedArray) -> MismatchRun:
    """Begin a comparison of a whole array.

    Raises:
        JobError: it cannot be kept, or its worker cannot be started.
    """
    return MismatchRun(begin_comparison(reader, array, compared, read_limits(array)))
