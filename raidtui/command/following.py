"""How a command that begins a job says that it could not, and how it follows the job to its end."""

from __future__ import annotations

import sys

from raidtui.jobs.lock import BusyError, JobError
from raidtui.jobs.spawn import follow
from raidtui.jobs.states import FINAL, RESUMABLE, JobState, entry_text
from raidtui.jobs.store import Job
from raidtui.view.text import visible

FAILED, REFUSED, BUSY = 1, 2, 75


def refused(error: JobError) -> int:
    """Print why a job was not begun, and return the exit status: 2, or 75 where another one is running."""
    print(f"raidtui: {visible(str(error))}", file=sys.stderr)
    return BUSY if isinstance(error, BusyError) else REFUSED


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
