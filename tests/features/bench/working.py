"""Benchmarks for a worker: schedules, a fio that is fed, and what is kept of it all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from raidtui.features.bench.place import Place
from raidtui.features.bench.results.run_record import RunRecord, RunSample
from raidtui.features.bench.results.run_store import Results
from raidtui.features.bench.run.fio_process import FioEnd
from raidtui.features.bench.schedule import Axis, AxisKind, Schedule
from raidtui.jobs.store import Job
from tests.features.bench.host import DISKS
from tests.features.bench.recorded import MIXED, dumps_of
from tests.features.bench.records import READ

BLOCKS = Axis(kind=AxisKind.BLOCK, values=("8192", "16384"))


class Killed(BaseException):
    """SIGKILL."""


def schedule(srv: Path, **more: Any) -> Schedule:
    place = Place(directory=str(srv), mount=str(srv), disks=DISKS, members=DISKS, arrays=("md127",))
    return Schedule(**{"title": "random-read", "place": place, "work": READ, "axes": (BLOCKS,), **more})


def kept() -> tuple[RunRecord, ...]:
    with Results() as results:
        return results.runs()


def journal(job: Job) -> list[str]:
    """The journal in short, outputs left out."""
    entries = (entry for entry in job.entries() if entry["event"] not in {"made", "output", "doing"})
    return [f"{entry['event']} {entry.get('run', entry.get('title', ''))}".strip() for entry in entries]


def last(job: Job) -> tuple[str, str]:
    entry = job.entries()[-1]
    return entry["event"], entry.get("reason", "")


def feeding(*figures: float, dies_at: int = 99) -> Callable[..., FioEnd]:
    """A fio that measures so many IOPS in each run, and takes its worker along in one of them."""
    given = iter(figures)
    count = 0

    def fake(argv: Any, folder: Path, take: Callable[[RunSample], None], stopped: Any, **_: Any) -> FioEnd:
        nonlocal count
        del argv, folder, stopped
        count += 1
        dump = dumps_of(MIXED)[-1]
        take(RunSample(t_s=0.5, ios=(100, 0), size_bytes=(819200, 0)))
        if count == dies_at:
            raise Killed
        part = dump.jobs[0]
        read = replace(part.read, iops=next(given))
        return FioEnd(status=0, dump=replace(dump, jobs=(replace(part, read=read),)), raw=b"{}", said=())

    return fake
