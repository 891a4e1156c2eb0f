"""An entry of a job's journal as a line for the eye."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

GOES_ON = "goes on"
"""The steps are done, what they have begun in the kernel is not: the worker follows it, without the lock."""
FINAL = frozenset({"done", "failed", "cancelled", "rolled back", "stuck", "not begun"})


def entry_text(entry: Mapping[str, Any]) -> str:
    """Return one or more lines, or "" for what says nothing to a person."""
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
    if event == "cost":
        return f"     written: {entry.get('text', '')}"
    if event == "output":
        return "\n".join(f"     | {line}" for line in str(entry.get("text", "")).rstrip("\n").split("\n"))
    if event == GOES_ON:
        return f"goes on: {entry.get('reason', '')}"
    if event in FINAL:
        return f"{event}" + (f": {entry['reason']}" if entry.get("reason") else "")
    return ""
