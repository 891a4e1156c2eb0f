"""Benchmarks as jobs: start one, follow it whoever started it, undo the changes of an interrupted one."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from raidtui.features.bench.estimate import expected_runs
from raidtui.features.bench.results.run_record import NOT_STEADY
from raidtui.features.bench.results.run_store import (
    BenchHistory,
    Results,
    ResultsError,
    RunFiles,
    results_path,
)
from raidtui.features.bench.run.bench_progress import BenchProgress, News, read_live, with_news
from raidtui.features.bench.run.bench_worker import BenchWorker, schedule_of
from raidtui.features.bench.run.changes import Restored, last_reason, left_behind, title_of
from raidtui.features.bench.schedule import Schedule, encode_schedule
from raidtui.host.readers.host_reader import HostReader
from raidtui.jobs.job_kinds import SCHEDULE_FILE
from raidtui.jobs.lock import JobError
from raidtui.jobs.spawn import cancel, follow, refuse_busy, start_new, start_worker
from raidtui.jobs.states import ENDED, JobState, entry_text
from raidtui.jobs.store import Job, all_jobs, find_job, jobs_folder
from raidtui.model.plan import Plan

_BEGIN_S = 20.0
_OVER = ENDED - {JobState.STUCK}
_LEFT = frozenset({JobState.INTERRUPTED, JobState.STUCK})


def begin(reader: HostReader, schedule: Schedule) -> Job:
    """Put back what an interrupted benchmark left, make a job of a schedule, and start its worker.

    Raises:
        JobError: another job is running, this one cannot be kept, or something cannot be put back.
    """
    if not reader.live:
        raise JobError("a captured tree is read-only: nothing can be measured there")
    refuse_busy(jobs_folder())
    turns = any(plan.steps for axis in schedule.axes for plan in axis.plans)
    if restore(reader) and turns:
        raise JobError(
            "an interrupted benchmark has just been put back and settings have changed: run the command again"
        )
    job = make_job(reader, schedule)
    start_new(job)
    return job


def make_job(reader: HostReader, schedule: Schedule) -> Job:
    """Write a schedule to disk as a new job.

    Raises:
        JobError: it cannot be written; nothing was started.
    """
    # A plan without steps: what the benchmark changes are plans in jobs of their own, below this one.
    plan = Plan(title=f"bench: {schedule.title}", subject=schedule.place.words, steps=())
    job = Job.create(plan, host=reader.hostname or "")
    try:
        job.keep(SCHEDULE_FILE, encode_schedule(schedule))
    except OSError as error:
        raise JobError(
            f"the benchmark cannot be written to {job.folder}: {error.strerror}; nothing was started"
        ) from error
    return job


def bench_jobs() -> list[Job]:
    """Return all benchmarks, oldest first."""
    return [job for job in all_jobs() if job.command == "bench"]


def find_bench(name: str = "") -> Job:
    """Return the benchmark with this id, or with a unique prefix or suffix of it; without one, the newest.

    Raises:
        JobError: no benchmark matches, or several do.
    """
    if name:
        job = find_job(name)
        if job.command != "bench":
            raise JobError(f"job {job.id} is not a benchmark: raidtui jobs attach {job.id}")
        return job
    jobs = bench_jobs()
    if not jobs:
        raise JobError("there is no benchmark yet: raidtui bench run starts one")
    return jobs[-1]


def bench_title(job: Job) -> str:
    """Return a benchmark's title, or the job's where its schedule cannot be read."""
    try:
        return schedule_of(job).title
    except JobError:
        return title_of(job)


def interrupted() -> list[Job]:
    """Return the benchmarks whose worker ended before their changes were put back."""
    return [
        job
        for job in bench_jobs()
        if (state := job.state) in _LEFT or (state in _OVER and left_behind(job.folder))
    ]


def restore(reader: HostReader) -> list[str]:
    """Put back what interrupted benchmarks left, keep their results so far, and return their ids.

    Raises:
        JobError: another job is running, or something could not be put back.
    """
    found = []
    for job in interrupted():
        if BenchWorker(reader, job).put_back() is not JobState.ROLLED_BACK:
            raise JobError(
                f"what benchmark {job.id} changed cannot be put back: {last_reason(job)}; raidtui bench"
                " restore puts back what it can, lists the rest, and lets later benchmarks run"
            )
        found.append(job.id)
    return found


def settle(reader: HostReader) -> list[Restored]:
    """Put back what interrupted benchmarks left, as far as possible, and note the rest.

    Raises:
        JobError: another job is running, or a journal cannot be written.
    """
    found = []
    for job in interrupted():
        before = len(job.entries())
        try:
            BenchWorker(reader, job).put_back(settle=True)
        except OSError as error:
            why = f"{job.folder} cannot be written to: {error.strerror}"
            raise JobError(f"{why}; free some space there and run the command again") from error
        found.append(_restored(job, before))
    return found


def settle_apart() -> list[Restored]:
    """Do the same in worker processes, and wait for them: only a main thread can handle signals.

    Raises:
        JobError: another job is running, or a worker cannot be started, or did not finish.
    """
    found = []
    for job in interrupted():
        before = len(job.entries())
        start_worker(job, back=True, more=("--settle",))
        for _ in follow(job, since=before):
            pass
        if job.state not in _OVER:
            raise JobError(f"benchmark {job.id} is not put back: {last_reason(job)}")
        found.append(_restored(job, before))
    return found


def _restored(job: Job, since: int) -> Restored:
    entries = job.entries()[since:]
    return Restored(
        job=job.id,
        back=tuple(str(each.get("title", "")) for each in entries if each.get("event") == "put back"),
        left=tuple(str(each.get("text", "")) for each in entries if each.get("event") == "left"),
    )


def news(job: Job, since: int = 0, offset: int = 0) -> News:
    """Return what a benchmark has noted since.

    Args:
        job: the benchmark.
        since: how many entries of its journal to pass over.
        offset: where to read its live samples from.
    """
    state = job.state  # before the rest: what is noted after it belongs to a later state
    lines, offset = read_live(job.folder, offset)
    entries = tuple(job.entries()[since:])
    return News(entries=entries, lines=tuple(lines), offset=offset, state=state)


def entry_words(entry: Mapping[str, Any]) -> str:
    """Return a journal entry as one or more lines; "" if there is nothing to print."""
    event = entry.get("event")
    if event == "run":
        return f"{_place(entry)}  {entry.get('words', '')}"
    if event == "run done":
        figures, reason = str(entry.get("figures", "")), str(entry.get("reason", ""))
        state = str(entry.get("state", ""))
        steady = "steady" if entry.get("steady") else NOT_STEADY
        parts = [figures, f"{state}: {reason}" if reason else "", str(entry.get("short", ""))]
        parts += [steady] if "steady" in entry else []
        lines = ["  ".join(part for part in parts if part)]
        caches = entry.get("caches")
        lines += [str(each) for each in caches] if isinstance(caches, list) else []
        return "\n".join(" " * 12 + line for line in lines)
    if event in {"change", "put back", "doing"}:
        word = {"change": "set: ", "put back": "put back: ", "doing": ""}[str(event)]
        return f"     {word}{entry.get('title', '')}"
    if event == "left":
        return f"     not put back: {entry.get('text', '')}"
    return entry_text(entry)


def _place(entry: Mapping[str, Any]) -> str:
    run, of = entry.get("run"), entry.get("of")
    return f"{run + 1:>4} of {of:<3}" if isinstance(run, int) and isinstance(of, int) else ""


class ProgressWatcher:
    """Follows the newest benchmark. Not thread-safe."""

    def __init__(self) -> None:
        self._job: Job | None = None
        self._seen = 0
        self._offset = 0
        self._found_s = self._heard_s = 0.0
        self._progress: BenchProgress | None = None

    def look(self) -> BenchProgress | None:
        """Return the newest benchmark as it is now; None if there is no benchmark."""
        if self._progress is None or self._progress.state != JobState.RUNNING:
            self._find()
        if self._job is None or self._progress is None:
            return None
        found = news(self._job, self._seen, self._offset)
        self._seen += len(found.entries)
        self._offset = found.offset
        now_s = time.monotonic()
        if found.entries or found.lines or found.state != JobState.RUNNING:
            self._heard_s = now_s
        self._progress = replace(with_news(self._progress, found), unheard_s=now_s - self._heard_s)
        if found.state == JobState.MADE and now_s - self._found_s > _BEGIN_S:
            self._progress = replace(
                self._progress, state=JobState.NOT_BEGUN, reason="its worker never started"
            )
        return self._progress

    def _find(self) -> None:
        jobs = bench_jobs()
        if not jobs:
            self._job = self._progress = None
        elif self._job is None or self._job.id != jobs[-1].id:
            self._job, self._seen, self._offset = jobs[-1], 0, 0
            self._progress, self._found_s = _unseen(jobs[-1]), time.monotonic()
            self._heard_s = self._found_s


def _unseen(job: Job) -> BenchProgress:
    """Return the progress of a benchmark whose live file has not been read yet."""
    try:
        schedule = schedule_of(job)
    except JobError as error:  # of another version, or damaged
        return BenchProgress(job=job.id, title="", place="", of=0, reason=str(error))
    return BenchProgress(
        job=job.id,
        title=schedule.title,
        place=schedule.place.words,
        of=len(schedule.runs()),
        open_end=schedule.conditions.steady,
        expected=expected_runs(schedule),
    )


class LiveBench:
    """The benchmarks of this machine, as the screen uses them. Not thread-safe.

    Args:
        reader: the host.
    """

    PREFIX, ENDS = "", "it continues when you leave raidtui"

    def __init__(self, reader: HostReader) -> None:
        self._reader = reader
        self.look = ProgressWatcher().look

    def history(self) -> BenchHistory:
        """Return the runs that are kept. Reading them does not create the file."""
        if not results_path().exists():
            return BenchHistory()
        try:
            with Results() as results:
                return BenchHistory(records=results.runs())
        except ResultsError as error:
            return BenchHistory(trouble=str(error))

    def files(self, runs: Sequence[int]) -> RunFiles:
        """Return what is kept beside the records of runs.

        Raises:
            ResultsError: the history cannot be read.
        """
        with Results() as results:
            return results.files(runs)

    def begin(self, schedule: Schedule) -> str:
        """Start a benchmark; return why it could not be started, or ""."""
        if interrupted():
            return "a benchmark was interrupted in the meantime: R puts back what it changed"
        try:
            begin(self._reader, schedule)
        except JobError as error:
            return str(error)
        return ""

    def stop(self, job: str) -> str:
        """Stop a benchmark; return why that failed, or ""."""
        try:
            cancel(find_bench(job))
        except JobError as error:
            return str(error)
        return ""

    def interrupted(self) -> tuple[str, ...]:
        """Return the titles of the interrupted benchmarks that left changes."""
        return tuple(f"{bench_title(job)} ({job.id})" for job in interrupted())

    def restore(self) -> tuple[Sequence[Restored], str]:
        """Put back what interrupted benchmarks left; return the outcomes, and why it failed, or ""."""
        try:
            return settle_apart(), ""
        except JobError as error:
            return (), str(error)

    def change(self, runs: Sequence[int], note: str | None) -> str:
        """Set the note of runs, or without a note delete them; return what went wrong, or ""."""
        try:
            with Results() as results:
                if note is None:
                    results.delete(runs)
                else:
                    results.set_note(runs, note)
        except ResultsError as error:
            return str(error)
        return ""
