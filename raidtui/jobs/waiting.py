"""What a job waits for, and how far the kernel is with it."""

from __future__ import annotations

import contextlib

from msgspec import Struct

from raidtui.host.md.array_attributes import sync_percent
from raidtui.host.readers.host_reader import HostReader
from raidtui.jobs.lock import JobError
from raidtui.jobs.states import JobState
from raidtui.jobs.store import Job
from raidtui.view.text import visible


class JobWait(Struct, frozen=True, kw_only=True):
    """What a job waits for.

    Args:
        why: what md does, a clause.
        percent: how far it is; None where the kernel does not say, as while it is paused.
        more: whether steps follow, before which it can be cancelled.
    """

    why: str
    percent: float | None = None
    more: bool = False

    @property
    def words(self) -> str:
        """Both in one line."""
        return visible(self.why) + (f": {self.percent:.1f} %" if self.percent is not None else "")


def wait_of(reader: HostReader, job: Job) -> JobWait | None:
    """Return what a job waits for; None where it waits for nothing."""
    if job.state is not JobState.GOES_ON:
        return None
    with contextlib.suppress(JobError):
        plan, (done, _) = job.plan, job.done_steps()
        step = next((step for number, step in enumerate(plan.steps) if number not in done), None)
        if step is not None and (step.waits or step.awaits):
            texts = (reader.text(f"/sys/class/block/{name}/md/sync_completed") or "" for name in plan.arrays)
            percent = next(filter(None, map(sync_percent, texts)), None)
            why = step.why if step.waits else f"md first finishes what it is doing, then: {step.why}"
            return JobWait(why=why, percent=percent, more=len(done) + step.waits < len(plan.steps))
    return None
