"""Takes back what the steps of a job have done, the last one first."""

from __future__ import annotations

import time
from collections.abc import Callable

from msgspec.structs import replace

from raidtui.host.readers.host_reader import HostReader
from raidtui.jobs.host_writer import HostWriter
from raidtui.jobs.rollback import bound_to_start
from raidtui.jobs.runner import holds, reads_so
from raidtui.jobs.store import Job
from raidtui.model.plan import Plan, Step

_BACK_S = 45.0
"""How long to try to undo what others stand on, from the first failure."""


class Undoing:
    """Undoes the steps of one job, and notes it in its journal.

    Args:
        reader: the host.
        job: the job; its lock is held.
        do: carries out a step, and returns why it failed, or "".
    """

    def __init__(self, reader: HostReader, job: Job, do: Callable[[Step], str]) -> None:
        self._reader = reader
        self._job = job
        self._do = do

    def undo_all(self, plan: Plan) -> str:
        """Undo all steps; return why one cannot be undone, or "".

        What steps stand on stays until they are undone. Someone may have it open, such as udev, longer than
        mdadm and dmsetup are patient (5 s): then they are tried again.
        """
        end_s: float | None = None
        while True:
            stuck = self._undo_once(plan)
            end_s = end_s or time.monotonic() + _BACK_S
            if not stuck or not plan.stacked or time.monotonic() >= end_s:
                return stuck
            HostWriter(self._reader).run("udevadm", "settle", "--timeout=10")

    def _undo_once(self, plan: Plan) -> str:
        """Undo the steps that are not undone yet, once; return why the first one that cannot be is not."""
        done, begun = self._job.done_steps()
        stuck = ""
        for number in sorted(done | begun, reverse=True):
            if reason := self._undo(number, plan.steps[number].undo):
                stuck = stuck or f"step {number + 1} cannot be undone: {reason}"
                if plan.stacked:
                    break
            else:
                self._job.note(event="undone", step=number)
        return stuck

    def _undo(self, number: int, steps: tuple[Step, ...]) -> str:
        """Return why a step cannot be undone, or ""."""
        first = ""
        for place, step in enumerate(steps):
            if step.proves and holds(self._reader, step.proves):
                continue
            self._job.note(event="undo", of=number, command=step.command)
            reason = self._do(replace(step, needs=bound_to_start(self._job, step.needs)))
            if reason and reads_so(self._reader, step):  # the kernel refuses the write, which is not needed
                self._job.note(event="output", text=f"{reason}; it is {step.text} already")
                continue
            if reason:
                self._job.note(event="undo failed", of=number, reason=reason)
                first = first or reason
                if place == 0:  # the others depend on it
                    break
        return first
