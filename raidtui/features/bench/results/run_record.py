"""The record of one run, as it is kept, listed and compared. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from raidtui.features.bench.caches import CacheReading, CacheRun, hits_of
from raidtui.features.bench.environment import Environment
from raidtui.features.bench.schedule import Conditions, Run, point_words
from raidtui.features.bench.telemetry import NOTHING_SEEN, TelemetryRange
from raidtui.features.bench.workload import Workload
from raidtui.view.units import three_digits

WHOLE, PARTIAL, FAILED = "whole", "partial", "failed"
SIMULATED = "simulated"
"""Stands for fio's version, and before the title, where a model made the figures and nothing was measured."""
NOT_STEADY = "NOT STEADY"
"""Shown for rounds whose steady state was requested and not reached: they have no common figure."""
SHORT_S = 5.0
"""A shorter run is called short: it measures caches and the start of the run."""


class Flow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One direction over one interval. The percentiles are of it alone; None where nothing ended in it."""

    iops: float = 0.0
    bytes_s: float = 0.0
    p50_ns: int | None = None
    p99_ns: int | None = None
    p999_ns: int | None = None


class RunSample(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One interval of a run.

    Args:
        t_s: seconds of the run at its end.
        read, write: all jobs added up.
        ios, size_bytes: totals since the run started: (read, write).
        again: fio reset its counters before it, as after a ramp time; earlier samples are not part of the
            result.
        caches: readings of the caches below since the sample before it, each with its own time.
    """

    t_s: float
    read: Flow = Flow()
    write: Flow = Flow()
    ios: tuple[int, int] = (0, 0)
    size_bytes: tuple[int, int] = (0, 0)
    anew: bool = False
    caches: tuple[CacheReading, ...] = ()

    @property
    def iops(self) -> float:
        """Reads and writes together."""
        return self.read.iops + self.write.iops

    @property
    def bytes_s(self) -> float:
        """Reads and writes together, bytes/s."""
        return self.read.bytes_s + self.write.bytes_s

    @property
    def main(self) -> Flow:
        """The direction that did more: its latencies are the interval's."""
        return self.write if self.write.iops > self.read.iops else self.read


class Figures(Flow, frozen=True, kw_only=True, omit_defaults=True):
    """One direction over a whole run, all jobs added up, by fio's own means.

    Args:
        ios, size_bytes: how much was done.
        mean_ns: the mean latency; it and the percentiles are None where fio did not measure them.
    """

    ios: int = 0
    size_bytes: int = 0
    mean_ns: float | None = None


class RunRecord(Run, frozen=True, kw_only=True, omit_defaults=True):
    """One run as it was measured.

    Args:
        id: its number in the history; 0 before it is kept.
        job: the benchmark's id; runs of one benchmark have the same.
        at_s: epoch seconds of its start.
        title, preset, note: of the benchmark; the note can be changed.
        state: whole, partial (it has figures but did not finish) or failed (it has none).
        reason: why it is not whole.
        place: the folder, or the device's path.
        work: the workload; None for a job file, whose text is ``job_file``.
        seconds: how long it was measured.
        read, write: the figures.
        flush: of the fdatasync calls after writes, where there were any.
        conditions: what was done before and between the runs; None of runs that were kept before it was.
        cpu_s: CPU time of fio, user and system; None where it was not measured.
        written: bytes that the kernel wrote to each member meanwhile.
        environment: the environment at its start.
        during: the range of the surroundings until it ended.
        caches: those below, the uppermost first.
        steady: the result of the steady-state rule after this round, if it was requested.
        unsteady: whether the rounds of its point were not steady in the end.
        remarks: what else was noted, a sentence each.
    """

    job: str
    at_s: float
    title: str
    place: str
    id: int = 0
    preset: str = ""
    note: str = ""
    state: str = WHOLE
    reason: str = ""
    work: Workload | None = None
    job_file: str = ""
    seconds: float = 0.0
    read: Figures = Figures()
    write: Figures = Figures()
    flush: Figures = Figures()
    conditions: Conditions | None = None
    cpu_s: float | None = None
    written: dict[str, int] = msgspec.field(default_factory=dict)
    environment: Environment = Environment()
    during: TelemetryRange = NOTHING_SEEN
    caches: tuple[CacheRun, ...] = ()
    steady: str = ""
    unsteady: bool = False
    remarks: tuple[str, ...] = ()

    @property
    def simulated(self) -> bool:
        """Whether a model of the demo host made its figures."""
        return self.environment.fio == SIMULATED

    @property
    def iops(self) -> float:
        """Reads and writes together."""
        return self.read.iops + self.write.iops

    @property
    def bytes_s(self) -> float:
        """Reads and writes together, bytes/s."""
        return self.read.bytes_s + self.write.bytes_s

    @property
    def main(self) -> Figures:
        """The direction that did more: its latencies are the run's."""
        return self.write if self.write.ios > self.read.ios else self.read

    @property
    def cache(self) -> CacheRun | None:
        """The cache whose hits are the run's: the uppermost of which they are known, else the uppermost."""
        known = (each for each in self.caches if each.hit_ratio is not None)
        return next(known, self.caches[0] if self.caches else None)

    @property
    def cold(self) -> bool | None:
        """Whether a cache below was cold as it began; None without caches, or where it is not known."""
        states = [each.cold for each in self.caches if each.cold is not None]
        return any(states) if states else None

    @property
    def short(self) -> str:
        """That it was measured for less than ``SHORT_S``, in words; "" where it was not."""
        if self.state == FAILED or not 0 < self.seconds < SHORT_S:
            return ""
        return f"short: {three_digits(self.seconds)} s"

    @property
    def words(self) -> str:
        """What was measured: random read 4K, depth 32 (scheduler none)."""
        work = self.work.words if self.work is not None else self.title
        rest = {
            label: value for label, value in self.point.items() if label not in {"block", "depth", "jobs"}
        }
        return f"{work} ({point_words(rest)})" if rest else work

    @property
    def figures(self) -> str:
        """The figures in words; "" without figures."""
        if not self.iops:
            return ""
        p99_ns = self.flush.p99_ns
        flush = f"  fdatasync p99 {milliseconds(p99_ns)} ms" if p99_ns is not None else ""
        return f"{figure_words(self.iops, self.bytes_s, self.main)}{flush}"


def figure_words(iops: float, bytes_s: float, main: Flow) -> str:
    """Return figures in a line: 102,325 IOPS  419 MB/s  p50 0.21  p99 0.74  p99.9 2.9 ms."""
    text = f"{iops:,.0f} IOPS  {three_digits(bytes_s / 1e6)} MB/s"
    known = [("p50", main.p50_ns), ("p99", main.p99_ns), ("p99.9", main.p999_ns)]
    parts = [f"{word} {milliseconds(value)}" for word, value in known if value is not None]
    return f"{text}  {'  '.join(parts)} ms" if parts else text


def milliseconds(value_ns: float) -> str:
    """Return a latency in milliseconds with three digits, without the unit."""
    return three_digits(value_ns / 1e6) if value_ns >= 1000 else f"{value_ns / 1e6:.4f}"


def sample_words(sample: RunSample) -> str:
    """Return a sample in a line, as ``figure_words``, with its time before it."""
    return f"{sample.t_s:>5.1f} s  {figure_words(sample.iops, sample.bytes_s, sample.main)}"


def from_samples(samples: Sequence[RunSample]) -> tuple[Figures, Figures]:
    """Return the figures of a run from its samples; the latencies of the whole run are not known."""
    if not samples:
        return Figures(), Figures()
    last = samples[-1]

    def of(side: int) -> Figures:
        ios, size = last.ios[side], last.size_bytes[side]
        if not ios:
            return Figures()
        return Figures(ios=ios, size_bytes=size, iops=ios / last.t_s, bytes_s=size / last.t_s)

    return of(0), of(1)


def readings_of(samples: Sequence[RunSample]) -> tuple[CacheReading, ...]:
    """Return the readings of caches in samples, oldest first."""
    return tuple(reading for sample in samples for reading in sample.caches)


def with_hits(caches: Sequence[CacheRun], samples: Sequence[RunSample]) -> tuple[CacheRun, ...]:
    """Return caches with the hits and misses of a run's samples."""
    readings = readings_of(samples)
    found = []
    for each in caches:
        hits, misses = hits_of(readings, each.name) or (None, None)
        found.append(replace(each, hits=hits, misses=misses))
    return tuple(found)


def with_new_names(data: bytes) -> bytes:
    """Return JSON of a record, or of a line of live samples, with the names of today.

    In an earlier version ``remarks`` were ``told``, and ``telemetry`` was ``around``.
    """
    return data.replace(b'"told":', b'"remarks":').replace(b'{"around":', b'{"telemetry":')


def decode(data: bytes) -> RunRecord:
    """Return a record, also of an earlier version.

    Raises:
        msgspec.DecodeError: it is not a run.
    """
    return msgspec.json.decode(with_new_names(data), type=RunRecord)
