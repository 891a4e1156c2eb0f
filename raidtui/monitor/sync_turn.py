"""When a sync that md delays begins, and how long it takes: estimates, from what it waits for. Pure.

md lets one of the arrays on a whole disk sync at a time (drivers/md/md.c, md_do_sync, match_mddev_units).
Which of several that wait is next, it does not show.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from raidtui.model.array import Array
from raidtui.model.array_sync import Phase
from raidtui.model.snapshot import Snapshot
from raidtui.model.sync_record import CHECKS
from raidtui.monitor.brakes import sharing, waiting_beside
from raidtui.monitor.sync_end import Estimate
from raidtui.view.units import KIB, duration, joined

_OF_ALL = frozenset({"check", "repair", "resync"})
"""They go over all of an array's KiB where it is a RAID-10; what else is synced is a member's."""


class Turn(Struct, frozen=True, kw_only=True):
    """When a delayed sync gets its turn.

    Args:
        waits_for: the titles of the arrays whose running syncs end first, and their kernel names.
        rivals: the titles of those that wait for the same disks, any of which may be next.
        begins_in_s: seconds until the last of those syncs ends; None where that is not known.
        takes_s: how long it takes then; None where that is not known.
        at_limit: whether it is the array's own limit that decides that, not the speed of what it waits for.
        at_most: whether it may skip a part, as what a bitmap has not marked.
    """

    waits_for: tuple[tuple[str, str], ...]
    rivals: tuple[str, ...] = ()
    begins_in_s: float | None = None
    takes_s: float | None = None
    at_limit: bool = False
    at_most: bool = False


def turn_of(array: Array, snapshot: Snapshot, estimates: Mapping[str, Estimate]) -> Turn | None:
    """Return when a delayed sync begins; None where it is not delayed, or it is not known by what.

    Args:
        array: with its sync.
        snapshot: the other arrays.
        estimates: of the syncs that run, by the arrays' keys.
    """
    if array.sync is None or array.sync.phase is not Phase.DELAYED:
        return None
    first = [other for other, _ in sharing(array, snapshot)]
    if not first:
        return None
    ends = [estimates[each.key].left_s if each.key in estimates else None for each in first]
    known = [end for end in ends if end is not None]
    speeds = [speed for each in first if (speed := _member_speed(each, estimates)) is not None]
    takes_s, at_limit = _takes(array, min(speeds, default=None))
    return Turn(
        waits_for=tuple((each.title, each.name) for each in first),
        rivals=tuple(each.title for each in waiting_beside(array, snapshot)),
        begins_in_s=max(known) if len(known) == len(ends) else None,
        takes_s=takes_s,
        at_limit=at_limit,
        at_most=array.sync.action not in CHECKS,
    )


def _member_speed(array: Array, estimates: Mapping[str, Estimate]) -> float | None:
    """Return how fast a running sync goes over a member, KiB/s."""
    estimate, share = estimates.get(array.key), array.member_share
    return estimate.speed_kib_s * share if estimate is not None and share is not None else None


def _takes(array: Array, member_kib_s: float | None) -> tuple[float | None, bool]:
    """Return (seconds that a delayed sync takes, whether its own limit decides that)."""
    left_kib, share = _left_kib(array), array.member_share
    if not member_kib_s or not left_kib or not share:
        return None, False
    speed = member_kib_s / share
    ceiling = array.speed_limit.ceiling_kib_s if array.speed_limit is not None else None
    at_limit = ceiling is not None and 0 < ceiling < speed
    return left_kib / (ceiling if at_limit and ceiling else speed), at_limit


def _left_kib(array: Array) -> int | None:
    """Return how much it goes over, in the KiB of its own progress; None where that is not known."""
    action = array.sync.action if array.sync is not None else ""
    if action not in _OF_ALL and action != "recover":
        return None
    by_array = array.level == "raid10" and action in _OF_ALL
    total = array.size_bytes // KIB if by_array and array.size_bytes else array.component_kib
    if by_array and not array.size_bytes:
        return None
    done = (array.sync_min_sectors or 0) // 2 if action in CHECKS else 0
    return max(0, total - done) if total is not None else None


def turn_words(turn: Turn, begins: str) -> str:
    """Return when it begins and how long it takes, as a clause.

    Args:
        turn: what is known.
        begins: when, as it is shown: ``about 14:05``, ``in about 2 h``.
    """
    others = joined([title for title, _ in turn.waits_for])
    one = len(turn.waits_for) == 1
    if turn.begins_in_s is None:
        words = f"when it begins is not known: {others} {'shows' if one else 'show'} no end"
    elif turn.rivals:
        verb = "waits" if len(turn.rivals) == 1 else "wait"
        words = f"begins {begins} at the earliest: {joined(turn.rivals)} {verb}, too"
    else:
        words = f"begins {begins}, when {others} {'is' if one else 'are'} done"
    if turn.takes_s is None:
        return f"{words}; how long it takes is not known"
    speed = "at its limit" if turn.at_limit else f"at the speed of {others}"
    return f"{words}; takes {'at most ' * turn.at_most}about {duration(turn.takes_s)} {speed}"
