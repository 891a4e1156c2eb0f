"""The room that a place has for what is measured: what does not fit is refused, a preset's own size is not.

The size of a preset is that of its study. Where no other one is given and that does not fit, it is the
largest power of two that does: what is measured again, when a little more or less is free, has the same size.
"""

from __future__ import annotations

from msgspec.structs import replace

from raidtui.features.bench.place import device_bytes, free_at, most_of, refuse_room, refuse_size
from raidtui.features.bench.schedule import AxisKind, Schedule
from raidtui.host.readers.host_reader import HostReader
from raidtui.model.plan import Refusal, RefusalCode
from raidtui.view.units import binary_size


def fitting_bytes(size_bytes: int, room_bytes: int, jobs: int) -> int:
    """Return a size of which so many files fit: this, or the largest power of two; 0 for none."""
    each = room_bytes // jobs
    return size_bytes if size_bytes <= each else (1 << each.bit_length()) >> 1


def fitted(root: HostReader, schedule: Schedule, *, blocks: bool) -> tuple[Schedule, str]:
    """Return a preset's schedule with a size that fits, and what there is to say of it: a sentence, or "".

    Args:
        root: the host.
        schedule: the size of its workload is the preset's own.
        blocks: whether its block sizes are, too: those above the size are left out.
    """
    work = schedule.work
    if work is None:
        return schedule, ""
    works = [each for point in schedule.points if (each := schedule.work_at(point)) is not None]
    shares = max(schedule.region_bytes(each) // each.size_bytes for each in works)
    room = _room(root, schedule)
    size = fitting_bytes(work.size_bytes, room, shares)
    if size == work.size_bytes or size < min(each.block_bytes for each in works):
        return schedule, ""
    axes = schedule.axes
    if blocks:
        axes = tuple(
            replace(axis, values=tuple(each for each in axis.values if int(each) <= size))
            if axis.kind is AxisKind.BLOCK
            else axis
            for axis in axes
        )
    note = (
        f"The size is {binary_size(size)} instead of the preset's {binary_size(work.size_bytes)}:"
        f" {binary_size(room)} can be used at {schedule.place.words}"
    )
    note += "." if axes == schedule.axes else ", and larger blocks are left out."
    return replace(schedule, work=replace(work, size_bytes=size), axes=axes), note


def refuse_most(root: HostReader, schedule: Schedule, most: int) -> Refusal | None:
    """Return why so many bytes do not fit, or None."""
    if schedule.place.directory:
        return refuse_room(schedule.place, most)
    if schedule.scratch is not None and most > schedule.scratch.least_bytes:
        size, least = binary_size(most), binary_size(schedule.scratch.least_bytes)
        return Refusal(
            code=RefusalCode.TOO_SMALL,
            why=f"the smallest of the arrays has {least}, but {size} are needed",
            remedy="choose a smaller size",
        )
    return refuse_size(root, schedule.place, most) if schedule.place.device else None


def _room(root: HostReader, schedule: Schedule) -> int:
    if schedule.place.directory:
        return most_of(free_at(schedule.place))
    return (
        schedule.scratch.least_bytes if schedule.scratch is not None else device_bytes(root, schedule.place)
    )
