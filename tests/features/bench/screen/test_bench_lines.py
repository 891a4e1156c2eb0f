"""Pane 5's lines, whole: the history, one benchmark in full, tables, maps, curves. No widgets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from raidtui.features.bench.environment import Environment
from raidtui.features.bench.results.compare import METRICS, series_of, table
from raidtui.features.bench.results.published import heat_maps
from raidtui.features.bench.results.run_record import FAILED, PARTIAL, WHOLE, Figures, RunRecord
from raidtui.features.bench.screen.curves import curve_lines, drawn_of
from raidtui.features.bench.screen.heat_map import Layer, heat_map_lines
from raidtui.features.bench.screen.history_lines import (
    HistoryEntry,
    details_lines,
    entries_of,
    history_head,
    history_line,
)
from raidtui.features.bench.screen.run_table import comparison_lines
from raidtui.features.bench.telemetry import TelemetryRange
from raidtui.features.bench.workload import Workload
from raidtui.view.line import Line
from raidtui.view.text import cell_width
from tests.features.bench.records import (
    EPOCH_S,
    JOB,
    RANDOM,
    SCHEDULERS,
    chunk_sweep,
    curve_samples,
    measured,
    record,
    surroundings,
    sweep,
)
from tests.frame.drawn import text

SCHEDULED = sweep("scheduler", SCHEDULERS)
PAIR = sweep("scheduler", {name: SCHEDULERS[name] for name in ("none", "bfq")})
HEAT = chunk_sweep()


def entry(records: Sequence[RunRecord]) -> HistoryEntry:
    (found,) = entries_of(records)
    return found


def row(records: Sequence[RunRecord], width: int = 80, *, marked: bool = False, **more: Any) -> str:
    return text([history_line(entry(records), width, marked, **more)])


# -- the history


def test_newest_first() -> None:
    older = record(id=9, job="older", at_s=EPOCH_S - 5)
    assert [each.key for each in entries_of([older, *SCHEDULED, *HEAT])] == [HEAT[0].job, JOB, "older"]
    assert entries_of([]) == ()


def test_an_entry() -> None:
    found = entry(list(reversed(PAIR)))
    assert [run.id for run in found.records] == list(range(1, 13))
    assert (found.title, found.array, found.place) == (
        "random read 4K, depth 32 by scheduler",
        "data",
        "/srv",
    )
    assert (found.points, found.partial, found.failed, found.measure) == (2, 0, 0, "iops")
    assert (found.second, found.verdict) == ("bfq", "slower 30.9 %")
    assert found.spread is not None
    assert (found.spread.median, found.spread.low, found.spread.high) == (102_100, 101_300, 102_700)


@pytest.mark.parametrize(
    ("records", "line"),
    [
        (
            PAIR,
            "   20 Nov 21:25  random… by scheduler data      12   102k IOPS  b slower 30.9 %",
        ),
        (
            sweep("scheduler", {name: SCHEDULERS[name] for name in ("none", "mq-deadline")}),
            "   20 Nov 21:25  random… by scheduler data      12   102k IOPS  no difference",
        ),
        (
            sweep("scheduler", {name: SCHEDULERS[name] for name in ("none", "kyber")}),
            "   20 Nov 21:25  random… by scheduler data      12   102k IOPS  not decided",
        ),
        (
            sweep("governor", {"powersave": (7204.0,), "performance": (9100.0,)}),
            "   20 Nov 21:25  random … by governor data       2  9,100 IOPS  not decided",
        ),
        (
            SCHEDULED,
            "   20 Nov 21:25  random… by scheduler data      24   102k IOPS  of 4 series",
        ),
        (
            HEAT,
            "   21 Nov 08:31  random-read by chun… data      84   1070 MB/s  of 28 series",
        ),
        (
            [measured(RANDOM, 98_300.0, title="hot-spots")],
            "   20 Nov 21:25  hot-spots            data       1  98.3k IOPS",
        ),
        (
            [measured(RANDOM, iops, title="hot-spots", number=n) for n, iops in enumerate((98e3, 99e3, 9e4))],
            "   20 Nov 21:25  hot-spots            data       3    98k IOPS  90k … 99k",
        ),
        (
            [measured(RANDOM, 98_300.0, title="hot-spots", note="before [b]\x1b[2J", state=PARTIAL)],
            " ▲ 20 Nov 21:25  hot-spots · before … data       1  98.3k IOPS  1 partial",
        ),
        (
            [record(iops=0.0, state=FAILED, title="job file mine.fio", work=None)],
            " ✖ 20 Nov 21:25  job file mine.fio    data       1           –  failed",
        ),
        (
            [*PAIR, record(8, iops=0.0, state=FAILED), record(9, state=PARTIAL)],
            " ▲ 20 Nov 21:25  random… by scheduler data      14    418 MB/s  2 not whole",
        ),
        (
            [record(environment=Environment(), place="/dev/disk/by-id/wwn-0x5002538")],
            "   20 Nov 21:25  random-read          …002538    1  1,000 IOPS",
        ),
    ],
)  # fmt: skip
def test_rows(records: list[RunRecord], line: str) -> None:
    assert row(records) == line


def test_a_long_title_is_cut_by_what_was_measured_not_by_its_words() -> None:
    """Titles are free text: " by " in one does not mean that something was changed."""
    title = "random read and write by day and by night"
    assert "  random read and wri… data" in row([measured(RANDOM, 98_300.0, title=title)])
    changed = sweep("scheduler", {name: SCHEDULERS[name] for name in ("none", "bfq")})
    changed = [replace(run, title=title, preset="hot-spots") for run in changed]
    assert "  hot-sp… by scheduler data" in row(changed)


def test_a_marked_row() -> None:
    assert row(PAIR, marked=True)[:4] == "*  2"
    assert ("random… by scheduler", "strong") in history_line(entry(PAIR), 80, True)


def test_of_last_year_the_date() -> None:
    assert row(PAIR, now_s=EPOCH_S + 400 * 86_400)[:20] == "   2026-11-20    ran"


# -- one of them in full


def details(records: Sequence[RunRecord], width: int = 80) -> str:
    return text(details_lines(entry(records), width))


def test_details() -> None:
    """What the pictures of a benchmark in full do not show: a note, and what was read meanwhile."""
    runs = [
        replace(run, note="before [b]", during=TelemetryRange(mhz=(1200, 3400), celsius={"sda": 41.0}))
        for run in PAIR
    ]
    lines = details(runs).split("\n")
    assert lines[1] == " 2026-11-20 21:25 · 12 runs · 12 min measured · note: before [b]"
    assert " meanwhile    1200 to 3400 MHz, at most sda 41 °C" in lines
    assert lines[-1] == "   #12  21:36  b 70,450 IOPS  289 MB/s  p50 0.41  p99 1.1  p99.9 4.2 ms"


def test_where_runs_differ_all_that_they_had_is_reported() -> None:
    disk = surroundings().disks[0]
    other = replace(
        surroundings(), disks=(replace(disk, scheduler="bfq", worn_percent=(3.0, 4.0)),), free_bytes=300
    )
    same = replace(surroundings(), disks=(replace(disk, worn_percent=(3.0, 4.0)),))
    found = details(
        [replace(run, environment=other if number % 2 else same) for number, run in enumerate(PAIR)]
    )
    lines = found.split("\n")
    assert " sda          Samsung 850, SSDA, scheduler none / bfq, queue depth 32, worn 3 % → 4 %" in details(
        [replace(run, environment=other if number % 2 else same) for number, run in enumerate(PAIR)], 100
    ).split("\n")
    assert " filled       60.0 % / 70.0 %" in lines


def test_what_is_not_whole_and_what_was_noted() -> None:
    remarks = "A resync of data started during the run."
    runs = [
        replace(PAIR[0], remarks=(remarks,), steady="steady: 2 %"),
        replace(PAIR[1], state=PARTIAL, reason="stopped before it finished"),
        record(
            7, id=8, state=FAILED, reason="fio: \x1b[2J", iops=0.0, work=RANDOM, point={"scheduler": "bfq"}
        ),
        replace(PAIR[2], remarks=(remarks,)),
    ]
    lines = details(runs, 90).split("\n")
    at = lines.index(" ▲ partial    #2: stopped before it finished")
    assert lines[at - 2 : at + 2] == [
        " noted        #1, #3: A resync of data started during the run.",
        " noted        #1: steady: 2 %",
        " ▲ partial    #2: stopped before it finished",
        " ✖ failed     #8: fio: \\x1b[2J",
    ]
    assert lines[-4:] == [
        "   #1  21:25  a 101,900 IOPS  417 MB/s  p50 0.28  p99 0.75  p99.9 2.9 ms",
        "   #2  21:26  b ▲ partial  70,200 IOPS  288 MB/s  p50 0.41  p99 1.1  p99.9 4.2 ms",
        "   #3  21:27  a 102,700 IOPS  421 MB/s  p50 0.28  p99 0.75  p99.9 2.9 ms",
        "   #8  21:25  b ✖ failed  random read 4K, depth 32 (scheduler bfq)",
    ]


def test_what_was_not_steady_has_no_headline() -> None:
    why = "not steady: over the last 5 rounds values lie within 80.0 % of their mean"
    rounds = [
        record(n, 1000 + 100 * n, id=n + 1, repeat=n, seconds=9.0, work=RANDOM, steady=why, unsteady=True)
        for n in range(25)
    ]
    (entry,) = entries_of(rounds)
    assert (entry.spread, entry.unsteady) == (None, 1)
    assert text([history_line(entry, 80, False)]).endswith("  25           –  NOT STEADY")
    lines = details(rounds, 90).split("\n")
    assert "     NOT STEADY     5" in lines
    assert f" a NOT STEADY: #1 random-read has no figure after 25 rounds: {why}"[:80] in "\n".join(lines)
    assert " ▲ NOT STEADY the steady state was not reached, so these rounds have no common figure" in lines
    assert lines[-1].startswith("   #25  21:25    ▲ NOT STEADY  3,400 IOPS")
    point = [replace(run, point={"depth": "1"}) for run in rounds]
    other = record(30, 900, id=40, point={"depth": "8"}, seconds=9.0, work=RANDOM)
    (entry,) = entries_of([*point, other])
    assert text([history_line(entry, 80, False)]).endswith("  26    900 IOPS  1 NOT STEADY")


def test_rounds_under_five_seconds_are_called_short() -> None:
    lines = details([record(0, id=1, seconds=4.99), record(1, id=2, seconds=5.0)], 90).split("\n")
    assert " noted        #1: short: 5.0 s: runs under 5 s measure caches rather than disks" in lines
    assert [line.endswith("  short: 5.0 s") for line in lines[-2:]] == [True, False]


def test_one_run_alone() -> None:
    file = "[global]\nrw=read\n\x1b[2Jbs=4k\n"
    assert (
        details(
            [record(id=4, work=None, job_file=file, title="job file mine.fio", environment=Environment())]
        )
        == """\
 job file mine.fio on /srv
 2026-11-20 21:25 · 1 run · 1 s measured

      IOPS  runs  MB/s  p50 ms  p99 ms  p99.9
     1,000     1   8.2    0.18    0.74    2.9

 noted        short: 1 s: runs under 5 s measure caches rather than disks
 written      sda 4 KiB, sdb 8 KiB, in total

 the job file
   [global]
   rw=read
   \\x1b[2Jbs=4k"""
    )


# -- whatever there is

WORKS = st.one_of(
    st.none(),
    st.builds(
        Workload,
        rw=st.sampled_from(["read", "randread", "randwrite", "rw"]),
        block_bytes=st.sampled_from([512, 4096, 8192, 1 << 20]),
        size_bytes=st.just(1 << 30),
        depth=st.sampled_from([1, 32]),
    ),
)
SOME_NS = st.one_of(st.none(), st.integers(1, 10**12))
FIGURES = st.one_of(
    st.just(Figures()),
    st.builds(
        Figures,
        ios=st.integers(1, 10**9),
        iops=st.floats(0, 1e8),
        bytes_s=st.floats(0, 1e12),
        p50_ns=SOME_NS,
        p99_ns=SOME_NS,
        p999_ns=SOME_NS,
    ),
)
WORDS = st.text(max_size=60)
RECORDS = st.lists(
    st.builds(
        RunRecord,
        job=st.sampled_from(["one", "two"]),
        number=st.integers(0, 99),
        at_s=st.floats(0, 4e9),
        title=WORDS,
        place=WORDS,
        id=st.integers(0, 3),
        note=WORDS,
        state=st.sampled_from([WHOLE, PARTIAL, FAILED]),
        reason=WORDS,
        point=st.dictionaries(st.sampled_from(["block", "scheduler"]), st.sampled_from(["4096", "8192"])),
        work=WORKS,
        job_file=WORDS,
        seconds=st.floats(0, 1e6),
        read=FIGURES,
        write=FIGURES,
        written=st.dictionaries(WORDS, st.integers(0, 10**15), max_size=2),
        environment=st.sampled_from(
            [Environment(), surroundings(), surroundings(label="写真と音楽と動画と文書")]
        ),
        remarks=st.lists(WORDS, max_size=2).map(tuple),
    ),
    max_size=8,
)


def narrow_enough(lines: Sequence[Line], width: int) -> bool:
    return all(sum(cell_width(part) for part, _ in line) <= width for line in lines)


@settings(max_examples=60, deadline=None)
@given(RECORDS, st.integers(20, 130), st.sampled_from(list(METRICS)))
def test_lines_fit_whatever_was_measured(records: list[RunRecord], width: int, by: str) -> None:
    """A record that nobody foresaw is shown, and no line is wider than the window."""
    assert narrow_enough([history_head(width)], width)
    for each in entries_of(records):
        assert narrow_enough([history_line(each, width, True)], width)
        assert narrow_enough(details_lines(each, width), width)
    series = series_of(records)
    measure = METRICS[by]
    assert narrow_enough(comparison_lines(table(series, measure), measure, width), width)
    kept = curve_samples([run for run in records if run.iops], seconds=3)
    assert narrow_enough(curve_lines(drawn_of(series, kept, by)[:6], by, width, 20), width)
    for heat in heat_maps(records):
        for layer in Layer:
            assert narrow_enough(heat_map_lines(heat, width, 12, layer=layer), width)
