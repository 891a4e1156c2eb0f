"""The states of a job, and an entry of its journal as a line for the eye."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any


class JobState(StrEnum):
    """The state of a job (docs/plans.md). Those that a worker ends with are events of the journal, too."""

    MADE = "made"
    RUNNING = "running"
    INTERRUPTED = "interrupted"
    GOES_ON = "goes on"
    """What a step has started in the kernel has not finished: a worker follows it, without the lock."""
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    ROLLED_BACK = "rolled back"
    STUCK = "stuck"
    NOT_BEGUN = "not begun"
    NOT_TRUSTED = "not trusted"
    """Another user could have written it."""

    @property
    def sentence(self) -> str:
        """The predicate of a sentence on the job: ``is running``."""
        return _SENTENCES[self]


ENDED = frozenset({JobState.DONE, JobState.FAILED, JobState.CANCELLED, JobState.ROLLED_BACK, JobState.STUCK})
"""A worker has ended the job so."""
FINAL = ENDED | {JobState.NOT_BEGUN}
"""Events after which a worker notes nothing more."""
SETTLED = frozenset({JobState.DONE, JobState.ROLLED_BACK, JobState.NOT_BEGUN})
"""Nothing is left to do: the job can neither be resumed nor rolled back from the screen."""
UNFINISHED = frozenset({JobState.RUNNING, JobState.GOES_ON, JobState.INTERRUPTED, JobState.STUCK})
"""The job is under way, or waits for someone."""
UNDER_WAY = frozenset({JobState.RUNNING, JobState.GOES_ON})
CANCEL_EVENT = "cancel"
"""Someone asks a job to end before its next step: its worker is being started, or it waits for md."""
AGAIN_EVENT = "again"
"""Someone asks a job that was cancelled to continue."""
RESUMABLE = frozenset(
    {JobState.MADE, JobState.INTERRUPTED, JobState.CANCELLED, JobState.FAILED, JobState.STUCK}
)

_SENTENCES = {
    JobState.MADE: "has not been started",
    JobState.RUNNING: "is running",
    JobState.INTERRUPTED: "was interrupted",
    JobState.GOES_ON: "waits for the kernel, which is still at work",
    JobState.DONE: "is done",
    JobState.FAILED: "failed",
    JobState.CANCELLED: "was cancelled",
    JobState.ROLLED_BACK: "was rolled back",
    JobState.STUCK: "is stuck",
    JobState.NOT_BEGUN: "was not started: another job was running",
    JobState.NOT_TRUSTED: "can be written by another user",
}
NO_WAY_BACK = "cannot be rolled back: the way back, where there is one, is another plan"


def entry_text(entry: Mapping[str, Any]) -> str:
    """Return one or more lines, or "" for an entry that says nothing to a person."""
    event = entry.get("event")
    number = entry.get("step")
    step = f"{number + 1:>3}  " if isinstance(number, int) else "     "
    if event == "begin":
        return f"{step}{entry.get('command', '')}"
    if event == "step done":
        return f"{step}done" + (" (it was already)" if entry.get("found") else "")
    if event == "step failed":
        return f"{step}failed: {entry.get('reason', '')}"
    if event == "undo":
        return f"     undo: {entry.get('command', '')}"
    if event == "undo failed":
        return f"     undo failed: {entry.get('reason', '')}"
    if event == "judged":
        return f"     {entry.get('check', '')}: {entry.get('text', '')}"
    if event == "cost":
        return f"     written: {entry.get('text', '')}"
    if event == "output":
        return "\n".join(f"     | {line}" for line in str(entry.get("text", "")).rstrip("\n").split("\n"))
    if event == JobState.GOES_ON:
        return f"goes on: {entry.get('reason', '')}"
    if event == JobState.NOT_BEGUN and entry.get("again"):
        return f"{'not rolled back' if entry.get('back') else 'not resumed'}: {entry.get('reason', '')}"
    if event in FINAL:
        return f"{event}" + (f": {entry['reason']}" if entry.get("reason") else "")
    return ""
