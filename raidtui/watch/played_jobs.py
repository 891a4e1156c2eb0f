"""Jobs of a simulated host: their steps are played in this process, and end with it.

They advance whenever they are asked for news, so that a job whose view is closed continues where it is looked
at again.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct, field

from raidtui.demo.demo_host import DemoReader
from raidtui.demo.sim_mdadm import is_played
from raidtui.host.md.array_attributes import sync_percent
from raidtui.jobs.lock import JobError
from raidtui.jobs.runner import do_step, first_trouble, holds
from raidtui.jobs.states import NO_WAY_BACK, UNDER_WAY, JobState
from raidtui.jobs.store import JobLine
from raidtui.jobs.waiting import JobWait
from raidtui.model.plan import Plan, Step
from raidtui.watch.storage import JobNews

OF_DEMO = "demo-"
"""How the ids of these jobs begin."""


class PlayedJob(Struct, kw_only=True):
    """A job and its journal; ``at`` is the number of the next step."""

    id: str
    plan: Plan
    made_s: float
    at: int = 0
    state: JobState = JobState.RUNNING
    entries: list[Mapping[str, Any]] = field(default_factory=list)
    wait: JobWait | None = None

    def note(self, event: str, **more: object) -> None:
        """Add an entry to the journal."""
        self.entries.append({"event": event, **more})

    def end(self, state: JobState, reason: str = "") -> None:
        """End in a state."""
        self.state, self.wait = state, None
        self.note(state, **({"reason": reason} if reason else {}))


class PlayedJobs:
    """The jobs of one simulated host. Called in the thread that reads and writes it.

    Args:
        reader: the host.
    """

    def __init__(self, reader: DemoReader) -> None:
        self._reader = reader
        self._jobs: dict[str, PlayedJob] = {}

    def start(self, plan: Plan) -> str:
        """Begin a job of a plan, and return its id.

        Raises:
            JobError: another job is running, or the demo does not play one of the steps.
        """
        for job in self._jobs.values():
            self._advance(job)
            if job.state is JobState.RUNNING:
                raise JobError(f"another job is running: {job.id}; wait for it, or cancel it")
        step = next((step for step in plan.steps if not _is_played(step)), None)
        if step is not None:
            raise JobError(f"the demo host is simulated, and does not play this: {step.command}")
        job = PlayedJob(id=f"{OF_DEMO}{len(self._jobs) + 1}", plan=plan, made_s=self._reader.now_s())
        self._jobs[job.id] = job
        self._advance(job)  # also where its view is closed before it is asked for news
        return job.id

    def news(self, job_id: str, since: int) -> JobNews:
        """Advance a job; return the entries of its journal beyond the first ``since``, and its state."""
        job = self._jobs[job_id]
        self._advance(job)
        return JobNews(entries=tuple(job.entries[since:]), state=job.state, wait=job.wait)

    def give(self, command: str, job_id: str) -> int:
        """Cancel a job before its next step; return how many entries its journal has.

        Raises:
            JobError: it is to be resumed or rolled back.
        """
        job = self._jobs[job_id]
        if command == "cancel" and job.state in UNDER_WAY:
            job.end(JobState.CANCELLED, f"cancelled before step {job.at + 2}")
        elif command == "resume":
            job.state = JobState.RUNNING
        elif command == "rollback":
            raise JobError(f"job {job.id} {NO_WAY_BACK}")
        return len(job.entries)

    def lines(self) -> tuple[JobLine, ...]:
        """Return the jobs, the newest first."""
        for job in self._jobs.values():
            self._advance(job)
        return tuple(
            JobLine(id=job.id, state=job.state, title=job.plan.title, made_s=job.made_s)
            for job in reversed(self._jobs.values())
        )

    def _advance(self, job: PlayedJob) -> None:
        """Do the steps up to one that waits, or up to the end."""
        while job.state in UNDER_WAY:
            if job.at == len(job.plan.steps):
                job.end(JobState.DONE)
                return
            step = job.plan.steps[job.at]
            reason = self._waited(job, step) if step.waits else self._done(job, step)
            if reason:
                job.note("step failed", step=job.at, reason=reason)
                job.end(JobState.FAILED, f"step {job.at + 1}: {reason}")
            elif job.state is JobState.GOES_ON:
                return
            else:
                job.note("step done", step=job.at)
                job.at += 1

    def _done(self, job: PlayedJob, step: Step) -> str:
        """Do a step; return why it failed, or ""."""
        job.note("begin", step=job.at, command=step.command)
        say: Callable[[str], None] = lambda text: job.note("output", text=text)  # noqa: E731
        if step.content is not None:
            return self._kept(step)
        return do_step(self._reader, step, say)

    def _kept(self, step: Step) -> str:
        """Put a configuration file in the simulated host's memory; return why that failed, or ""."""
        if reason := first_trouble(self._reader, step.needs):
            return reason
        self._reader.keep(step.path, step.content or "")
        return first_trouble(self._reader, step.proves)

    def _waited(self, job: PlayedJob, step: Step) -> str:
        """Note whether md has finished what a step waits for; return why it never will, or ""."""
        if holds(self._reader, step.until):
            job.state, job.wait = JobState.RUNNING, None
            return ""
        if reason := first_trouble(self._reader, step.as_long_as):
            return f"{step.why}, but has not finished: {reason}"
        if step.paces:  # no power cut meets the demo: md need not halt
            with contextlib.suppress(OSError):
                self._reader.take_value(f"/sys/class/block/{step.paces}/md/sync_max", "max")
        if job.state is not JobState.GOES_ON:
            job.note(JobState.GOES_ON, reason=f"{step.why}; other jobs can run meanwhile")
        texts = (
            self._reader.text(f"/sys/class/block/{name}/md/sync_completed") or "" for name in job.plan.arrays
        )
        percent = next((found for found in map(sync_percent, texts) if found is not None), None)
        job.state = JobState.GOES_ON
        job.wait = JobWait(why=step.why, percent=percent, more=job.at + 1 < len(job.plan.steps))
        return ""


def _is_played(step: Step) -> bool:
    return not step.argv or is_played(step.argv)
