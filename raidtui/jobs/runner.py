"""Runs plans of plain writes at once, one step after the other, and says what became of each."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from raidtui.host.roots.root import Root
from raidtui.jobs.journal import Journal
from raidtui.jobs.steps import do_step
from raidtui.model.plan import Plan, Step


class Outcome(Struct, frozen=True, kw_only=True):
    """How a plan ended. ``failed`` is the step that could not be done; those after it were not tried."""

    plan: Plan
    done: tuple[Step, ...]
    failed: Step | None = None
    reason: str = ""

    @property
    def sentence(self) -> str:
        """One line: what was done, or what was not and why."""
        if self.failed is None:
            return self.plan.title
        return f"not done: {self.reason} ({self.plan.title}; {self.failed.path})"


def run_plan(root: Root, plan: Plan, journal: Journal) -> Outcome:
    """Carry a plan out. Each step's identity is read again right before its write."""
    done: list[Step] = []
    for step in plan.steps:
        reason = do_step(root, step, lambda _: None)
        journal.note(
            subject=plan.subject, plan=plan.title, wrote=step.text, path=step.path, error=reason or None
        )
        if reason:
            return Outcome(plan=plan, done=tuple(done), failed=step, reason=reason)
        done.append(step)
    return Outcome(plan=plan, done=tuple(done))


def undo_of(plan: Plan, steps: Iterable[Step] | None = None) -> Plan | None:
    """Return the plan that puts back what ``plan`` did, or None where it cannot be."""
    undo = tuple(steps) if steps is not None else plan.undo
    if not undo:
        return None
    return Plan(title=f"undone: {plan.title}", subject=plan.subject, steps=undo, undo=plan.steps)
