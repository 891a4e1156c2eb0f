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

from raidtui.command.jobs import REFUSED, attach, refused
from raidtui.command.streams import print_json
from raidtui.host.roots.root import Root
from raidtui.jobs.lock import JobError
from raidtui.jobs.plan_file import load_plan
from raidtui.jobs.spawn import begin_job
from raidtui.jobs.states import JobState
from raidtui.jobs.store import Job
from raidtui.model.plan import Harm, Plan
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


def run(root: Root, arguments: argparse.Namespace) -> int:
    """Make a job of a plan and follow it; return 0 done, 1 not, 2 refused, 75 another job is running."""
    try:
        data = _read(arguments.file)
    except (OSError, ValueError) as error:  # a name may hold what no path can
        why = (isinstance(error, OSError) and error.strerror) or error
        print(f"raidtui: {visible(arguments.file)}: {why}", file=sys.stderr)
        return REFUSED
    try:
        file = load_plan(data)
        if why := _why_not(root, file.plan, file.host, arguments.confirm):
            print(f"raidtui: not done: {visible(why)}", file=sys.stderr)
            return REFUSED
        if file.plan.already:
            return _already(file.plan, as_json=arguments.json)
        with _words_to(sys.stderr if arguments.json else sys.stdout):
            print("\n".join(plan_sentences(file.plan)), flush=True)
            job = begin_job(file.plan, host=file.host)
            if arguments.detach:
                print(f"job {job.id}: raidtui jobs attach {job.id}")
            status = 0 if arguments.detach else attach(job)
    except JobError as error:
        return refused(error)
    if arguments.json:
        print_json(_result(file.plan, job))
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


def _why_not(root: Root, plan: Plan, host: str, confirmed: str) -> str:
    if not root.live:
        return "a capture cannot be changed"
    if os.geteuid() != 0:
        return "needs root: run it with sudo"
    if host != (root.hostname or ""):
        return f"the plan was made on {host or 'another host'}, this is {root.hostname}"
    name = plan.confirm or plan.subject
    if plan.harm is Harm.DESTROYS and confirmed != name:
        return f"it destroys data: to confirm, give --confirm={shlex.quote(name)}"
    return ""
