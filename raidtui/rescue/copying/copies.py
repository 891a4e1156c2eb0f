"""Copies as jobs."""

from __future__ import annotations

from raidtui.host.roots.root import Root
from raidtui.jobs.lock import JobError
from raidtui.jobs.spawn import refuse_busy, start_worker
from raidtui.jobs.store import COPY_FILE, Job, jobs_folder
from raidtui.model.plan import Plan


def begin_copy(root: Root, plan: Plan) -> Job:
    """Make a job of a copy, and start its worker.

    Raises:
        JobError: another job is running, or this one cannot be kept.
    """
    refuse_busy(jobs_folder())
    job = Job.create(plan, host=root.hostname or "")
    try:
        job.keep(COPY_FILE, b"{}\n")
        start_worker(job)
    except JobError:
        job.discard()
        raise
    except OSError as error:
        job.discard()
        raise JobError(f"the copy cannot be written down: {error.strerror}; nothing was started") from error
    return job
