"""What became of values that were written for now: read back, and said."""

from __future__ import annotations

from msgspec import Struct

from raidtui.model.knob import Tuning, same_value
from raidtui.model.plan import Plan


class Readback(Struct, frozen=True, kw_only=True):
    """A value that was written, read back.

    Args:
        subject: the name to show.
        path: the file.
        before: the value before.
        asked: the value that was requested.
        now: the kernel's value after; None where it cannot be read now.
    """

    subject: str
    knob: str
    path: str
    before: str
    asked: str
    now: str | None

    @property
    def as_asked(self) -> bool:
        """Whether the kernel has the value that was requested."""
        return self.now is not None and same_value(self.now, self.asked)

    def sentence(self, reason: str = "") -> str:
        """Return what became of it.

        Args:
            reason: why it was not written, if so.
        """
        if self.now is None:
            return f"{self.knob} of {self.subject} cannot be read now" + (f": {reason}" if reason else "")
        if reason:
            return f"{self.knob} of {self.subject} is not set to {self.asked}: {reason}; it is {self.now}"
        if self.as_asked:
            return f"{self.knob} of {self.subject}: {self.before} → {self.now}"
        return f"{self.knob} of {self.subject} was set to {self.asked}, and the kernel made it {self.now}"


def read_back(plan: Plan, before: Tuning, after: Tuning) -> tuple[Readback, ...]:
    """Return what became of each value that a plan writes.

    Args:
        plan: the plan, carried out or tried.
        before: the values before it.
        after: the values after it.
    """
    found: dict[str, Readback] = {}
    for step in plan.steps:
        known = before.at(step.path) if step.text else None
        if known is None:
            continue
        subject, knob, value = known
        now = after.at(step.path)
        one = Readback(
            subject=subject.title,
            knob=knob,
            path=step.path,
            before=value.text,
            asked=step.text,
            now=now[2].text if now is not None else None,
        )
        if not (one.as_asked and same_value(one.before, one.asked)):  # else nothing has changed
            found[step.path] = one
    return tuple(found.values())
