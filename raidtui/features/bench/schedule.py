"""A schedule: everything that one benchmark does, run by run, as it is kept in its job's folder. Pure.

Points are what differs between runs. Their order is drawn at random, in blocks that hold each point twice:
what drifts meanwhile (heat, garbage collection, other load) then favours none of them, and
``raidtui.features.bench.results.run_statistics`` can say how likely a difference is chance alone.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from raidtui.features.bench.jobfile import JobFile
from raidtui.features.bench.option_texts import ONE
from raidtui.features.bench.place import Place
from raidtui.features.bench.workload import Workload
from raidtui.jobs.lock import JobError
from raidtui.model.fact import Fact
from raidtui.model.plan import Plan
from raidtui.view.units import short_binary

FORMAT = 2


class AxisKind(StrEnum):
    """What an axis changes."""

    LOAD = "load"  # the name of one of the schedule's workloads
    BLOCK = "block"  # bytes of a request
    DEPTH = "depth"
    JOBS = "jobs"
    LEVEL = "level"
    LAYOUT = "layout"
    CHUNK = "chunk"  # KiB, or "one"
    BITMAP = "bitmap"  # of scratch arrays, which are made with it; of others it is a knob
    KNOB = "knob"  # a setting of the host


_OF_ARRAY = (AxisKind.LEVEL, AxisKind.LAYOUT, AxisKind.CHUNK, AxisKind.BITMAP)


class Axis(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One thing that differs between runs.

    Args:
        kind: what kind of thing.
        name: of a knob: queue-depth.
        values: its values, in order.
        plans: of a knob, for each value: the plan that sets it; without steps where already set. There
            are none where the knob is one of arrays that are yet to be made.
    """

    kind: AxisKind
    values: tuple[str, ...]
    name: str = ""
    plans: tuple[Plan, ...] = ()

    @property
    def label(self) -> str:
        """The knob's name, or the kind's."""
        return self.name or str(self.kind)


class Scratch(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Devices that arrays are created of, and the shape of these arrays.

    Args:
        devices: kernel names.
        level, layout, chunk_kib, bitmap: of arrays for which no axis says otherwise.
        size_kib: used size of each device; 0 is all.
        least_bytes: the size of the smallest array; 0 where that is not known yet.
        needs: facts about the devices before the first array: same disks, and nothing written since.
    """

    devices: tuple[str, ...]
    level: str = "raid10"
    layout: str = ""
    chunk_kib: int = 0
    bitmap: str = ""
    size_kib: int = 0
    least_bytes: int = 0
    needs: tuple[Fact, ...] = ()


class Conditions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What is done before and between the runs.

    Args:
        trim: whether free blocks are discarded before each run.
        cool_s: how long nothing is done before each run.
        precondition: how many times the size is written from the first block to the last, before all runs.
        steady: whether rounds continue until the last five are steady.
        quiet_check: whether it is looked first whether the machine is otherwise quiet.
        without: the parts of fio's sandbox that are done without.
    """

    trim: bool = False
    cool_s: int = 0
    precondition: int = 0
    steady: bool = False
    quiet_check: bool = True
    without: tuple[str, ...] = ()


class Schedule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Everything that one benchmark does.

    Args:
        title: a phrase.
        preset: the preset's name, if it is one's.
        work: the workload; None for a job file.
        loads: of an axis of several workloads, by its values.
        job_file: that.
        place: where; with scratch arrays, the array takes its place.
        axes: what differs between runs.
        repeats: how often each point is run.
        grouped: whether the repeats of a point run one after another.
        seed: what the order is drawn by; 0: it is not drawn, each point once, then all of them again.
        note: free text.
    """

    title: str
    place: Place
    preset: str = ""
    work: Workload | None = None
    loads: dict[str, Workload] = {}
    job_file: JobFile | None = None
    axes: tuple[Axis, ...] = ()
    scratch: Scratch | None = None
    conditions: Conditions = Conditions()
    repeats: int = 1
    grouped: bool = False
    seed: int = 0
    note: str = ""

    @property
    def writes(self) -> bool:
        """Whether the runs write, apart from the data written before them."""
        if self.job_file is not None:
            return self.job_file.writes
        return any(work.writes for work in self.works)

    @property
    def lays_out(self) -> bool:
        """Whether the data is written before the first run, so that reads find data."""
        if self.work is None:
            return False  # fio lays out a job file's files by itself
        if self.scratch is not None or self.place.device:
            may = self.scratch is not None or self.place.writes
            reads = any(work.reads for work in self.works)
            return may and (reads or self.conditions.precondition > 0)
        return True

    def region_bytes(self, work: Workload) -> int:
        """Return on how much a workload works: jobs have a file each, and share a device."""
        shared = self.scratch is not None or self.place.device
        return work.size_bytes if shared else work.total_bytes

    @property
    def points(self) -> tuple[dict[str, str], ...]:
        """All points, by the axes' labels; what arrays are made of changes least often."""
        ordered = sorted(self.axes, key=_weight)
        values = (axis.values for axis in ordered)
        labels = [axis.label for axis in ordered]
        return tuple(dict(zip(labels, each, strict=True)) for each in itertools.product(*values))

    @property
    def works(self) -> tuple[Workload, ...]:
        """The workload of each point; none of a job file."""
        return tuple(work for point in self.points if (work := self.work_at(point)) is not None)

    @property
    def shapes(self) -> tuple[Scratch, ...]:
        """The array of each point; none where no arrays are made."""
        return tuple(shape for point in self.points if (shape := self.scratch_at(point)) is not None)

    @property
    def most_bytes(self) -> int:
        """What the largest of its runs works on."""
        if self.job_file is not None:
            return self.job_file.size_bytes or 0
        return max((self.region_bytes(work) for work in self.works), default=0)

    def runs(self) -> tuple[Run, ...]:
        """Return all runs in their order."""
        if self.seed and not self.grouped:
            return tuple(self._drawn(random.Random(self.seed)))  # noqa: S311  (an order, no secret)
        repeats, places = range(self.repeats), range(len(self.points))
        pairs = (
            [(repeat, place) for place in places for repeat in repeats]
            if self.grouped
            else [(repeat, place) for repeat in repeats for place in places]
        )
        return tuple(
            Run(number=number, repeat=repeat, point=self.points[place], point_place=place)
            for number, (repeat, place) in enumerate(pairs)
        )

    def _drawn(self, draw: random.Random) -> Iterator[Run]:
        """Yield the runs block by block.

        Where there are several arrays to make, a block visits each of them twice, and measures there each
        point of that array once.
        """
        points = self.points
        arrays: dict[tuple[str, ...], list[int]] = {}
        for place, point in enumerate(points):
            arrays.setdefault(array_of(point), []).append(place)
        done = [0] * len(points)
        number = visit = 0
        for block in range(-(-self.repeats // 2)):
            copies = min(2, self.repeats - 2 * block)
            visits = [places for places in arrays.values() for _ in range(copies)]
            if len(arrays) == 1:
                visits = [list(itertools.chain.from_iterable(visits))]
            for places in draw.sample(visits, len(visits)):
                for place in draw.sample(places, len(places)):
                    yield Run(
                        number=number,
                        repeat=done[place],
                        point=points[place],
                        point_place=place,
                        block=block,
                        visit=visit,
                    )
                    done[place] += 1
                    number += 1
                visit += 1

    @property
    def small_blocks(self) -> bool:
        """Whether comparisons are among points of one array of several: one run of each in a visit of it."""
        kinds = {axis.kind for axis in self.axes if len(axis.values) > 1}
        return AxisKind.KNOB in kinds and bool(kinds & {*_OF_ARRAY})

    def work_at(self, point: dict[str, str]) -> Workload | None:
        """Return what fio is asked to do at a point."""
        if self.work is None:
            return None
        work = self.loads[point[AxisKind.LOAD]] if AxisKind.LOAD in point else self.work
        changed = replace(
            work,
            block_bytes=int(point.get(AxisKind.BLOCK, work.block_bytes)),
            depth=int(point.get(AxisKind.DEPTH, work.depth)),
            jobs=int(point.get(AxisKind.JOBS, work.jobs)),
        )
        return changed.with_engine_for_depth()

    def scratch_at(self, point: dict[str, str]) -> Scratch | None:
        """Return the array of a point; a single device has no level."""
        if self.scratch is None:
            return None
        chunk = point.get(AxisKind.CHUNK, str(self.scratch.chunk_kib))
        if chunk == ONE:
            first = self.scratch.devices[:1]
            return replace(self.scratch, devices=first, level="", layout="", chunk_kib=0, bitmap="")
        return replace(
            self.scratch,
            level=point.get(AxisKind.LEVEL, self.scratch.level),
            layout=point.get(AxisKind.LAYOUT, self.scratch.layout),
            chunk_kib=int(chunk),
            bitmap=point.get(AxisKind.BITMAP, self.scratch.bitmap),
        )

    def knobs_at(self, point: dict[str, str]) -> tuple[tuple[str, str, Plan | None], ...]:
        """Return (name, value, plan) of the knobs at a point; None is a plan that needs the array first."""
        return tuple(
            (
                axis.name,
                point[axis.name],
                axis.plans[axis.values.index(point[axis.name])] if axis.plans else None,
            )
            for axis in self.axes
            if axis.kind is AxisKind.KNOB
        )


class Run(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One run of a schedule.

    Args:
        number: its place in the order, from 0.
        repeat: which time its point is run, from 0.
        point: label -> value: what differs from the benchmark's other runs.
        point_place: which of the schedule's points it is, from 0.
        block: within which the order was drawn at random, from 0; -1: it was not drawn.
        visit: the stretch of runs on one array, all of them a part of one block, from 0.
    """

    number: int
    repeat: int = 0
    point: dict[str, str] = {}
    point_place: int = 0
    block: int = -1
    visit: int = -1


def array_of(point: dict[str, str]) -> tuple[str, ...]:
    """Return what a point says of the array that is made for it."""
    return tuple(point.get(kind, "") for kind in _OF_ARRAY)


def _weight(axis: Axis) -> int:
    """Changing arrays is expensive, knobs cheaper, fio's options free."""
    if axis.kind in _OF_ARRAY:
        return _OF_ARRAY.index(axis.kind)
    return 10 if axis.kind is AxisKind.KNOB else 20


def point_words(point: dict[str, str]) -> str:
    """Return a point in words: chunk 32K, block 8K, scheduler none; "" for the only one."""
    return ", ".join(f"{label} {value_words(label, value)}" for label, value in point.items())


def value_words(label: str, value: str) -> str:
    """Return an axis's value in words."""
    if label == AxisKind.BLOCK and value.isdecimal():
        return short_binary(int(value))
    if label == AxisKind.CHUNK and value.isdecimal():
        return f"{value}K"
    return value


def encode_schedule(schedule: Schedule) -> bytes:
    """Return a schedule as JSON."""
    data = {"format_version": FORMAT, **msgspec.to_builtins(schedule)}
    return msgspec.json.format(msgspec.json.encode(data), indent=1) + b"\n"


def decode_schedule(data: bytes) -> Schedule:
    """Return a saved schedule. In format 1, the kind of an axis was its ``way``.

    Raises:
        JobError: it is not a schedule, or of another version.
    """
    try:
        found = msgspec.json.decode(data, type=dict[str, Any])
        version = found.pop("format_version", found.pop("raidtui_course", 1))
        if version == 1:
            data = data.replace(b'"way":', b'"kind":')  # nothing else in it is called so
            found["axes"] = msgspec.json.decode(data, type=dict[str, Any]).get("axes", [])
        schedule = msgspec.convert(found, Schedule)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise JobError(f"this is not a benchmark schedule: {error}") from error
    if version not in {1, FORMAT}:
        raise JobError(f"this schedule is of form {version}, and {FORMAT} is known here")
    return schedule


def labels_of(points: Sequence[dict[str, str]]) -> tuple[str, ...]:
    """Return the labels that differ between these points, in order."""
    labels = dict.fromkeys(label for point in points for label in point)
    return tuple(label for label in labels if len({point.get(label) for point in points}) > 1)
