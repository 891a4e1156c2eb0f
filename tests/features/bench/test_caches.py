"""The caches below a run, read from the captured host."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from raidtui.features.bench.caches import (
    CacheCount,
    CacheReading,
    CacheRun,
    CacheWatch,
    hit_points,
    hits_of,
    is_cold,
    percent_words,
)
from raidtui.features.bench.place import Place, find_device
from raidtui.features.bench.results.run_record import RunSample, decode, readings_of
from raidtui.features.bench.run import measure
from raidtui.features.bench.run.fio_process import FioEnd
from raidtui.host.stack.device_mapper import STATUS
from raidtui.host.tools import output_path
from raidtui.jobs.sandbox import Sandbox
from raidtui.model.stack import CacheState
from tests.features.bench.records import READ, cache_samples, over_cache, record
from tests.hosts.stack_host import STATUS_FILE, StackHost
from tests.lab.guests.deadline import wait_until

_FILLED = "/sys/class/block/ubdg/bcache/priority_stats"


def place_on(host: StackHost, name: str) -> Place:
    place = find_device(host, name)
    assert isinstance(place, Place)
    return place


def test_lvmcache() -> None:
    """Its state and counters are those that dmsetup printed."""
    host = StackHost()
    watch = CacheWatch(host, place_on(host, "dm-0"))
    (cache,) = watch.begin(24 << 20)
    assert (cache.title, cache.kind, cache.by_requests, cache.cold) == ("vc/slow", "lvm-cache", False, False)
    assert (cache.before.mode, cache.before.promotions, cache.before.used_bytes) == (
        "writeback",
        295,
        295 << 16,
    )
    assert watch.read(1.5) == CacheReading(
        t_s=1.5, counts=(CacheCount(name="dm-0", hits=1651 + 63, misses=82),)
    )
    host.change(STATUS_FILE, " 1651 82 63 0 0 295 ", " 1751 92 63 0 0 305 ")
    assert watch.read(2.5).counts == (CacheCount(name="dm-0", hits=1751 + 63, misses=92),)
    (ended,) = watch.end((cache,))
    assert ended.after is not None
    assert (ended.after.read_hits, ended.promotions) == (1751, 10)


def test_a_cache_that_is_empty_is_cold() -> None:
    host = StackHost()
    host.change(STATUS_FILE, " 295/384 ", " 3/384 ")
    (cache,) = CacheWatch(host, place_on(host, "dm-0")).begin(24 << 20)
    assert cache.cold is True


def test_a_write_cache_is_neither() -> None:
    """It holds what was written: whether reads find something in it says nothing about its age."""
    host = StackHost()
    (cache,) = CacheWatch(host, place_on(host, "dm-1")).begin(24 << 20)
    assert (cache.kind, cache.cold) == ("lvm-writecache", None)


def test_volumes_without_a_cache_have_none() -> None:
    host = StackHost()
    for name in ("dm-8", "dm-21", "ubda", "md20"):
        watch = CacheWatch(host, place_on(host, name))
        assert watch.begin(0) == ()
        assert watch.read(1.0) == CacheReading(t_s=1.0)
        assert watch.end(()) == ()


def test_dmsetup_says_nothing() -> None:
    """As without root: no cache is known; one that stops answering is left out from then on."""
    host = StackHost()
    watch = CacheWatch(host, place_on(host, "dm-0"))
    caches = watch.begin(0)
    host.put(output_path(STATUS), "exit 1\n")
    assert watch.read(1.0) == CacheReading(t_s=1.0)
    (ended,) = watch.end(caches)
    assert ended.after is not None
    assert ended.after.hits is None
    host.put(output_path(("dmsetup", "table")), "exit 1\n")
    assert CacheWatch(host, place_on(host, "dm-0")).begin(0) == ()


def test_bcache_is_counted_by_requests() -> None:
    """What the backing device reads are misses; what it reads ahead is no request."""
    host = StackHost()
    watch = CacheWatch(host, place_on(host, "bcache0"))
    (cache,) = watch.begin(4 << 20)
    assert (cache.kind, cache.by_requests, cache.before.hits, cache.before.misses) == ("bcache", True, 22, 26)
    assert watch.read(0.0).counts == (CacheCount(name="bcache0", hits=0, misses=0),)
    host.work(1.0, {"bcache0": (100, 800, 0, 0), "ubdh": (30, 240, 5, 40)})
    assert watch.read(1.0).counts == (CacheCount(name="bcache0", hits=70, misses=30),)
    host.work(1.0, {"bcache0": (10, 80, 0, 0), "ubdh": (20, 160, 0, 0)})
    assert watch.read(2.0).counts == (CacheCount(name="bcache0", hits=70, misses=40),)


@pytest.mark.parametrize(
    ("written", "filled", "cold"),
    [
        ("1.0M", "Unused:\t\t97%\nClean:\t\t0%\nDirty:\t\t0%\nMetadata:\t2%\n", True),
        ("1.0M", "Unused:\t\t47%\nClean:\t\t50%\nDirty:\t\t0%\nMetadata:\t2%\n", False),
        ("1.0M", "", None),
        ("64.0M", "Unused:\t\t97%\nClean:\t\t0%\nDirty:\t\t0%\nMetadata:\t2%\n", False),
    ],
)
def test_whether_bcache_is_cold(written: str, filled: str, cold: bool | None) -> None:  # noqa: FBT001
    """After a restart its counter of what was written begins anew, but what is in it stays."""
    host = StackHost()
    host.put("/sys/class/block/ubdg/bcache/written", f"{written}\n")
    host.put(_FILLED, filled)
    (cache,) = CacheWatch(host, place_on(host, "bcache0")).begin(128 << 20)
    assert cache.cold is cold


def fio(host: StackHost, added: list[RunSample] | None = None) -> Callable[..., FioEnd]:
    """A fio that reads: 10 hits and 10 misses, then 90 and 10.

    Args:
        host: the host.
        added: the samples that were passed on; with these it resets its counters after the first part, and
            waits until the caches were read since.
    """

    def fake(argv: Any, folder: Path, take: Callable[[RunSample], None], stopped: Any, **_: Any) -> FioEnd:
        del argv, folder, stopped
        host.change(STATUS_FILE, " 1651 82 ", " 1661 92 ")
        take(RunSample(t_s=0.25, ios=(20, 0)))
        if added is not None:
            take(RunSample(t_s=0.25, ios=(5, 0), anew=True))
            seen = len(added)

            def is_read() -> bool:
                take(RunSample(t_s=0.5, ios=(5, 0)))
                return any(each.caches for each in added[seen:])

            wait_until(is_read, 30, "a reading since the counters were reset")
        host.change(STATUS_FILE, " 1661 92 ", " 1751 102 ")
        take(RunSample(t_s=1.0, ios=(120, 0)))
        return FioEnd(status=0, dump=None, raw=b"{}", said=())

    return fake


def test_a_run_over_a_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each request from the start of fio until its end is counted, and the readings are in the samples."""
    monkeypatch.setattr("raidtui.features.bench.run.measure.FIRST_S", 3600.0)
    host = StackHost()
    monkeypatch.setattr(measure, "run_fio", fio(host))
    place = place_on(host, "dm-0")
    watch = CacheWatch(host, place)
    begun = record(caches=watch.begin(READ.total_bytes))
    added: list[RunSample] = []
    run, samples, _ = measure.measure(
        host, begun, place, tmp_path, sandbox=Sandbox(), watch=watch,
        live=lambda line: added.append(line.sample) if line.sample else None, stopped=lambda: False,
    )  # fmt: skip
    (cache,) = run.caches
    assert (cache.hits, cache.misses, run.cache) == (100, 20, cache)
    assert cache.after is not None
    assert (cache.after.read_hits, cache.after.read_misses) == (1751, 102)
    assert [[reading.t_s for reading in each.caches] for each in samples] == [[0.0], [1.0]]
    assert [len(each.caches) for each in added] == [1, 0]


def test_a_run_that_is_over_before_its_first_sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its hits are known all the same."""
    monkeypatch.setattr("raidtui.features.bench.run.measure.FIRST_S", 3600.0)
    host = StackHost()

    def short(argv: Any, folder: Path, take: Any, stopped: Any, **_: Any) -> FioEnd:
        del argv, folder, take, stopped
        host.change(STATUS_FILE, " 1651 82 ", " 1751 102 ")
        return FioEnd(status=0, dump=None, raw=b"{}", said=())

    monkeypatch.setattr(measure, "run_fio", short)
    place = place_on(host, "dm-0")
    watch = CacheWatch(host, place)
    begun = record(caches=watch.begin(READ.total_bytes))
    run, samples, _ = measure.measure(
        host, begun, place, tmp_path, sandbox=Sandbox(), watch=watch,
        live=lambda _: None, stopped=lambda: False,
    )  # fmt: skip
    assert (samples, run.caches[0].hits, run.caches[0].misses) == ([], 100, 20)


def test_a_warm_up_is_no_part_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("raidtui.features.bench.run.measure.FIRST_S", 3600.0)
    host = StackHost()
    added: list[RunSample] = []
    monkeypatch.setattr(measure, "run_fio", fio(host, added))
    place = place_on(host, "dm-0")
    watch = CacheWatch(host, place)
    begun = record(caches=watch.begin(READ.total_bytes))
    run, samples, _ = measure.measure(
        host, begun, place, tmp_path, sandbox=Sandbox(), watch=watch,
        live=lambda line: added.append(line.sample) if line.sample else None, stopped=lambda: False,
    )  # fmt: skip
    assert (run.caches[0].hits, run.caches[0].misses) == (90, 10)
    assert samples[0].anew


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
        (1.0, 0.9),
        (3.0, 0.0),
    )
    assert hits_of(readings, "dm-0") == (90, 50)
    assert hits_of(readings, "bcache0") is None
    assert hits_of([], "dm-0") is None


def test_counters_that_begin_anew() -> None:
    """LVM loads the table again: what was between these two readings is not known."""
    readings = [reading(0.0, 100, 50), reading(1.0, 3, 0), reading(2.0, 13, 10)]
    assert hit_points(readings, "dm-0") == ((2.0, 0.5),)
    assert hits_of(readings, "dm-0") == (10, 10)


@given(st.lists(st.tuples(st.integers(0, 1000), st.integers(0, 1000)), max_size=20))
def test_hits_are_shares(counts: list[tuple[int, int]]) -> None:
    readings = [reading(float(at), hits, misses) for at, (hits, misses) in enumerate(counts)]
    steps = [
        (hits - hits_before, misses - misses_before)
        for (hits_before, misses_before), (hits, misses) in itertools.pairwise(counts)
        if hits >= hits_before and misses >= misses_before
    ]
    shares = [hits / (hits + misses) for hits, misses in steps if hits + misses]
    assert [ratio for _, ratio in hit_points(readings, "dm-0")] == shares
    sums = (sum(hits for hits, _ in steps), sum(misses for _, misses in steps))
    assert hits_of(readings, "dm-0") == (sums if steps else None)


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
    assert decode(msgspec.json.encode(run)) == replace(run, id=run.id)
    assert (run.cold, run.cache) == (True, run.caches[0])
    assert replace(run, caches=()).cold is None
    assert len(readings_of(cache_samples(run, 0.1, 0.9, seconds=10))) == 10
