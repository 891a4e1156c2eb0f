"""Hits of caches from their counters, and what is said of their state."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from raidtui.features.bench.cache_figures import (
    CacheCount,
    CacheReading,
    CacheRun,
    HitPoint,
    hit_points,
    hits_of,
    is_cold,
    percent_words,
)
from raidtui.features.bench.results.run_record import decode, encode, readings_of
from raidtui.model.stack import CacheState
from tests.features.bench.records import cache_samples, over_cache


def reading(t_s: float, hits: int, misses: int, name: str = "dm-0") -> CacheReading:
    return CacheReading(t_s=t_s, counts=(CacheCount(name=name, hits=hits, misses=misses),))


def test_hits_over_time() -> None:
    """Between readings; nothing is said of a second without requests, nor of another cache."""
    readings = [
        reading(0.0, 100, 50),
        reading(1.0, 190, 60),
        reading(2.0, 190, 60),
        CacheReading(t_s=2.5),
        reading(3.0, 190, 100),
        reading(3.0, 5, 5, "bcache0"),
    ]
    assert hit_points(readings, "dm-0") == (
        HitPoint(t_s=1.0, ratio=0.9, requests=100),
        HitPoint(t_s=3.0, ratio=0.0, requests=40),
    )
    assert hits_of(readings, "dm-0") == (90, 50)
    assert hits_of(readings, "bcache0") is None
    assert hits_of([], "dm-0") is None


def test_counters_that_begin_anew() -> None:
    """LVM loads the table again: what was between these two readings is not known."""
    readings = [reading(0.0, 100, 50), reading(1.0, 3, 0), reading(2.0, 13, 10)]
    assert hit_points(readings, "dm-0") == (HitPoint(t_s=2.0, ratio=0.5, requests=20),)
    assert hits_of(readings, "dm-0") == (10, 10)


@given(st.lists(st.tuples(st.integers(0, 1000), st.integers(0, 1000)), max_size=20))
def test_hits_are_shares(counts: list[tuple[int, int]]) -> None:
    readings = [reading(float(at), hits, misses) for at, (hits, misses) in enumerate(counts)]
    points = hit_points(readings, "dm-0")
    assert all(0 <= point.ratio <= 1 and point.requests > 0 for point in points)
    found = hits_of(readings, "dm-0")
    assert sum(point.requests for point in points) == (sum(found) if found else 0)


@pytest.mark.parametrize(
    ("used", "total", "work", "cold"),
    [
        (0, 4 << 30, 4 << 30, True),
        (409 << 20, 4 << 30, 4 << 30, True),
        (410 << 20, 4 << 30, 4 << 30, False),
        (2 << 30, 100 << 30, 4 << 30, False),
        (1 << 20, 4 << 30, 8 << 20, False),
        (1 << 30, 100 << 30, 0, True),
        (None, 4 << 30, 4 << 30, None),
        (0, None, 4 << 30, None),
        (0, 0, 4 << 30, None),
    ],
)
def test_cold(used: int | None, total: int | None, work: int, cold: bool | None) -> None:  # noqa: FBT001
    assert is_cold(used, total, work) is cold


@pytest.mark.parametrize(
    ("ratio", "words"), [(0.0, "0.0 %"), (0.8734, "87.3 %"), (0.99996, "99.9 %"), (1.0, "100.0 %")]
)
def test_percent(ratio: float, words: str) -> None:
    assert percent_words(ratio) == words


def test_a_cache_in_a_line() -> None:
    (cache,) = over_cache(1, 10_000, 0.873, cold=True).caches
    assert cache.line == (
        "vc/slow: lvm-cache, writeback, used 0.0 → 75.0 % of 4 GiB, not written back 0 B,"
        " 49,000 promotions, hits 87.3 % of 600,000 requests, began cold"
    )
    bcache = CacheRun(name="bcache0", kind="bcache", hits=9, misses=1, by_requests=True)
    words = (
        "bcache0: bcache, mode not known, hits 90.0 % of 10 reads, by those that did not reach the backing"
    )
    assert bcache.line == f"{words} device"
    assert replace(bcache, hits=0, misses=0).hits_words == "no requests"
    broken = CacheRun(name="dm-0", kind="lvm-cache", before=CacheState(trouble="Fail"))
    assert broken.line == "dm-0: lvm-cache, mode not known, Fail, hits not known"


def test_a_record_keeps_its_caches() -> None:
    run = over_cache(1, 10_000, 0.873, cold=True)
    assert decode(encode(run)) == replace(run, id=run.id)
    assert (run.cold, run.cache) == (True, run.caches[0])
    assert replace(run, caches=()).cold is None
    assert len(readings_of(cache_samples(run, 0.1, 0.9, seconds=10))) == 10
