"""Entries of the ledger, and what follows from them: costs between marks, and writes per day."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from raidtui.monitor.wear.counter_units import CounterSample, UnitState, verify_unit

DAY_S = 86_400
FAULT_COUNTS = (
    "reallocated", "pending", "uncorrectable", "media_errors", "crc_errors", "nonmedium_errors",
    "spin_retries", "end_to_end_errors", "command_timeouts", "reallocation_events", "critical_minutes",
)  # fmt: skip
"""The counts of faults that a reading and an entry of the ledger both have, by the names of their fields."""


class LedgerEntry(Struct, frozen=True, kw_only=True):
    """One reading of a disk in the ledger. None: not reported.

    Args:
        disk: serial number or WWN.
        at_s: epoch seconds.
        mark: the id of the mark that it belongs to.
        name: the kernel's name at that time; for the eye.
        size_bytes: what was written in its life, by ``unit_bytes``.
        source: where the counter comes from; counters of different sources are not compared.
        count, unit_bytes: the counter, and the unit that its name promises.
        since, low_bytes, high_bytes: see ``CounterSample``.
    """

    disk: str
    at_s: float
    mark: int | None = None
    name: str = ""
    model: str = ""
    firmware: str = ""
    hours: int | None = None
    percent: int | None = None
    size_bytes: int | None = None
    source: str = ""
    count: int | None = None
    unit_bytes: int | None = None
    since: str = ""
    low_bytes: int | None = None
    high_bytes: int | None = None
    crc_errors: int | None = None
    reallocated: int | None = None
    pending: int | None = None
    uncorrectable: int | None = None
    media_errors: int | None = None
    nonmedium_errors: int | None = None
    spin_retries: int | None = None
    end_to_end_errors: int | None = None
    command_timeouts: int | None = None
    reallocation_events: int | None = None
    critical_minutes: int | None = None
    temperature_c: int | None = None
    passed: bool | None = None

    @property
    def sample(self) -> CounterSample | None:
        """The counter with the kernel's count, if both are known."""
        if self.count is None or self.low_bytes is None or self.high_bytes is None:
            return None
        return CounterSample(
            at_s=self.at_s,
            since=self.since,
            count=self.count,
            low_bytes=self.low_bytes,
            high_bytes=self.high_bytes,
        )


class Mark(Struct, frozen=True, kw_only=True):
    """A named moment.

    Args:
        kind: before, after or now.
        what: "recover data", a job's or a benchmark's id, a person's words.
    """

    id: int
    at_s: float
    kind: str
    what: str


def cost_bytes(first: LedgerEntry, last: LedgerEntry, unit_bytes: int | None = None) -> int | None:
    """Return what was written to a disk between two readings, by the disk's own counter.

    Args:
        first: the earlier of two readings of one disk.
        last: the later one.
        unit_bytes: the unit that was measured, where the promised one is wrong or none was promised.

    Returns:
        None if unknown: there is no counter, it is another one, or it was reset.
    """
    if first.source != last.source:
        return None
    if unit_bytes is not None and first.count is not None and last.count is not None:
        cost = (last.count - first.count) * unit_bytes
    elif first.size_bytes is not None and last.size_bytes is not None:
        cost = last.size_bytes - first.size_bytes
    else:
        return None
    return cost if cost >= 0 else None


def stretch_bytes(first: LedgerEntry, last: LedgerEntry, unit_bytes: int | None = None) -> int | None:
    """Return what was written to a disk between two readings: by the kernel's count, else by the disk's own.

    Args:
        first: the earlier of two readings of one disk.
        last: the later one.
        unit_bytes: the measured unit of its counter, where the promised one is wrong or none was promised.
    """
    first_bytes, last_bytes = first.low_bytes, last.low_bytes
    if first.since and first.since == last.since and first_bytes is not None and last_bytes is not None:
        return max(0, last_bytes - first_bytes)
    return cost_bytes(first, last, unit_bytes)


def writes_per_day(entries: Sequence[LedgerEntry], unit_bytes: int | None = None) -> list[tuple[float, int]]:
    """Return what was written on each day (UTC): its begin, epoch seconds, and bytes, the oldest first.

    A difference that spans days counts for the day of the later reading.
    """
    days: dict[int, int] = {}
    for first, last in itertools.pairwise(entries):
        if (cost := cost_bytes(first, last, unit_bytes)) is not None:
            day = int(last.at_s // DAY_S)
            days[day] = days.get(day, 0) + cost
    return [(float(day * DAY_S), size) for day, size in sorted(days.items())]


def samples_of(entries: Sequence[LedgerEntry]) -> tuple[CounterSample, ...]:
    """Return the samples of the counter that the last entry has."""
    source = entries[-1].source if entries else ""
    return tuple(entry.sample for entry in entries if entry.source == source and entry.sample is not None)


def measured_unit(entries: Sequence[LedgerEntry]) -> int | None:
    """Return the unit in which a disk's own attribute counts, as the kernel's count shows it, if it does.

    Args:
        entries: one disk's readings, the oldest first.
    """
    if not entries or not entries[-1].source.startswith("attribute"):
        return None
    verdict = verify_unit(samples_of(entries), entries[-1].unit_bytes)
    known = verdict.kind in {UnitState.CONFIRMED, UnitState.WRONG, UnitState.MEASURED}
    return verdict.unit_bytes if known else None


SYNC_ACTIONS = ("resync", "recover", "check", "repair", "reshape")
BEFORE, AFTER, BY_HAND = "before", "after", "mark"


class MarkedCost(Struct, frozen=True, kw_only=True):
    """A sync or job with a reading before and after it.

    Args:
        what: "recover of data", a job's title.
        began_s, ended_s: epoch seconds.
        costs: bytes by disk (``LedgerEntry.disk``); those that are not known are left out.
    """

    what: str
    began_s: float
    ended_s: float
    costs: Mapping[str, int]

    def action_on(self, title: str) -> str | None:
        """Return the sync action, if this is a sync of the array with this title."""
        return next((action for action in SYNC_ACTIONS if self.what == sync_name(action, title)), None)


def sync_name(action: str, title: str) -> str:
    """Return what the ledger calls a sync: ``recover of data``."""
    return f"{action} of {title}"


def marked_costs(
    marks: Sequence[Mark],
    at_mark: Callable[[int], Sequence[LedgerEntry]],
    units: Mapping[str, int] | None = None,
) -> tuple[MarkedCost, ...]:
    """Return the costs between marks, the latest first.

    Args:
        marks: the oldest first.
        at_mark: gives the readings of a mark.
        units: measured units by disk.
    """
    begun: dict[str, Mark] = {}
    found = []
    for mark in marks:
        if mark.kind == BEFORE:
            begun[mark.what] = mark
        elif mark.kind == AFTER and (before := begun.pop(mark.what, None)) is not None:
            costs = between(at_mark(before.id), at_mark(mark.id), units)
            found.append(MarkedCost(what=mark.what, began_s=before.at_s, ended_s=mark.at_s, costs=costs))
    return tuple(reversed(found))


def between(
    before: Sequence[LedgerEntry], after: Sequence[LedgerEntry], units: Mapping[str, int] | None = None
) -> dict[str, int]:
    """Return what was written to each disk between two sets of readings, bytes by disk.

    Args:
        before: the earlier readings.
        after: the later ones.
        units: measured units by disk.
    """
    firsts = {entry.disk: entry for entry in before}
    found = {}
    for last in after:
        first = firsts.get(last.disk)
        cost = None if first is None else stretch_bytes(first, last, (units or {}).get(last.disk))
        if cost is not None:
            found[last.disk] = cost
    return found


def last_mark(marks: Sequence[Mark]) -> Mark | None:
    """Return the last mark that a person has set."""
    return next((mark for mark in reversed(marks) if mark.kind == BY_HAND), None)
