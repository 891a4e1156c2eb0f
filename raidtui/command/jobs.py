"""``raidtui jobs``: list, follow, cancel, resume and roll back the jobs that carry plans out."""

from __future__ import annotations

import argparse
import sys
import time
from functools import partial
from pathlib import Path

from msgspec.structs import asdict

from raidtui.command.streams import print_json
from raidtui.host.block import DiskReader
from raidtui.host.readers.host_reader import HostReader
from raidtui.jobs.lock import BusyError, JobError
from raidtui.jobs.spawn import cancel, follow, start_worker
from raidtui.jobs.states import FINAL, RESUMABLE, JobState, entry_text
from raidtui.jobs.store import Job, all_jobs, find_job, foreign_jobs, jobs_folder
from raidtui.jobs.waiting import wait_of
from raidtui.jobs.worker import CostMeasure, status_of, work_on
from raidtui.model.plan import Plan
from raidtui.view.text import visible

FAILED, REFUSED, BUSY = 1, 2, 75


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``jobs``."""
    parser.add_argument("--json", action="store_true", help="print the list as JSON")
    subcommands = parser.add_subparsers(dest="subcommand", metavar="SUBCOMMAND")
    for name, words in (
        ("attach", "follow a job until it ends"),
        ("cancel", "end a job after the current step"),
        ("resume", "continue a job that was interrupted, cancelled or failed"),
        ("rollback", "undo the steps that a job has done"),
    ):
        each = subcommands.add_parser(name, help=words, description=f"{words.capitalize()}.")
        each.add_argument("id", metavar="ID", help="of the list, or a unique beginning or end of it")
    work = subcommands.add_parser("work", help="internal: work on a job in this process")
    work.add_argument("folder", type=Path)
    work.add_argument("--back", action="store_true")


def run(root: HostReader, arguments: argparse.Namespace) -> int:
    """Carry out ``raidtui jobs ...``."""
    if arguments.subcommand is None:
        return _list(root, as_json=arguments.json)
    if not root.live:
        return refused(JobError("refused: jobs are of this host, and --root or --demo names another one"))
    if arguments.subcommand == "work":
        from raidtui.pace.pace_job import PaceWorker, is_pacing  # noqa: PLC0415  (only a worker wants it)

        job = Job(arguments.folder)
        if is_pacing(job):
            return status_of(job, PaceWorker(root, job).work, JobState.DONE)
        return work_on(root, arguments.folder, back=arguments.back, measuring=partial(_cost, root))
    try:
        job = find_job(arguments.id)
        if arguments.subcommand == "attach":
            return attach(job, since=0)
        if arguments.subcommand == "cancel":
            since = len(job.entries())  # before: its end may be noted at once
            cancel(job)
            return attach(job, since=since, wanted=JobState.CANCELLED)
        return _again(job, back=arguments.subcommand == "rollback")
    except JobError as error:
        return refused(error)


def _cost(root: HostReader, plan: Plan) -> CostMeasure:
    """Return what measures a plan's cost, on the disks that its devices lie on."""
    from raidtui.wear.cost_watch import JobCost  # noqa: PLC0415  (only a worker wants it)

    disks = DiskReader(root).read(set(plan.devices)).values()
    return JobCost(root, plan.title, sorted({disk.disk for disk in disks}))


def refused(error: JobError) -> int:
    """Print why a job was not begun, and return the exit status: 2, or 75 where another one is running."""
    print(f"raidtui: {visible(str(error))}", file=sys.stderr)
    return BUSY if isinstance(error, BusyError) else REFUSED


def _again(job: Job, *, back: bool) -> int:
    state = job.state
    if state is JobState.RUNNING:
        raise JobError(f"job {job.id} is running; to follow it: raidtui jobs attach {job.id}")
    if back:
        job.refuse_back()
    elif state is JobState.GOES_ON:
        raise JobError(
            f"job {job.id} has done its steps, and md is at work; to follow it: raidtui jobs attach {job.id}"
        )
    elif state is JobState.NOT_BEGUN:
        raise JobError(f"job {job.id} was not started, because another job was running: apply its plan again")
    elif state not in RESUMABLE:
        raise JobError(f"job {job.id} {state.sentence}: there is nothing to resume")
    since = len(job.entries())
    start_worker(job, back=back)
    return attach(job, since=since, wanted=JobState.ROLLED_BACK if back else JobState.DONE)


def _list(root: HostReader, *, as_json: bool) -> int:
    found = [(job.line, wait_of(root, job)) for job in all_jobs()] if root.live else []
    found += [(line, None) for line in foreign_jobs()] if root.live else []
    if as_json:
        rows = [
            {
                **asdict(line),
                "waits_for": wait.why if wait is not None else None,
                "percent": wait.percent if wait is not None else None,
            }
            for line, wait in found
        ]
        print_json({"jobs": rows})
        return 0
    for line, wait in found:
        at = time.strftime("%Y-%m-%d %H:%M", time.localtime(line.made_s)) if line.made_s else ""
        more = f" ({wait.words})" if wait is not None else ""
        print(visible(f"{line.id}  {line.state:<11}  {at}  {line.who}  {line.title}{more}"))
    if not found:
        print(
            f"No jobs in {jobs_folder()}." if root.live else "No jobs: --root and --demo show another host."
        )
    return 0


def attach(job: Job, *, since: int = 0, wanted: JobState = JobState.DONE) -> int:
    """Print a job's journal until it ends, and return the exit status.

    Args:
        job: the job.
        since: how many entries of its journal to leave out.
        wanted: the end that counts as success.
    """
    state, busy = "", False
    try:
        for entry in follow(job, since=since):
            for line in entry_text(entry).split("\n"):
                if line:
                    print(visible(line), flush=True)
            event = str(entry.get("event"))
            if event == JobState.NOT_BEGUN and state:  # a worker too many changes nothing about how it ended
                continue
            if event in FINAL:
                state, busy = event, bool(entry.get("busy"))
            elif event == "work":  # an earlier end was not the last one
                state = ""
    except KeyboardInterrupt:
        print(f"\nThe job continues. To follow it: raidtui jobs attach {job.id}")
        return 0
    if state == JobState.NOT_BEGUN:
        return BUSY if busy else FAILED
    if not state and not job.folder.exists():
        print(f"Job {job.id} no longer exists: its folder was removed. To see what md does: raidtui status")
        return FAILED
    if not state:
        print(f"The worker has ended, the job was interrupted. {_next_steps(job)}")
        return FAILED
    if state in RESUMABLE:
        print(_next_steps(job))
    return 0 if state == wanted else FAILED


def _next_steps(job: Job) -> str:
    undo = f"; to undo: raidtui jobs rollback {job.id}" if job.goes_back else ""
    return f"To continue: raidtui jobs resume {job.id}{undo}"
