"""The worker: carries out the plan of a job, in a process of its own that outlives the terminal.

Before each step and after it the journal is on disk. Killed anywhere, nothing is lost: what was under way is
known, and ``resume`` checks whether it had finished before doing it again.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Protocol

from raidtui.host.block import read_appearance
from raidtui.host.facts import kernel_name
from raidtui.host.readers.host_reader import HostReader
from raidtui.jobs.blackbox import save_black_box
from raidtui.jobs.lock import BusyError, JobError, only_worker
from raidtui.jobs.reshape_pace import ReshapePace
from raidtui.jobs.rollback import is_final, is_lost, refuse_late
from raidtui.jobs.runner import do_step, first_trouble, holds
from raidtui.jobs.states import CANCEL_EVENT, JobState
from raidtui.jobs.store import Job
from raidtui.jobs.undo_record import UndoRecord, done_by_job, keeps_values, record_path
from raidtui.jobs.undoing import Undoing
from raidtui.model.fact import FactKind
from raidtui.model.plan import Harm, Plan, Step
from raidtui.model.step_rules import step_trouble

_END_S, _END_PACE_S = 2.0, 0.05
"""How long a job waits for what md may finish at once, before its state is ``goes on``."""
_FOLLOW_PACE_S = 1.0
_WAITS = "{0} is auto-read-only, so md waits for the first write (raidtui plan read-write {0})"
_LOST_S = 5.0


class CostMeasure(Protocol):
    """Measures what a job writes to disks. Raises nothing: that is not a reason to stop a job."""

    def before(self) -> None:
        """Take the first reading."""

    def after(self) -> str:
        """Take the second reading; return a sentence on the written bytes, or ""."""


Measuring = Callable[[Plan], CostMeasure]


class JobWorker:
    """What works on a job of any kind: how it hears that it is to end, and how it ends.

    Args:
        reader: the host.
        job: the job.
        listens: whether it handles signals. A worker within another one does not.
    """

    def __init__(self, reader: HostReader, job: Job, *, listens: bool = True) -> None:
        self._reader = reader
        self._job = job
        self._listens = listens
        self._cancelled = False

    def _end(self, state: JobState, *, reason: str = "") -> JobState:
        self._job.note(event=state, **({"reason": reason} if reason else {}))
        if state in {JobState.DONE, JobState.ROLLED_BACK}:
            self._job.give_room_up()
        return state

    def _listen(self) -> None:
        """Ignore a dropped connection; end after what is under way when asked to (SIGTERM)."""
        if not self._listens:
            return
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, self._cancel)

    def _cancel(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        self._cancelled = True


class Worker(JobWorker):
    """Works on one job: does its steps, or undoes them.

    Args:
        reader: the host.
        job: the job.
        measuring: makes the measure of what a plan that writes to disks costs them.
        listens: see ``JobWorker``.
    """

    def __init__(
        self, reader: HostReader, job: Job, measuring: Measuring | None = None, *, listens: bool = True
    ) -> None:
        super().__init__(reader, job, listens=listens)
        self._measuring = measuring
        self._missed = False
        self._mine = 0
        """How many workers had been noted in the journal when this one began."""

    def work(self) -> JobState:
        """Do the steps that are left; return the state that the job ends in.

        Raises:
            JobError: another job is running, or the plan cannot be read.
        """
        with contextlib.ExitStack() as followed:
            with only_worker(self._job.folder.parent, self._job.id):
                self._listen()
                plan = self._job.plan
                self._job.keep_room()
                state = self._worked(plan, followed)
            while state is JobState.GOES_ON:
                state = self._follow(plan)
                if state is not JobState.RUNNING:
                    return state
                state = self._went_on(plan, followed)
            return state

    def _worked(self, plan: Plan, followed: contextlib.ExitStack) -> JobState:
        """Do the steps up to the end, or up to one that waits for md. The lock is held."""
        self._cancelled |= self._job.note_work()
        self._mine = self._works()
        state, reason = self._measured(plan)
        failed = state is JobState.FAILED and self._waiting(plan) is None  # what md does is not taken back
        if failed and plan.rolls_back and not is_final(self._reader, self._job, plan):
            self._job.note(event="going back", reason=reason)
            return self._back(plan, reason)
        if state is JobState.GOES_ON:
            followed.enter_context(self._job.following())
        return self._end(state, reason=reason)

    def _went_on(self, plan: Plan, followed: contextlib.ExitStack) -> JobState:
        """Do the steps after what was waited for; while another job runs, wait."""
        number = self._waiting(plan)
        if (
            number is not None and plan.steps[number].waits and number + 1 == len(plan.steps)
        ):  # nothing is left to do: no lock
            self._job.note(event="step done", step=number)
            return self._end(JobState.DONE)
        with contextlib.suppress(BusyError), only_worker(self._job.folder.parent, self._job.id):
            if self._works() == self._mine:
                return self._worked(plan, followed)
        time.sleep(_FOLLOW_PACE_S)
        return JobState.GOES_ON

    def roll_back(self) -> JobState:
        """Undo the steps, the last one first; return the state that the job ends in.

        Raises:
            JobError: another job is running, or nothing can be undone.
        """
        with only_worker(self._job.folder.parent, self._job.id):
            self._listen()
            self._job.refuse_back()
            plan = self._job.plan
            refuse_late(self._reader, self._job, plan)
            self._job.keep_room()
            self._job.note_work(back=True)
            return self._back(plan, "requested")

    def _has_ended(self, step: Step, patience_s: float = 0.0) -> bool:
        """Whether md has finished what a step waits for, or what has to end before it."""
        end_s = time.monotonic() + patience_s
        while not holds(self._reader, step.until or step.awaits):
            if time.monotonic() >= end_s:
                return False
            time.sleep(_END_PACE_S)
        return True

    def _is_waiting(self, array: str) -> bool:
        """Whether an array is auto-read-only: md starts nothing on it before the first write."""
        return (self._reader.text(f"/sys/class/block/{array}/md/array_state") or "").strip() == "read-auto"

    def _waiting(self, plan: Plan) -> int | None:
        """Return the number of the step that waits for md; None where none does."""
        done, _ = self._job.done_steps()
        left = (number for number, step in enumerate(plan.steps) if number not in done)
        number = next(left, None)
        if number is None or not (plan.steps[number].waits or self._is_early(plan.steps[number])):
            return None
        return number

    def _is_early(self, step: Step) -> bool:
        """Whether md has to end something before a step that has not been begun."""
        return bool(step.awaits) and not holds(self._reader, step.awaits)

    def _follow(self, plan: Plan) -> JobState:
        """Wait until md has finished; return RUNNING then, else the state that the job is in.

        A new worker of the job takes over.
        """
        number = self._waiting(plan)
        lost_since_s: float | None = None
        while number is not None and not self._cancelled:
            step = plan.steps[number]
            ended, reason = self._has_ended(step), first_trouble(self._reader, step.as_long_as)
            if self._works() != self._mine:
                return JobState.GOES_ON
            asked = any(entry.get("event") == CANCEL_EVENT for entry in self._job.since_work())
            if asked and (ended or not step.paces):  # a reshape that no one lets continue would halt
                return self._end(
                    JobState.CANCELLED, reason=f"cancelled before step {number + 1 + step.waits}; {step.why}"
                )
            if ended:
                return JobState.RUNNING
            # An array that is stopped and assembled again continues.
            lost_since_s = (lost_since_s or time.monotonic()) if reason else None
            if lost_since_s is not None and time.monotonic() - lost_since_s >= _LOST_S:
                return self._end(JobState.FAILED, reason=_not_ended(step, reason))
            if step.paces and not reason:
                ReshapePace(self._reader, step.paces).keep_up(_FOLLOW_PACE_S)
            else:
                time.sleep(_FOLLOW_PACE_S)
        return JobState.GOES_ON

    def _works(self) -> int:
        return sum(entry.get("event") == "work" for entry in self._job.entries())

    def _measured(self, plan: Plan) -> tuple[JobState, str]:
        """Do the steps, and note what a plan that writes to disks has cost them."""
        done, _ = self._job.done_steps()
        left = (step for number, step in enumerate(plan.steps) if number not in done)
        if self._measuring is None or not any(step.destroys for step in left):
            return self._forward(plan)
        measure = self._measuring(plan)
        measure.before()
        ended = self._forward(plan)
        if words := measure.after():
            self._job.note(event="cost", text=words)
        return ended

    def _forward(self, plan: Plan) -> tuple[JobState, str]:
        """Return the state that the steps ended in, and the reason."""
        done, begun = self._job.done_steps()
        # After the first step, the black box is never overwritten.
        saved = any(entry.get("event") == "begin" for entry in self._job.entries())
        for number, step in enumerate(plan.steps):
            if number in done and not is_lost(self._reader, plan, number, done):
                continue
            if self._cancelled:
                return JobState.CANCELLED, f"cancelled before step {number + 1}"
            if self._job.full:
                return JobState.FAILED, f"stopped before step {number + 1}: {_make_room(self._job)}"
            if step.waits:
                if not self._has_ended(step, 0.0 if step.paces else _END_S):
                    return self._at_wait(plan, step)
                self._job.note(event="step done", step=number)
                continue
            if number in begun and step.proves and holds(self._reader, step.proves):
                self._job.note(event="step done", step=number, found=True)
                continue
            if step.awaits and not self._has_ended(step, _END_S):
                return self._at_wait(plan, step)
            if plan.harm is Harm.DESTROYS and not saved:
                if reason := save_black_box(self._reader, plan, self._job.folder / "blackbox"):
                    return JobState.FAILED, reason
                saved = True
            # A step that cannot start is not noted as started: a rollback must not undo it.
            reason = first_trouble(self._reader, step.needs)
            if reason and not step.undo and step.proves and holds(self._reader, step.proves):
                # A boot or someone else has done it. A step without an undo can count as done.
                self._job.note(event="step done", step=number, found=True)
                continue
            if self._cancelled or self._job.is_cancelled:  # to look at the devices has taken a while
                return JobState.CANCELLED, f"cancelled before step {number + 1}"
            if not reason:
                self._job.note(event="begin", step=number, command=step.command)
                reason = _make_room(self._job) if self._job.full else self._do(step)
            if reason:
                self._job.note(event="step failed", step=number, reason=reason)
                return JobState.FAILED, f"step {number + 1}: {reason}"
            self._note_start(step)
            self._job.note(event="step done", step=number, **({"missed": True} if self._missed else {}))
        return JobState.DONE, ""

    def _at_wait(self, plan: Plan, step: Step) -> tuple[JobState, str]:
        """Return the state of a job whose next step waits for md, and the reason."""
        if reason := first_trouble(self._reader, step.as_long_as):
            return JobState.FAILED, _not_ended(step, reason)
        waits = "".join(f"; {_WAITS.format(name)}" for name in plan.arrays if self._is_waiting(name))
        why = step.why if step.waits else first_trouble(self._reader, step.awaits)
        return JobState.GOES_ON, f"{why}{waits}; other jobs can run meanwhile"

    def _back(self, plan: Plan, why: str) -> JobState:
        if stuck := self._all_undone(plan):
            return self._end(JobState.STUCK, reason=f"{why}; {stuck}")
        return self._end(JobState.ROLLED_BACK, reason=why)

    def _all_undone(self, plan: Plan) -> str:
        """Undo all steps, the last one first; return why one cannot be undone, or ""."""
        return Undoing(self._reader, self._job, self._do).undo_all(plan)

    def _note_start(self, step: Step) -> None:
        """Note which array a step has started: stopped and started again, it has another number."""
        for uuid in [fact.subject for fact in step.proves if fact.kind is FactKind.RUNNING]:
            name = kernel_name(self._reader, uuid)
            seen = read_appearance(self._reader, name) if name is not None else ""
            self._job.note(event="started", array=uuid, appearance=seen)

    def _do(self, step: Step) -> str:
        self._missed = False
        return do_step(self._reader, step, self._say, backup=f"{self._job.id}.bak", missed=self._miss)

    def _miss(self) -> None:
        self._missed = True

    def _say(self, text: str) -> None:
        with (
            contextlib.suppress(OSError),  # a full disk: the journal has reserved room
            (self._job.folder / "output.log").open("a", encoding="utf-8", errors="replace") as file,
        ):
            file.write(text if text.endswith("\n") else text + "\n")
            file.flush()
            os.fsync(file.fileno())
        self._job.note(event="output", text=text[-4000:])

    def _end(self, state: JobState, *, reason: str = "") -> JobState:
        reason = reason or (self._job.plan.after if state is JobState.DONE else "")
        super()._end(state, reason=reason)
        if state in {JobState.DONE, JobState.ROLLED_BACK}:
            self._remember(undone=state != JobState.DONE)
        return state

    def _remember(self, *, undone: bool) -> None:
        """Record how values that are kept now are undone, for ``raidtui tune undo``."""
        if not self._reader.live or not keeps_values(self._job.plan):
            return
        record, ident = UndoRecord(self._reader, record_path()), f"job {self._job.id}"
        first = next(iter(self._job.entries()), {})
        done = done_by_job(ident, time.time(), str(first.get("who", "")), self._job.plan)
        if undone or done is None:
            record.drop(ident)
        else:
            record.add(done)
        if record.trouble:
            self._job.note(event="output", text=f"{record.trouble}; raidtui tune undo will not know of it\n")


def _not_ended(step: Step, reason: str) -> str:
    return f"{step.why}, but has not finished: {reason}"


def _make_room(job: Job) -> str:
    return f"{job.full}; make room there, then resume the job"


def work_on(
    reader: HostReader, folder: Path, *, back: bool = False, measuring: Measuring | None = None
) -> int:
    """Work on a job in this process; return the exit status: 0 done, 1 not, 75 another job is running."""
    job = Job(folder)
    worker = Worker(reader, job, measuring)

    def work() -> JobState:
        if trouble := step_trouble(job.plan):  # it is read back from a file, and root carries it out
            raise JobError(f"{trouble}; raidtui makes no such plan, so nothing is done")
        return worker.roll_back() if back else worker.work()

    return status_of(job, work, JobState.ROLLED_BACK if back else JobState.DONE)


def status_of(job: Job, work: Callable[[], str], wanted: str) -> int:
    """Run a worker; return its exit status, and note why it could not start.

    Args:
        job: the job.
        work: does the work and returns the state that the job ends in.
        wanted: the state that counts as success.
    """
    try:
        state = work()
    except JobError as error:
        busy = isinstance(error, BusyError)
        with contextlib.suppress(OSError):  # the folder may not be writable
            again = any(each["event"] == "work" for each in job.entries())
            more = {"busy": busy, "again": again, "back": again and wanted == JobState.ROLLED_BACK}
            job.note(event="not begun", reason=str(error), **{key: True for key in more if more[key]})
        return 75 if busy else 1
    except OSError as error:  # nothing is done that cannot be noted
        why = f"its journal in {job.folder} cannot be written: {error.strerror}"
        sys.stderr.write(f"raidtui: job {job.id} stopped: {why}; make room there, then resume it\n")
        return 1
    return 0 if state == wanted else 1
