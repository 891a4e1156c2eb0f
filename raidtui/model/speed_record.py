"""The record of how fast an array's members are against each other, over weeks. Pure.

A watcher marks the counters each hour, and members are compared by what they did between two marks. They are
known by their disks' identities. An hour counts where the array was whole at both of its ends, and no watcher
has seen anything else in between.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from raidtui.model.disk import DiskIo
from raidtui.model.member_speed import (
    HOURS,
    Compared,
    Served,
    SlowMember,
    compare_both,
    served,
    slow_member,
)

DAY_S = 86_400
MARK_S = 3600.0
"""So often the counters are marked."""
_LONGEST_S = 2.5 * MARK_S
_RECENT_S, _LEAST_DAYS = 14 * DAY_S, 7
_KEPT_S, _MOST = 35 * DAY_S, 1200
_EARLIER = 20
_AS_FAST = 1.25


Readings = Mapping[str, tuple[DiskIo, DiskIo]]
"""The counters of members and of their whole disks, by what the members are known by."""


class SpeedMark(Struct, frozen=True, kw_only=True):
    """Counters at a moment.

    Args:
        at_s: epoch seconds.
        boot: the kernel's boot_id: counters begin again with each boot.
    """

    at_s: float
    boot: str
    io: Readings


class SpeedRecord(Struct, frozen=True, kw_only=True):
    """What is kept of an array.

    Args:
        uuid: the array's.
        hours: what was compared in each, counted from 1970 on, the oldest first.
        mark: the last one; None where the next stretch has no beginning.
        slow: what the last minutes that were watched have shown.
    """

    uuid: str
    hours: tuple[tuple[int, Compared], ...] = ()
    mark: SpeedMark | None = None
    slow: SlowMember | None = None


def marked(record: SpeedRecord, now: SpeedMark, *, level: str, rotates: bool) -> SpeedRecord:
    """Return the record with the comparison of what was done since its last mark, and with the new one.

    Args:
        record: what is kept of the array.
        now: the counters.
        level: the array's.
        rotates: whether its disks do.
    """
    before, hours = record.mark, record.hours
    if before is not None and before.boot == now.boot and 0 < now.at_s - before.at_s <= _LONGEST_S:
        done = done_between(before.io, now.io)
        found = compare_both(done or {}, HOURS, level=level, rotates=rotates)
        hours = (*hours, *((int(now.at_s // MARK_S), each) for each in found))
    oldest = (now.at_s - _KEPT_S) // MARK_S
    return replace(record, mark=now, hours=tuple(each for each in hours if each[0] >= oldest)[-_MOST:])


def done_between(before: Readings, now: Readings) -> dict[str, Served] | None:
    """Return what each member did between two readings; None where that is not known of all of them."""
    if before.keys() != now.keys():
        return None
    found = {name: served(before[name][0], io, before[name][1], disk) for name, (io, disk) in now.items()}
    known = {name: each for name, each in found.items() if each is not None}
    return known if len(known) == len(found) else None


def slow_by_weeks(record: SpeedRecord, now_s: float) -> SlowMember | None:
    """Return the member that was slower than its siblings in most hours of the last two weeks.

    Args:
        record: what is kept of the array.
        now_s: epoch seconds.
    """
    since = (now_s - _RECENT_S) // MARK_S
    recent = [(hour, each) for hour, each in record.hours if hour >= since]
    if len({hour // 24 for hour, each in recent if each.slow}) < _LEAST_DAYS:
        return None
    slow = slow_member([each for _, each in recent], HOURS, recent[-1][0] * MARK_S)
    if slow is None:
        return None
    return replace(slow, before=_times(slow, [each for hour, each in record.hours if hour < since]))


def _times(slow: SlowMember, earlier: list[Compared]) -> float | None:
    """Return how many times as long a member took earlier, 1 where it was not the slowest."""
    own = [each for each in earlier if each.writes is slow.writes]
    if len(own) < _EARLIER:
        return None
    times = [each.wait_ms / max(each.others_ms, 0.001) for each in own if each.member == slow.member]
    return (sum(times) + len(own) - len(times)) / len(own)


def has_changed(slow: SlowMember) -> bool:
    """Whether a member was as fast as its siblings before."""
    return slow.before is not None and slow.before <= _AS_FAST
