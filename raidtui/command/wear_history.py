"""The history of disks, as lines and as a form for other programs."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

from raidtui.view.units import counted
from raidtui.wear.desk import DiskHistory
from raidtui.wear.entries import Entry, writes_per_day
from raidtui.wear.report import FORMAT_VERSION
from raidtui.wear.sizes import amount, decimal_size

_DAYS = 30


def known_lines(known: Sequence[Entry]) -> Iterator[str]:
    """Yield a line for each disk that the ledger knows."""
    if not known:
        yield "No history yet: raidtui wear --record writes a reading (docs/wear.md has a timer for it)."
    for entry in known:
        size = "unknown" if entry.size_bytes is None else decimal_size(entry.size_bytes)
        at = time.strftime("%Y-%m-%d %H:%M", time.localtime(entry.at_s))
        yield f"{entry.name:<9} {entry.disk}  {entry.model}  {size} written  last read {at}"


def known_dict(known: Sequence[Entry]) -> dict[str, Any]:
    """Return the same for other programs."""
    return {
        "format_version": FORMAT_VERSION,
        "disks": [
            {
                "disk": entry.disk,
                "name": entry.name,
                "model": entry.model,
                "last_s": round(entry.at_s),
                "bytes_written": entry.size_bytes,
                "percent_used": entry.percent,
            }
            for entry in known
        ],
    }


def history_lines(history: DiskHistory) -> Iterator[str]:
    """Yield what was written to a disk on each of the last days, and what syncs and jobs have cost it."""
    first, last = history.entries[0], history.entries[-1]
    yield f"{last.name}: {last.model}, serial {last.disk}"
    began = time.strftime("%Y-%m-%d", time.localtime(first.at_s))
    yield f"  {counted(len(history.entries), 'reading')} since {began}"
    days = writes_per_day(history.entries, history.unit_bytes)
    for at_s, size in days[-_DAYS:]:
        yield f"  {_day(at_s)}  {decimal_size(size):>8}"
    if not days:
        yield "  nothing to tell of days yet: one more reading is needed"
    for spell in reversed(history.spells):
        at = time.strftime("%Y-%m-%d %H:%M", time.localtime(spell.began_s))
        yield f"  {at}  {spell.what}: {amount(spell.costs[history.disk])}"


def history_dict(history: DiskHistory) -> dict[str, Any]:
    """Return the same for other programs."""
    last = history.entries[-1]
    return {
        "format_version": FORMAT_VERSION,
        "disk": history.disk,
        "name": last.name,
        "model": last.model,
        "readings": len(history.entries),
        "first_s": round(history.entries[0].at_s),
        "last_s": round(last.at_s),
        "unit_bytes": history.unit_bytes or last.unit_bytes,
        "days": [
            {"day": _day(at_s), "bytes": size}
            for at_s, size in writes_per_day(history.entries, history.unit_bytes)
        ],
        "costs": [
            {
                "what": spell.what,
                "began_s": round(spell.began_s),
                "ended_s": round(spell.ended_s),
                "bytes": spell.costs[history.disk],
            }
            for spell in reversed(history.spells)
        ],
    }


def _day(at_s: float) -> str:
    """Days are UTC's, as the ledger counts them."""
    return time.strftime("%Y-%m-%d", time.gmtime(at_s))
