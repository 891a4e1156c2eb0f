"""Schedules: the order of runs, what each point is, what they cost, their form on disk."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from raidtui.features.bench.estimate import WriteEstimate, estimate_writes, measured_bytes
from raidtui.features.bench.jobfile import JobFile
from raidtui.features.bench.place import Place
from raidtui.features.bench.schedule import (
    Axis,
    AxisKind,
    Conditions,
    Schedule,
    Scratch,
    decode_schedule,
    encode_schedule,
    point_words,
)
from raidtui.features.bench.workload import Workload
from raidtui.jobs.lock import JobError
from raidtui.model.plan import Plan, Step
from tests.features.bench.records import READ
from tests.hosts.trees import host_tree as tree
from tests.hosts.trees import raid5, raid10, snapshot_of

MIB = 1 << 20
NONE = Plan(title="scheduler none", subject="sda", steps=())
SET = Plan(title="scheduler mq-deadline", subject="sda", steps=(Step(path="/sys/a", text="1", why="x"),))
KNOB = Axis(kind=AxisKind.KNOB, name="scheduler", values=("none", "mq-deadline"), plans=(NONE, SET))
BLOCKS = Axis(kind=AxisKind.BLOCK, values=("8192", "16384"))
HERE = Place(directory="/srv", disks=("sda", "sdb"))
SCHEDULE = Schedule(title="random-read", place=HERE, work=READ, axes=(BLOCKS, KNOB), repeats=2)


def test_interleaved() -> None:
    """A B A B: every point once, then all again; what is dear to change changes least."""
    assert [(run.number, run.repeat, point_words(run.point)) for run in SCHEDULE.runs()] == [
        (0, 0, "scheduler none, block 8K"),
        (1, 0, "scheduler none, block 16K"),
        (2, 0, "scheduler mq-deadline, block 8K"),
        (3, 0, "scheduler mq-deadline, block 16K"),
        (4, 1, "scheduler none, block 8K"),
        (5, 1, "scheduler none, block 16K"),
        (6, 1, "scheduler mq-deadline, block 8K"),
        (7, 1, "scheduler mq-deadline, block 16K"),
    ]


def test_grouped() -> None:
    order = [
        (run.repeat, run.point["block"]) for run in replace(SCHEDULE, axes=(BLOCKS,), grouped=True).runs()
    ]
    assert order == [(0, "8192"), (1, "8192"), (0, "16384"), (1, "16384")]


def test_what_a_point_is() -> None:
    depths = Axis(kind=AxisKind.DEPTH, values=("1", "8"))
    jobs = Axis(kind=AxisKind.JOBS, values=("1", "4"))
    schedule = replace(SCHEDULE, axes=(depths, jobs, BLOCKS, KNOB))
    point = {"depth": "8", "jobs": "4", "block": "16384", "scheduler": "mq-deadline"}
    assert schedule.work_at(point) == replace(READ, depth=8, jobs=4, block_bytes=16384, engine="libaio")
    assert schedule.knobs_at(point) == (("scheduler", "mq-deadline", SET),)
    assert len(schedule.runs()) == 32


def test_arrays_of_a_point() -> None:
    scratch = Scratch(devices=("sda", "sdb"), level="raid10")
    axes = (
        Axis(kind=AxisKind.CHUNK, values=("one", "16", "512")),
        Axis(kind=AxisKind.LAYOUT, values=("n2", "f2")),
        Axis(kind=AxisKind.LEVEL, values=("raid10",)),
    )
    schedule = replace(SCHEDULE, place=Place(), scratch=scratch, axes=axes)
    assert [point_words(point) for point in schedule.points][:3] == [
        "level raid10, layout n2, chunk one",
        "level raid10, layout n2, chunk 16K",
        "level raid10, layout n2, chunk 512K",
    ]
    assert schedule.scratch_at({"chunk": "16", "layout": "f2"}) == replace(scratch, chunk_kib=16, layout="f2")
    assert schedule.scratch_at({"chunk": "one"}) == replace(scratch, devices=("sda",), level="")
    assert SCHEDULE.scratch_at({}) is None


def test_the_form() -> None:
    data = encode_schedule(SCHEDULE)
    assert decode_schedule(data) == SCHEDULE
    assert data.startswith(b"{\n")
    for bad, sentence in (
        (b"", "this is not a benchmark schedule: Input data was truncated"),
        (
            data.replace(b'"repeats": 2', b'"repeats": "2"'),
            "this is not a benchmark schedule: Expected `int`, got `str` - at `$.repeats`",
        ),
        (
            encode_schedule(replace(SCHEDULE, raidtui_course=2)),
            "this schedule is of form 2, and 1 is known here",
        ),
    ):
        with pytest.raises(JobError) as caught:
            decode_schedule(bad)
        assert str(caught.value) == sentence


WRITE = replace(READ, rw="randwrite", size_bytes=100 * MIB, block_bytes=4096)
ON_DISK = Schedule(title="w", place=HERE, work=WRITE)
ARRAYS = {array.name: array for array in snapshot_of(tree(raid10(), raid5("md126"))).arrays}


@pytest.mark.parametrize(
    ("schedule", "array", "disks", "cost"),
    [
        # Files are written out once, then overwritten.
        (ON_DISK, None, 1, WriteEstimate(size_bytes=200 * MIB, each_bytes=200 * MIB, disks=1)),
        # Two copies, spread over four members.
        (ON_DISK, "md127", 4, WriteEstimate(size_bytes=200 * MIB, each_bytes=100 * MIB, disks=4)),
        # Less than a stripe: data and parity each time.
        (
            ON_DISK,
            "md126",
            3,
            WriteEstimate(size_bytes=200 * MIB, each_bytes=400 * MIB // 3, disks=3),
        ),
        # What is read is written out all the same, four files of it; a device is not.
        (
            replace(ON_DISK, work=replace(READ, size_bytes=10 * MIB, jobs=4)),
            None,
            1,
            WriteEstimate(size_bytes=40 * MIB, each_bytes=40 * MIB, disks=1),
        ),
        (
            replace(ON_DISK, work=READ, place=Place(device="sda")),
            None,
            1,
            WriteEstimate(size_bytes=0, each_bytes=0, disks=1),
        ),
        # By time: at a speed that is assumed, 30 % of it writes.
        (
            replace(ON_DISK, work=replace(WRITE, rw="randrw", read_percent=70, runtime_s=10)),
            None,
            1,
            WriteEstimate(
                size_bytes=100 * MIB + 1_500_000_000,
                each_bytes=100 * MIB + 1_500_000_000,
                disks=1,
                guessed=True,
            ),
        ),
        # Written three times over beforehand, which lays it out, too.
        (
            replace(ON_DISK, conditions=Conditions(precondition=3)),
            None,
            1,
            WriteEstimate(size_bytes=400 * MIB, each_bytes=400 * MIB, disks=1),
        ),
        (
            Schedule(
                title="x",
                place=HERE,
                repeats=2,
                job_file=JobFile(name="x", text="", writes=True, written_bytes=MIB, by_time=True),
            ),
            None,
            2,
            WriteEstimate(size_bytes=2 * MIB, each_bytes=MIB, disks=2, guessed=True, at_most=True),
        ),
    ],
)
def test_cost(schedule: Schedule, array: str | None, disks: int, cost: WriteEstimate) -> None:
    assert estimate_writes(schedule, ARRAYS[array] if array else None, disks=disks) == cost


def test_each_scratch_array_is_laid_out() -> None:
    schedule = Schedule(
        title="x",
        place=Place(members=("sda", "sdb", "sdc", "sdd")),
        work=Workload(rw="randread", block_bytes=8192, size_bytes=8 * MIB),
        scratch=Scratch(devices=("sda", "sdb", "sdc", "sdd"), level="raid10"),
        axes=(Axis(kind=AxisKind.CHUNK, values=("16", "512")), BLOCKS),
        repeats=3,
    )
    assert estimate_writes(schedule, disks=4) == WriteEstimate(
        size_bytes=48 * MIB, each_bytes=24 * MIB, disks=4
    )


@pytest.mark.parametrize(
    ("cost", "sentence"),
    [
        (
            WriteEstimate(size_bytes=200 * MIB, each_bytes=100 * MIB, disks=4),
            "It writes 200 MiB, 100 MiB to each of 4 disks.",
        ),
        (WriteEstimate(size_bytes=MIB, each_bytes=MIB, disks=0), "It writes 1 MiB."),
        (WriteEstimate(size_bytes=0, each_bytes=0, disks=1), "It writes nothing."),
        (
            WriteEstimate(size_bytes=MIB, each_bytes=MIB, disks=1, guessed=True),
            "It writes about 1 MiB, 1 MiB to each of 1 disk, assuming 500 MB/s.",
        ),
    ],
)
def test_cost_in_words(cost: WriteEstimate, sentence: str) -> None:
    assert cost.sentence == sentence


def test_measured() -> None:
    assert measured_bytes({"sda": 10, "sdb": 10}, {"sda": 12, "sdc": 5, "sdb": 3}) == {"sda": 1024, "sdb": 0}


def test_the_order_is_drawn_in_blocks() -> None:
    """A block has each point twice; an odd repeat makes a last block of one each; a seed gives one order."""
    axis = Axis(kind=AxisKind.DEPTH, values=("1", "8", "32"))
    schedule = Schedule(title="x", place=Place(), work=READ, axes=(axis,), repeats=5, seed=7)
    runs = schedule.runs()
    assert [run.number for run in runs] == list(range(15))
    for block, times in ((0, 2), (1, 2), (2, 1)):
        words = sorted(run.place for run in runs if run.block == block)
        assert words == sorted([0, 1, 2] * times)
    assert [run.block for run in runs] == sorted(run.block for run in runs)
    assert {(run.place, run.repeat) for run in runs} == {(p, r) for p in range(3) for r in range(5)}
    assert schedule.runs() == runs
    orders = {tuple(run.place for run in replace(schedule, seed=seed).runs()[:6]) for seed in range(1, 1000)}
    assert len(orders) == 90, "all orders of AABBCC"
    assert {run.block for run in replace(schedule, grouped=True).runs()} == {-1}


def test_a_block_visits_each_array_twice() -> None:
    """Making an array takes long: each point of an array is measured once in a visit of it."""
    axes = (
        Axis(kind=AxisKind.CHUNK, values=("16", "512")),
        Axis(kind=AxisKind.BLOCK, values=("4096", "8192", "65536")),
    )
    scratch = Scratch(devices=("sda", "sdb"))
    schedule = Schedule(title="x", place=Place(), work=READ, axes=axes, scratch=scratch, repeats=4, seed=3)
    runs = schedule.runs()
    visits = {visit: [run for run in runs if run.visit == visit] for visit in {run.visit for run in runs}}
    assert len(visits) == 8
    for each in visits.values():
        assert len({run.point["chunk"] for run in each}) == 1
        assert sorted(run.point["block"] for run in each) == ["4096", "65536", "8192"]
    chunks = [visits[visit][0].point["chunk"] for visit in range(4)]
    assert sorted(chunks) == ["16", "16", "512", "512"]
