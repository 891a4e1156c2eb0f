"""Refuse what would be planned on an answer that did not come."""

from __future__ import annotations

from typing import TypeVar, assert_never

from raidtui.model.answer import Answer, AnswerKind
from raidtui.model.plan import Refusal, RefusalCode

T = TypeVar("T")
AGAIN = "try again in a moment: the machine is busy, or a disk does not answer (see the kernel log)"

_REFUSED = "run raidtui as root; root is refused only by the file's mode, a container or a security module"


def refuse_silence(answer: Answer[T], *, package: str = "") -> Refusal | None:
    """Return why nothing can be planned on an answer, or None where it is known.

    Args:
        answer: the answer.
        package: what has the tool that was asked.
    """
    match answer.kind:
        case AnswerKind.ANSWER | AnswerKind.NOTHING_THERE:
            return None
        case AnswerKind.NO_TOOL:
            remedy = f"apt install {package}" if package else f"install {answer.source}"
            return Refusal(code=RefusalCode.NO_TOOL, why=answer.why, remedy=remedy)
        case AnswerKind.TIMED_OUT:
            return Refusal(code=RefusalCode.NO_ANSWER, why=answer.why, remedy=AGAIN)
        case AnswerKind.REFUSED:
            return Refusal(code=RefusalCode.NO_ANSWER, why=answer.why, remedy=_REFUSED)
        case AnswerKind.NOT_ASKED:
            return Refusal(code=RefusalCode.NO_ANSWER, why=answer.why, remedy="run raidtui as root")
        case AnswerKind.FAILED | AnswerKind.NOT_UNDERSTOOD:
            remedy = f"run it by hand to see what it says: {answer.source}"
            return Refusal(code=RefusalCode.NO_ANSWER, why=answer.why, remedy=remedy)
        case _:
            assert_never(answer.kind)
