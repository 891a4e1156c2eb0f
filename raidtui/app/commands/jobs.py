"""``raidtui jobs``: list, follow, cancel, resume and roll back the jobs that carry plans out."""

from __future__ import annotations

import argparse
import time
from functools import partial
from pathlib import Path

from msgspec.structs import asdict

from raidtui.app.registry import FEATURES
from raidtui.command.following import attach, refused
from raidtui.command.streams import print_json
from raidtui.host.block import DiskReader
from raidtui.host.readers.host_reader import HostReader
from raidtui.jobs.lock import JobError
from raidtui.jobs.spawn import cancel, start_worker
from raidtui.jobs.states import RESUMABLE, JobState
from raidtui.jobs.store import Job, all_jobs, find_job, foreign_jobs, jobs_folder
from raidtui.jobs.waiting import wait_of
from raidtui.jobs.worker import CostMeasure, work_on
from raidtui.model.plan import Plan
from raidtui.monitor.wear.cost_watch import JobCost
from raidtui.view.text import visible


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
        each.add_argument("id", metavar="ID", help="job ID of the list, or any unique prefix or suffix")
    work = subcommands.add_parser("work", help="internal: work on a job in this process")
    work.add_argument("folder", type=Path)
    work.add_argument("--back", action="store_true")


def run(reader: HostReader, arguments: argparse.Namespace) -> int:
    """Carry out ``raidtui jobs ...``."""
    if arguments.subcommand is None:
        return _list(reader, as_json=arguments.json)
    if not reader.live:
        return refused(JobError("refused: jobs are of this host, and --root or --demo names another one"))
    if arguments.subcommand == "work":
        job = Job(arguments.folder)
        for work in (feature.work for feature in FEATURES if feature.work is not None):
            if (status := work(reader, job)) is not None:
                return status
        return work_on(reader, arguments.folder, back=arguments.back, measuring=partial(_cost, reader))
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


def _cost(reader: HostReader, plan: Plan) -> CostMeasure:
    """Return what measures a plan's cost, on the disks that its devices lie on."""
    disks = DiskReader(reader).read(set(plan.devices)).values()
    return JobCost(reader, plan.title, sorted({disk.disk for disk in disks}))


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


def _list(reader: HostReader, *, as_json: bool) -> int:
    found = [(job.line, wait_of(reader, job)) for job in all_jobs()] if reader.live else []
    found += [(line, None) for line in foreign_jobs()] if reader.live else []
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
            f"No jobs in {jobs_folder()}." if reader.live else "No jobs: --root and --demo show another host."
        )
    return 0
