"""Following a benchmark: what its journal and its live samples add up to."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from raidtui.features.bench.estimate import RunTime, estimate_duration, expected_runs
from raidtui.features.bench.place import Place
from raidtui.features.bench.run.bench_jobs import ProgressWatcher
from raidtui.features.bench.run.bench_progress import BenchProgress, Line, News, with_news
from raidtui.features.bench.schedule import Axis, AxisKind, Conditions, Schedule, encode_schedule
from raidtui.features.bench.telemetry import Telemetry
from raidtui.jobs.job_kinds import SCHEDULE_FILE
from raidtui.jobs.store import Job
from raidtui.model.plan import Plan
from tests.features.bench.records import READ, record, samples

RUNNING = BenchProgress(job="j", title="random-read", place="/srv", of=6)
HOT = Telemetry(t_s=1.0, celsius={"sda": 41.0})


def entry(event: str, at_s: float = 0.0, **more: Any) -> dict[str, Any]:
    return {"event": event, "at_s": at_s, **more}


def news(*entries: dict[str, Any], lines: tuple[Line, ...] = (), state: str = "running") -> News:
    return News(entries=entries, lines=lines, offset=0, state=state)


def lines(*given: Any) -> tuple[Line, ...]:
    """A record begins a run, what surrounds it is so, and the rest are samples."""
    kinds = {"RunRecord": "begins", "Telemetry": "telemetry", "RunSample": "sample"}
    return tuple(Line(**{kinds[type(each).__name__]: each}) for each in given)


def test_a_run_is_what_began_last_with_its_samples() -> None:
    first, second = samples(100.0, 200.0)
    way = with_news(
        RUNNING,
        news(
            entry("work"),
            entry("run", run=0, of=6),
            lines=lines(record(0), first, HOT, record(1), first, second),
        ),
    )
    assert (way.run, way.of, way.state) == (0, 6, "running")
    assert way.record == record(1)
    assert way.samples == (first, second)
    assert way.telemetry is None  # that was the first run's


def test_what_fio_counted_before_it_began_anew_is_no_part_of_the_run() -> None:
    first, second = samples(100.0, 200.0)
    anew = replace(second, anew=True)
    assert with_news(RUNNING, news(lines=lines(record(), first, anew, HOT))).samples == (anew,)


def test_what_is_done_before_a_run_is_shown_until_it_begins() -> None:
    way = with_news(RUNNING, news(entry("doing", title="fstrim --verbose /srv")))
    assert way.doing == "fstrim --verbose /srv"
    assert with_news(way, news(entry("run", run=2, of=6))).doing == ""
    assert (
        with_news(way, news(entry("put back", title="scheduler none"))).doing
        == "putting back: scheduler none"
    )


def test_the_time_left_is_the_estimate_of_the_review_and_then_that_of_the_runs() -> None:
    """One function makes both: what the form's review says is what stands there at first."""
    work = replace(READ, size_bytes=READ.block_bytes * 100_000)
    schedule = Schedule(title="x", place=Place(device="sda"), work=work, repeats=6)
    way = replace(RUNNING, expected=expected_runs(schedule))
    assert way.left == estimate_duration(schedule)
    way = with_news(way, news(entry("work", 98.0), entry("run", 100.0, run=0, of=6), lines=lines(record(0))))
    assert way.left == estimate_duration(schedule)
    way = with_news(
        way,
        news(
            entry("run done", 109.0, run=0),
            entry("run", 110.0, run=1, of=6), entry("run done", 122.0, run=1),
            entry("run", 123.0, run=2, of=6),
        ),
    )  # fmt: skip
    assert (way.done, way.left) == (2, RunTime(seconds=48.0))
    assert RUNNING.left is None


def test_the_ramp_is_a_part_of_the_time_that_has_passed() -> None:
    first, second = samples(100.0, 200.0)
    schedule = Schedule(title="x", place=Place(device="sda"), work=replace(READ, runtime_s=60, ramp_s=5))
    way = replace(RUNNING, expected=expected_runs(schedule), run=0)
    assert estimate_duration(schedule).seconds == 66.0
    way = with_news(way, news(lines=lines(record(), replace(first, t_s=5.0), replace(second, anew=True))))
    assert way.left is not None
    assert way.left.seconds == 66.0 - 5.0 - second.t_s


def test_one_that_was_interrupted_counts_from_where_it_was_resumed() -> None:
    schedule = Schedule(title="x", place=Place(device="sda"), work=replace(READ, runtime_s=60), repeats=3)
    way = replace(RUNNING, expected=expected_runs(schedule), of=3)
    way = with_news(way, news(entry("work", 0.0), entry("run", 0.0, run=0), entry("run done", 61.0, run=0)))
    way = with_news(way, news(entry("work", 80_000.0), entry("run", 80_001.0, run=1, of=3)))
    assert way.left is not None
    assert way.left.seconds == 122.0


@pytest.mark.parametrize(
    ("entries", "state", "wanted"),
    [
        ([entry("work")], "running", ("running", "", True)),
        ([entry("failed", reason="fio died")], "failed", ("failed", "fio died", False)),
        ([entry("not begun", reason="another job")], "made", ("not begun", "another job", False)),
        ([entry("cancelled"), entry("work")], "running", ("running", "", True)),  # it was resumed
        ([], "interrupted", ("interrupted", "", False)),
    ],
)
def test_how_it_ended(entries: list[dict[str, Any]], state: str, wanted: tuple[str, str, bool]) -> None:
    way = with_news(RUNNING, news(*entries, state=state))
    assert (way.state, way.reason, way.works) == wanted


# -- on disk


def made(title: str, **schedule: Any) -> Job:
    """A benchmark that was asked for."""
    job = Job.create(Plan(title=f"bench: {title}", subject="/srv", steps=()), host="nas")
    work = Schedule(title=title, place=Place(directory="/srv"), work=READ, **schedule)
    job.keep(SCHEDULE_FILE, encode_schedule(work))
    return job


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("raidtui.jobs.store.journal_path", lambda: tmp_path / "journal.jsonl")


def test_there_is_none() -> None:
    assert ProgressWatcher().look() is None


def test_the_newest_one_is_followed() -> None:
    watcher = ProgressWatcher()
    made("random-read", axes=(Axis(kind=AxisKind.DEPTH, values=("1", "8")),), repeats=3)
    way = watcher.look()
    assert way is not None
    assert (way.title, way.place, way.of, way.state, way.open_end) == (
        "random-read", "/srv", 6, "made", False,
    )  # fmt: skip
    newer = made("mixed", conditions=Conditions(steady=True), repeats=25)
    newer.note(event="work")
    newer.note(event="failed", reason="no space")
    way = watcher.look()
    assert way is not None
    assert (way.job, way.title, way.open_end) == (newer.id, "mixed", True)
    assert (way.state, way.reason) == ("failed", "no space")


def test_a_schedule_that_cannot_be_read_is_said() -> None:
    job = made("random-read")
    (job.folder / SCHEDULE_FILE).write_text('{"raidtui_course": 99}')
    way = ProgressWatcher().look()
    assert way is not None
    assert way.reason.startswith("this is not a benchmark schedule:")


def test_a_worker_that_never_begins_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = 100.0
    monkeypatch.setattr("raidtui.features.bench.run.bench_jobs.time.monotonic", lambda: now_s)
    watcher = ProgressWatcher()
    made("random-read")
    assert getattr(watcher.look(), "works", None) is True
    now_s = 121.0
    way = watcher.look()
    assert way is not None
    assert (way.state, way.reason, way.works) == ("not begun", "its worker never started", False)


def test_a_run_in_which_fio_reports_nothing_promises_no_time() -> None:
    """What surrounds the run is read on, or nothing comes at all."""
    schedule = Schedule(title="x", place=Place(device="sda"), work=replace(READ, runtime_s=60))
    progress = replace(RUNNING, expected=expected_runs(schedule))
    [first, *_] = samples(100.0)
    progress = with_news(
        progress, news(entry("work"), entry("run", run=0, of=1), lines=lines(record(), first, HOT))
    )
    assert progress.silent_s is None
    assert progress.left is not None
    hung = with_news(progress, news(lines=lines(replace(HOT, t_s=first.t_s + 7.0))))
    assert (hung.silent_s, hung.left) == (7.0, None)
    assert replace(progress, unheard_s=9.0).silent_s == 9.0 + progress.behind_s
    assert replace(hung, doing="fstrim /srv").silent_s is None
    again = with_news(hung, news(lines=lines(replace(first, t_s=9.0))))
    assert again.silent_s is None
    ended = with_news(hung, news(entry("failed", reason="stopped"), state="failed"))
    assert ended.silent_s is None


def test_a_ramp_that_ends_is_no_silence() -> None:
    first, second = samples(100.0, 200.0)
    ramp = (record(), replace(first, t_s=30.0), replace(HOT, t_s=30.1))
    progress = with_news(
        RUNNING, news(entry("run", run=0, of=1), lines=lines(*ramp, replace(second, anew=True)))
    )
    assert progress.silent_s is None


def test_for_how_long_nothing_has_come(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = 100.0
    monkeypatch.setattr("raidtui.features.bench.run.bench_jobs.time.monotonic", lambda: now_s)
    job = made("random-read")
    job.note(event="work")
    monkeypatch.setattr(Job, "state", "running")
    watcher = ProgressWatcher()
    first = watcher.look()
    now_s = 112.0
    later = watcher.look()
    job.note(event="run", run=0, of=1)
    last = watcher.look()
    assert [each.unheard_s for each in (first, later, last) if each is not None] == [0.0, 12.0, 0.0]
