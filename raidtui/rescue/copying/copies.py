"""Copies as jobs."""

from __future__ import annotations

from raidtui.host.roots.root import Root
from raidtui.jobs.lock import JobError
from raidtui.jobs.spawn import refuse_busy, start_worker
from raidtui.jobs.store import COPY_FILE, Job, all_jobs, jobs_folder
from raidtui.model.plan import FactKind, Plan


def other_source(map_path: str, identity: str) -> str:
    """Return the disk that an earlier copy with this map file has read, where it is another one; else "".

    Args:
        map_path: the map file.
        identity: the serial number or WWN of the disk that is to be read; "" where it is not known.
    """
    for job in reversed(all_jobs()):
        if not (job.folder / COPY_FILE).is_file():
            continue
        plan = job.plan
        if not any(step.argv[:1] == ("ddrescue",) and step.argv[-1] == map_path for step in plan.steps):
            continue
        facts = (fact for step in plan.steps for fact in step.needs)
        serials = {
            fact.value for fact in facts if fact.kind is FactKind.SERIAL and fact.subject == plan.subject
        }
        if serials == ({identity} if identity else set()):
            return ""
        return f"{plan.subject} ({', '.join(serials) or 'without serial number'})"
    return ""


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
