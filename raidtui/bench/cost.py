"""What a benchmark writes: estimated before, from levels and sizes, and measured after. Pure.

A write to an array is more than one to its members: copies for RAID-1 and RAID-10, parity for RAID-5 and -6,
where a write smaller than a stripe writes data and parity each time. A file system's own writes, and what the
SSD makes of them inside, are not in the estimate; the measurement has the former.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from raidtui.bench.course import Course, Scratch
from raidtui.bench.workload import Workload
from raidtui.model.array import Array
from raidtui.model.levels import PARITY_LEVELS, Raid10Layout
from raidtui.view.units import SECTOR_BYTES, binary_size, counted

GUESSED_BYTES_S = 500_000_000
"""What a run by time is taken to write in a second, since nobody knows before."""


class Cost(Struct, frozen=True, kw_only=True):
    """What a course writes.

    Args:
        size_bytes: to the file or device, all runs together.
        each_bytes: to each disk below.
        disks: how many these are; 0 where they are not known.
        guessed: whether a part runs by time, and a speed was assumed.
        known: whether it is known at all: a job file may not say its sizes.
        at_most: whether it may be less: rounds end when they are steady.
    """

    size_bytes: int
    each_bytes: int
    disks: int
    guessed: bool = False
    known: bool = True
    at_most: bool = False

    @property
    def sentence(self) -> str:
        """The same in words."""
        if not self.known:
            return "How much it writes is not known: the job file does not say all sizes."
        if not self.size_bytes:
            return "It writes nothing."
        how = ("at most " if self.at_most else "") + ("about " if self.guessed else "")
        text = f"It writes {how}{binary_size(self.size_bytes)}"
        if self.disks:
            text += f", {binary_size(self.each_bytes)} to each of {counted(self.disks, 'disk')}"
        return f"{text}{', if it writes 500 MB/s' if self.guessed else ''}."


def estimate(course: Course, array: Array | None = None, *, disks: int = 0) -> Cost:
    """Return what a course will write.

    Args:
        course: the course.
        array: the array that it is measured on; None for a disk, or where arrays are made for it.
        disks: how many disks are below.
    """
    total = each = 0.0
    guessed, known = False, True
    laid_out: set[str] = set()
    for run in course.runs():
        work = course.work_at(run.point)
        scratch = course.scratch_at(run.point)
        key = "" if scratch is None else _array_key(run.repeat, scratch)
        if work is None:
            written, by_time, sure = _job_file_bytes(course)
            known = known and sure
        else:
            written, by_time = _run_bytes(work)
            # What is measured is laid out once, and then measured again and again; a new array anew.
            if key not in laid_out and course.lays_out:
                laid_out.add(key)
                written += course.region_bytes(work) * max(1, course.conditions.precondition)
        guessed = guessed or by_time
        total += written
        block = work.block_bytes if work is not None else 0
        if scratch is not None:
            count = len(scratch.devices)
            each += written * _factor(scratch.level, None, count, scratch.chunk_kib, block) / max(1, count)
        elif array is not None:
            count = array.raid_disks or len(array.members) or 1
            chunk = (array.chunk_bytes or 0) // 1024
            each += written * _factor(array.level or "", array.layout, count, chunk, block) / count
        else:
            each += written / max(1, disks)
    return Cost(
        size_bytes=int(total),
        each_bytes=int(each),
        disks=disks,
        guessed=guessed,
        known=known,
        at_most=course.conditions.steady,
    )


def _array_key(repeat: int, scratch: Scratch) -> str:
    """Return what tells one scratch array from the next."""
    return f"{repeat} {scratch.level} {scratch.layout} {scratch.chunk_kib} {scratch.bitmap}"


def _run_bytes(work: Workload) -> tuple[float, bool]:
    if not work.writes:
        return 0.0, False
    if work.runtime_s:
        return (work.runtime_s + work.ramp_s) * GUESSED_BYTES_S * work.write_share, True
    return work.total_bytes * work.write_share, False


def _job_file_bytes(course: Course) -> tuple[float, bool, bool]:
    file = course.job_file
    if file is None or file.size_bytes is None:
        return 0.0, False, False
    # A file that is read is written out first, one that is written may be so once more.
    return float(file.size_bytes * (2 if file.writes else 1)), file.by_time and file.writes, True


def _factor(level: str, layout: int | None, disks: int, chunk_kib: int, block_bytes: int) -> float:
    """Return how many bytes all members together take for one."""
    if level == "raid1":
        return float(disks)
    if level == "raid10":
        decoded = Raid10Layout.decode(layout) if layout is not None else None
        return float(decoded.copies if decoded is not None else 2)
    if level in PARITY_LEVELS:
        parity = PARITY_LEVELS[level]
        data = max(1, disks - parity)
        whole = block_bytes and block_bytes % (data * chunk_kib * 1024 or 1) == 0
        return (data + parity) / data if whole else 1.0 + parity
    return 1.0


def measured_bytes(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, int]:
    """Return how many bytes the kernel wrote to each disk meanwhile, from sectors written."""
    return {
        name: max(0, count - before[name]) * SECTOR_BYTES for name, count in after.items() if name in before
    }
