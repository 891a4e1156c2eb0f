"""About how long a course takes."""

from __future__ import annotations

from msgspec.structs import replace

from raidtui.bench.course import Axis, Conditions, Course, Scratch, Way
from raidtui.bench.forms.duration import Lasting, estimate_duration
from raidtui.bench.jobfile import JobFile
from raidtui.bench.place import Place
from raidtui.bench.workload import Workload

GB = 1_000_000_000
READ = Workload(rw="randread", block_bytes=4096, size_bytes=4096 * 100_000, depth=1)
HERE = Place(directory="/srv")
TIMED = Course(title="x", place=HERE, work=replace(READ, runtime_s=60, ramp_s=5), repeats=3)
DISK = Place(device="sda")


def seconds(course: Course) -> float:
    return round(estimate_duration(course).seconds, 3)


def test_by_time() -> None:
    course = replace(TIMED, place=DISK, conditions=Conditions(cool_s=10))
    found = estimate_duration(course)
    assert found == Lasting(seconds=3 * (60 + 5 + 10))
    assert found.sentence == "About 4 min."


def test_files_are_written_out_once() -> None:
    laid_out_s = READ.size_bytes / 500e6
    assert seconds(TIMED) == round(3 * 65 + laid_out_s, 3)
    twice = replace(TIMED, conditions=Conditions(precondition=2))
    assert seconds(twice) == round(3 * 65 + 2 * laid_out_s, 3)


def test_by_size() -> None:
    """100,000 requests, 0.1 ms each; eight are done at a time at most; a stream is bounded by its bytes."""
    course = Course(title="x", place=DISK, work=READ)
    assert seconds(course) == 10.0
    assert seconds(replace(course, work=replace(READ, depth=4, engine="libaio"))) == 2.5
    assert seconds(replace(course, work=replace(READ, depth=64, engine="libaio"))) == 1.25
    assert seconds(replace(course, work=replace(READ, block_bytes=1 << 20, size_bytes=GB))) == 2.0
    assert estimate_duration(course).sentence == "About 10 s, if this is as fast as usual SATA SSDs."


def test_a_moment_is_a_second() -> None:
    assert estimate_duration(Course(title="x", place=DISK, work=replace(READ, size_bytes=4096))).sentence == (
        "About 1 s, if this is as fast as usual SATA SSDs."
    )


def test_each_array_is_written_anew() -> None:
    axes = (Axis(way=Way.CHUNK, values=("16", "32")), Axis(way=Way.DEPTH, values=("1", "1000")))
    scratch = Scratch(devices=("sda", "sdb"))
    work = replace(READ, runtime_s=1)
    course = Course(title="x", place=Place(), scratch=scratch, axes=axes, work=work, repeats=2)
    assert seconds(course) == round(8 + 4 * READ.size_bytes / 500e6, 3)


def test_until_it_is_steady() -> None:
    course = replace(TIMED, place=DISK, conditions=Conditions(steady=True), repeats=25)
    assert estimate_duration(course).sentence == "At most about 27 min."


def test_a_job_file_decides() -> None:
    file = JobFile(name="a", text="", writes=False)
    course = Course(title="x", place=HERE, job_file=file)
    assert estimate_duration(course).sentence == "How long it takes is not known: the job file decides."
