"""``raidtui rescue work FOLDER``: the worker of a trial, a copy or a comparison, used by raidtui itself."""

from __future__ import annotations

import argparse
from pathlib import Path

from raidtui.features.rescue.copying.copy_worker import CopyWorker
from raidtui.features.rescue.mismatch.comparison_job import ComparisonWorker
from raidtui.features.rescue.trial.trial_worker import TrialWorker
from raidtui.host.readers.host_reader import HostReader
from raidtui.jobs.job_kinds import COPY_FILE
from raidtui.jobs.states import JobState
from raidtui.jobs.store import Job
from raidtui.jobs.worker import Worker, status_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what ``rescue work`` takes."""
    parser.add_argument("folder", type=Path)
    parser.add_argument("--back", action="store_true", help="take down what the trial has left")


def run(root: HostReader, arguments: argparse.Namespace) -> int:
    """Work on a job; return the exit status: 0 done, 1 not, 75 another job is running."""
    job = Job(arguments.folder)
    worker: Worker
    if job.runs_beside:
        worker = ComparisonWorker(root, job)
    else:
        worker = (CopyWorker if (job.folder / COPY_FILE).is_file() else TrialWorker)(root, job)
    if arguments.back:
        return status_of(job, worker.roll_back, JobState.ROLLED_BACK)
    return status_of(job, worker.work, JobState.DONE)
