"""About how long a schedule takes."""

from __future__ import annotations

from msgspec.structs import replace

from raidtui.features.bench.estimate import RunsDone, RunTime, estimate_duration, expected_runs, time_left
from raidtui.features.bench.jobfile import JobFile
from raidtui.features.bench.place import Place
from raidtui.features.bench.schedule import Axis, AxisKind, Conditions, Schedule, Scratch
from raidtui.features.bench.workload import Workload

GB = 1_000_000_000
READ = Workload(rw="randread", block_bytes=4096, size_bytes=4096 * 100_000, depth=1)
HERE = Place(directory="/srv")
ANYHOW = Conditions(quiet_check=False)
TIMED = Schedule(
    title="x", place=HERE, work=replace(READ, runtime_s=60, ramp_s=5), repeats=3, conditions=ANYHOW
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
    laid_out_s = READ.size_bytes / 500e6
    assert seconds(TIMED) == round(3 * 65 + laid_out_s, 3)
    twice = replace(TIMED, conditions=replace(ANYHOW, precondition=2))
    assert seconds(twice) == round(3 * 65 + 2 * laid_out_s, 3)


def test_by_size() -> None:
    """100,000 requests, 0.1 ms each; eight are done at a time at most; a stream is bounded by its bytes."""
    schedule = Schedule(title="x", place=DISK, work=READ, conditions=ANYHOW)
    assert seconds(schedule) == 10.0
    assert seconds(replace(schedule, work=replace(READ, depth=4, engine="libaio"))) == 2.5
    assert seconds(replace(schedule, work=replace(READ, depth=64, engine="libaio"))) == 1.25
    assert seconds(replace(schedule, work=replace(READ, block_bytes=1 << 20, size_bytes=GB))) == 2.0
    assert estimate_duration(schedule).sentence == "About 10 s, assuming the speed of usual SATA SSDs."


def test_a_moment_is_a_second() -> None:
    assert estimate_duration(
        Schedule(title="x", place=DISK, work=replace(READ, size_bytes=4096))
    ).sentence == ("About 1 s, assuming the speed of usual SATA SSDs.")


def test_each_array_is_written_anew() -> None:
    axes = (Axis(kind=AxisKind.CHUNK, values=("16", "32")), Axis(kind=AxisKind.DEPTH, values=("1", "1000")))
    scratch = Scratch(devices=("sda", "sdb"))
    work = replace(READ, runtime_s=1)
    schedule = Schedule(
        title="x", place=Place(), scratch=scratch, axes=axes, work=work, repeats=2, conditions=ANYHOW
    )
    assert seconds(schedule) == round(8 + 4 * READ.size_bytes / 500e6, 3)


def test_until_it_is_steady() -> None:
    schedule = replace(TIMED, place=DISK, conditions=replace(ANYHOW, steady=True), repeats=25)
    assert estimate_duration(schedule).sentence == "At most about 27 min."


def test_a_job_file_decides() -> None:
    file = JobFile(name="a", text="", writes=False)
    schedule = Schedule(title="x", place=HERE, job_file=file)
    assert estimate_duration(schedule).sentence == "How long it takes is not known: the job file decides."


def test_a_look_whether_all_is_quiet_takes_a_second_of_each_run() -> None:
    schedule = replace(TIMED, place=DISK)
    assert seconds(replace(schedule, conditions=Conditions())) - seconds(schedule) == 3.0


# -- what is left


EIGHT = Schedule(title="x", place=DISK, work=READ, repeats=8, conditions=ANYHOW)
"""Ten seconds each, if it is as fast as usual SATA SSDs."""


def test_before_the_first_run_has_ended_what_is_left_is_the_estimate() -> None:
    expected = expected_runs(EIGHT)
    assert time_left(expected) == time_left(expected, RunsDone()) == estimate_duration(EIGHT)
    assert time_left(expected, RunsDone(at_s=4.0)) == RunTime(seconds=76.0, guessed=True)
    assert time_left(expected, RunsDone(at_s=999.0)).seconds == 0.0


def test_after_that_it_goes_by_how_long_the_runs_took() -> None:
    """Three runs took twice as long as was taken for them; two seconds of the fourth are over."""
    done = RunsDone(ended=frozenset({0, 1, 2}), spent_s=60.0, at=3, at_s=2.0)
    assert time_left(expected_runs(EIGHT), done) == RunTime(seconds=98.0)
    over = RunsDone(ended=frozenset(range(8)), spent_s=160.0, at=7, at_s=20.0)
    assert time_left(expected_runs(EIGHT), over).seconds == 0.0


def test_runs_that_are_not_alike() -> None:
    """The first of two depths took eight times as long; the other one is not taken to do so, too."""
    axes = (Axis(kind=AxisKind.DEPTH, values=("1", "8")),)
    schedule = replace(EIGHT, axes=axes, repeats=1, work=replace(READ, engine="libaio"))
    expected = expected_runs(schedule)
    assert expected.each_s == (10.0, 1.25)
    assert time_left(expected, RunsDone(ended=frozenset({0}), spent_s=20.0, at=1)).seconds == 2.5


def test_rounds_that_come_no_more_take_no_time() -> None:
    """The first of two points was steady after five rounds of 25."""
    axes = (Axis(kind=AxisKind.DEPTH, values=("1", "8")),)
    schedule = replace(
        TIMED, place=DISK, axes=axes, repeats=25, grouped=True, conditions=replace(ANYHOW, steady=True)
    )
    done = RunsDone(ended=frozenset(range(5)), spent_s=5 * 65.0, at=25)
    assert time_left(expected_runs(schedule), done) == RunTime(seconds=25 * 65.0, at_most=True)
    assert time_left(expected_runs(schedule), done).words == "at most about 27 min"


def test_what_is_left_of_a_job_file_is_known_by_its_first_run() -> None:
    file = JobFile(name="a", text="", writes=False)
    expected = expected_runs(Schedule(title="x", place=HERE, job_file=file, repeats=3, conditions=ANYHOW))
    assert time_left(expected, RunsDone(at_s=3.0)).words == ""
    assert time_left(expected, RunsDone(ended=frozenset({0}), spent_s=30.0, at=1)).words == "about 1 min"
