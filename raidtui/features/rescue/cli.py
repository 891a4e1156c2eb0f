"""``raidtui rescue``: its subcommands. Those with much to say have a module of their own.

Without the name of a subcommand it is ``diagnose``: ``raidtui rescue [--json] [DEVICE...]``.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from raidtui.command.device_names import kernel_name
from raidtui.command.following import REFUSED, attach, refused
from raidtui.command.plan_output import add_forms, print_plan
from raidtui.command.streams import print_refusal
from raidtui.features.rescue import cli_diagnose, cli_mismatches, cli_search, cli_try
from raidtui.features.rescue.copies import CopyWorker, begin_copy, copy_request
from raidtui.features.rescue.copy_plan import plan_copy
from raidtui.features.rescue.mismatch.comparison_job import ComparisonWorker
from raidtui.features.rescue.real_plan import plan_real
from raidtui.features.rescue.session_trials import saving_room
from raidtui.features.rescue.trial.trial_record import read_outcome, read_record
from raidtui.features.rescue.trial.trial_worker import TrialWorker
from raidtui.features.rescue.trial.trials import clean, find_trial
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.reading import ReadingScope
from raidtui.jobs.job_kinds import COPY_FILE
from raidtui.jobs.lock import JobError
from raidtui.jobs.states import JobState
from raidtui.jobs.store import Job
from raidtui.jobs.worker import Worker, status_of
from raidtui.model.plan import Harm, Refusal
from raidtui.monitor.sampler import Sampler
from raidtui.plans.shell_script import plan_sentences
from raidtui.view.text import visible
from raidtui.watch.storage import reading_of

_DIAGNOSE = "diagnose"
_OF_HOST = ("--root", "--demo")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what ``rescue`` takes."""
    parser.description = (
        "Show why arrays do not start, and how to bring them back. Without a subcommand: raidtui rescue"
        " [--json] [DEVICE...], which writes nothing. Write a device that has the name of a subcommand with"
        " /dev/."
    )
    subcommands = parser.add_subparsers(dest="subcommand", metavar="SUBCOMMAND", required=True)
    for name, (words, add, _) in _SUBCOMMANDS.items():
        add(subcommands.add_parser(name, help=words))


def complete(words: Sequence[str]) -> list[str]:
    """Return the arguments of ``rescue`` with the name of a subcommand.

    Args:
        words: the arguments as they were typed.
    """
    typed = list(words)
    at = 0
    while at < len(typed) and typed[at].partition("=")[0] in _OF_HOST:
        at += 2 if typed[at] == "--root" else 1
    following = typed[at] if at < len(typed) else ""
    if following in {*_SUBCOMMANDS, "-h", "--help"}:
        return typed
    return [*typed[:at], _DIAGNOSE, *typed[at:]]


def run(reader: HostReader, arguments: argparse.Namespace) -> int:
    """Carry out ``raidtui rescue ...``; return the exit status that the subcommand documents."""
    return _SUBCOMMANDS[arguments.subcommand][2](reader, arguments)


def _add_plan(parser: argparse.ArgumentParser) -> None:
    """Add what ``rescue plan`` takes."""
    parser.add_argument("trial", metavar="TRIAL", help="job ID, or any unique prefix or suffix")
    parser.add_argument(
        "--save-to",
        default="",
        metavar="FOLDER",
        help="save both ends of each member there; default: /var/lib/raidtui/rescue",
    )
    add_forms(parser)


def _plan(reader: HostReader, arguments: argparse.Namespace) -> int:
    """Print the plan; return 0, or 2 where it is refused."""
    try:
        job = find_trial(arguments.trial)
        trial = read_record(job)
    except JobError as error:
        return refused(error)
    scope = ReadingScope(closely=trial.request.made.devices, everything=True)
    survey = reading_of(reader, Sampler(reader).sample(), scope).start().wait()
    room = saving_room(os.path.abspath(arguments.save_to) if arguments.save_to else "")  # noqa: PTH100
    plan = plan_real(survey, trial, read_outcome(job), room, job=job.id)
    to = f" --save-to={shlex.quote(visible(arguments.save_to))}" if arguments.save_to else ""
    return print_plan(plan, arguments, reader, f"raidtui rescue plan {job.id}{to}")


def _add_copy(parser: argparse.ArgumentParser) -> None:
    """Add what ``rescue copy`` takes."""
    parser.description = (
        "Copy a disk that gives read errors, with GNU ddrescue: first what can be read easily, then"
        " the rest, sector by sector. The copy is a job; the same command continues one that was interrupted."
    )
    parser.add_argument("source", metavar="SOURCE", help="the device; it is only read")
    parser.add_argument(
        "target", metavar="TARGET", help="a device, which is overwritten, or a file: /srv/sda.img"
    )
    parser.add_argument(
        "--map",
        default="",
        metavar="FILE",
        help="ddrescue's map file; default: FILE.map, or one by the serial numbers",
    )
    parser.add_argument(
        "--confirm", default="", metavar="NAME", help="the target's serial number, or its name"
    )
    parser.add_argument("--detach", action="store_true", help="do not wait for the end")


def _copy(reader: HostReader, arguments: argparse.Namespace) -> int:
    """Copy; return 0 done, 1 not, 2 refused, 75 another job is running."""
    if not reader.live:
        print("raidtui: not done: a capture cannot be copied", file=sys.stderr)
        return REFUSED
    source, target = kernel_name(reader, arguments.source), kernel_name(reader, arguments.target)
    request = copy_request(reader, source, target, arguments.target, arguments.map)
    names = (request.source, *((request.target,) if isinstance(request.target, str) else ()))
    scope = ReadingScope(closely=names, everything=True, parts=True)
    survey = reading_of(reader, Sampler(reader).sample(), scope).start().wait()
    plan = plan_copy(survey, request)
    if isinstance(plan, Refusal):
        return print_refusal(plan, as_json=False)
    print("\n".join(plan_sentences(plan)), flush=True)
    if plan.harm is Harm.DESTROYS and arguments.confirm != plan.confirm:
        confirm = shlex.quote(visible(plan.confirm))
        print(f"raidtui: not done: it destroys data: to confirm, give --confirm={confirm}", file=sys.stderr)
        return REFUSED
    try:
        job = begin_copy(reader, plan)
    except JobError as error:
        return refused(error)
    if arguments.detach:
        print(f"job {job.id}: raidtui jobs attach {job.id}")
        return 0
    return attach(job)


def _add_clean(parser: argparse.ArgumentParser) -> None:
    """Add what ``rescue clean`` takes: nothing."""
    parser.description = (
        "Take down everything that trials have left: mounts, arrays, overlays, stores, udev rules. The"
        " members become writable again. A running trial is cancelled first."
    )


def _clean(reader: HostReader, arguments: argparse.Namespace) -> int:
    """Clean; return 0 nothing is left, 1 something is, 2 refused, 75 another job is running."""
    del arguments
    if not reader.live or os.geteuid() != 0:
        print("raidtui: not done: needs root, on the live host: run it with sudo", file=sys.stderr)
        return REFUSED
    try:
        left = clean(reader, lambda text: print(visible(text), flush=True))
    except JobError as error:
        return refused(error)
    for each in left:
        print(visible(f"left: {each}"))
    if not left:
        print("Nothing is left of any trial.")
    return 1 if left else 0


def _add_work(parser: argparse.ArgumentParser) -> None:
    """Add what ``rescue work`` takes."""
    parser.add_argument("folder", type=Path)
    parser.add_argument("--back", action="store_true", help="take down what the trial has left")


def _work(reader: HostReader, arguments: argparse.Namespace) -> int:
    """Work on a job; return the exit status: 0 done, 1 not, 75 another job is running."""
    job = Job(arguments.folder)
    worker: Worker
    if job.runs_beside:
        worker = ComparisonWorker(reader, job)
    else:
        worker = (CopyWorker if (job.folder / COPY_FILE).is_file() else TrialWorker)(reader, job)
    if arguments.back:
        return status_of(job, worker.roll_back, JobState.ROLLED_BACK)
    return status_of(job, worker.work, JobState.DONE)


_Add = Callable[[argparse.ArgumentParser], None]
_Run = Callable[[HostReader, argparse.Namespace], int]
_SUBCOMMANDS: Mapping[str, tuple[str, _Add, _Run]] = {
    _DIAGNOSE: (
        "read all superblocks, and show what happened and how to recover (default)",
        cli_diagnose.add_arguments,
        cli_diagnose.run,
    ),
    "search": (
        "search for level, order, chunk, layout and data offset without superblocks; only reads",
        cli_search.add_arguments,
        cli_search.run,
    ),
    "try": (
        "try a way back with the members read-only, and judge it by what is on the array",
        cli_try.add_arguments,
        cli_try.run,
    ),
    "plan": ("print the plan that a trial has rehearsed; nothing is changed", _add_plan, _plan),
    "mismatches": (
        "compare all members: which sectors differ, which member disagrees, what lies there",
        cli_mismatches.add_arguments,
        cli_mismatches.run,
    ),
    "copy": ("copy a disk that gives read errors, with GNU ddrescue", _add_copy, _copy),
    "clean": ("take down everything that trials have left", _add_clean, _clean),
    "work": (
        "used by raidtui itself: work on a trial, a copy or a comparison in this process",
        _add_work,
        _work,
    ),
}
"""What each does, what it takes, and what carries it out."""
