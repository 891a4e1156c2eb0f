"""What became of values: as they were asked for, and as the kernel has them now."""

from __future__ import annotations

from msgspec import Struct

from raidtui.model.knob import Tuning, same_value
from raidtui.model.plan import Plan


class Told(Struct, frozen=True, kw_only=True):
    """One value of a plan.

    Args:
        subject: for the eye.
        path: the file.
        before: as it was.
        asked: as it was to become.
        now: as the kernel has it; None where it cannot be read any more.
    """

    subject: str
    knob: str
    path: str
    before: str
    asked: str
    now: str | None

    @property
    def stands(self) -> bool:
        """Whether the kernel has the value that was asked for."""
        return self.now is not None and same_value(self.now, self.asked)

    def sentence(self, reason: str = "") -> str:
        """Return what became of it.

        Args:
            reason: why it was not written, if so.
        """
        if self.now is None:
            return f"{self.knob} of {self.subject} cannot be read any more" + (
                f": {reason}" if reason else ""
            )
        if reason:
            return f"{self.knob} of {self.subject} is not set to {self.asked}: {reason}; it is {self.now}"
        if self.stands:
            return f"{self.knob} of {self.subject}: {self.before} → {self.now}"
        return f"{self.knob} of {self.subject} was set to {self.asked}, and the kernel made it {self.now}"


def told(plan: Plan, before: Tuning, after: Tuning) -> tuple[Told, ...]:
    """Return what became of each value that a plan writes.

    Args:
        plan: it was carried out, or tried.
        before: the values before it.
        after: the values after it.
    """
    found: dict[str, Told] = {}
    for step in plan.steps:
        known = before.at(step.path) if step.text else None
        if known is None:
            continue
        subject, knob, value = known
        now = after.at(step.path)
        one = Told(
            subject=subject.title,
            knob=knob,
            path=step.path,
            before=value.text,
            asked=step.text,
            now=now[2].text if now is not None else None,
        )
        if not (one.stands and same_value(one.before, one.asked)):  # else nothing became of it
            found[step.path] = one
    return tuple(found.values())
