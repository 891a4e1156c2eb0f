"""``raidtui apply PLAN`` and ``raidtui jobs``: carrying plans out by jobs that outlive the terminal."""

from __future__ import annotations

import argparse
import contextlib
import errno
import os
import shlex
import sys
import time
from functools import partial
from pathlib import Path

from raidtui.command.streams import print_json
from raidtui.host.block import DiskReader
from raidtui.host.roots.root import Root
from raidtui.jobs.spawn import begin_job, cancel, follow, start_worker
from raidtui.jobs.store import BusyError, Job, JobError, all_jobs, find_job, jobs_folder, load_plan
from raidtui.jobs.words import FINAL, GOES_ON, entry_words
from raidtui.jobs.worker import Measure, work_on
from raidtui.model.plan import Harm, Plan
from raidtui.plans.shell_script import plan_sentences
from raidtui.view.text import visible

FAILED, REFUSED, BUSY = 1, 2, 75
_LARGEST_PLAN = 16 << 20


def run_apply_order(root: Root, arguments: argparse.Namespace) -> int:
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
        print("\n".join(plan_sentences(file.plan)), flush=True)
        job = begin_job(file.plan, host=file.host)
    except JobError as error:
        return _refused(error)
    if arguments.detach:
        print(f"job {job.id}: raidtui jobs attach {job.id}")
        return 0
    return _attach(job)


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
        return "a captured tree is only looked at"
    if os.geteuid() != 0:
        return "needs root: run it with sudo"
    if host != (root.hostname or ""):
        return f"the plan was made on {host or 'another host'}, this is {root.hostname}"
    name = plan.confirm or plan.subject
    if plan.harm is Harm.DESTROYS and confirmed != name:
        return f"it destroys data: give --confirm={shlex.quote(name)} if that is what you want"
    return ""


def run_jobs_order(root: Root, arguments: argparse.Namespace) -> int:
    """Carry out ``raidtui jobs ...``."""
    if arguments.order is None:
        return _list(as_json=arguments.json)
    if arguments.order != "attach" and not root.live:
        return _refused(JobError("not done: jobs change this host, and what is looked at is another one"))
    if arguments.order == "work":
        return work_on(root, arguments.folder, back=arguments.back, measuring=partial(_cost, root))
    try:
        job = find_job(arguments.id)
        if arguments.order == "attach":
            return _attach(job, since=0)
        if arguments.order == "cancel":
            since = len(job.entries())  # before: its end may be noted at once
            cancel(job)
            return _attach(job, since=since, wanted="cancelled")
        return _again(job, back=arguments.order == "rollback")
    except JobError as error:
        return _refused(error)


def _cost(root: Root, plan: Plan) -> Measure:
    """Return what measures a plan's cost, on the disks that its devices lie on."""
    from raidtui.wear.cost_watch import JobCost  # noqa: PLC0415  (only a worker wants it)

    disks = DiskReader(root).read(set(plan.devices)).values()
    return JobCost(root, plan.title, sorted({disk.disk for disk in disks}))


def _refused(error: JobError) -> int:
    print(f"raidtui: {visible(str(error))}", file=sys.stderr)
    return BUSY if isinstance(error, BusyError) else REFUSED


def _again(job: Job, *, back: bool) -> int:
    state = job.state
    if state == "running":
        raise JobError(f"job {job.id} is running: raidtui jobs attach {job.id}")
    if back:
        job.refuse_back()
    elif state == GOES_ON:
        raise JobError(f"job {job.id} goes on by itself: raidtui jobs attach {job.id}")
    elif state == "not begun":
        raise JobError(f"job {job.id} was not begun, because another job was running: apply its plan again")
    elif state not in {"made", "interrupted", "cancelled", "failed", "stuck"}:
        raise JobError(f"job {job.id} is {state}: there is nothing to go on with")
    since = len(job.entries())
    start_worker(job, back=back)
    return _attach(job, since=since, wanted="rolled back" if back else "done")


def _list(*, as_json: bool) -> int:
    rows = []
    for job in all_jobs():
        entries = job.entries()
        title = next((str(entry.get("title")) for entry in entries if entry.get("event") == "made"), "")
        who = next((str(entry.get("who")) for entry in entries), "")
        at_s = next((entry["at_s"] for entry in entries), 0.0)
        rows.append({"id": job.id, "state": job.state, "title": title, "who": who, "made_s": at_s})
    if as_json:
        print_json({"jobs": rows})
        return 0
    for row in rows:
        at = time.strftime("%Y-%m-%d %H:%M", time.localtime(float(str(row["made_s"]))))
        print(visible(f"{row['id']}  {row['state']:<11}  {at}  {row['who']}  {row['title']}"))
    if not rows:
        print(f"No job yet in {jobs_folder()}.")
    return 0


def _attach(job: Job, *, since: int = 0, wanted: str = "done") -> int:
    state, busy = "", False
    try:
        for entry in follow(job, since=since):
            for line in entry_words(entry).split("\n"):
                if line:
                    print(visible(line), flush=True)
            event = str(entry.get("event"))
            if event == "not begun" and state:  # a worker too many changes nothing about how it ended
                continue
            if event in FINAL:
                state, busy = event, bool(entry.get("busy"))
            elif event == "work":  # an earlier end was not the last one
                state = ""
    except KeyboardInterrupt:
        print(f"\nThe job goes on: raidtui jobs attach {job.id} (or cancel)")
        return 0
    if state == "not begun":
        return BUSY if busy else FAILED
    if not state:
        print(
            f"The worker is gone, the job is interrupted. Nothing is lost:"
            f" raidtui jobs resume {job.id}, or raidtui jobs rollback {job.id}"
        )
        return FAILED
    if state in {"failed", "cancelled", "stuck"}:
        print(f"raidtui jobs resume {job.id}, or raidtui jobs rollback {job.id}")
    return 0 if state == wanted else FAILED
