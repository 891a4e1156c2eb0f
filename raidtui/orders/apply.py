"""``raidtui apply PLAN`` and ``raidtui jobs``: carrying plans out by jobs that outlive the terminal."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path

from raidtui.actions.script import plan_sentences
from raidtui.host.root import Root
from raidtui.jobs.spawn import cancel, follow, start_worker
from raidtui.jobs.store import Job, JobError, all_jobs, find_job, jobs_folder, load_plan
from raidtui.jobs.words import FINAL, entry_words
from raidtui.jobs.worker import work_on
from raidtui.model.plan import Harm, Plan
from raidtui.model.text import visible

FAILED, REFUSED, BUSY = 1, 2, 75


def run_apply_order(root: Root, arguments: argparse.Namespace) -> int:
    """Make a job of a plan and follow it; return 0 done, 1 not, 2 refused, 75 another job is running."""
    try:
        data = sys.stdin.buffer.read() if arguments.file == "-" else Path(arguments.file).read_bytes()
    except OSError as error:
        print(f"raidtui: {arguments.file}: {error.strerror}", file=sys.stderr)
        return REFUSED
    try:
        file = load_plan(data)
        if why := _why_not(root, file.plan, file.host, arguments.confirm):
            print(f"raidtui: not done: {why}", file=sys.stderr)
            return REFUSED
        print("\n".join(plan_sentences(file.plan)), flush=True)
        job = Job.create(file.plan, host=file.host)
        start_worker(job)
    except JobError as error:
        print(f"raidtui: {error}", file=sys.stderr)
        return BUSY if "another job" in str(error) else REFUSED
    if arguments.detach:
        print(f"job {job.id}: raidtui jobs attach {job.id}")
        return 0
    return _attach(job)


def _why_not(root: Root, plan: Plan, host: str, confirmed: str) -> str:
    if not root.live:
        return "a captured tree is only looked at"
    if os.geteuid() != 0:
        return "needs root: run it with sudo"
    if host != (root.hostname or ""):
        return f"the plan was made on {host or 'another host'}, this is {root.hostname}"
    if plan.harm is Harm.DESTROYS and confirmed != plan.confirm:
        return f"it destroys data: give --confirm={plan.confirm} if that is what you want"
    return ""


def run_jobs_order(root: Root, arguments: argparse.Namespace) -> int:
    """Carry out ``raidtui jobs ...``."""
    if arguments.order == "work":
        return work_on(root, arguments.folder, back=arguments.back)
    if arguments.order is None:
        return _list(as_json=arguments.json)
    try:
        job = find_job(arguments.id)
        if arguments.order == "attach":
            return _attach(job, since=0)
        if arguments.order == "cancel":
            cancel(job)
            return _attach(job, since=len(job.entries()))
        return _again(job, back=arguments.order == "rollback")
    except JobError as error:
        print(f"raidtui: {error}", file=sys.stderr)
        return BUSY if "another job" in str(error) else REFUSED


def _again(job: Job, *, back: bool) -> int:
    state = job.state
    if state == "running":
        raise JobError(f"job {job.id} is running: raidtui jobs attach {job.id}")
    if not back and state not in {"made", "interrupted", "cancelled", "failed"}:
        raise JobError(f"job {job.id} is {state}: there is nothing to go on with")
    done, begun = job.done_steps()
    if back and not done | begun:
        raise JobError(f"job {job.id} has done nothing that could be undone")
    since = len(job.entries())
    start_worker(job, back=back)
    return _attach(job, since=since, wanted="rolled back" if back else "done")


def _list(*, as_json: bool) -> int:
    rows = []
    for job in all_jobs():
        entries = job.entries()
        title = next((str(entry.get("title")) for entry in entries if entry.get("event") == "made"), "")
        who = next((str(entry.get("who")) for entry in entries), "")
        at_s = next((float(entry.get("at_s", 0)) for entry in entries), 0.0)
        rows.append({"id": job.id, "state": job.state, "title": title, "who": who, "made_s": at_s})
    if as_json:
        print(json.dumps({"jobs": rows}, ensure_ascii=False, indent=1))
        return 0
    for row in rows:
        at = time.strftime("%Y-%m-%d %H:%M", time.localtime(float(str(row["made_s"]))))
        print(visible(f"{row['id']}  {row['state']:<11}  {at}  {row['who']}  {row['title']}"))
    if not rows:
        print(f"No job yet in {jobs_folder()}.")
    return 0


def _attach(job: Job, *, since: int = 0, wanted: str = "done") -> int:
    state = ""
    try:
        for entry in follow(job, since=since):
            for line in entry_words(entry).split("\n"):
                if line:
                    print(visible(line), flush=True)
            if entry.get("event") in FINAL:
                state = str(entry["event"])
    except KeyboardInterrupt:
        print(f"\nThe job goes on: raidtui jobs attach {job.id} (or cancel)")
        return 0
    if state == "not begun":
        return BUSY
    if not state:
        print(
            f"The worker is gone, the job is interrupted. Nothing is lost:"
            f" raidtui jobs resume {job.id}, or raidtui jobs rollback {job.id}"
        )
        return FAILED
    if state in {"failed", "cancelled", "stuck"}:
        print(f"raidtui jobs resume {job.id}, or raidtui jobs rollback {job.id}")
    return 0 if state == wanted else FAILED
