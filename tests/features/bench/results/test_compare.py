"""Runs side by side: series, tables, verdicts, curves, the heat map."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from raidtui.features.bench.environment import Environment
from raidtui.features.bench.export import csv_text, export_bytes
from raidtui.features.bench.results.compare import (
    METRICS,
    Curve,
    curves,
    family_of,
    measures_of,
    series_of,
    statements_of,
    table,
    table_lines,
)
from raidtui.features.bench.results.comparison_verdict import Best
from raidtui.features.bench.results.published import (
    HeatMap,
    cache_remarks,
    heat_lines,
    heat_maps,
    published_mb_s,
)
from raidtui.features.bench.results.run_record import FAILED, PARTIAL, RunRecord
from raidtui.features.bench.results.run_store import RunFiles
from raidtui.plans.wizard.evidence import SOURCE, TABLE
from tests.features.bench.records import (
    HOT_SPOTS,
    READ,
    SCHEDULERS,
    cache_samples,
    chunk_sweep,
    over_cache,
    record,
    samples,
    surroundings,
    sweep,
)

A_B = [
    record(number, iops, id=number + 1, point={"scheduler": word}, block=number // 4, visit=number // 4)
    for number, (word, iops) in enumerate(
        [("none", 1000), ("bfq", 800), ("none", 1010), ("bfq", 820), ("none", 990), ("bfq", 810)] * 2
    )
]


def test_series() -> None:
    first, second = series_of(A_B)
    assert (first.label, second.label) == ("scheduler none", "scheduler bfq")
    assert [run.iops for run in second.runs] == [800, 820, 810] * 2


def test_runs_that_are_not_whole_count_only_where_there_are_no_others() -> None:
    partial = replace(A_B[0], number=9, state=PARTIAL, read=replace(A_B[0].read, iops=1.0))
    failed = replace(A_B[1], number=10, state=FAILED)
    first, second = series_of([*A_B, partial, failed])
    assert (len(first.runs), len(second.runs)) == (6, 6)
    (only,) = series_of([partial])
    assert only.runs == (partial,)
    assert series_of([failed]) == ()


def test_of_a_steady_state_the_last_five_rounds_count() -> None:
    rounds = [record(number, 1000 - number, steady="not steady yet") for number in range(8)]
    (series,) = series_of(rounds)
    assert [run.number for run in series.runs] == [3, 4, 5, 6, 7]


def test_different_benchmarks_are_distinguished() -> None:
    other = record(0, 900, id=7, job="other", title="mixed", note="after the update")
    labels = [series.label for series in series_of([*A_B, other])]
    assert labels == [
        "#1 random-read (scheduler none)",
        "#2 random-read (scheduler bfq)",
        "#7 after the update",
    ]


def test_a_table() -> None:
    measure = METRICS["iops"]
    assert table_lines(table(series_of(A_B), measure), measure) == [
        "                      iops        from          to  runs",
        "scheduler none       1,000         990       1,010     6",
        "scheduler bfq          810         800         820     6",
        "scheduler bfq is slower than scheduler none by 19.0 % (-20.4 % to -17.6 %, 97 % interval)",
    ]


def test_a_table_of_latencies() -> None:
    measure = METRICS["p99"]
    slow = [replace(run, read=replace(run.read, p99_ns=1_480_000)) if number % 2 else run
            for number, run in enumerate(A_B)]  # fmt: skip
    lines = table_lines(table(series_of(slow), measure), measure)
    assert lines[1] == "scheduler none     0.74 ms     0.74 ms     0.74 ms     6"
    assert lines[3] == (
        "scheduler bfq is slower than scheduler none by 100.0 % (+99.9 % to +100.2 %, 97 % interval)"
    )
    without = [replace(run, read=replace(run.read, p99_ns=None)) for run in A_B]
    assert table_lines(table(series_of(without), measure), measure)[1] == "scheduler none           –"


def test_unlike_is_not_compared() -> None:
    """Of four series only those are compared that were asked the same."""
    work = replace(READ, block_bytes=65536)
    four = [*A_B, replace(A_B[0], number=6, id=7), replace(A_B[1], number=7, id=8)]
    large = [replace(run, id=run.id + 10, work=work, point={**run.point, "block": "65536"}) for run in four]
    small = [replace(run, point={**run.point, "block": "8192"}) for run in four]
    rows = table(series_of([*small, *large]), METRICS["iops"])
    assert [row.sentence.partition(" by ")[0] for row in rows] == [
        "",
        "scheduler bfq, block 8K is slower than scheduler none, block 8K",
        "",
        "scheduler bfq, block 64K is slower than scheduler none, block 64K",
    ]


def test_curves() -> None:
    """Of each series the run in the middle; one without samples is left out."""
    first, second = series_of(A_B)
    found = curves([first, second], {1: samples(1.0, 2.0), 3: samples(9.0)})
    assert found == (
        Curve(
            label="scheduler none: run #1, the median of 6 by IOPS",
            points=((0.25, 1.0, 8192.0, 740_000), (0.5, 2.0, 16384.0, 740_000)),
            run=1,
        ),
    )
    (alone,) = curves(series_of(A_B[:1]), {1: samples(1.0)})
    assert alone.label.endswith(": run #1")


def test_a_heat_map() -> None:
    runs = [
        record(
            number,
            iops,
            point={"chunk": chunk, "block": str(block)},
            work=replace(READ, block_bytes=block),
            block=0,
            visit=0,
        )
        for number, (chunk, block, iops) in enumerate(
            [
                ("16", 8192, 8000),
                ("one", 8192, 7000),
                ("16", 16384, 9000),
                ("16", 8192, 8100),
                ("16", 8192, 7900),
            ]
        )
    ]
    (heat,) = heat_maps(runs)
    assert heat == HeatMap(
        title="random read, MB/s",
        what="random read",
        rows=("one", "16"),
        columns=(8192, 16384),
        yours=((7000 * 8192 / 1e6, None), (8000 * 8192 / 1e6, 9000 * 8192 / 1e6)),
        published=((67.0, 132.0), (69.0, 156.0)),
        source=SOURCE,
        best=Best(places=(None, None), runs=3, of=1, fewest=5),
    )
    assert heat_lines(heat) == [
        "chunk x block size, random read, MB/s: yours (published)",
        "               8K         16K",
        "one     57.3 (67)     – (132)",
        "16K     65.5 (69)  73.7 (156)",
        "no chunk is decidedly the fastest: 3 runs of each, but 1 comparison needs at least 5",
        f"published: {SOURCE}",
    ]


def test_the_fastest_chunk_is_marked_where_it_is_decided() -> None:
    (heat,) = heat_maps(chunk_sweep(repeats=10))
    assert (heat.best.runs, heat.best.of, heat.best.fewest) == (10, 21, 9)
    text = "\n".join(heat_lines(heat))
    assert "*: the fastest chunk of a block size, where that is decided" in text
    winners = [None if place is None else heat.rows[place] for place in heat.best.places]
    assert winners == WINNERS
    assert sum(line.count("*") for line in heat_lines(heat)[2:-2]) == sum(map(bool, WINNERS))
    (few,) = heat_maps(chunk_sweep(repeats=3))
    assert set(few.best.places) == {None}
    assert (
        "no chunk is decidedly the fastest: 3 runs of each, but 21 comparisons need at least 9"
    ) in heat_lines(few)


# Where the two best are within their spread, none is: at 8K, and at 1M.
WINNERS = [None, "16", "16", "16", "32", "32", None]
UNSTEADY = "not steady: over the last 5 rounds values lie within 80.0 % of their mean"


def test_what_was_not_steady_has_no_figure() -> None:
    rounds = [
        record(n, 1000 + 100 * n, id=n + 1, repeat=n, steady=UNSTEADY, unsteady=True, point={"depth": "1"})
        for n in range(25)
    ]
    steady = [
        record(n, 1000, id=n + 1, repeat=n - 25, steady="steady: 1 %", point={"depth": "8"})
        for n in range(25, 31)
    ]
    first, second = rows = table(series_of([*rounds, *steady]), METRICS["iops"])
    assert (first.spread, first.verdict, second.verdict) == (None, None, None)
    assert second.spread is not None
    words = f"NOT STEADY: depth 1 has no figure after 25 rounds: {UNSTEADY}"
    assert [reported.sentence for reported in statements_of(rows)] == [words]
    lines = table_lines(rows, METRICS["iops"])
    assert lines[1] == "depth 1  NOT STEADY"
    assert lines[2].startswith("depth 8       1,000")
    assert lines[3:] == [words]
    (one,) = curves(series_of(rounds), {23: samples(1.0)})
    assert one.label.endswith(": NOT STEADY, run #23, the median of 5 by IOPS")
    chunks = [replace(run, point={"chunk": "16"}) for run in rounds]
    others = [record(40 + n, 900, id=50 + n, point={"chunk": chunk}) for n, chunk in enumerate(("32", "512"))]
    (heat,) = heat_maps([*chunks, *others])
    assert (heat.rows, heat.left_out) == (("32", "512"), ("chunk 16K",))
    assert "NOT STEADY, so without a figure: chunk 16K" in heat_lines(heat)


def test_too_few_runs_are_said_once_and_name_all() -> None:
    runs = [
        record(number, 1000, id=number + 1, point={"depth": str(depth)}, block=0, visit=0)
        for number, depth in enumerate([1, 2, 4, 8, 16, 32])
    ]
    rows = table(series_of(runs), METRICS["iops"])
    assert rows[1].sentence == (
        "not decided: depth 2 against depth 1: 1 and 1 runs cannot decide among 5 comparisons;"
        " at least 7 of each are needed"
    )
    (reported,) = statements_of(rows)
    assert (reported.sentence, reported.places) == (
        (
            "not decided: depth 2, depth 4, depth 8, depth 16 and 1 more against depth 1: 1 and 1 runs"
            " cannot decide among 5 comparisons; at least 7 of each are needed"
        ),
        (1, 2, 3, 4, 5),
    )
    assert table_lines(rows, METRICS["iops"])[-1] == family_of(rows)


def test_the_row_of_an_array_that_was_there() -> None:
    blocks = [
        record(n, 1000, point={"block": str(b)}, work=replace(READ, block_bytes=b))
        for n, b in enumerate((8192, 4096))
    ]
    (heat,) = heat_maps(blocks)
    assert (heat.rows, heat.columns, heat.published) == (("32",), (4096, 8192), ((None, 69.0),))
    alone = [
        replace(run, environment=replace(surroundings(), arrays=(), disks=surroundings().disks[:1]))
        for run in blocks
    ]
    assert heat_maps(alone)[0].rows == ("one",)
    assert heat_maps([replace(run, environment=Environment()) for run in blocks]) == ()
    assert heat_maps(blocks[:1]) == ()


def test_the_published_figures() -> None:
    """Printed in MiB/s: 873 and 836; a table has one unit, 10^6 bytes."""
    assert published_mb_s("randwrite", "512", 20000 * 1024) == round(873 * 2**20 / 10**6) == 915
    assert published_mb_s("write", "512", 1 << 20) == round(836 * 2**20 / 10**6) == 877
    assert published_mb_s("read", "16", 1 << 20) is None
    assert published_mb_s("randread", "64", 8192) is None
    assert published_mb_s("randrw", "32", 8192) is None
    assert published_mb_s("randread", "32", 4096) is None
    assert len(TABLE) == 4


def test_what_a_setting_changes_besides_is_said() -> None:
    """The kernel gives a disk another nr_requests with each scheduler: the verdict is over both."""

    def with_requests(run: RunRecord, count: int) -> RunRecord:
        disks = tuple(replace(disk, requests=count) for disk in run.environment.disks)
        return replace(run, environment=replace(run.environment, disks=disks))

    runs = [with_requests(run, 1023 if run.point["scheduler"] == "none" else 256) for run in A_B]
    rows = table(series_of(runs), METRICS["iops"])
    assert rows[1].sentence.endswith("; scheduler bfq also had nr_requests 256 instead of 1023")
    assert "also had" not in table(series_of(A_B), METRICS["iops"])[1].sentence


def test_two_benchmarks_have_no_verdict() -> None:
    later = [replace(run, id=run.id + 20, job="later", read=replace(run.read, iops=9e9)) for run in A_B]
    rows = table(series_of([A_B[0], later[0]]), METRICS["iops"])
    assert rows[1].sentence == (
        "not decided: #21 random-read against #1 random-read: measured at different times;"
        " one sweep or A/B measures both in a random order"
    )


def test_a_heat_map_holds_one_workload() -> None:
    """Runs of other depths, patterns, disks or settings are in no cell of it; the disk by itself is."""
    points = [("16", 8192), ("16", 16384), ("32", 8192)]
    chunks = [
        record(number, 1000 + number, point={"chunk": chunk, "block": str(block)},
               work=replace(READ, block_bytes=block))
        for number, (chunk, block) in enumerate(points)
    ]  # fmt: skip
    (alone,) = heat_maps(chunks)
    here = chunks[0].environment
    slower = replace(here, disks=tuple(replace(disk, queue_depth=1) for disk in here.disks))
    changes: tuple[dict[str, Any], ...] = (
        {"work": replace(READ, depth=4)},
        {"work": replace(READ, distribution="zipf:1.2")},
        {"environment": slower},
        {"point": {"scheduler": "none"}},
    )
    others = [
        replace(
            run,
            job=str(place),
            read=replace(run.read, bytes_s=1e12),
            environment=more.get("environment", here),
            work=replace(more.get("work", READ), block_bytes=int(run.point["block"])),
            point=run.point | more.get("point", {}),
        )
        for run in chunks
        for place, more in enumerate(changes)
    ]
    found = heat_maps([*chunks, *others])
    assert len(found) == 5
    assert found[0] == alone
    assert found[4].title == "random read, scheduler none, MB/s"
    one = replace(
        chunks[0], job="one", point={"chunk": "one", "block": "8192"},
        environment=replace(here, disks=here.disks[:1], arrays=()),
    )  # fmt: skip
    (with_one,) = heat_maps([one, *chunks])
    assert with_one.rows == ("one", "16", "32")
    deaf = replace(one, environment=replace(slower, disks=slower.disks[:1], arrays=()))
    assert heat_maps([deaf, *chunks]) == (alone,)


COLD = over_cache(1, 31_000, 0.62, cold=True, note="first")
FILLED = over_cache(2, 88_000, 0.97, cold=False, note="second")
PUBLISHED = (
    (
        "Published for hot-spots (strugglers.net, July 2017, in a virtual machine: 4 GiB of data, a cache of"
        " 4 GiB on an SSD over hard disks, 20 min): an SSD alone 102,325 IOPS (Linux 4.9), 102,742 IOPS"
        " (Linux 4.11), 104,352 IOPS (Linux 4.12)."
    ),
    (
        "Published in words and curves only: lvmcache was fast with an empty cache; with a full one it was"
        " about as slow as the hard disks before Linux 4.12, and about as fast as the SSD since. bcache came"
        " close to the SSD quickly with sequential_cutoff 0, and slowly with its default of 4 MiB."
    ),
)


def test_a_cold_one_against_a_filled_one() -> None:
    assert cache_remarks(series_of([COLD, FILLED])) == (
        (
            "#1 first began with a cold cache, #2 second did not: what differs between them may be what was"
            " in the cache."
        ),
        *PUBLISHED,
        "#1 first: 31,000 IOPS, 30 % of that SSD's on Linux 4.12.",
        "#2 second: 88,000 IOPS, 84 % of that SSD's on Linux 4.12.",
    )


def test_one_alone() -> None:
    smaller = replace(COLD, work=replace(HOT_SPOTS, size_bytes=1 << 20))
    words = cache_remarks(series_of([smaller]))
    assert words[0] == "It began with a cold cache: the next run may be faster."
    assert words[-1].endswith(
        " 30 % of that SSD's on Linux 4.12, with other options than the published ones."
    )
    assert cache_remarks(series_of([COLD, over_cache(3, 30_000, 0.6, cold=True)]))[0] == (
        "All of them began with a cold cache."
    )


def test_repeats_of_which_one_was_cold() -> None:
    again = replace(FILLED, job=COLD.job, number=1, repeat=1)
    (first, *_) = cache_remarks(series_of([COLD, again]))
    assert first == ("#1 first: 1 of 2 runs began with a cold cache, so its values are not of one kind.")


def test_nothing_is_said_without_caches() -> None:
    assert cache_remarks(series_of(sweep("scheduler", SCHEDULERS))) == ()
    unknown = [replace(each, cold=None) for each in COLD.caches]
    assert cache_remarks(series_of([replace(COLD, preset="", caches=tuple(unknown))])) == ()


def test_compared_by_hits() -> None:
    series = series_of([COLD, FILLED])
    assert measures_of(series)[-1] == "hits"
    assert "hits" not in measures_of(series_of(sweep("scheduler", SCHEDULERS)))


def test_reports() -> None:
    samples = {1: cache_samples(COLD, 0.05, 0.8), 2: cache_samples(FILLED, 0.97, 0.97)}
    first, second = curves(series_of([COLD, FILLED]), samples)
    assert (len(first.hits), len(second.hits)) == (59, 59)
    assert (first.hits[0][1] < 0.1, first.hits[-1][1] > 0.75) == (True, True)
    page = export_bytes("html", [COLD, FILLED], RunFiles(samples=samples)).decode()
    assert "<h2>Hit ratio of the cache over time</h2>" in page
    assert "hits, % over time" in page
    assert "vc/slow: lvm-cache, writeback, used 0.0 → 75.0 % of 4 GiB" in page
    assert "#1 first began with a cold cache, #2 second did not" in page
    rows = csv_text([COLD, FILLED]).split("\n")
    assert rows[0].endswith(",cache,cache_kind,cache_mode,cache_cold,hit_ratio")
    assert rows[1].endswith(",vc/slow,lvm-cache,writeback,True,0.62")
