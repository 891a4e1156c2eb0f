"""Benchmarks as jobs: start one, follow it, and undo the changes of an interrupted one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from raidtui.features.bench.results.run_record import NOT_STEADY
from raidtui.features.bench.run.bench_worker import BenchWorker, schedule_of
from raidtui.features.bench.run.changes import left_behind, title_of
from raidtui.features.bench.run.live_file import Line, read_live
from raidtui.features.bench.schedule import Schedule, encode_schedule
from raidtui.host.readers.host_reader import HostReader
from raidtui.jobs.job_kinds import SCHEDULE_FILE
from raidtui.jobs.lock import JobError
from raidtui.jobs.spawn import follow, refuse_busy, start_new, start_worker
from raidtui.jobs.states import entry_text
from raidtui.jobs.store import Job, all_jobs, find_job, jobs_folder
from raidtui.model.plan import Plan

_OVER = frozenset({"done", "failed", "cancelled", "rolled back"})


class News(Struct, frozen=True, kw_only=True):
    """What a benchmark has noted since it was last read.

    Args:
        entries: of its journal.
        lines: of its live samples.
        offset: where to read the live samples from next time.
        state: as ``Job.state``.
    """

    entries: tuple[Mapping[str, Any], ...]
    lines: tuple[Line, ...]
    offset: int
    state: str


def begin(root: HostReader, schedule: Schedule) -> Job:
    """Put back what an interrupted benchmark left, make a job of a schedule, and start its worker.

    Raises:
        JobError: another job is running, this one cannot be kept, or something cannot be put back.
    """
    if not root.live:
        raise JobError("a captured tree is read-only: nothing can be measured there")
    refuse_busy(jobs_folder())
    turns = any(plan.steps for axis in schedule.axes for plan in axis.plans)
    if restore(root) and turns:
        raise JobError(
            "an interrupted benchmark has just been put back and settings have changed: run the command again"
        )
    job = make_job(root, schedule)
    start_new(job)
    return job


def make_job(root: HostReader, schedule: Schedule) -> Job:
    """Write a schedule to disk as a new job.

    Raises:
        JobError: it cannot be written; nothing was started.
    """
    # A plan without steps: what the benchmark changes are plans in jobs of their own, below this one.
    plan = Plan(title=f"bench: {schedule.title}", subject=schedule.place.words, steps=())
    job = Job.create(plan, host=root.hostname or "")
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
        if (state := job.state) in {"interrupted", "stuck"} or (state in _OVER and left_behind(job.folder))
    ]


def restore(root: HostReader) -> list[str]:
    """Put back what interrupted benchmarks left, keep their results so far, and return their ids.

    Raises:
        JobError: another job is running, or something could not be put back.
    """
    found = []
    for job in interrupted():
        _must_be_back(job, BenchWorker(root, job).put_back())
        found.append(job.id)
    return found


class Restored(Struct, frozen=True, kw_only=True):
    """The outcome for an interrupted benchmark; it no longer blocks later ones.

    Args:
        job: its id.
        back: titles of what was put back.
        left: what could not be, each with the reason; it stays as it is.
    """

    job: str
    back: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


def settle(root: HostReader) -> list[Restored]:
    """Put back what interrupted benchmarks left, as far as possible, and note the rest.

    Raises:
        JobError: another job is running, or a journal cannot be written.
    """
    found = []
    for job in interrupted():
        before = len(job.entries())
        try:
            BenchWorker(root, job).put_back(settle=True)
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
            raise JobError(f"benchmark {job.id} is not put back: {_last_reason(job)}")
        found.append(_restored(job, before))
    return found


def _restored(job: Job, since: int) -> Restored:
    entries = job.entries()[since:]
    return Restored(
        job=job.id,
        back=tuple(str(each.get("title", "")) for each in entries if each.get("event") == "put back"),
        left=tuple(str(each.get("text", "")) for each in entries if each.get("event") == "left"),
    )


def _last_reason(job: Job) -> str:
    return next((str(each["reason"]) for each in reversed(job.entries()) if each.get("reason")), "")


def _must_be_back(job: Job, state: str) -> None:
    """Raise where a benchmark could not be put back.

    Raises:
        JobError: that is so.
    """
    if state != "rolled back":
        raise JobError(
            f"what benchmark {job.id} changed cannot be put back: {_last_reason(job)}; raidtui bench restore"
            " puts back what it can, lists the rest, and lets later benchmarks run"
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
