"""Whether a member of an array is slower than its siblings. Pure.

Siblings share the array's work. In each stretch of time, a minute or an hour, the slowest member's mean time
of a request is compared with that of the next slowest one. Counts are not compared: md sends a mirror's reads
to the nearest or the least busy member (drivers/md/raid1.c, read_balance). Not known is not slow: a stretch
with too few requests, or with requests of other sizes, says nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from raidtui.model.array import Array, Member
from raidtui.model.disk import DiskIo
from raidtui.model.sync_record import CHECKS

SPREADING = frozenset({"raid0", "raid1", "raid5", "raid6", "raid10"})
"""They give each member the same work: the parity of raid4 has a disk of its own, linear fills in turn."""
_MIRRORED = frozenset({"raid1", "raid10"})
_SAME_SIZE = 1.5
_SAME_READS = 4.0
_MOST_ELSEWHERE = 0.2
_OFTEN, _SELDOM = 0.8, 0.5
_LEAST_MS = {True: 10.0, False: 1.0}
"""By whether the disks rotate: a smaller difference is of no account."""


class Bar(Struct, frozen=True, kw_only=True):
    """From where on a member counts as slow.

    Args:
        slower: how many times as long as the next slowest member it takes for a request.
        busier: how many times as long it is busy for the same amount of data.
        least: requests of a member in a stretch, below which it is not compared.
        stretches: how many of the last stretches are judged.
        enough: how many of them must be comparable.
        total: its requests in all stretches in which it was slow.
    """

    slower: float
    busier: float
    least: int
    stretches: int
    enough: int
    total: int


MINUTES = Bar(slower=2.0, busier=1.5, least=30, stretches=15, enough=10, total=1000)
HOURS = Bar(slower=1.5, busier=1.25, least=2000, stretches=336, enough=40, total=200_000)


class Served(Struct, frozen=True, kw_only=True):
    """What a member did in a stretch; ``elsewhere``: its disk's requests for other partitions."""

    reads: int = 0
    read_sectors: int = 0
    read_ms: int = 0
    writes: int = 0
    written_sectors: int = 0
    write_ms: int = 0
    busy_ms: int = 0
    elsewhere: int = 0

    def load(self, *, writes: bool) -> tuple[int, int, int]:
        """Return (requests, ms, sectors) of reads or of writes."""
        if writes:
            return self.writes, self.write_ms, self.written_sectors
        return self.reads, self.read_ms, self.read_sectors


class Compared(Struct, frozen=True, kw_only=True, array_like=True):
    """The slowest member of a stretch.

    Args:
        writes: whether writes were compared; else reads.
        slow: whether it passes the bar.
        wait_ms, others_ms: the mean time of a request, and that of the next slowest member.
        requests: its own.
    """

    writes: bool
    member: str
    slow: bool
    wait_ms: float
    others_ms: float
    requests: int


class SlowMember(Struct, frozen=True, kw_only=True):
    """A member that is slower than its siblings.

    Args:
        member: its name; in a record, what it is known by there.
        at_s: epoch seconds of the last comparison.
        hourly: whether hours of the last two weeks were compared; else minutes.
        stretches, compared: in how many it was slow, of how many.
        writes, wait_ms, others_ms, requests: as in ``Compared``, over those in which it was slow.
        before: how many times as long it took before these weeks; None where that is not known.
        other_model: whether none of its siblings is of its model.
    """

    member: str
    at_s: float
    hourly: bool
    writes: bool
    wait_ms: float
    others_ms: float
    stretches: int
    compared: int
    requests: int
    before: float | None = None
    other_model: bool = False


def peers(array: Array) -> tuple[Member, ...]:
    """Return the members that may be compared: none unless the array is whole and nothing is filled."""
    whole = array.active and array.stale is None and array.reshape is None and not array.twin
    if not whole or array.level not in SPREADING or array.degraded or array.not_up:
        return ()
    if array.sync is not None and array.sync.action not in CHECKS:
        return ()
    found = [each for each in array.members if each.role == "in_sync" and not each.has("write_mostly")]
    return tuple(found) if len(found) > 1 else ()


def served(before: DiskIo, now: DiskIo, disk_before: DiskIo, disk_now: DiskIo) -> Served | None:
    """Return what a member did between two readings of it and of its disk; None if counters went back."""
    own = now.requests - before.requests
    found = Served(
        reads=now.reads - before.reads,
        read_sectors=now.read_sectors - before.read_sectors,
        read_ms=now.read_ms - before.read_ms,
        writes=now.writes - before.writes,
        written_sectors=now.written_sectors - before.written_sectors,
        write_ms=now.write_ms - before.write_ms,
        busy_ms=now.busy_ms - before.busy_ms,
        elsewhere=max(0, disk_now.requests - disk_before.requests - own),
    )
    counted = (*found.load(writes=False), *found.load(writes=True), found.busy_ms)
    return found if min(counted) >= 0 else None


def compare(
    done: Mapping[str, Served], bar: Bar, *, writes: bool, mirrored: bool, rotates: bool
) -> Compared | None:
    """Return the slowest member of a stretch; None where they cannot be compared.

    Args:
        done: what each member did.
        bar: by which they are compared.
        writes: whether writes are compared; else reads.
        mirrored: whether members hold copies, so that md chooses which of them reads.
        rotates: whether the disks do.
    """
    loads = {name: load for name, each in done.items() if (load := each.load(writes=writes))[0] >= bar.least}
    if len(loads) < 2 or 2 * (len(loads) - 1) < len(done) - 1:
        return None
    sizes = [sectors / requests for requests, _, sectors in loads.values()]
    if max(sizes) > _SAME_SIZE * min(sizes):
        return None
    counts = [requests for requests, _, _ in loads.values()]
    if mirrored and rotates and not writes and max(counts) > _SAME_READS * min(counts):
        return None  # one streams, another seeks
    waits = sorted(((ms / requests, name) for name, (requests, ms, _) in loads.items()), reverse=True)
    (wait_ms, name), (others_ms, _) = waits[:2]
    own, others = done[name], [done[each] for each in loads if each != name]
    more = own.elsewhere - max(each.elsewhere for each in others)
    if more > _MOST_ELSEWHERE * (own.reads + own.writes):
        return None
    slow = wait_ms >= bar.slower * others_ms and wait_ms - others_ms >= _LEAST_MS[rotates]
    busier = _busy_a_sector(own) >= bar.busier * max(_busy_a_sector(each) for each in others)
    return Compared(
        writes=writes,
        member=name,
        slow=slow and busier,
        wait_ms=wait_ms,
        others_ms=others_ms,
        requests=loads[name][0],
    )


def _busy_a_sector(done: Served) -> float:
    return done.busy_ms / max(1, done.read_sectors + done.written_sectors)


def compare_both(done: Mapping[str, Served], bar: Bar, *, level: str, rotates: bool) -> list[Compared]:
    """Return what ``compare`` finds of reads and of writes."""
    both = (
        compare(done, bar, writes=writes, mirrored=level in _MIRRORED, rotates=rotates)
        for writes in (False, True)
    )
    return [each for each in both if each is not None]


def slow_member(found: Sequence[Compared], bar: Bar, at_s: float) -> SlowMember | None:
    """Return the member that was slow in most of the last stretches.

    Args:
        found: the comparisons of all stretches, the oldest first.
        bar: by which they were made.
        at_s: epoch seconds of the last one.
    """
    known = []
    for writes in (False, True):
        last = [each for each in found if each.writes is writes][-bar.stretches :]
        names = [each.member for each in last if each.slow]
        name = max(names, key=names.count, default="")
        slow = [each for each in last if each.slow and each.member == name]
        requests = sum(each.requests for each in slow)
        if len(last) < bar.enough or len(slow) < _OFTEN * len(last) or requests < bar.total:
            continue
        known.append(
            SlowMember(
                member=name,
                at_s=at_s,
                hourly=bar is HOURS,
                writes=writes,
                wait_ms=sum(each.wait_ms * each.requests for each in slow) / requests,
                others_ms=sum(each.others_ms * each.requests for each in slow) / requests,
                stretches=len(slow),
                compared=len(last),
                requests=requests,
            )
        )
    return max(known, key=lambda each: each.wait_ms / max(each.others_ms, 0.001), default=None)


def is_slow_no_more(slow: SlowMember, found: Sequence[Compared]) -> bool:
    """Whether the last minutes show that a member is as fast as its siblings again."""
    last = [each for each in found if each.writes is slow.writes][-MINUTES.stretches :]
    still = sum(each.slow and each.member == slow.member for each in last)
    return len(last) >= MINUTES.enough and still < _SELDOM * len(last)
