"""Which steps of a job can be undone, and which a reboot has undone, by facts of the host."""

from __future__ import annotations

from msgspec.structs import replace

from raidtui.host.readers.host_reader import HostReader
from raidtui.jobs.lock import JobError
from raidtui.jobs.runner import first_trouble, holds
from raidtui.jobs.states import NO_WAY_BACK
from raidtui.jobs.store import Job
from raidtui.model.fact import Fact, FactKind
from raidtui.model.plan import Plan


def refuse_late(reader: HostReader, job: Job, plan: Plan) -> None:
    """Refuse to roll back what was written to since; and what md is still at work on, if it is too late.

    Raises:
        JobError: it was written to, the array does not run, or the copy is complete.
    """
    done, begun = job.done_steps()
    if reason := first_trouble(reader, bound_to_start(job, _unwritten(plan, done, begun))):
        raise JobError(f"job {job.id} is not rolled back: {reason}; what it has saved stays")
    if is_final(reader, job, plan):
        raise JobError(f"job {job.id} {NO_WAY_BACK}")
    number = max((each for each in done | begun if plan.steps[each].undo), default=None)
    lasts = tuple(fact for step in plan.steps for fact in step.as_long_as)
    if not lasts or number is None:
        return
    same = tuple(fact for fact in lasts if fact.kind is FactKind.ARRAY)
    undo = plan.steps[number].undo[0]
    is_back = bool(undo.proves) and holds(reader, undo.proves)
    reason = first_trouble(reader, same) or ("" if is_back else first_trouble(reader, undo.needs))
    if reason:
        raise JobError(f"job {job.id} cannot be rolled back now: {reason}")


def is_final(reader: HostReader, job: Job, plan: Plan) -> bool:
    """Whether a step was done that has no way back, also by a worker that was killed right after it."""
    done, begun = job.done_steps()
    return any(
        step.final and (number in done or (number in begun and holds(reader, step.proves)))
        for number, step in enumerate(plan.steps)
    )


def is_lost(reader: HostReader, plan: Plan, number: int, done: set[int]) -> bool:
    """Whether a reboot has taken back what a step has done, and a later step still needs it."""
    step, later = plan.steps[number], range(number + 1, len(plan.steps))
    needed = next((each for each in later if not plan.steps[each].volatile), None)
    if not step.volatile or needed is None or needed in done or holds(reader, step.proves):
        return False
    return not (plan.steps[needed].proves and holds(reader, plan.steps[needed].proves))


def bound_to_start(job: Job, facts: tuple[Fact, ...]) -> tuple[Fact, ...]:
    """Bind what must be so since the start of an array to the start that was noted."""
    starts = {each.get("array"): each["appearance"] for each in job.entries() if each["event"] == "started"}
    return tuple(
        replace(fact, value=f"{fact.value} {starts.get(fact.subject, '')}".rstrip())
        if fact.kind is FactKind.UNWRITTEN and fact.value
        else fact
        for fact in facts
    )


def _unwritten(plan: Plan, done: set[int], begun: set[int]) -> tuple[Fact, ...]:
    """Return what must hold of an array before what was there is written back.

    A step that has not come to its end, or is undone in part, may have left an array that does not run.
    """
    return tuple(
        fact
        for number in sorted(done | begun)
        for step in plan.steps[number].undo
        for fact in step.needs
        if fact.kind is FactKind.EVENTS or (fact.kind is FactKind.UNWRITTEN and number in done)
    )
