"""One run: its record as it begins, fio, and its record as it ends."""

from __future__ import annotations

import errno
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec.structs import replace

from raidtui.bench.around import Around, AroundReader, happened, over_all
from raidtui.bench.cost import measured_bytes
from raidtui.bench.course import Course, Run
from raidtui.bench.environment import read_environment
from raidtui.bench.fio import FioEnd, fio_argv, run_fio
from raidtui.bench.lookout import Lookout
from raidtui.bench.place import Place
from raidtui.bench.record import FAILED, PARTIAL, WHOLE, Record, from_samples
from raidtui.bench.samples import Sample, figures
from raidtui.bench.trouble import fio_trouble
from raidtui.bench.workload import workload_options
from raidtui.host.diskstats import read_io
from raidtui.host.roots.root import Root

_JOB_FILE = "job.fio"
_PROBE = "raidtui-was-here"
_RAMP = ", within its ramp: nothing was measured yet"


def begun_record(root: Root, job: str, course: Course, run: Run, *, place: Place, fio: str) -> Record:
    """Return the record of a run that begins now, with all that surrounds it."""
    return Record(
        job=job,
        number=run.number,
        repeat=run.repeat,
        at_s=time.time(),
        title=course.title,
        preset=course.preset,
        note=course.note,
        place=place.words,
        point=run.point,
        work=course.work_at(run.point),
        job_file=course.job_file.text if course.job_file is not None else "",
        unsteady=course.conditions.steady,  # until five rounds are steady
        environment=read_environment(root, place, fio),
    )


def measure(
    root: Root,
    record: Record,
    place: Place,
    folder: Path,
    *,
    add: Callable[[Sample], None],
    add_around: Callable[[Around], None],
    stopped: Callable[[], bool],
) -> tuple[Record, list[Sample], bytes]:
    """Run fio once; return the finished record, the samples, and fio's own JSON.

    Args:
        root: the host.
        record: as it began.
        place: where it runs.
        folder: where its files are.
        add: takes the samples as they come.
        add_around: likewise what surrounds the run; called in another thread.
        stopped: whether it shall end.

    Raises:
        OSError: fio cannot be started.
    """
    samples: list[Sample] = []
    arrays = record.environment.arrays
    reader = AroundReader(root, place, {array.name: array.label for array in arrays})
    lookout = Lookout(reader.read, add_around)

    def take(sample: Sample) -> None:
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
    """Return that a file system takes no writes any more, or "".

    ext4 does so when it finds itself damaged, and many kernels then go on to tell that it is mounted rw. fio
    does not notice it where all blocks are there already: it writes on, and faster.
    """
    probe = folder / _PROBE
    try:
        probe.touch()
        probe.unlink()
    except OSError as error:
        if error.errno == errno.EROFS:
            return f"the file system at {place.directory} became read-only meanwhile; see the kernel log"
    return ""  # of all other troubles fio has told


def _surrounded(record: Record, seen: Sequence[Around]) -> Record:
    """Return a record with what was seen around its run."""
    told = happened(record.environment.arrays, seen)
    return replace(record, during=over_all(seen), told=(*record.told, *told))


def partial_record(record: Record, samples: Sequence[Sample], seen: Sequence[Around] = ()) -> Record:
    """Return the record of a run whose worker was killed, as far as its samples go."""
    read, write = from_samples(samples)
    record = _surrounded(record, seen)
    if _in_ramp(record, samples):
        return replace(record, state=FAILED, reason=f"its worker was killed{_RAMP}")
    return replace(
        record,
        state=PARTIAL,
        reason="its worker was killed; latencies of the whole are not known",
        seconds=samples[-1].t_s,
        read=read,
        write=write,
    )


def _in_ramp(record: Record, samples: Sequence[Sample]) -> bool:
    """Whether a run that was cut short had not come to its measurement: fio counts anew after the ramp."""
    ramps = record.work is not None and record.work.ramp_s > 0
    return ramps and bool(samples) and not samples[0].anew


def _finished(
    record: Record, end: FioEnd, samples: Sequence[Sample], written: dict[str, int], trouble: str
) -> Record:
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
        written=written,
        told=(*record.told, *_unread(end)),
    )


def _unread(end: FioEnd) -> tuple[str, ...]:
    return (f"{end.broken} pieces of fio's output could not be read.",) if end.broken else ()


def _argv(record: Record, place: Place, folder: Path) -> tuple[str, ...]:
    """Return fio's command for a run. A device that may not be written to is opened by a fio that cannot."""
    if record.work is None:
        (folder / _JOB_FILE).write_text(record.job_file, encoding="utf-8")
        return fio_argv([_JOB_FILE], read_only=False)
    device = f"/dev/{place.device}" if place.device else ""
    read_only = bool(device) and not (place.writes and record.work.writes)
    return fio_argv(workload_options(record.work, device=device), read_only=read_only)


def _written_sectors(root: Root, place: Place) -> dict[str, int]:
    names = (*place.members, *(name for name in place.disks if name not in place.members))
    return {name: io.written_sectors for name, io in read_io(root, names).items()}
