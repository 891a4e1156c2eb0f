"""The request for a benchmark: made by the forms and by the command line alike. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from raidtui.features.bench.option_texts import ONE
from raidtui.features.bench.schedule import Conditions, Scratch
from raidtui.features.bench.workload import Preset, Workload, with_usual_ramp
from raidtui.view.units import KIB

V = TypeVar("V")


class Request(Struct, frozen=True, kw_only=True):
    """A benchmark as requested. What is left out, or None, has its default.

    Of ``blocks``, ``depths``, ``jobs``, ``levels``, ``layouts`` and ``chunks`` one value is the workload's or
    the array's; several are a sweep.

    Args:
        preset, job_file, rw: what to measure, one of the three: a preset's name, the path of a job file, or
            fio's word for a kind of I/O.
        blocks: sizes of a request, bytes.
        size_bytes: the size of each job's file, or of the part of a device that is used.
        direct: whether the page cache is bypassed.
        directory, device, scratch: where, one of the three: a path, a kernel name, or kernel names of devices
            that arrays are made of.
        write: whether the device may be overwritten.
        confirmed: the serial numbers (or WWNs, or names) that were typed; None: it is only shown.
        levels, layouts, chunks: of scratch arrays; a chunk is KiB, or "one".
        member_kib: how much of each device a scratch array uses; 0 is all.
        knobs: (name, values).
        grouped: whether a point's repeats follow each other.
    """

    preset: str = ""
    job_file: str = ""
    rw: str = ""
    blocks: tuple[int, ...] = ()
    size_bytes: int | None = None
    depths: tuple[int, ...] = ()
    jobs: tuple[int, ...] = ()
    runtime_s: int | None = None
    ramp_s: int | None = None
    engine: str = ""
    read_percent: int | None = None
    distribution: str = ""
    direct: bool = True
    directory: str = ""
    device: str = ""
    scratch: tuple[str, ...] = ()
    write: bool = False
    confirmed: tuple[str, ...] | None = ()
    levels: tuple[str, ...] = ()
    layouts: tuple[str, ...] = ()
    chunks: tuple[str, ...] = ()
    member_kib: int = 0
    knobs: tuple[tuple[str, tuple[str, ...]], ...] = ()
    conditions: Conditions = Conditions()
    repeats: int = 1
    grouped: bool = False
    note: str = ""

    def workload(self, preset: Preset | None) -> Workload:
        """Return the workload of a preset, or of ``rw``, with the requested changes."""
        work = preset.work if preset is not None else Workload(rw=self.rw, block_bytes=4 * KIB, size_bytes=0)
        return self.changed(work, self.blocks if len(self.blocks) == 1 or preset is None else ())

    def changed(self, work: Workload, blocks: tuple[int, ...] = ()) -> Workload:
        """Return a workload with the requested changes, and the first of these block sizes."""
        changes = {
            "block_bytes": blocks[0] if blocks else None,
            "size_bytes": self.size_bytes,
            "depth": _single(self.depths),
            "jobs": _single(self.jobs),
            "runtime_s": self.runtime_s,
            "ramp_s": self.ramp_s,
            "engine": self.engine or None,
            "read_percent": self.read_percent,
            "distribution": self.distribution or None,
            "direct": None if self.direct else False,
        }
        work = replace(work, **{name: value for name, value in changes.items() if value is not None})
        return work if self.ramp_s is not None else with_usual_ramp(work)

    @property
    def changes_requests(self) -> bool:
        """Whether it changes how requests are made."""
        several = self.blocks or self.depths or self.jobs or self.engine or self.distribution
        return bool(several) or not self.direct or self.read_percent is not None

    @property
    def changes_workload(self) -> bool:
        """Whether it changes anything in the workload."""
        numbers = (self.size_bytes, self.runtime_s, self.ramp_s)
        return self.changes_requests or any(number is not None for number in numbers)

    @property
    def scratch_array(self) -> Scratch | None:
        """What all scratch arrays have in common; None where none are created."""
        if not self.scratch:
            return None
        chunk = _single(self.chunks)
        return Scratch(
            devices=self.scratch,
            level=_single(self.levels) or "raid10",
            layout=_single(self.layouts) or "",
            chunk_kib=int(chunk) if chunk and chunk != ONE else 0,
            size_kib=self.member_kib,
        )


def _single(values: Sequence[V]) -> V | None:
    return values[0] if len(values) == 1 else None
