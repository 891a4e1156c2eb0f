"""How much a benchmark writes, and how long it takes: estimated before, measured after. Pure.

A write to an array is more than one to its members: copies for RAID-1 and RAID-10, parity for RAID-5 and -6,
where a write smaller than a stripe writes data and parity each time. A file system's own writes, and what the
SSD makes of them inside, are not in the estimate; the measurement has the former.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from raidtui.features.bench.schedule import Schedule, Scratch
from raidtui.features.bench.workload import GUESSED_BYTES_S, Workload
from raidtui.model.array import Array
from raidtui.model.levels import PARITY_LEVELS, Raid10Layout
from raidtui.view.units import SECTOR_BYTES, binary_size, counted, duration


class WriteEstimate(Struct, frozen=True, kw_only=True):
    """How much a schedule writes.

    Args:
        size_bytes: to the file or device, all runs together.
        each_bytes: to each disk below.
        disks: how many these are; 0 where they are not known.
        guessed: whether a part runs by time, and a speed was assumed.
        at_most: whether it may be less: rounds end when they are steady.
    """

    size_bytes: int
    each_bytes: int
    disks: int
    guessed: bool = False
    at_most: bool = False

    @property
    def sentence(self) -> str:
        """The same in words."""
        if not self.size_bytes:
            return "It writes nothing."
        how = ("at most " if self.at_most else "") + ("about " if self.guessed else "")
        text = f"It writes {how}{binary_size(self.size_bytes)}"
        if self.disks:
            text += f", {binary_size(self.each_bytes)} to each of {counted(self.disks, 'disk')}"
        return f"{text}{', assuming 500 MB/s' if self.guessed else ''}."


def estimate_writes(schedule: Schedule, array: Array | None = None, *, disks: int = 0) -> WriteEstimate:
    """Return what a schedule will write.

    Args:
        schedule: the schedule.
        array: the array that it is measured on; None for a disk, or where arrays are made for it.
        disks: how many disks are below.
    """
    total = each = 0.0
    guessed = False
    laid_out: set[str] = set()
    for run in schedule.runs():
        work = schedule.work_at(run.point)
        scratch = schedule.scratch_at(run.point)
        key = "" if scratch is None else _array_key(run.repeat, scratch)
        if work is None:
            file = schedule.job_file
            written, by_time = (float(file.written_bytes), file.by_time) if file is not None else (0.0, False)
        else:
            written, by_time = _run_bytes(work)
            # What is measured is laid out once, and then measured again and again; a new array anew.
            if key not in laid_out and schedule.lays_out:
                laid_out.add(key)
                written += schedule.region_bytes(work) * max(1, schedule.conditions.precondition)
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
    return WriteEstimate(
        size_bytes=int(total),
        each_bytes=int(each),
        disks=disks,
        guessed=guessed,
        at_most=schedule.conditions.steady or schedule.job_file is not None,
    )


def _array_key(repeat: int, scratch: Scratch) -> str:
    """Return a key that differs between scratch arrays."""
    return f"{repeat} {scratch.level} {scratch.layout} {scratch.chunk_kib} {scratch.bitmap}"


def _run_bytes(work: Workload) -> tuple[float, bool]:
    if not work.writes:
        return 0.0, False
    if work.runtime_s:
        return (work.runtime_s + work.ramp_s) * GUESSED_BYTES_S * work.write_share, True
    return work.total_bytes * work.write_share, False


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


GUESSED_REQUEST_S = 0.0001
_AT_A_TIME = 8
"""The assumed time of a request to a SATA SSD, and how many it serves at a time."""
_QUIET_S = 1.0


class RunTime(Struct, frozen=True, kw_only=True):
    """The time that a schedule takes, or still takes.

    Args:
        seconds: what makes arrays and trims is left out.
        guessed: whether a part ends when a size is done, and speeds were assumed.
        known: whether it is known at all: a job file's own time is not.
        at_most: whether it may be less: rounds end when they are steady.
    """

    seconds: float
    guessed: bool = False
    known: bool = True
    at_most: bool = False

    @property
    def words(self) -> str:
        """About 4 min, or at most about 4 min; "" where it is not known."""
        if not self.known:
            return ""
        return f"{'at most ' if self.at_most else ''}about {duration(max(1.0, self.seconds))}"

    @property
    def sentence(self) -> str:
        """The same as a sentence."""
        if not self.known:
            return "How long it takes is not known: the job file decides."
        words = f"{self.words[0].upper()}{self.words[1:]}"
        return f"{words}, assuming the speed of usual SATA SSDs." if self.guessed else f"{words}."


class ExpectedRuns(Struct, frozen=True, kw_only=True):
    """The expected time of each run of a schedule, with its preparation.

    Args:
        each_s: by the runs' numbers.
        guessed, known, at_most: as in ``RunTime``.
    """

    each_s: tuple[float, ...]
    guessed: bool = False
    known: bool = True
    at_most: bool = False


def expected_runs(schedule: Schedule) -> ExpectedRuns:
    """Return about how long each run of a schedule takes."""
    each_s: list[float] = []
    guessed, known = False, True
    laid_out: set[str] = set()
    for run in schedule.runs():
        seconds = schedule.conditions.cool_s + (_QUIET_S if schedule.conditions.quiet_check else 0.0)
        work = schedule.work_at(run.point)
        if work is None:
            known = False
            each_s.append(seconds)
            continue
        seconds += _run_s(work)
        guessed = guessed or not work.runtime_s
        scratch = schedule.scratch_at(run.point)
        key = "" if scratch is None else f"{run.repeat} {scratch}"
        if schedule.lays_out and key not in laid_out:
            laid_out.add(key)
            seconds += (
                schedule.region_bytes(work) * max(1, schedule.conditions.precondition) / GUESSED_BYTES_S
            )
            guessed = True
        each_s.append(seconds)
    return ExpectedRuns(
        each_s=tuple(each_s), guessed=guessed, known=known, at_most=schedule.conditions.steady
    )


def time_left(
    expected: ExpectedRuns,
    *,
    ended: frozenset[int] = frozenset(),
    spent_s: float = 0.0,
    at: int = 0,
    at_s: float = 0.0,
) -> RunTime:
    """Return how long a schedule still takes, by how long its runs took so far.

    Args:
        expected: of the schedule.
        ended: the numbers of the runs that have ended.
        spent_s: how long these took, with all that was done between them.
        at: the number of the present or the last run; those before it are over.
        at_s: how long it has been measured.
    """
    each_s = expected.each_s
    coming = [number for number in range(at, len(each_s)) if number not in ended]
    seconds, guessed, known = sum(each_s[number] for number in coming), expected.guessed, expected.known
    if ended:
        planned_s = sum(each_s[number] for number in ended if number < len(each_s))
        if not known:
            seconds, known = spent_s / len(ended) * len(coming), True
        elif planned_s > 0:
            seconds *= spent_s / planned_s
        guessed = False
    running_s = at_s if at not in ended else 0.0
    return RunTime(
        seconds=max(0.0, seconds - running_s), guessed=guessed, known=known, at_most=expected.at_most
    )


def estimate_duration(schedule: Schedule) -> RunTime:
    """Return about how long a schedule takes."""
    return time_left(expected_runs(schedule))


def _run_s(work: Workload) -> float:
    if work.runtime_s:
        return work.runtime_s + work.ramp_s
    one_by_one_s = work.total_bytes / work.block_bytes * GUESSED_REQUEST_S
    return max(work.total_bytes / GUESSED_BYTES_S, one_by_one_s / min(_AT_A_TIME, work.depth * work.jobs))
