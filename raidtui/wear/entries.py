"""What the ledger keeps, and what follows from it: what a stretch of time cost, and what a day takes."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from msgspec import Struct

from raidtui.wear.units import Kind, Sample, verify_unit

DAY_S = 86_400


class Entry(Struct, frozen=True, kw_only=True):
    """One reading as it is kept. None is what the disk did not say.

    Args:
        disk: serial number or WWN.
        at_s: epoch seconds.
        mark: the id of the mark that it belongs to.
        name: the kernel's name at that time; for the eye.
        size_bytes: what was written in its life, by ``unit_bytes``.
        source: where the counter comes from; another source is another counter.
        count, unit_bytes: the counter, and the unit that its name promises.
        since, low_bytes, high_bytes: see ``Sample``.
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
    passed: bool | None = None

    @property
    def sample(self) -> Sample | None:
        """What is held against the kernel's count, where both are known."""
        if self.count is None or self.low_bytes is None or self.high_bytes is None:
            return None
        return Sample(
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


def cost_bytes(first: Entry, last: Entry, unit_bytes: int | None = None) -> int | None:
    """Return what was written to a disk between two readings, by the disk's own counter.

    Args:
        first: the earlier of two readings of one disk.
        last: the later one.
        unit_bytes: the unit that was measured, where the promised one is wrong or none was promised.

    Returns:
        None where it is not known: no counter, another one, or one that began anew.
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


def spent(
    before: Sequence[Entry], after: Sequence[Entry], units: Mapping[str, int] | None = None
) -> dict[str, int]:
    """Return what was written to each disk between two marks, bytes by disk; unknown ones are left out.

    Args:
        before: the readings at the earlier mark.
        after: those at the later one.
        units: measured units by disk.
    """
    firsts = {entry.disk: entry for entry in before}
    found = {}
    for last in after:
        first = firsts.get(last.disk)
        cost = None if first is None else cost_bytes(first, last, (units or {}).get(last.disk))
        if cost is not None:
            found[last.disk] = cost
    return found


def writes_per_day(entries: Sequence[Entry], unit_bytes: int | None = None) -> list[tuple[float, int]]:
    """Return what was written on each day (UTC): its begin, epoch seconds, and bytes, the oldest first.

    A difference that spans days counts for the day of the later reading.
    """
    days: dict[int, int] = {}
    for first, last in itertools.pairwise(entries):
        if (cost := cost_bytes(first, last, unit_bytes)) is not None:
            day = int(last.at_s // DAY_S)
            days[day] = days.get(day, 0) + cost
    return [(float(day * DAY_S), size) for day, size in sorted(days.items())]


def samples_of(entries: Sequence[Entry]) -> tuple[Sample, ...]:
    """Return what can be held against the kernel's count: readings of the counter that the last one has."""
    source = entries[-1].source if entries else ""
    return tuple(entry.sample for entry in entries if entry.source == source and entry.sample is not None)


def measured_unit(entries: Sequence[Entry]) -> int | None:
    """Return the unit in which a disk's own attribute counts, as the kernel's count shows it, if it does.

    Args:
        entries: one disk's readings, the oldest first.
    """
    if not entries or not entries[-1].source.startswith("attribute"):
        return None
    verdict = verify_unit(samples_of(entries), entries[-1].unit_bytes)
    known = verdict.kind in {Kind.CONFIRMED, Kind.WRONG, Kind.MEASURED}
    return verdict.unit_bytes if known else None
