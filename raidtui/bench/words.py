"""An entry of a benchmark's journal as a line for the eye."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from raidtui.bench.record import NOT_STEADY
from raidtui.jobs.states import entry_text


def entry_words(entry: Mapping[str, Any]) -> str:
    """Return one or more lines, or "" for what says nothing to a person."""
    event = entry.get("event")
    if event == "run":
        return f"{_place(entry)}  {entry.get('words', '')}"
    if event == "run done":
        figures, reason = str(entry.get("figures", "")), str(entry.get("reason", ""))
        state = str(entry.get("state", ""))
        steady = "steady" if entry.get("steady") else NOT_STEADY
        parts = [figures, f"{state}: {reason}" if reason else "", str(entry.get("short", ""))]
        parts += [steady] if "steady" in entry else []
        return " " * 12 + "  ".join(part for part in parts if part)
    if event in {"change", "put back", "doing"}:
        word = {"change": "set: ", "put back": "put back: ", "doing": ""}[str(event)]
        return f"     {word}{entry.get('title', '')}"
    if event == "left":
        return f"     not put back: {entry.get('text', '')}"
    return entry_text(entry)


def _place(entry: Mapping[str, Any]) -> str:
    run, of = entry.get("run"), entry.get("of")
    return f"{run + 1:>4} of {of:<3}" if isinstance(run, int) and isinstance(of, int) else ""
