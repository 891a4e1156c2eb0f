"""The record of how fast an array's members are against each other, over weeks. Pure.

A watcher marks the counters from time to time; what was done between two marks goes to the day of the later
one. Members are known by their disks' identities. A stretch counts where the array was whole at both of its
ends, and no watcher has seen anything else in between.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from raidtui.model.disk import DiskIo
from raidtui.model.member_speed import (
    DAYS,
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
_MOST_DAYS, _MOST_PLACES = 35, 600
_EARLIER = 5
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


class SpeedDay(Struct, frozen=True, kw_only=True):
    """What each member did on a day, which is counted from 1970 on."""

    day: int
    done: Mapping[str, Served]


class SpeedRecord(Struct, frozen=True, kw_only=True):
    """What is kept of an array.

    Args:
        uuid: the array's.
        days: the oldest first; as many as fit.
        mark: the last one; None where the next stretch has no beginning.
        slow: what the last minutes that were watched have shown.
    """

    uuid: str
    days: tuple[SpeedDay, ...] = ()
    mark: SpeedMark | None = None
    slow: SlowMember | None = None


def marked(record: SpeedRecord, now: SpeedMark) -> SpeedRecord:
    """Return the record with what was done since its last mark, and with the new one."""
    before, added = record.mark, replace(record, mark=now)
    if before is None or before.boot != now.boot or before.io.keys() != now.io.keys():
        return added
    if not 0 < now.at_s - before.at_s <= _LONGEST_S:
        return added
    done = done_between(before.io, now.io)
    if done is None:
        return added
    day, days = int(now.at_s // DAY_S), record.days
    if days and days[-1].day == day:
        last = days[-1].done
        done = {name: last.get(name, Served()).plus(each) for name, each in done.items()}
        days = days[:-1]
    most = min(_MOST_DAYS, _MOST_PLACES // len(done))
    return replace(added, days=(*days, SpeedDay(day=day, done=done))[-most:] if most else ())


def done_between(before: Readings, now: Readings) -> dict[str, Served] | None:
    """Return what each member did between two readings; None where that is not known of all of them."""
    found = {name: served(before[name][0], io, before[name][1], disk) for name, (io, disk) in now.items()}
    known = {name: each for name, each in found.items() if each is not None}
    return known if len(known) == len(found) else None


def slow_by_days(record: SpeedRecord, now_s: float, *, level: str, rotates: bool) -> SlowMember | None:
    """Return the member that was slower than its siblings on most of the last days.

    Args:
        record: what is kept of the array.
        now_s: epoch seconds.
        level: the array's.
        rotates: whether its disks do.
    """
    recent: list[Compared] = []
    earlier: list[Compared] = []
    for each in record.days:
        found = compare_both(each.done, DAYS, level=level, rotates=rotates)
        is_recent = each.day > now_s / DAY_S - DAYS.stretches - 1
        (recent if is_recent else earlier).extend(found)
    at_s = (record.days[-1].day + 1) * DAY_S if record.days else 0
    slow = slow_member(recent, DAYS, min(now_s, at_s))
    return None if slow is None else replace(slow, before=_times(slow, earlier))


def _times(slow: SlowMember, earlier: list[Compared]) -> float | None:
    """Return how many times as long a member took in earlier days, 1 where it was not the slowest."""
    own = [each for each in earlier if each.writes is slow.writes]
    if len(own) < _EARLIER:
        return None
    times = [each.wait_ms / max(each.others_ms, 0.001) for each in own if each.member == slow.member]
    return (sum(times) + len(own) - len(times)) / len(own)


def has_changed(slow: SlowMember) -> bool:
    """Whether a member was as fast as its siblings in the days before."""
    return slow.before is not None and slow.before <= _AS_FAST
