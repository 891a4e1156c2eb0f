"""One run: its record as it begins, fio, and its record as it ends."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec.structs import replace

from raidtui.bench.cost import measured_bytes
from raidtui.bench.course import Course, Run
from raidtui.bench.environment import read_environment
from raidtui.bench.fio import FioEnd, fio_argv, run_fio
from raidtui.bench.place import Place
from raidtui.bench.record import FAILED, PARTIAL, WHOLE, Record, from_samples
from raidtui.bench.samples import Sample, figures
from raidtui.bench.trouble import fio_trouble
from raidtui.bench.workload import workload_options
from raidtui.host.block import read_io
from raidtui.host.root import Root

_JOB_FILE = "job.fio"


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
        environment=read_environment(root, place, fio),
    )


def measure(
    root: Root,
    record: Record,
    place: Place,
    folder: Path,
    *,
    add: Callable[[Sample], None],
    stopped: Callable[[], bool],
) -> tuple[Record, list[Sample], bytes]:
    """Run fio once; return the finished record, the samples, and fio's own JSON.

    Args:
        root: the host.
        record: as it began.
        place: where it runs.
        folder: where its files are.
        add: takes the samples as they come.
        stopped: whether it shall end.

    Raises:
        OSError: fio cannot be started.
    """
    samples: list[Sample] = []

    def take(sample: Sample) -> None:
        if sample.anew:
            samples.clear()
        samples.append(sample)
        add(sample)

    before = _written_sectors(root, place)
    end = run_fio(_argv(record, place, folder), folder, take, stopped)
    written = measured_bytes(before, _written_sectors(root, place))
    return _finished(record, end, samples, written), samples, end.raw


def partial_record(record: Record, samples: Sequence[Sample]) -> Record:
    """Return the record of a run whose worker was killed, as far as its samples go."""
    read, write = from_samples(samples)
    return replace(
        record,
        state=PARTIAL,
        reason="its worker was killed; latencies of the whole are not known",
        seconds=samples[-1].t_s,
        read=read,
        write=write,
    )


def _finished(record: Record, end: FioEnd, samples: Sequence[Sample], written: dict[str, int]) -> Record:
    parts = end.dump.jobs if end.dump is not None else ()
    errors = [part.error for part in parts]
    reason = fio_trouble(end.status, end.said, errors, where=record.place, stopped=end.stopped)
    read, write = figures(end.dump) if end.dump is not None else from_samples(samples)
    measured = bool(read.ios or write.ios)
    return replace(
        record,
        state=WHOLE if measured and not reason else PARTIAL if measured else FAILED,
        reason=reason or ("" if measured else "fio did nothing"),
        seconds=max((side.runtime for part in parts for side in (part.read, part.write)), default=0) / 1000,
        read=read,
        write=write,
        written=written,
        told=(f"{end.broken} pieces of fio's output could not be read.",) if end.broken else (),
    )


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
