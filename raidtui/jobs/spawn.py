"""Starts workers detached from the terminal, follows them, and asks them to end."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import raidtui
from raidtui.host.tools import run_tool, tool_path
from raidtui.jobs.journal import who
from raidtui.jobs.lock import BusyError, JobError, worker_of
from raidtui.jobs.states import AGAIN_EVENT, CANCEL_EVENT, FINAL, UNDER_WAY, JobState
from raidtui.jobs.store import Job, all_jobs, jobs_folder
from raidtui.jobs.writable import refuse_unwritable
from raidtui.model.plan import Plan

_PACE_S = 0.05
_FOLLOWED_PACE_S = 0.5
_BEGIN_S = 20.0


def refuse_busy(folder: Path) -> None:
    """Refuse to start a worker while a job runs.

    Raises:
        BusyError: a job runs.
    """
    running = (job.id for job in all_jobs(folder) if not job.runs_beside and job.state is JobState.RUNNING)
    other = worker_of(folder) or next(running, None)
    if other is not None:
        raise BusyError(f"another job is running: {other}; wait for it, or cancel it")


def begin_job(plan: Plan, *, host: str) -> Job:
    """Make a job of a plan and start its worker. If the worker cannot be started, the job is removed.

    Raises:
        BusyError: another job is running.
        JobError: the job cannot be created, a file of its plan not written, or its worker not started.
    """
    if refusal := refuse_unwritable(plan):
        raise JobError(f"{refusal.sentence}; nothing was started")
    refuse_busy(jobs_folder())
    job = Job.create(plan, host=host)
    start_new(job)
    return job


def begin_with(plan: Plan, *, host: str, name: str, data: bytes) -> Job:
    """Make a job of a plan, with a file beside it that says what kind it is, and start its worker.

    If that is not possible, nothing is left of it.

    Raises:
        BusyError: another job is running.
        JobError: the job cannot be kept, or its worker cannot be started.
    """
    job = Job.create(plan, host=host)
    try:
        job.keep(name, data)
    except OSError as error:
        job.discard()
        raise JobError(f"job {job.id} cannot be kept: {error.strerror}; nothing was started") from error
    start_new(job)
    return job


def start_new(job: Job) -> None:
    """Start the worker of a new job. If it cannot be started, the job is removed.

    Raises:
        JobError: it cannot be started.
    """
    try:
        start_worker(job)
    except JobError:
        job.discard()
        raise


def start_worker(job: Job, *, back: bool = False, more: tuple[str, ...] = ()) -> None:
    """Start a worker in a session of its own: as a transient unit of systemd, or as a detached process.

    Args:
        job: the job.
        back: whether it is rolled back.
        more: further options of the command ``work``.

    Raises:
        BusyError: another job is running.
        JobError: the worker cannot be started, or there is no room for its journal.
    """
    if not job.runs_beside:
        refuse_busy(job.folder.parent)
    job.keep_room()
    if job.is_cancelled:
        job.note(event=AGAIN_EVENT)
    command = (job.command, "work", str(job.folder))
    argv = (sys.executable, "-m", "raidtui", *command, *(("--back",) if back else ()), *more)
    own = {"PYTHONPATH": str(Path(raidtui.__file__).parents[1]), "SUDO_USER": who(), "LC_ALL": "C.UTF-8"}
    if os.path.isdir("/run/systemd/system") and tool_path("systemd-run"):  # noqa: PTH112
        settings = [f"--setenv={key}={value}" for key, value in own.items()]
        unit = f"--unit=raidtui-{job.id}-{time.monotonic_ns() % 10**6}"
        done = run_tool(("systemd-run", "--quiet", "--collect", unit, *settings, "--", *argv), 20.0)
        if done.status == 0:
            return
        with contextlib.suppress(OSError):  # the worker reports that it cannot write its journal
            job.note(event="output", text=f"systemd-run: {done.stderr or done.why_not}")
    try:
        with (job.folder / "output.log").open("ab") as log:
            subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd="/",
                env={**os.environ, **own},
                start_new_session=True,
            )
    except OSError as error:
        raise JobError(f"the worker cannot be started: {error}; nothing was started") from error


def follow(job: Job, *, since: int = 0) -> Iterator[Mapping[str, Any]]:
    """Yield entries of the journal as they are written, until the job or its worker has ended.

    Args:
        job: the job.
        since: how many entries to skip.
    """
    seen, begun_s = since, time.monotonic()
    while True:
        followed = job.is_followed
        running = followed or worker_of(job.folder.parent) == job.id
        entries = job.entries()
        yield from entries[seen:]
        events = [entry.get("event") for entry in entries[since:] if entry.get("event") != "output"]
        if events and events[-1] in FINAL:  # after an earlier end, another worker has started
            return
        worked = "work" in events
        seen = len(entries)
        if not running and (worked or time.monotonic() - begun_s > _BEGIN_S):
            # A worker may have started after the lock was read.
            if job.state not in UNDER_WAY and len(job.entries()) == seen:
                return
            continue
        time.sleep(_FOLLOWED_PACE_S if followed else _PACE_S)


def cancel(job: Job) -> None:
    """Ask the worker to end after the current step; where it waits for md, before the next one.

    One that is only being started does not begin the first step.

    Raises:
        JobError: the job is not running, no step is left, or its worker cannot be signalled.
    """
    state = job.state
    if state is JobState.GOES_ON:
        done, _ = job.done_steps()
        if len(done) + 1 < len(job.plan.steps):
            job.note(event=CANCEL_EVENT)
            return
        end = f"; to end that: raidtui jobs rollback {job.id}" if job.goes_back else ""
        raise JobError(f"job {job.id} has done its steps, and md is at work{end}")
    if state not in {JobState.MADE, JobState.RUNNING}:
        raise _nothing_to_cancel(job)
    import psutil  # noqa: PLC0415  (only who cancels needs it)

    worker = job.worker()
    if worker is None:  # it is being started, and reads this before its first step
        job.note(event=CANCEL_EVENT)
        worker = job.worker()
    if worker is None:
        return
    try:
        worker.terminate()
    except psutil.NoSuchProcess as error:
        raise _nothing_to_cancel(job) from error
    except psutil.AccessDenied as error:
        raise JobError(f"job {job.id} cannot be cancelled: its worker is another user's process") from error


def _nothing_to_cancel(job: Job) -> JobError:
    return JobError(f"job {job.id} {job.state.sentence}: there is nothing to cancel")


def detached(work: Callable[[], None]) -> None:
    """Run this in a detached process."""
    sys.stdout.flush()
    if (child := os.fork()) != 0:
        os.waitpid(child, 0)
        return
    status = 1
    try:
        os.setsid()
        if os.fork() == 0:
            os.closerange(0, 1024)
            for number in (0, 1, 2):
                os.dup2(os.open(os.devnull, os.O_RDWR), number)
            os.chdir("/")
            work()
        status = 0
    finally:
        os._exit(status)
