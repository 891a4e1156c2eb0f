"""What pane 5 says of a benchmark that is under way."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from raidtui.features.bench.estimate import estimate_duration, expected_runs
from raidtui.features.bench.place import Place
from raidtui.features.bench.results.run_record import Flow, RunSample
from raidtui.features.bench.run.bench_progress import BenchProgress
from raidtui.features.bench.schedule import Schedule
from raidtui.features.bench.screen.live_lines import live_lines
from raidtui.view.line import Line
from raidtui.view.text import cell_width
from tests.features.bench.records import cache_samples, over_cache, record
from tests.features.bench.screen.bench_pane_stage import RUNNING, TELEMETRY, WORK, sample


def text(way: BenchProgress, width: int = 80, height: int = 24) -> list[str]:
    lines = live_lines(way, width, height)
    return ["".join(part for part, _ in line).rstrip() for line in lines]


def roles(line: Line) -> list[str]:
    return [role for _, role in line]


def samples(*iops: float) -> tuple[RunSample, ...]:
    return tuple(sample(0.25 * (number + 1), each) for number, each in enumerate(iops))


def test_hits_of_a_cache() -> None:
    """Beside IOPS, over the same time; a run that began with an empty cache is said to be cold."""
    run = over_cache(7, 30_000, 0.5, cold=True)
    seen = cache_samples(run, 0.1, 0.9, seconds=40)
    way = replace(RUNNING, record=run, samples=seen)
    lines = text(way)
    assert lines[1].split()[0] == "IOPS"
    assert lines[2].split()[:3] == ["hits", "%", "90.0"]
    assert lines[2].endswith("vc/slow writeback, began cold")
    charts = [line[19:44].rstrip() for line in lines[1:3]]
    assert len(charts[0]) == len(charts[1])
    assert charts[1][0] == "▁"
    assert charts[1][-1] == "▆"  # 90 % of a full cell
    warm = replace(run, caches=over_cache(7, 30_000, 0.5, cold=False).caches)
    assert text(replace(way, record=warm))[2].endswith("  vc/slow writeback")
    assert text(replace(way, samples=()))[2].split()[:3] == ["hits", "%", "–"]
    assert [line.split()[0] for line in text(replace(way, record=replace(run, caches=())))[1:3]] == [
        "IOPS",
        "MB/s",
    ]


def test_fio_that_hangs() -> None:
    """What it measured last is no measure of now; nothing is promised."""
    schedule = Schedule(title="x", place=Place(device="sda"), work=replace(WORK, jobs=1), repeats=3)
    progress = replace(
        RUNNING, samples=samples(95_100, 102_325), behind_s=12.0, expected=expected_runs(schedule)
    )
    assert text(progress)[1:] == [
        " IOPS           –  ▇▇                                median 98.7k  95.1k … 102k",
        " MB/s           –",
        " p99 ms         –  ▇▇",
        " CPU    4.2 GHz performance   sda 41 °C   sdb 39 °C   data clean, no sync",
        " no report from fio for 12 s: a disk may hang; x stops it",
    ]
    before = replace(progress, samples=())
    words = " no report from fio for 12 s: it creates its files, or a disk hangs; x stops it"
    assert text(before)[-1] == words
    assert roles(live_lines(before, 80, 24, stop_key="Z")[-1]) == ["warn"]


def test_of_a_mix_both_sides_are_reported() -> None:
    way = replace(RUNNING, samples=(sample(1.0, 71_000, 30_400),))
    assert text(way)[2].split() == ["MB/s", "415", "read", "71k,", "write", "30.4k"]


def test_without_a_time_it_goes_by_size() -> None:
    by_size = replace(
        RUNNING, record=record(work=replace(WORK, runtime_s=0)), samples=(sample(1.0, 131_072),)
    )
    assert text(by_size)[0].endswith("25 % of 2 GiB  run 2 of 3")


def test_of_a_job_file_nobody_knows_the_end() -> None:
    way = replace(RUNNING, record=record(work=None, title="job file mine.fio"), samples=(sample(12.0, 100),))
    assert text(way)[0].split("  ")[0] == " job file mine.fio on data: /srv"
    assert text(way)[0].endswith("12 s  run 2 of 3")


def test_the_time_left_of_a_sweep() -> None:
    """A minute of each, and 16 of 24 runs to come; what is known of a job file comes with its first run."""
    schedule = Schedule(title="x", place=Place(device="sda"), work=replace(WORK, jobs=1), repeats=24)
    expected = expected_runs(schedule)
    at_first = replace(RUNNING, of=24, run=0, expected=expected)
    assert text(at_first)[2].endswith("about 24 min left")
    assert estimate_duration(schedule).sentence == "About 24 min."
    ended = {"ended": frozenset(range(8)), "first_s": 0.0, "last_s": 80.0}
    way = replace(RUNNING, samples=samples(100.0), of=24, run=8, done=8, expected=expected, **ended)
    assert text(way)[0].endswith("0 s of 60  run 9 of 24")
    assert text(way)[2].endswith("about 3 min left")


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ({"run": None, "state": "made"}, "begins"),
        ({"run": None, "doing": "writing 500 MiB once"}, "writing 500 MiB once"),
        ({"doing": "fstrim --verbose /srv"}, "fstrim --verbose /srv  run 2 of 3"),
        ({"open_end": True, "of": 25}, "0 s of 60  run 2 of up to 25, NOT STEADY yet"),
        ({"open_end": True, "of": 25, "steady": False}, "0 s of 60  run 2 of up to 25, NOT STEADY yet"),
        ({"open_end": True, "of": 25, "steady": True}, "0 s of 60  run 2 of up to 25"),
    ],
)  # fmt: skip
def test_how_far_it_is(changes: dict[str, object], wanted: str) -> None:
    assert text(replace(RUNNING, **changes), width=120)[0].endswith(f"  {wanted}")


def test_of_many_disks_the_warmest_is_reported() -> None:
    many = {f"sd{letter}": 30.0 + number for number, letter in enumerate("abcdefgh")}
    way = replace(RUNNING, telemetry=replace(TELEMETRY, celsius=many))
    assert "   8 disks 30 … 37 °C (sdh)" in text(way, width=120)[-1]


def test_in_a_tall_window_the_chart_is_tall() -> None:
    way = replace(RUNNING, samples=samples(10, 50, 100))
    assert len(text(way, width=120, height=40)) == len(text(way)) + 2


def test_the_whole_run_is_in_the_chart() -> None:
    """A cell is a longer slice of time as soon as all are full."""
    way = replace(
        RUNNING, samples=tuple(sample(0.25 * (n + 1), 100.0 if n < 120 else 50.0) for n in range(240))
    )
    chart = text(way)[1]
    assert "▇" * 10 in chart
    assert "▄" * 10 in chart


FLOWS = st.builds(
    Flow,
    iops=st.floats(0, 1e8),
    bytes_s=st.floats(0, 1e12),
    p50_ns=st.none() | st.integers(0, 10**12),
    p99_ns=st.none() | st.integers(0, 10**12),
    p999_ns=st.none() | st.integers(0, 10**12),
)
SAMPLES = st.builds(
    RunSample,
    t_s=st.floats(0, 1e6),
    read=FLOWS,
    write=FLOWS,
    ios=st.tuples(st.integers(0, 10**12), st.integers(0, 10**12)),
    size_bytes=st.tuples(st.integers(0, 10**15), st.integers(0, 10**15)),
)


@given(
    found=st.lists(SAMPLES, max_size=8).map(lambda found: tuple(sorted(found, key=lambda each: each.t_s))),
    width=st.integers(60, 200),
    height=st.integers(15, 60),
    title=st.text(max_size=100),
    doing=st.text(max_size=100),
)
def test_whatever_is_shown_lines_fit(
    found: tuple[RunSample, ...], width: int, height: int, title: str, doing: str
) -> None:
    way = replace(RUNNING, samples=found, doing=doing, record=record(work=None, title=title))
    for line in live_lines(way, width, height):
        assert sum(cell_width(part) for part, _ in line) <= width
