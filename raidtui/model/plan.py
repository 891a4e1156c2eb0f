"""A plan: every write before it happens, what it harms, how it is undone."""

from __future__ import annotations

from enum import IntEnum

from msgspec import Struct


class Harm(IntEnum):
    """The danger ladder. Harmless runs at once, with undo; the others are confirmed first."""

    HARMLESS = 0
    REDUCES = 1
    DESTROYS = 2


class Step(Struct, frozen=True, kw_only=True):
    """One write to a file of the kernel.

    Args:
        path: absolute path.
        text: what is written, in one write.
        why: a phrase.
        identity: (path, text) that must read so right before the write: the array is still the same one.
    """

    path: str
    text: str
    why: str
    identity: tuple[str, str] | None = None

    @property
    def command(self) -> str:
        """The step as a shell user would type it."""
        return f"echo {self.text} > {self.path}"


class Plan(Struct, frozen=True, kw_only=True):
    """What will be done.

    Args:
        title: a phrase: "max limit 200 → 500 MB/s".
        subject: the array's label, or "system".
        undo: steps that put things back, first to last.
        warning: what the confirmation says besides the steps.
    """

    title: str
    subject: str
    steps: tuple[Step, ...]
    undo: tuple[Step, ...] = ()
    harm: Harm = Harm.HARMLESS
    warning: str = ""


class Refusal(Struct, frozen=True, kw_only=True):
    """Why nothing is done, and what would lift that."""

    why: str
    remedy: str = ""

    @property
    def sentence(self) -> str:
        """Both in one line."""
        return f"{self.why}; {self.remedy}" if self.remedy else self.why
