"""One run: its record at the start, fio, and its record at the end."""

from __future__ import annotations

import errno
import signal
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Self

from msgspec.structs import replace

from raidtui.bench.environment import read_environment
from raidtui.bench.estimate import measured_bytes
from raidtui.bench.place import Place
from raidtui.bench.results.run_record import FAILED, PARTIAL, WHOLE, RunRecord, RunSample, from_samples
from raidtui.bench.run.fio_process import FioEnd, fio_argv, fio_trouble, run_fio
from raidtui.bench.run.fio_stream import figures
from raidtui.bench.schedule import Run, Schedule
from raidtui.bench.surroundings import Surroundings, SurroundingsReader, array_changes, span_of
from raidtui.bench.workload import workload_options
from raidtui.host.diskstats import read_io
from raidtui.host.roots.root import Root

_JOB_FILE = "job.fio"
_PROBE = "raidtui-was-here"
_RAMP = ", during its ramp time: nothing was measured"


def begun_record(root: Root, job: str, schedule: Schedule, run: Run, *, place: Place, fio: str) -> RunRecord:
    """Return the record of a run that starts now, with its environment."""
    return RunRecord(
        job=job,
        number=run.number,
        repeat=run.repeat,
        at_s=time.time(),
        title=schedule.title,
        preset=schedule.preset,
        note=schedule.note,
        place=place.words,
        point=run.point,
        work=schedule.work_at(run.point),
        job_file=schedule.job_file.text if schedule.job_file is not None else "",
        unsteady=schedule.conditions.steady,  # until five rounds are steady
        environment=read_environment(root, place, fio),
    )


def measure(
    root: Root,
    record: RunRecord,
    place: Place,
    folder: Path,
    *,
    add: Callable[[RunSample], None],
    add_surroundings: Callable[[Surroundings], None],
    stopped: Callable[[], bool],
) -> tuple[RunRecord, list[RunSample], bytes]:
    """Run fio once; return the finished record, the samples, and fio's own JSON.

    Args:
        root: the host.
        record: as it began.
        place: where it runs.
        folder: where its files are.
        add: called with new samples.
        add_surroundings: likewise what surrounds the run; called in another thread.
        stopped: whether it shall end.

    Raises:
        OSError: fio cannot be started.
    """
    samples: list[RunSample] = []
    arrays = record.environment.arrays
    reader = SurroundingsReader(root, place, {array.name: array.label for array in arrays})
    lookout = SurroundingsThread(reader.read, add_surroundings)

    def take(sample: RunSample) -> None:
        if sample.anew:
            samples.clear()
        samples.append(sample)
        lookout.sampled(sample)
        add(sample)

    before = _written_sectors(root, place)
    with lookout:
        end = run_fio(_argv(record, place, folder), folder, take, stopped)
    written = measured_bytes(before, _written_sectors(root, place))
    surrounded = _surrounded(record, lookout.seen)
    writes = record.work is None or record.work.writes
    trouble = _turned_read_only(place, folder) if writes and place.directory else ""
    return _finished(surrounded, end, samples, written, trouble), samples, end.raw


def _turned_read_only(place: Place, folder: Path) -> str:
    """Return a sentence where a file system has become read-only, or "".

    ext4 does so when it finds an error, and many kernels still report it as mounted rw. fio does not
    notice that if all blocks are allocated already: it keeps writing, and faster.
    """
    probe = folder / _PROBE
    try:
        probe.touch()
        probe.unlink()
    except OSError as error:
        if error.errno == errno.EROFS:
            return f"the file system at {place.directory} became read-only during the run; see the kernel log"
    return ""  # fio itself has reported all other troubles


def _surrounded(record: RunRecord, seen: Sequence[Surroundings]) -> RunRecord:
    """Return a record with the surroundings of its run."""
    remarks = array_changes(record.environment.arrays, seen)
    return replace(record, during=span_of(seen), remarks=(*record.remarks, *remarks))


def partial_record(
    record: RunRecord, samples: Sequence[RunSample], seen: Sequence[Surroundings] = ()
) -> RunRecord:
    """Return the record of a run whose worker was killed, from its samples."""
    read, write = from_samples(samples)
    record = _surrounded(record, seen)
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
    """Whether a run was cut short during its ramp time: fio resets its counters after the ramp."""
    ramps = record.work is not None and record.work.ramp_s > 0
    return ramps and bool(samples) and not samples[0].anew


def _finished(
    record: RunRecord, end: FioEnd, samples: Sequence[RunSample], written: dict[str, int], trouble: str
) -> RunRecord:
    parts = end.dump.jobs if end.dump is not None else ()
    errors = [part.error for part in parts]
    reason = trouble or fio_trouble(end.status, end.said, errors, where=record.place, stopped=end.stopped)
    read, write = figures(end.dump) if end.dump is not None else from_samples(samples)
    if reason and _in_ramp(record, samples):
        return replace(record, state=FAILED, reason=f"{reason}{_RAMP}", written=written)
    measured = bool(read.ios or write.ios)
    return replace(
        record,
        state=WHOLE if measured and not reason else PARTIAL if measured else FAILED,
        reason=reason or ("" if measured else "fio did nothing"),
        seconds=max((side.runtime for part in parts for side in (part.read, part.write)), default=0) / 1000,
        read=read,
        write=write,
        cpu_s=end.cpu_s,
        written=written,
        remarks=(*record.remarks, *_unread(end)),
    )


def _unread(end: FioEnd) -> tuple[str, ...]:
    return (f"{end.broken} pieces of fio's output could not be read.",) if end.broken else ()


def _argv(record: RunRecord, place: Place, folder: Path) -> tuple[str, ...]:
    """Return fio's command for a run; ``--readonly`` for a device that must not be written to."""
    if record.work is None:
        (folder / _JOB_FILE).write_text(record.job_file, encoding="utf-8")
        return fio_argv([_JOB_FILE], read_only=False)
    device = f"/dev/{place.device}" if place.device else ""
    read_only = bool(device) and not (place.writes and record.work.writes)
    return fio_argv(workload_options(record.work, device=device), read_only=read_only)


def _written_sectors(root: Root, place: Place) -> dict[str, int]:
    names = (*place.members, *(name for name in place.disks if name not in place.members))
    return {name: io.written_sectors for name, io in read_io(root, names).items()}


FIRST_S = 0.3  # before that processors and disks are as they were at rest
EACH_S = 1.0
_JOIN_S = 1.0


class SurroundingsThread:
    """Reads the surroundings within a ``with``, in a thread; after its end nothing more is passed on.

    Args:
        read: returns what surrounds the run at so many of its seconds.
        notify: called with each reading.
        clock: monotonic seconds.

    Attributes:
        seen: the readings since fio last reset its counters.
    """

    def __init__(
        self,
        read: Callable[[float], Surroundings],
        notify: Callable[[Surroundings], None],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._read = read
        self._notify = notify
        self._clock = clock
        self._began_s = 0.0
        self._over = threading.Event()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._look, name="lookout", daemon=True)
        self.seen: list[Surroundings] = []

    def __enter__(self) -> Self:
        self._began_s = self._clock()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._over.set()
        # A disk that does not answer keeps nobody: what it says then is thrown away.
        self._thread.join(_JOIN_S)

    def sampled(self, sample: RunSample) -> None:
        """Follow the clock of fio's samples; readings from before a reset are not part of the run."""
        with self._lock:
            self._began_s = self._clock() - sample.t_s
            if sample.anew:
                self.seen.clear()

    def _look(self) -> None:
        # Signals are for the main thread, which holds them back while something is changed.
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        pause = FIRST_S
        while not self._over.wait(pause):
            surroundings = self._read(round(max(0.0, self._clock() - self._began_s), 3))
            with self._lock:
                if self._over.is_set():
                    return
                self.seen.append(surroundings)
                self._notify(surroundings)
            pause = EACH_S
