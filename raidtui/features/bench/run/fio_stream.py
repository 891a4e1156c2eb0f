"""fio's output while it runs: one JSON object per status interval, with messages between them.

``fio --output-format=json+ --status-interval=250ms`` prints one object after another; all values
are cumulative. Errors and "terminating on signal" come between them. An object starts with a line ``{`` and
ends with a line ``}``, however the output is split into reads.
"""

from __future__ import annotations

import itertools
from collections import Counter, deque
from collections.abc import Iterable, Mapping
from typing import Annotated

import msgspec
from msgspec import Meta, Struct, field

from raidtui.features.bench.results.run_record import Figures, Flow, RunSample

_MOST_BYTES = 32 << 20
_MOST_SAID = 200
LEAST_MS = 100
"""A shorter interval measures the clock rather than the disks; it is added to the next one."""
Count = Annotated[int, Meta(ge=0, lt=1 << 62)]
Rate = Annotated[float, Meta(ge=0, lt=1e18)]


class Latency(Struct, frozen=True, kw_only=True):
    """Latencies of one kind. ``bins`` are the histogram of ``json+``: nanoseconds -> how many took that."""

    mean: Rate = 0.0
    count: Count = field(name="N", default=0)
    bins: dict[Count, Count] = {}


class Side(Struct, frozen=True, kw_only=True):
    """What a job did in one direction since it started, or since its ramp time ended.

    Args:
        io_bytes, total_ios: how much.
        runtime: milliseconds.
        iops: fio's own mean.
        bw_bytes: bytes/s, likewise; fio before 3.6 does not say it.
        clat_ns, lat_ns: completion and total latency; fio fills the bins of one of them.
    """

    io_bytes: Count = 0
    total_ios: Count = 0
    runtime: Count = 0
    iops: Rate = 0.0
    bw_bytes: Rate | None = None
    clat_ns: Latency = Latency()
    lat_ns: Latency = Latency()

    @property
    def latency(self) -> Latency:
        """The latency that has a histogram, or completion latency."""
        return self.lat_ns if self.lat_ns.bins and not self.clat_ns.bins else self.clat_ns


class Flushes(Struct, frozen=True, kw_only=True):
    """The fsync or fdatasync calls of a job; fio counts those of fdatasync in the latency alone."""

    lat_ns: Latency = Latency()


class JobPart(Struct, frozen=True, kw_only=True):
    """One job, or one group of jobs under ``group_reporting``. ``error`` is an errno.

    Args:
        usr_cpu, sys_cpu: percent of ``job_runtime`` that the job's threads used a processor.
        ctx: context switches.
        job_runtime: milliseconds, of all threads added up.
    """

    jobname: str = ""
    groupid: int = 0
    error: int = 0
    usr_cpu: Rate = 0.0
    sys_cpu: Rate = 0.0
    ctx: Count = 0
    job_runtime: Count = 0
    read: Side = Side()
    write: Side = Side()
    sync: Flushes = Flushes()


class Dump(Struct, frozen=True, kw_only=True):
    """One object: all jobs at one moment."""

    version: str = field(name="fio version", default="")
    jobs: tuple[JobPart, ...] = ()


class StreamParser:
    """Parses fio's output in pieces; it never raises.

    Attributes:
        said: lines that are not JSON, the last 200.
        broken: how many objects could not be used: interrupted, or not JSON.
        last: the last good object as it was printed.
    """

    def __init__(self) -> None:
        self.said: deque[str] = deque(maxlen=_MOST_SAID)
        self.broken = 0
        self.last = b""
        self._rest = b""
        self._lines: list[bytes] | None = None
        self._size = 0

    def feed(self, data: bytes) -> list[Dump]:
        """Return the objects that this piece completes."""
        head, newline, self._rest = (self._rest + data).rpartition(b"\n")
        if not newline:
            if len(self._rest) > _MOST_BYTES:
                self._rest = b""
                self._drop()
            return []
        found = []
        for line in head.split(b"\n"):
            dump = self._take(line)
            if dump is not None:
                found.append(dump)
        return found

    def close(self) -> list[Dump]:
        """Return what a last line without a newline completes; an object that is still open is broken."""
        found = self.feed(b"\n") if self._rest else []
        self._drop()
        return found

    def _take(self, line: bytes) -> Dump | None:
        bare = line.rstrip()
        if bare == b"{" and line[:1] == b"{":
            self._drop()
            self._lines, self._size = [bare], 1
        elif self._lines is None:
            if bare:
                self.said.append(bare.decode("utf-8", "replace"))
        elif bare == b"}" and line[:1] == b"}":
            text = b"\n".join([*self._lines, bare])
            self._lines = None
            return self._decode(text)
        else:
            self._lines.append(line)
            self._size += len(line)
            if self._size > _MOST_BYTES:
                self._drop()
        return None

    def _drop(self) -> None:
        if self._lines is not None:
            self.broken += 1
        self._lines = None

    def _decode(self, text: bytes) -> Dump | None:
        try:
            dump = msgspec.json.decode(text, type=Dump)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            self.broken += 1
            return None
        self.last = text + b"\n"
        return dump


class Meter:
    """Makes samples of dumps, by differences."""

    def __init__(self) -> None:
        self._jobs: tuple[JobPart, ...] = ()
        self._t_s = 0.0
        self._anew = False

    def take(self, dump: Dump) -> RunSample | None:
        """Return the interval that ends with this dump; None where it is too short."""
        if self._restarted(dump.jobs):
            self._jobs, self._t_s, self._anew = (), 0.0, True
        before = self._jobs or tuple(JobPart(jobname=job.jobname) for job in dump.jobs)
        pairs = list(zip(before, dump.jobs, strict=True))
        spans = [(now.runtime - then.runtime) for a, b in pairs for then, now in _sides(a, b)]
        span_ms = max(spans, default=0)
        if span_ms < LEAST_MS:
            return None
        self._jobs, self._t_s = dump.jobs, self._t_s + span_ms / 1000
        sample = RunSample(
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
    """Return latency percentiles in ns, given in permille; None where there are no values.

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
    read = _figures([(job.groupid, job.read) for job in dump.jobs])
    write = _figures([(job.groupid, job.write) for job in dump.jobs])
    return read, write


def flush_figures(dump: Dump) -> Figures:
    """Return the latency of the flushes of a whole run, and how many there were."""
    parts = [job.sync.lat_ns for job in dump.jobs]
    count = sum(part.count for part in parts)
    if not count:
        return Figures()
    p50, p99, p999 = percentiles(flush_bins(dump), (500, 990, 999))
    mean_ns = sum(part.count * part.mean for part in parts) / count
    return Figures(ios=count, mean_ns=mean_ns, p50_ns=p50, p99_ns=p99, p999_ns=p999)


def flush_bins(dump: Dump) -> Counter[int]:
    """Return the histogram of the flushes of a whole run, ns -> how many."""
    return _added(job.sync.lat_ns for job in dump.jobs)


def latency_bins(dump: Dump) -> tuple[Counter[int], Counter[int]]:
    """Return the latency histograms of a whole run, ns -> how many: (reads, writes)."""
    reads = [job.read.latency for job in dump.jobs]
    return _added(reads), _added([job.write.latency for job in dump.jobs])


def _added(parts: Iterable[Latency]) -> Counter[int]:
    bins: Counter[int] = Counter()
    for part in parts:
        bins.update(part.bins)
    return bins


def _figures(sides: list[tuple[int, Side]]) -> Figures:
    ios = sum(side.total_ios for _, side in sides)
    size = sum(side.io_bytes for _, side in sides)
    if not ios:
        return Figures()
    bins = _added(side.latency for _, side in sides)
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
