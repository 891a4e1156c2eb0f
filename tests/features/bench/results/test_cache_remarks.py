"""Cold caches against filled ones, and published figures."""

from __future__ import annotations

from msgspec.structs import replace

from raidtui.features.bench.report.export import csv_text
from raidtui.features.bench.report.html_report import html_report
from raidtui.features.bench.results.cache_remarks import cache_remarks
from raidtui.features.bench.results.compare import METRICS, curves, measures_of, series_of, table, table_lines
from tests.features.bench.records import HOT_SPOTS, SCHEDULERS, cache_samples, over_cache, sweep

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
    lines = table_lines(table(series, METRICS["hits"]), METRICS["hits"])
    assert [line.split() for line in lines[:3]] == [
        ["hits", "from", "to", "runs"],
        ["#1", "first", *["62.0", "%"] * 3, "1"],
        ["#2", "second", *["97.0", "%"] * 3, "1"],
    ]


def test_reports() -> None:
    samples = {1: cache_samples(COLD, 0.05, 0.8), 2: cache_samples(FILLED, 0.97, 0.97)}
    first, second = curves(series_of([COLD, FILLED]), samples)
    assert (len(first.hits), len(second.hits)) == (59, 59)
    assert (first.hits[0][1] < 0.1, first.hits[-1][1] > 0.75) == (True, True)
    page = html_report([COLD, FILLED], samples)
    assert "<h2>Hit ratio of the cache over time</h2>" in page
    assert "hits, % over time" in page
    assert "vc/slow: lvm-cache, writeback, used 0.0 → 75.0 % of 4 GiB" in page
    assert "#1 first began with a cold cache, #2 second did not" in page
    rows = csv_text([COLD, FILLED]).split("\n")
    assert rows[0].endswith(",cache,cache_kind,cache_mode,cache_cold,hit_ratio")
    assert rows[1].endswith(",vc/slow,lvm-cache,writeback,True,0.62")
