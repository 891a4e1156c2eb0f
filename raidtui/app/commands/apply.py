"""``raidtui apply PLAN``: make a job of a plan, which outlives the terminal, and follow it."""

from __future__ import annotations

import argparse
import contextlib
import errno
import os
import shlex
import sys
from pathlib import Path
from typing import Any, TextIO

from msgspec.structs import replace

from raidtui.command.following import REFUSED, attach, refused
from raidtui.command.paging import print_read
from raidtui.command.streams import print_json
from raidtui.host.readers.host_reader import HostReader
from raidtui.jobs.lock import JobError
from raidtui.jobs.plan_file import PlanFile, load_plan, machine_of
from raidtui.jobs.spawn import begin_job
from raidtui.jobs.states import JobState
from raidtui.jobs.store import Job
from raidtui.model.plan import Harm, Plan
from raidtui.model.step_rules import destroyed_devices, judged, step_trouble
from raidtui.plans.shell_script import plan_sentences
from raidtui.view.text import visible

_LARGEST_PLAN = 16 << 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``apply``."""
    parser.add_argument(
        "file", metavar="PLAN", help="a plan that raidtui plan ... --json printed; - is standard input"
    )
    parser.add_argument("--confirm", default="", metavar="NAME", help="name that a destructive plan asks for")
    parser.add_argument("--detach", action="store_true", help="do not wait for the end")
    parser.add_argument(
        "--json",
        action="store_true",
        help="print the result as JSON; the journal goes to standard error",
    )


def run(reader: HostReader, arguments: argparse.Namespace) -> int:
    """Make a job of a plan and follow it; return 0 done, 1 not, 2 refused, 75 another job is running."""
    try:
        data = _read(arguments.file)
    except (OSError, ValueError) as error:  # a name may hold what no path can
        why = (isinstance(error, OSError) and error.strerror) or error
        print(f"raidtui: {visible(arguments.file)}: {why}", file=sys.stderr)
        return REFUSED
    try:
        file = load_plan(data)
        plan = judged(file.plan)
        if why := _why_not(reader, file, plan, arguments.confirm):
            print(f"raidtui: not done: {visible(why)}", file=sys.stderr)
            return REFUSED
        if plan.already:
            return _already(plan, as_json=arguments.json)
        with _words_to(sys.stderr if arguments.json else sys.stdout):
            if not print_read(plan_sentences(plan, _files_of(reader, plan))):
                print("raidtui: not done: stopped while it was read", file=sys.stderr)
                return REFUSED
            job = begin_job(_with_devices(plan), host=file.host)
            if arguments.detach:
                print(f"job {job.id}: raidtui jobs attach {job.id}")
            status = 0 if arguments.detach else attach(job)
    except JobError as error:
        return refused(error)
    if arguments.json:
        print_json(_result(plan, job))
    return status


def _already(plan: Plan, *, as_json: bool) -> int:
    """Report that there is nothing to do: done."""
    words = plan.notes[0] if plan.notes else plan.title
    print(visible(f"already so: {words}"), file=sys.stderr if as_json else sys.stdout)
    if as_json:
        print_json(_result(plan, None))
    return 0


def _words_to(stream: TextIO) -> contextlib.redirect_stdout[TextIO]:
    """Let what is printed for people go to a stream: standard output has JSON alone."""
    return contextlib.redirect_stdout(stream)


def _result(plan: Plan, job: Job | None) -> dict[str, Any]:
    """Return what became of a plan: a step that was begun may have changed the host (docs/plans.md)."""
    begun = job is not None and any(entry.get("event") == "begin" for entry in job.entries())
    state = job.state if job is not None else None
    going = state in {JobState.MADE, JobState.RUNNING}
    return {
        "raidtui_apply": 1,
        "changed": begun or going,
        "already": plan.already,
        "title": plan.title,
        "job": job.id if job is not None else None,
        "state": str(state) if state is not None else None,
    }


def _read(file: str) -> bytes:
    """Return a plan's text; from a pipe, too, but never more than a plan can have.

    Raises:
        OSError: it cannot be read, or is too large.
    """
    with contextlib.ExitStack() as closing:
        stream = sys.stdin.buffer if file == "-" else closing.enter_context(Path(file).open("rb"))
        data = stream.read(_LARGEST_PLAN + 1)
    if len(data) > _LARGEST_PLAN:
        raise OSError(errno.EFBIG, "too large for a plan")
    return data


def _files_of(reader: HostReader, plan: Plan) -> dict[str, str]:
    """Return what is in the files that a plan writes, bytes as characters; "" for one that is not there."""
    found = {}
    for step in plan.steps:
        if step.content is not None:
            with contextlib.suppress(OSError):
                found[step.path] = reader.read(step.path).decode("latin-1")
            found.setdefault(step.path, "")
    return found


def _with_devices(plan: Plan) -> Plan:
    """Return a plan with all block devices that its tools overwrite: their ends go into the black box."""
    paths = (os.path.realpath(path) for step in plan.steps for path in destroyed_devices(step))
    there = (
        path.removeprefix("/dev/")
        for path in paths
        if path.startswith("/dev/") and Path(path).is_block_device()
    )
    return replace(plan, devices=tuple(dict.fromkeys((*plan.devices, *there))))


def _why_not(reader: HostReader, file: PlanFile, plan: Plan, confirmed: str) -> str:
    if not reader.live:
        return "a capture cannot be changed"
    if os.geteuid() != 0:
        return "needs root: run it with sudo"
    if file.host != (reader.hostname or ""):
        return f"the plan was made on {file.host or 'another host'}, this is {reader.hostname}"
    if file.machine not in {"", machine_of(reader)}:
        return f"the plan was made on another host of the name {file.host}: its machine-id is not this one's"
    if trouble := step_trouble(plan):
        return f"{trouble}; raidtui makes no such plan"
    name = plan.confirm or plan.subject or "destroy"
    if plan.harm is Harm.DESTROYS and confirmed != name:
        return f"it destroys data: to confirm, give --confirm={shlex.quote(name)}"
    return ""
