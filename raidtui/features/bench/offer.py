"""Turns a request into a schedule that can be run, or into a refusal. Changes nothing."""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from raidtui.features.bench.estimate import WriteEstimate, estimate_writes
from raidtui.features.bench.jobfile import read_job_file
from raidtui.features.bench.offer_checks import (
    fitted,
    offer_notes,
    refuse_engine,
    refuse_host,
    refuse_most,
    refuse_noise,
)
from raidtui.features.bench.option_texts import MOST_RUNS, ONE, FieldRefusal, refuse, refuse_number
from raidtui.features.bench.overwrite import Site, offer_device, offer_scratch
from raidtui.features.bench.place import Place, find_directory, free_at, is_simulated
from raidtui.features.bench.request import Request
from raidtui.features.bench.results.run_statistics import MOST_ROUNDS
from raidtui.features.bench.schedule import Axis, AxisKind, Schedule, Scratch
from raidtui.features.bench.sweep_knobs import find_knob, is_bitmap, knob_axis, of_arrays, scratch_axis
from raidtui.features.bench.workload import (
    PRESETS,
    find_preset,
    refuse_workload,
)
from raidtui.host.readers.host_reader import HostReader
from raidtui.model.plan import Loss, Plan, Refusal, RefusalCode
from raidtui.monitor.sampler import Sampler
from raidtui.view.units import binary_size

_PARTS = {
    AxisKind.BLOCK: "blocks",
    AxisKind.DEPTH: "depths",
    AxisKind.JOBS: "jobs",
    AxisKind.LEVEL: "levels",
    AxisKind.LAYOUT: "layouts",
    AxisKind.CHUNK: "chunks",
    AxisKind.BITMAP: "bitmap",
}


class Offer(Struct, frozen=True, kw_only=True):
    """A schedule that can be run, with its costs.

    Args:
        losses: what is lost, by device.
        notes: remarks, a sentence each.
        arrays: the plans that create its scratch arrays; the UUIDs will differ.
        room: the space that its files need, in a sentence; "" without files.
    """

    schedule: Schedule
    cost: WriteEstimate
    losses: tuple[Loss, ...] = ()
    notes: tuple[str, ...] = ()
    arrays: tuple[Plan, ...] = ()
    room: str = ""

    @property
    def sentences(self) -> list[str]:
        """What is shown before it starts."""
        count = len(self.schedule.runs())
        runs = f"up to {count} runs" if self.schedule.conditions.steady else f"{count} run{'s'[: count != 1]}"
        lines = [f"{self.schedule.title}: {runs} on {self.schedule.place.words}"]
        lines += [f"  lost:  {loss.sentence}" for loss in self.losses]
        lines += [f"  {self.cost.sentence}", *(f"  {text}" for text in self.notes)]
        for axis in self.schedule.axes:
            for plan in axis.plans:
                lines += [f"  {axis.name}: {step.command}" for step in plan.steps]
            if axis.kind is AxisKind.KNOB and not axis.plans:
                lines.append(f"  {axis.name}: {', '.join(axis.values)}, set on each array once it exists")
        return lines


def make_offer(reader: HostReader, request: Request) -> Offer | Refusal:
    """Return the plan of a request, or why it cannot be run."""
    if refusal := refuse_host(reader, request):
        return refusal
    for name, number in _numbers(request):
        if refusal := refuse_number(name, number):
            return refusal
    base = _measured(request)
    if isinstance(base, Refusal):
        return base
    placed = _where(reader, request)
    if isinstance(placed, Refusal):
        return placed
    axes = _axes(reader, request, placed.place, base)
    if isinstance(axes, Refusal):
        return axes
    steady = request.conditions.steady
    schedule = replace(
        base,
        place=placed.place,
        scratch=placed.scratch,
        axes=axes,
        conditions=request.conditions,
        repeats=MOST_ROUNDS if steady else request.repeats,
        grouped=request.grouped or steady,
        note=request.note,
    )
    note = ""
    if base.preset and request.size_bytes is None:
        schedule, note = fitted(reader, schedule, blocks=not request.blocks)
    schedule = replace(schedule, title=_title(base, schedule.axes))
    if schedule.repeats > 1 and len(schedule.points) > 1 and not schedule.grouped:
        schedule = replace(schedule, seed=draw_seed())
    if refusal := _refuse_schedule(reader, schedule) or refuse_noise(reader, schedule):
        return refusal
    lowest = schedule.place.arrays[-1:]
    array = next((each for each in Sampler(reader).sample().arrays if each.name in lowest), None)
    return Offer(
        schedule=schedule,
        cost=estimate_writes(schedule, array, disks=len(schedule.place.disks)),
        losses=placed.losses,
        notes=(*([note] if note else ()), *offer_notes(reader, schedule)),
        arrays=placed.arrays,
        room=_room(schedule),
    )


def draw_seed() -> int:
    """Return what the order of the runs is drawn by."""
    return 1 + secrets.randbelow((1 << 31) - 1)


def _numbers(request: Request) -> tuple[tuple[str, int], ...]:
    conditions = request.conditions
    return (
        ("repeats", request.repeats),
        ("cool", conditions.cool_s),
        ("precondition", conditions.precondition),
        ("member_size", request.member_kib),
    )


def _about(part: str, refusal: Refusal) -> FieldRefusal:
    if isinstance(refusal, FieldRefusal):
        return replace(refusal, part=part)
    return refuse(refusal.why, refusal.remedy, code=refusal.code, part=part)


def _measured(request: Request) -> Schedule | Refusal:
    """Return a schedule with only the workload."""
    given = [bool(request.rw), bool(request.preset), bool(request.job_file)]
    names = ", ".join(preset.name for preset in PRESETS)
    if sum(given) != 1:
        return refuse(
            "more than one thing to measure is given" if any(given) else "nothing to measure is given",
            f"name a preset ({names}), a job file, or a kind of I/O with its size",
        )
    if request.job_file:
        file = read_job_file(request.job_file)
        if isinstance(file, Refusal):
            return _about("job_file", file)
        if request.changes_workload:
            why = "a job file says itself what is run"
            return refuse(why, "change the file itself")
        return Schedule(title=file.name, place=Place(), job_file=file)
    preset = find_preset(request.preset)
    if request.preset and preset is None:
        return refuse(
            f"there is no preset {request.preset!r}",
            f"there are: {names}",
            code=RefusalCode.NOT_FOUND,
            part="preset",
        )
    if preset is None and not request.size_bytes:
        return refuse(
            "no size is given", "give one: --size=500m", part="size_bytes", form_remedy="give one: 500m, 4g"
        )
    loads = preset.loads if preset is not None else {}
    if loads and request.changes_requests:
        why = f"{request.preset} says itself how requests are made"
        return refuse(why, "give size, time and ramp alone, or choose another preset", part="preset")
    return Schedule(
        title="",
        place=Place(),
        preset=request.preset,
        work=request.workload(preset),
        loads={name: request.changed(work) for name, work in loads.items()},
    )


def _where(reader: HostReader, request: Request) -> Site | Refusal:
    if not request.scratch and (request.levels or request.layouts or request.chunks):
        return refuse(
            "levels, layouts and chunks apply only to arrays that the benchmark creates",
            "give devices with --scratch",
        )
    if sum((bool(request.directory), bool(request.device), bool(request.scratch))) != 1:
        return refuse(
            "where to measure is not given, or given more than once",
            "name a folder (--directory), a device (--device), or devices for arrays (--scratch)",
        )
    if request.directory:
        place = find_directory(reader, request.directory)
        return _about("directory", place) if isinstance(place, Refusal) else Site(place=place)
    if request.job_file:
        why = "a job file runs only in a folder"
        return refuse(
            why, "name one with --directory", part="directory", form_remedy="choose a folder at where"
        )
    array = request.scratch_array
    if array is not None:
        site = offer_scratch(reader, array, _shapes(request), request.confirmed)
        return _about("scratch", site) if isinstance(site, Refusal) else site
    if not is_simulated(reader) and not os.access(f"/dev/{request.device}", os.R_OK):
        why = f"/dev/{request.device} is not readable by this user"
        return refuse(why, "run it with sudo", part="device")
    site = offer_device(reader, request.device, write=request.write, confirmed=request.confirmed)
    return _about("device", site) if isinstance(site, Refusal) else site


def _axes(reader: HostReader, request: Request, place: Place, base: Schedule) -> tuple[Axis, ...] | Refusal:
    axes = list(_array_axes(request))
    for name, values in request.knobs:
        if request.scratch and is_bitmap(name):
            continue  # it is one of the arrays' own axes
        if request.scratch and of_arrays(name):
            axis = scratch_axis(name, values, _shapes(request))
        else:
            knob = find_knob(name, reader, place)
            axis = knob if isinstance(knob, Refusal) else knob_axis(knob, values)
        if isinstance(axis, Refusal):
            return _about(name, axis)
        axes.append(axis)
    blocks = request.blocks
    preset = find_preset(base.preset) if base.preset else None
    if not blocks and preset is not None:
        blocks = preset.blocks
    if base.loads:
        axes.append(Axis(kind=AxisKind.LOAD, values=tuple(base.loads)))
    for kind, numbers in (
        (AxisKind.BLOCK, blocks),
        (AxisKind.DEPTH, request.depths),
        (AxisKind.JOBS, request.jobs),
    ):
        if len(numbers) > 1:
            axes.append(Axis(kind=kind, values=tuple(map(str, numbers))))
    for axis in axes:
        if len(set(axis.values)) < len(axis.values) or not axis.values:
            why = f"{axis.label} has no value, or the same value twice"
            return refuse(why, "give each value once", part=_PARTS.get(axis.kind, axis.name))
    return tuple(axes)


def _shapes(request: Request) -> tuple[Scratch, ...]:
    """Return all scratch arrays that the request creates."""
    axes = _array_axes(request)
    return Schedule(title="", place=Place(), scratch=request.scratch_array, axes=axes).shapes


def _array_axes(request: Request) -> tuple[Axis, ...]:
    if not request.scratch:
        return ()
    bitmaps = next((values for name, values in request.knobs if is_bitmap(name)), ())
    given = (
        (AxisKind.LEVEL, request.levels, len(request.levels) > 1),
        (AxisKind.LAYOUT, request.layouts, len(request.layouts) > 1),
        (AxisKind.CHUNK, request.chunks, len(request.chunks) > 1 or request.chunks == (ONE,)),
        (AxisKind.BITMAP, bitmaps, bool(bitmaps)),
    )
    return tuple(Axis(kind=kind, values=values) for kind, values, varies in given if varies)


def _refuse_schedule(reader: HostReader, schedule: Schedule) -> Refusal | None:
    if len(schedule.points) * schedule.repeats > MOST_RUNS:
        count = len(schedule.points) * schedule.repeats
        remedy = f"{MOST_RUNS} are the maximum: leave values out"
        return refuse(f"that would be {count} runs", remedy, part="repeats")
    for work in schedule.works:
        if refusal := refuse_workload(work):
            return _about("work", refusal)
        if schedule.place.device and work.writes and not schedule.place.writes:
            return refuse(
                f"{schedule.place.words} is only read: {work.words} would overwrite its contents",
                "if that is what you want, give --write, and its serial number with --confirm",
                code=RefusalCode.UNSUPPORTED,
                part="write",
                form_remedy="choose yes at overwrite it",
            )
    if refusal := refuse_most(reader, schedule):
        return _about("size_bytes", refusal)
    return refuse_engine(reader, schedule)


def _room(schedule: Schedule) -> str:
    """Return the space that files need, in a sentence; "" where there are none."""
    if not schedule.place.directory:
        return ""
    takes, free = binary_size(schedule.most_bytes), binary_size(free_at(schedule.place))
    where = schedule.place.directory
    return f"Its files take {takes}; {free} are free at {where}, and the files are removed afterwards."


def _title(base: Schedule, axes: Sequence[Axis]) -> str:
    if base.job_file is not None:
        return f"job file {base.title}"
    what = base.preset or (base.work.words if base.work is not None else "")
    several = [axis.label for axis in axes if len(axis.values) > 1]
    return f"{what}{' by ' + ', '.join(several) if several else ''}"
