"""From cumulative values to what happened in between, and to the figures of a whole run. Pure."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping

from msgspec import Struct

from raidtui.bench.stream import Dump, JobPart, Side

LEAST_MS = 100
"""A shorter interval says more about the clock than about the disks; it is added to the next one."""


class Flow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One direction over one interval. The percentiles are of it alone; None where nothing ended in it."""

    iops: float = 0.0
    bytes_s: float = 0.0
    p50_ns: int | None = None
    p99_ns: int | None = None
    p999_ns: int | None = None


class Sample(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One interval of a run.

    Args:
        t_s: seconds of the run at its end.
        read, write: all jobs added up.
        ios, size_bytes: what both directions did since the run began: (read, write).
        anew: fio began to count anew before it, as it does when a ramp time is over; what came before is
            no part of the result.
    """

    t_s: float
    read: Flow = Flow()
    write: Flow = Flow()
    ios: tuple[int, int] = (0, 0)
    size_bytes: tuple[int, int] = (0, 0)
    anew: bool = False

    @property
    def main(self) -> Flow:
        """The direction that did more: its latencies are the interval's."""
        return self.write if self.write.iops > self.read.iops else self.read


class Figures(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One direction over a whole run, all jobs added up.

    Args:
        ios, size_bytes: how much was done.
        iops, bytes_s: fio's own means.
        mean_ns, p50_ns, p99_ns, p999_ns: latency; None where fio did not measure it.
    """

    ios: int = 0
    size_bytes: int = 0
    iops: float = 0.0
    bytes_s: float = 0.0
    mean_ns: float | None = None
    p50_ns: int | None = None
    p99_ns: int | None = None
    p999_ns: int | None = None


class Meter:
    """Makes samples of dumps, by differences."""

    def __init__(self) -> None:
        self._jobs: tuple[JobPart, ...] = ()
        self._t_s = 0.0
        self._anew = False

    def take(self, dump: Dump) -> Sample | None:
        """Return the interval that ends with this dump; None where it is too short to say anything."""
        if self._restarted(dump.jobs):
            self._jobs, self._t_s, self._anew = (), 0.0, True
        before = self._jobs or tuple(JobPart(jobname=job.jobname) for job in dump.jobs)
        pairs = list(zip(before, dump.jobs, strict=True))
        spans = [(now.runtime - then.runtime) for a, b in pairs for then, now in _sides(a, b)]
        span_ms = max(spans, default=0)
        if span_ms < LEAST_MS:
            return None
        self._jobs, self._t_s = dump.jobs, self._t_s + span_ms / 1000
        sample = Sample(
            t_s=round(self._t_s, 3),
            read=_flow([(a.read, b.read) for a, b in pairs], span_ms),
            write=_flow([(a.write, b.write) for a, b in pairs], span_ms),
            ios=(sum(b.read.total_ios for _, b in pairs), sum(b.write.total_ios for _, b in pairs)),
            size_bytes=(sum(b.read.io_bytes for _, b in pairs), sum(b.write.io_bytes for _, b in pairs)),
            anew=self._anew,
        )
        self._anew = False
        return sample

    def _restarted(self, jobs: tuple[JobPart, ...]) -> bool:
        if not self._jobs:
            return False
        if [job.jobname for job in jobs] != [job.jobname for job in self._jobs]:
            return True
        return any(
            now.total_ios < then.total_ios or now.io_bytes < then.io_bytes or now.runtime < then.runtime
            for before, job in zip(self._jobs, jobs, strict=True)
            for then, now in _sides(before, job)
        )


def _sides(before: JobPart, now: JobPart) -> tuple[tuple[Side, Side], tuple[Side, Side]]:
    return (before.read, now.read), (before.write, now.write)


def _flow(pairs: list[tuple[Side, Side]], span_ms: int) -> Flow:
    ios = sum(now.total_ios - then.total_ios for then, now in pairs)
    size = sum(now.io_bytes - then.io_bytes for then, now in pairs)
    bins: Counter[int] = Counter()
    for then, now in pairs:
        old = then.latency.bins
        for place, count in now.latency.bins.items():
            more = count - old.get(place, 0)
            if more > 0:
                bins[place] += more
    p50, p99, p999 = percentiles(bins, (500, 990, 999))
    return Flow(
        iops=round(ios * 1000 / span_ms, 3),
        bytes_s=round(size * 1000 / span_ms, 3),
        p50_ns=p50,
        p99_ns=p99,
        p999_ns=p999,
    )


def percentiles(bins: Mapping[int, int], permille: Iterable[int]) -> tuple[int | None, ...]:
    """Return the latencies that so many permille of all did not exceed, ns; None where there are none.

    A bin's value is the middle of its width, as in fio's own percentiles (stat.c, calc_clat_percentiles).
    """
    places = sorted(place for place, count in bins.items() if count > 0)
    sums = list(itertools.accumulate(bins[place] for place in places))
    found: list[int | None] = []
    for each in permille:
        if not sums:
            found.append(None)
            continue
        rank = next(index for index, total in enumerate(sums) if total * 1000 >= each * sums[-1])
        found.append(places[rank])
    return tuple(found)


def figures(dump: Dump) -> tuple[Figures, Figures]:
    """Return what a whole run did: (read, write)."""
    return (
        _figures([(job.groupid, job.read) for job in dump.jobs]),
        _figures([(job.groupid, job.write) for job in dump.jobs]),
    )


def _figures(sides: list[tuple[int, Side]]) -> Figures:
    ios = sum(side.total_ios for _, side in sides)
    size = sum(side.io_bytes for _, side in sides)
    if not ios:
        return Figures()
    bins: Counter[int] = Counter()
    for _, side in sides:
        bins.update(side.latency.bins)
    p50, p99, p999 = percentiles(bins, (500, 990, 999))
    iops, bytes_s = _rates(sides)
    timed = [(side.total_ios, side.latency.mean) for _, side in sides if side.latency.mean]
    done = sum(count for count, _ in timed)
    return Figures(
        ios=ios,
        size_bytes=size,
        iops=iops,
        bytes_s=bytes_s,
        mean_ns=sum(count * mean for count, mean in timed) / max(1, done) if timed else None,
        p50_ns=p50,
        p99_ns=p99,
        p999_ns=p999,
    )


def _rates(sides: list[tuple[int, Side]]) -> tuple[float, float]:
    """Jobs of one group run at a time, groups one after another (``stonewall``): their times add up."""
    groups = {group: [side for each, side in sides if each == group] for group, _ in sides}
    working = [group for group in groups.values() if any(side.total_ios for side in group)]
    if len(working) == 1:
        return sum(side.iops for side in working[0]), sum(_bytes_s(side) for side in working[0])
    total_ms = sum(max(side.runtime for side in group) for group in working)
    ios = sum(side.total_ios for group in working for side in group)
    size = sum(side.io_bytes for group in working for side in group)
    return (ios * 1000 / total_ms, size * 1000 / total_ms) if total_ms else (0.0, 0.0)


def _bytes_s(side: Side) -> float:
    if side.bw_bytes is not None:
        return side.bw_bytes
    return side.io_bytes * 1000 / side.runtime if side.runtime else 0.0


def samples_of(dumps: Iterable[Dump]) -> tuple[Sample, ...]:
    """Return the samples of a whole stream; those before fio last began to count anew are left out."""
    meter = Meter()
    found: list[Sample] = []
    for dump in dumps:
        sample = meter.take(dump)
        if sample is None:
            continue
        if sample.anew:
            found.clear()
        found.append(sample)
    return tuple(found)
