"""``raidtui rescue plan TRIAL``: the plan of what a trial has rehearsed. Nothing is changed."""

from __future__ import annotations

import argparse
import os
import shlex

from raidtui.command.following import refused
from raidtui.command.plan_output import add_forms, print_plan
from raidtui.features.rescue.real_plan import plan_real
from raidtui.features.rescue.saving import saving_room
from raidtui.features.rescue.trial.trial_record import outcome_of, record_of
from raidtui.features.rescue.trial.trials import find_trial
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.reading import ReadingScope
from raidtui.jobs.lock import JobError
from raidtui.monitor.sampler import Sampler
from raidtui.view.text import visible
from raidtui.watch.storage import reading_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what ``rescue plan`` takes."""
    parser.add_argument("trial", metavar="TRIAL", help="job ID, or any unique prefix or suffix")
    parser.add_argument(
        "--save-to",
        default="",
        metavar="FOLDER",
        help="save both ends of each member there; default: /var/lib/raidtui/rescue",
    )
    add_forms(parser)


def run(root: HostReader, arguments: argparse.Namespace) -> int:
    """Print the plan; return 0, or 2 where it is refused."""
    try:
        job = find_trial(arguments.trial)
        trial = record_of(job)
    except JobError as error:
        return refused(error)
    scope = ReadingScope(closely=trial.request.made.devices, everything=True)
    survey = reading_of(root, Sampler(root).sample(), scope).start().wait()
    room = saving_room(os.path.abspath(arguments.save_to) if arguments.save_to else "")  # noqa: PTH100
    plan = plan_real(survey, trial, outcome_of(job), room, job=job.id)
    to = f" --save-to={shlex.quote(visible(arguments.save_to))}" if arguments.save_to else ""
    return print_plan(plan, arguments, root, f"raidtui rescue plan {job.id}{to}")
