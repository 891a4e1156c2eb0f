"""What is checked of a schedule before it is offered, and what is said beside it.

What this host cannot measure now: a capture, the demo, fio and its sandbox, noise. The room that a place has:
what does not fit is refused; a preset's own size is that of its study, and where it does not fit, the largest
power of two that does: what is measured again, when a little more or less is free, has the same size. What
the figures will mean, and what will lower them.
"""

from __future__ import annotations

from msgspec.structs import replace

from raidtui.features.bench.caches import CacheWatch
from raidtui.features.bench.environment import noise, read_arrays
from raidtui.features.bench.option_texts import refuse
from raidtui.features.bench.place import (
    device_bytes,
    free_at,
    is_simulated,
    most_of,
    refuse_room,
    refuse_size,
)
from raidtui.features.bench.request import Request
from raidtui.features.bench.results.comparison_verdict import fewest_runs
from raidtui.features.bench.results.run_record import SHORT_S
from raidtui.features.bench.run.fio_process import read_fio_version, refuse_fio
from raidtui.features.bench.schedule import AxisKind, Schedule
from raidtui.features.bench.workload import HOT_SPOTS
from raidtui.host.readers.host_reader import HostReader
from raidtui.jobs.sandbox import NOT_KNOWN, PARTS, missing_parts
from raidtui.model.plan import Refusal, RefusalCode
from raidtui.view.units import binary_size


def refuse_host(reader: HostReader, request: Request) -> Refusal | None:
    """Return why nothing can be measured on a host; on the demo host, why it is not simulated; or None."""
    if reader.live:
        return refuse_fio(read_fio_version(reader)) or _refuse_sandbox(request.conditions.without)
    if not is_simulated(reader):
        return refuse("a capture is read-only", "leave --root and --demo out", code=RefusalCode.NOT_HERE)
    if request.job_file or request.scratch or request.write:
        parts = ("job_file", "scratch", "write")
        return refuse(
            "the demo host is simulated: it plays what fio does in a folder, or what only reads a device",
            "choose a folder, and a preset or a workload",
            code=RefusalCode.NOT_HERE,
            part=next(part for part in parts if getattr(request, part)),
        )
    conditions = request.conditions
    for part, wanted in (
        ("trim", conditions.trim),
        ("cool", conditions.cool_s > 0),
        ("precondition", conditions.precondition > 0),
        ("steady", conditions.steady),
    ):
        if wanted:
            return refuse(
                "the demo host is simulated: it plays the runs, and nothing before or between them",
                "leave this as it was",
                code=RefusalCode.NOT_HERE,
                part=part,
            )
    return None


def _refuse_sandbox(without: tuple[str, ...]) -> Refusal | None:
    """Return why fio cannot be started without root's powers here, or None."""
    lost = {name: why for name, why in missing_parts().items() if name not in without}
    if not lost or {*PARTS} <= {*without}:
        return None
    apart = "kept apart from the rest of this host"
    if NOT_KNOWN in lost:
        why = f"it is not known whether fio can be {apart}: {lost[NOT_KNOWN]}"
        return refuse(why, "try again; the host may be too busy now", code=RefusalCode.NOT_HERE)
    reasons = "; ".join(f"{name}: {why}" for name, why in lost.items())
    return refuse(
        f"fio cannot be {apart} ({reasons})",
        f"to run it with more of root's powers: --fio-without={','.join(lost)}",
        code=RefusalCode.NOT_HERE,
    )


def refuse_engine(reader: HostReader, schedule: Schedule) -> Refusal | None:
    """Return why io_uring cannot be used by the user that fio is, or None."""
    wanted = any(work.engine == "io_uring" for work in schedule.works)
    if not wanted and "ioengine=io_uring\n" not in (schedule.job_file.text if schedule.job_file else ""):
        return None
    if reader.text("/proc/sys/kernel/io_uring_disabled") in {None, "0"}:
        return None
    return refuse(
        "io_uring is disabled on this host (kernel.io_uring_disabled)",
        "choose libaio",
        code=RefusalCode.NOT_HERE,
        part="engine",
    )


def refuse_noise(reader: HostReader, schedule: Schedule) -> Refusal | None:
    """Return a refusal where other activity would distort the figures, or None."""
    if not schedule.conditions.quiet_check or is_simulated(reader):  # the model counts what else is done
        return None
    found = noise(reader, schedule.place)
    if not found:
        return None
    return refuse(
        f"the machine is not quiet: {', '.join(found)}",
        "wait until it is, or measure in any case: --no-quiet-check",
        code=RefusalCode.BUSY,
        part="quiet",
        form_remedy="wait until it is, or choose no at only if quiet",
    )


def fitting_bytes(size_bytes: int, room_bytes: int, jobs: int) -> int:
    """Return a size of which so many files fit: this, or the largest power of two; 0 for none."""
    each = room_bytes // jobs
    return size_bytes if size_bytes <= each else (1 << each.bit_length()) >> 1


def fitted(reader: HostReader, schedule: Schedule, *, blocks: bool) -> tuple[Schedule, str]:
    """Return a preset's schedule with a size that fits, and what there is to say of it: a sentence, or "".

    Args:
        reader: the host.
        schedule: the size of its workload is the preset's own.
        blocks: whether its block sizes are, too: those above the size are left out.
    """
    work = schedule.work
    if work is None:
        return schedule, ""
    shares = max(schedule.region_bytes(each) // each.size_bytes for each in schedule.works)
    room = _room(reader, schedule)
    size = fitting_bytes(work.size_bytes, room, shares)
    blocks_of = [each.block_bytes for each in schedule.works]
    if size == work.size_bytes or size < (max(blocks_of) if schedule.loads else min(blocks_of)):
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
    loads = {
        name: replace(load, size_bytes=min(load.size_bytes, size)) for name, load in schedule.loads.items()
    }
    return replace(schedule, work=replace(work, size_bytes=size), loads=loads, axes=axes), note


def refuse_most(reader: HostReader, schedule: Schedule) -> Refusal | None:
    """Return why what a schedule works on does not fit, or None."""
    most = schedule.most_bytes
    if schedule.place.directory:
        return refuse_room(schedule.place, most)
    if schedule.scratch is not None and most > schedule.scratch.least_bytes:
        size, least = binary_size(most), binary_size(schedule.scratch.least_bytes)
        return refuse(
            f"the smallest of the arrays has {least}, but {size} are needed",
            "choose a smaller size",
            code=RefusalCode.TOO_SMALL,
        )
    return refuse_size(reader, schedule.place, most) if schedule.place.device else None


def _room(reader: HostReader, schedule: Schedule) -> int:
    if schedule.place.directory:
        return most_of(free_at(schedule.place))
    return (
        schedule.scratch.least_bytes if schedule.scratch is not None else device_bytes(reader, schedule.place)
    )


SIMULATED_NOTE = "The demo host is simulated: its figures come from a model, and are kept until you leave it."


def offer_notes(reader: HostReader, schedule: Schedule) -> tuple[str, ...]:
    """Return the notes of a schedule, a sentence each."""
    notes = [SIMULATED_NOTE] if is_simulated(reader) else []
    for array in read_arrays(reader, schedule.place.arrays):
        title = array.label or array.name
        if array.sync:
            notes.append(f"{title} runs a {array.sync}: the figures will be lower than without it.")
        if array.missing:
            notes.append(f"{title} is degraded: the figures are not those of a complete array.")
    if schedule.place.device and not schedule.place.writes:
        notes.append(
            "Blocks that were never written, or were trimmed, read as zeros without any access to the flash."
        )
    if schedule.place.directory and schedule.conditions.precondition:
        notes.append(
            "Only the blocks of its own files are written before: what is free besides works as spare area,"
            " so writes look faster than on a full disk."
        )
    if schedule.job_file is not None:
        notes += schedule.job_file.jobs
        notes.append(
            "fio is given a new job file, written from these jobs; their files are removed afterwards."
        )
    if not schedule.place.disks:
        notes.append(f"The disks below {schedule.place.words} are not known: writes to them are not counted.")
    if any(0 < work.runtime_s < SHORT_S for work in schedule.works):
        notes.append(f"Runs under {SHORT_S:.0f} s measure caches rather than disks.")
    compared = _compared(schedule)
    fewest = fewest_runs(compared, small=schedule.small_blocks)
    if compared and schedule.grouped:
        notes.append(
            "There will be figures and no verdict: the runs of a point follow one another, and what drifts"
            " meanwhile looks like a difference."
        )
    elif compared and schedule.repeats < fewest:
        notes.append(
            f"{schedule.repeats} repeat{'s'[: schedule.repeats != 1]} of each cannot decide which of"
            f" {len(schedule.points)} points is faster: at least {fewest} are needed."
        )
    notes += cache_notes(reader, schedule)
    if any(not work.direct and not work.flushes for work in schedule.works):
        notes.append("It goes through the page cache: memory is measured as well.")
    return tuple(notes)


def cache_notes(reader: HostReader, schedule: Schedule) -> list[str]:
    """Return what the caches below mean for the figures, a sentence each."""
    work = schedule.work
    caches = CacheWatch(reader, schedule.place).begin(work.total_bytes if work is not None else 0)
    notes = []
    for cache in caches:
        state = "cold: the first run fills it" if cache.cold else "not cold" if cache.cold is False else ""
        kept = "its state and its hits are kept with each run"
        words = ", ".join(word for word in (cache.kind, cache.before.mode or "", state) if word)
        notes.append(f"{cache.title} is a cache ({words}); {kept}.")
    if caches and schedule.preset != HOT_SPOTS:
        notes.append(f"The preset {HOT_SPOTS} measures caches, and has published figures to compare with.")
    if schedule.preset == HOT_SPOTS and not caches:
        notes.append(f"{HOT_SPOTS} measures caches; none is known below {schedule.place.words}.")
    return notes


def _compared(schedule: Schedule) -> int:
    """Return the number of comparisons in its table: each point with the first of the same workload."""
    points = schedule.points
    return 1 if len(points) == 2 else len(points) - len({schedule.work_at(point) for point in points})
