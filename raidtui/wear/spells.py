"""What syncs, jobs and benchmarks have cost, by the marks before and after them; what came since a mark."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from raidtui.wear.costs import stretch_bytes
from raidtui.wear.entries import Entry, Mark

BEFORE, AFTER, BY_HAND = "before", "after", "mark"


class Spell(Struct, frozen=True, kw_only=True):
    """Something that began and ended, with a reading at either end.

    Args:
        what: "recover of data", a job's title.
        began_s, ended_s: epoch seconds.
        costs: bytes by disk (``Entry.disk``); those that are not known are left out.
    """

    what: str
    began_s: float
    ended_s: float
    costs: Mapping[str, int]


def spells_of(
    marks: Sequence[Mark],
    at_mark: Callable[[int], Sequence[Entry]],
    units: Mapping[str, int] | None = None,
) -> tuple[Spell, ...]:
    """Return what began and ended, the latest first.

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
            found.append(Spell(what=mark.what, began_s=before.at_s, ended_s=mark.at_s, costs=costs))
    return tuple(reversed(found))


def between(
    before: Sequence[Entry], after: Sequence[Entry], units: Mapping[str, int] | None = None
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
