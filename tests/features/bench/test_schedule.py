"""Schedules: the order of runs, what each point is, what they cost, their form on disk."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from raidtui.features.bench.estimate import (
    RunTime,
    WriteEstimate,
    estimate_duration,
    estimate_writes,
    expected_runs,
    measured_bytes,
    time_left,
)
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
from raidtui.model.plan import Plan, Write
from tests.features.bench.records import READ
from tests.hosts.trees import host_tree as tree
from tests.hosts.trees import raid5, raid10, snapshot_of

MIB = 1 << 20
NONE = Plan(title="scheduler none", subject="sda", steps=())
SET = Plan(title="scheduler mq-deadline", subject="sda", steps=(Write(path="/sys/a", text="1", why="x"),))
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
            data.replace(b'"format_version": 2', b'"format_version": 3'),
            "this schedule is of form 3, and 2 is known here",
        ),
    ):
        with pytest.raises(JobError) as caught:
            decode_schedule(bad)
        assert str(caught.value) == sentence


def test_one_that_an_earlier_version_kept() -> None:
    data = encode_schedule(SCHEDULE)
    old = data.replace(b'"kind": "block"', b'"way": "block"').replace(b'"kind": "knob"', b'"way": "knob"')
    for version in (b'"raidtui_course": 1,', b""):
        kept = old.replace(b'"format_version": 2,', version)
        assert kept.count(b'"way"') == len(SCHEDULE.axes)
        assert decode_schedule(kept) == SCHEDULE


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
        words = sorted(run.point_place for run in runs if run.block == block)
        assert words == sorted([0, 1, 2] * times)
    assert [run.block for run in runs] == sorted(run.block for run in runs)
    assert {(run.point_place, run.repeat) for run in runs} == {(p, r) for p in range(3) for r in range(5)}
    assert schedule.runs() == runs
    orders = {
        tuple(run.point_place for run in replace(schedule, seed=seed).runs()[:6]) for seed in range(1, 1000)
    }
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


GB = 1_000_000_000
READER = Workload(rw="randread", block_bytes=4096, size_bytes=4096 * 100_000, depth=1)
FOLDER = Place(directory="/srv")
ANYHOW = Conditions(quiet_check=False)
TIMED = Schedule(
    title="x", place=FOLDER, work=replace(READER, runtime_s=60, ramp_s=5), repeats=3, conditions=ANYHOW
)
DISK = Place(device="sda")


def seconds(schedule: Schedule) -> float:
    return round(estimate_duration(schedule).seconds, 3)


def test_by_time() -> None:
    schedule = replace(TIMED, place=DISK, conditions=replace(ANYHOW, cool_s=10))
    found = estimate_duration(schedule)
    assert found == RunTime(seconds=3 * (60 + 5 + 10))
    assert found.sentence == "About 4 min."


def test_files_are_written_out_once() -> None:
    laid_out_s = READER.size_bytes / 500e6
    assert seconds(TIMED) == round(3 * 65 + laid_out_s, 3)
    twice = replace(TIMED, conditions=replace(ANYHOW, precondition=2))
    assert seconds(twice) == round(3 * 65 + 2 * laid_out_s, 3)


def test_by_size() -> None:
    """100,000 requests, 0.1 ms each; eight are done at a time at most; a stream is bounded by its bytes."""
    schedule = Schedule(title="x", place=DISK, work=READER, conditions=ANYHOW)
    assert seconds(schedule) == 10.0
    assert seconds(replace(schedule, work=replace(READER, depth=4, engine="libaio"))) == 2.5
    assert seconds(replace(schedule, work=replace(READER, depth=64, engine="libaio"))) == 1.25
    assert seconds(replace(schedule, work=replace(READER, block_bytes=1 << 20, size_bytes=GB))) == 2.0
    assert estimate_duration(schedule).sentence == "About 10 s, assuming the speed of usual SATA SSDs."


def test_a_moment_is_a_second() -> None:
    assert estimate_duration(
        Schedule(title="x", place=DISK, work=replace(READER, size_bytes=4096))
    ).sentence == ("About 1 s, assuming the speed of usual SATA SSDs.")


def test_each_array_is_written_anew() -> None:
    axes = (Axis(kind=AxisKind.CHUNK, values=("16", "32")), Axis(kind=AxisKind.DEPTH, values=("1", "1000")))
    scratch = Scratch(devices=("sda", "sdb"))
    work = replace(READER, runtime_s=1)
    schedule = Schedule(
        title="x", place=Place(), scratch=scratch, axes=axes, work=work, repeats=2, conditions=ANYHOW
    )
    assert seconds(schedule) == round(8 + 4 * READER.size_bytes / 500e6, 3)


def test_until_it_is_steady() -> None:
    schedule = replace(TIMED, place=DISK, conditions=replace(ANYHOW, steady=True), repeats=25)
    assert estimate_duration(schedule).sentence == "At most about 27 min."


def test_a_job_file_decides() -> None:
    file = JobFile(name="a", text="", writes=False)
    schedule = Schedule(title="x", place=FOLDER, job_file=file)
    assert estimate_duration(schedule).sentence == "How long it takes is not known: the job file decides."


def test_a_look_whether_all_is_quiet_takes_a_second_of_each_run() -> None:
    schedule = replace(TIMED, place=DISK)
    assert seconds(replace(schedule, conditions=Conditions())) - seconds(schedule) == 3.0


# -- what is left


EIGHT = Schedule(title="x", place=DISK, work=READER, repeats=8, conditions=ANYHOW)
"""Ten seconds each, if it is as fast as usual SATA SSDs."""


def test_before_the_first_run_has_ended_what_is_left_is_the_estimate() -> None:
    expected = expected_runs(EIGHT)
    assert time_left(expected) == estimate_duration(EIGHT)
    assert time_left(expected, at_s=4.0) == RunTime(seconds=76.0, guessed=True)
    assert time_left(expected, at_s=999.0).seconds == 0.0


def test_after_that_it_goes_by_how_long_the_runs_took() -> None:
    """Three runs took twice as long as was taken for them; two seconds of the fourth are over."""
    each = expected_runs(EIGHT)
    left = time_left(each, ended=frozenset({0, 1, 2}), spent_s=60.0, at=3, at_s=2.0)
    assert left == RunTime(seconds=98.0)
    assert time_left(each, ended=frozenset(range(8)), spent_s=160.0, at=7, at_s=20.0).seconds == 0.0


def test_runs_that_are_not_alike() -> None:
    """The first of two depths took eight times as long; the other one is not taken to do so, too."""
    axes = (Axis(kind=AxisKind.DEPTH, values=("1", "8")),)
    schedule = replace(EIGHT, axes=axes, repeats=1, work=replace(READER, engine="libaio"))
    expected = expected_runs(schedule)
    assert expected.each_s == (10.0, 1.25)
    assert time_left(expected, ended=frozenset({0}), spent_s=20.0, at=1).seconds == 2.5


def test_rounds_that_come_no_more_take_no_time() -> None:
    """The first of two points was steady after five rounds of 25."""
    axes = (Axis(kind=AxisKind.DEPTH, values=("1", "8")),)
    schedule = replace(
        TIMED, place=DISK, axes=axes, repeats=25, grouped=True, conditions=replace(ANYHOW, steady=True)
    )
    left = time_left(expected_runs(schedule), ended=frozenset(range(5)), spent_s=5 * 65.0, at=25)
    assert (left, left.words) == (RunTime(seconds=25 * 65.0, at_most=True), "at most about 27 min")


def test_what_is_left_of_a_job_file_is_known_by_its_first_run() -> None:
    file = JobFile(name="a", text="", writes=False)
    expected = expected_runs(Schedule(title="x", place=FOLDER, job_file=file, repeats=3, conditions=ANYHOW))
    assert time_left(expected, at_s=3.0).words == ""
    assert time_left(expected, ended=frozenset({0}), spent_s=30.0, at=1).words == "about 1 min"
