"""What kind of answer a tool, a file or a device gave: a time-out is not "there is none"."""

from __future__ import annotations

from enum import StrEnum
from typing import Generic, TypeVar, assert_never

from msgspec import Struct

T = TypeVar("T")


class AnswerKind(StrEnum):
    """What came back. Only the first two allow a conclusion; the others say that nothing is known."""

    ANSWER = "answer"
    NOTHING_THERE = "nothing-there"  # it was looked for, and there is none
    NO_TOOL = "no-tool"  # the tool has no file
    TIMED_OUT = "timed-out"
    REFUSED = "refused"  # EPERM or EACCES
    FAILED = "failed"  # an exit status, a signal, another error of the system
    NOT_UNDERSTOOD = "not-understood"
    NOT_ASKED = "not-asked"  # a capture without it, or this user may not ask


class Answer(Struct, Generic[T], frozen=True, kw_only=True):
    """What was learned, or why not.

    Args:
        value: what was learned; there for the kind ``ANSWER`` alone.
        source: the tool, file or device that was asked.
        taken_s: when, epoch seconds; 0 where that does not matter.
        why: why there is no value, a clause.
    """

    kind: AnswerKind
    value: T | None = None
    source: str = ""
    taken_s: float = 0.0
    why: str = ""

    @property
    def is_known(self) -> bool:
        """Whether a conclusion may be drawn."""
        return not is_silent(self.kind)


def known(value: T, source: str = "") -> Answer[T]:
    """Return an answer that came."""
    return Answer(kind=AnswerKind.ANSWER, value=value, source=source)


def is_silent(kind: AnswerKind) -> bool:
    """Whether an answer of this kind says nothing about what was asked for."""
    match kind:
        case AnswerKind.ANSWER | AnswerKind.NOTHING_THERE:
            return False
        case (
            AnswerKind.NO_TOOL
            | AnswerKind.TIMED_OUT
            | AnswerKind.REFUSED
            | AnswerKind.FAILED
            | AnswerKind.NOT_UNDERSTOOD
            | AnswerKind.NOT_ASKED
        ):
            return True
        case _:
            assert_never(kind)
