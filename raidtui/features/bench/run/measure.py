"""One run: its record at the start, fio, what is read meanwhile, and its record at the end."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Generic, Self, TypeVar

from msgspec import structs
from msgspec.structs import replace

from raidtui.features.bench.caches import CacheReading, CacheWatch
from raidtui.features.bench.environment import read_environment
from raidtui.features.bench.estimate import measured_bytes
from raidtui.features.bench.place import Place
from raidtui.features.bench.results.run_record import (
    FAILED,
    PARTIAL,
    WHOLE,
    RunRecord,
    RunSample,
    from_samples,
    with_hits,
)
from raidtui.features.bench.run.bench_progress import Line
from raidtui.features.bench.run.fio_process import FioEnd, fio_argv, fio_trouble, run_fio
from raidtui.features.bench.run.fio_stream import figures, flush_figures
from raidtui.features.bench.schedule import Run, Schedule
from raidtui.features.bench.telemetry import Telemetry, TelemetryReader, array_changes, span_of
from raidtui.features.bench.workload import workload_options
from raidtui.host.diskstats import read_io
from raidtui.host.readers.host_reader import HostReader
from raidtui.jobs.sandbox import PARTS, Sandbox
from raidtui.jobs.scratch_folder import turned_read_only

_RAMP = ", during its ramp time: nothing was measured"


def begun_record(
    reader: HostReader,
    job: str,
    schedule: Schedule,
    run: Run,
    *,
    place: Place,
    fio: str,
    watch: CacheWatch | None = None,
) -> RunRecord:
    """Return the record of a run that starts now, with its environment and the caches below."""
    work = schedule.work_at(run.point)
    return RunRecord(
        **structs.asdict(run),
        job=job,
        at_s=reader.now_s(),
        title=schedule.title,
        preset=schedule.preset,
        note=schedule.note,
        place=place.words,
        work=work,
        job_file=schedule.job_file.text if schedule.job_file is not None else "",
        conditions=schedule.conditions,
        unsteady=schedule.conditions.steady,  # until five rounds are steady
        environment=read_environment(reader, place, fio),
        caches=watch.begin(work.total_bytes if work is not None else 0) if watch is not None else (),
    )


def measure(
    reader: HostReader,
    record: RunRecord,
    place: Place,
    folder: Path,
    *,
    sandbox: Sandbox,
    watch: CacheWatch,
    live: Callable[[Line], None],
    stopped: Callable[[], bool],
) -> tuple[RunRecord, list[RunSample], bytes]:
    """Run fio once; return the finished record, the samples, and fio's own JSON.

    Args:
        reader: the host.
        record: as it began.
        place: where it runs.
        folder: where its files are.
        sandbox: what fio may do.
        watch: of the caches below, which the record has.
        live: called with new samples, and in another thread with what surrounds the run.
        stopped: whether it shall end.

    Raises:
        OSError: fio cannot be started.
    """
    samples: list[RunSample] = []
    arrays = record.environment.arrays
    telemetry = TelemetryReader(reader, place, {array.name: array.label for array in arrays})
    reading = PeriodicReader(telemetry.read, lambda found: live(Line(telemetry=found)))
    caches = _CacheLook(watch, place)

    def take(sample: RunSample) -> None:
        if sample.anew:
            samples.clear()
        sample = caches.sampled(sample)
        samples.append(sample)
        reading.sampled(sample)
        live(Line(sample=sample))

    before = _written_sectors(reader, place)
    with contextlib.ExitStack() as looking:
        looking.enter_context(reading)
        if record.caches:
            caches.begin()
            looking.enter_context(caches.reading)
        end = run_fio(_argv(record, place), sandbox, take, stopped, job_file=record.job_file)
    if record.caches:
        rest = caches.rest(samples[-1].t_s if samples else 0.0)
        if samples:
            samples[-1] = replace(samples[-1], caches=(*samples[-1].caches, *rest))
        counted = samples or [RunSample(t_s=0.0, caches=rest)]
        record = replace(record, caches=with_hits(watch.end(record.caches), counted))
    written = measured_bytes(before, _written_sectors(reader, place))
    surrounded = _surrounded(record, reading.seen)
    writes = record.work is None or record.work.writes
    trouble = _turned_read_only(place, folder) if writes and place.directory else ""
    return _finished(surrounded, end, samples, written, trouble), samples, end.raw


class _CacheLook:
    """Puts readings of the caches to the samples after them.

    Args:
        watch: reads them.
        place: where the run is.
    """

    def __init__(self, watch: CacheWatch, place: Place) -> None:
        self._watch = watch
        self._lays_out = bool(place.directory)
        self._pending: deque[CacheReading] = deque()
        self._first = True
        self.reading = PeriodicReader(watch.read, self._pending.append, eager=True)

    def begin(self) -> None:
        """Read them before fio is started."""
        self._pending.append(self._watch.read(0.0))

    def sampled(self, sample: RunSample) -> RunSample:
        """Return a sample with the readings since the one before it.

        Before the first sample fio may have written its files, and before a reset it ran to warm up: what
        was read until then is not part of the run.
        """
        anew = sample.anew or (self._first and self._lays_out)
        self._first = False
        self.reading.sampled(replace(sample, anew=anew))
        if anew:
            self._pending.clear()
        found: list[CacheReading] = []
        while self._pending:
            found.append(self._pending.popleft())
        return replace(sample, caches=tuple(found)) if found else sample

    def rest(self, t_s: float) -> tuple[CacheReading, ...]:
        """Return what was read since the last sample, and is read now.

        Args:
            t_s: the second of the run.
        """
        return (*self._pending, self._watch.read(t_s))


def _turned_read_only(place: Place, folder: Path) -> str:
    """Return a sentence where a file system has become read-only, or "".

    ext4 does so when it finds an error, and many kernels still report it as mounted rw. fio does not
    notice that if all blocks are allocated already: it keeps writing, and faster.
    """
    if turned_read_only(folder):
        return f"the file system at {place.directory} became read-only during the run; see the kernel log"
    return ""  # fio itself has reported all other troubles


def _surrounded(record: RunRecord, seen: Sequence[Telemetry]) -> RunRecord:
    """Return a record with the surroundings of its run."""
    remarks = array_changes(record.environment.arrays, seen)
    return replace(record, during=span_of(seen), remarks=(*record.remarks, *remarks))


def partial_record(
    record: RunRecord, samples: Sequence[RunSample], seen: Sequence[Telemetry] = ()
) -> RunRecord:
    """Return the record of a run whose worker was killed, from its samples."""
    read, write = from_samples(samples)
    record = _surrounded(record, seen)
    record = replace(record, caches=with_hits(record.caches, samples))
    if _in_ramp(record, samples):
        return replace(record, state=FAILED, reason=f"its worker was killed{_RAMP}")
    return replace(
        record,
        state=PARTIAL,
        reason="its worker was killed; the latencies of the whole run are not known",
        seconds=samples[-1].t_s,
        read=read,
        write=write,
    )


def _in_ramp(record: RunRecord, samples: Sequence[RunSample]) -> bool:
    """Whether a run was interrupted during its ramp time: fio resets its counters after the ramp."""
    ramps = record.work is not None and record.work.ramp_s > 0
    return ramps and bool(samples) and not samples[0].anew


def _finished(
    record: RunRecord, end: FioEnd, samples: Sequence[RunSample], written: dict[str, int], trouble: str
) -> RunRecord:
    parts = end.dump.jobs if end.dump is not None else ()
    errors = [part.error for part in parts]
    if not trouble:
        trouble = fio_trouble(end.status, end.said, errors, where=record.place, stopped=end.stopped)
    read, write = figures(end.dump) if end.dump is not None else from_samples(samples)
    if trouble and _in_ramp(record, samples):
        return replace(record, state=FAILED, reason=f"{trouble}{_RAMP}", written=written)
    measured = bool(read.ios or write.ios)
    return replace(
        record,
        state=WHOLE if measured and not trouble else PARTIAL if measured else FAILED,
        reason=trouble or ("" if measured else "fio did nothing"),
        seconds=max((side.runtime for part in parts for side in (part.read, part.write)), default=0) / 1000,
        read=read,
        write=write,
        flush=flush_figures(end.dump) if end.dump is not None else record.flush,
        cpu_s=end.cpu_s,
        written=written,
        remarks=(*record.remarks, *_remarks(end)),
    )


def _remarks(end: FioEnd) -> Iterator[str]:
    """Yield what there is to say of fio's output and sandbox, a sentence each."""
    if end.broken:
        yield f"{end.broken} pieces of fio's output could not be read."
    lost = sorted(end.kept.missing.keys() & {*PARTS})
    if lost and not os.geteuid():
        yield f"fio ran without these parts of its sandbox: {', '.join(lost)}."


def _argv(record: RunRecord, place: Place) -> tuple[str, ...]:
    """Return fio's command for a run; ``--readonly`` for a device that must not be written to."""
    if record.work is None:
        return fio_argv(["-"], read_only=False)
    device = f"/dev/{place.device}" if place.device else ""
    read_only = bool(device) and not (place.writes and record.work.writes)
    return fio_argv(workload_options(record.work, device=device), read_only=read_only)


def _written_sectors(reader: HostReader, place: Place) -> dict[str, int]:
    names = (*place.members, *(name for name in place.disks if name not in place.members))
    return {name: io.written_sectors for name, io in read_io(reader, names).items()}


T = TypeVar("T")
FIRST_S = 0.3  # before that processors and disks are as they were at rest
EACH_S = 1.0
_JOIN_S = 1.0


class PeriodicReader(Generic[T]):
    """Reads something again and again within a ``with``, in a thread; after its end nothing is passed on.

    Args:
        read: returns what it is at so many seconds of the run.
        notify: called with each reading.
        clock: monotonic seconds.
        eager: whether it reads at once, too, where fio has reset its counters.

    Attributes:
        seen: the readings since fio last reset its counters.
    """

    def __init__(
        self,
        read: Callable[[float], T],
        notify: Callable[[T], None],
        *,
        clock: Callable[[], float] = time.monotonic,
        eager: bool = False,
    ) -> None:
        self._read = read
        self._notify = notify
        self._clock = clock
        self._began_s = 0.0
        self._eager = eager
        self._over = threading.Event()
        self._woken = threading.Event()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._look, name="bench-reading", daemon=True)
        self.seen: list[T] = []

    def __enter__(self) -> Self:
        self._began_s = self._clock()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._over.set()
        self._woken.set()
        # A disk that does not answer keeps no one: what it says then is thrown away.
        self._thread.join(_JOIN_S)

    def sampled(self, sample: RunSample) -> None:
        """Follow the clock of fio's samples; readings from before a reset are not part of the run."""
        with self._lock:
            self._began_s = self._clock() - sample.t_s
            if sample.anew:
                self.seen.clear()
        if sample.anew and self._eager:
            self._woken.set()

    def _look(self) -> None:
        # Signals are for the main thread, which holds them back while something is changed.
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        pause = FIRST_S
        while True:
            self._woken.wait(pause)
            self._woken.clear()
            if self._over.is_set():
                return
            found = self._read(round(max(0.0, self._clock() - self._began_s), 3))
            with self._lock:
                if self._over.is_set():
                    return
                self.seen.append(found)
                self._notify(found)
            pause = EACH_S
