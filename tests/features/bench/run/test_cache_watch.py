"""The caches below a run, read from the captured host."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from raidtui.features.bench.cache_figures import CacheCount, CacheReading
from raidtui.features.bench.place import Place, find_device
from raidtui.features.bench.results.run_record import RunSample
from raidtui.features.bench.run import measure
from raidtui.features.bench.run.cache_watch import CacheWatch
from raidtui.features.bench.run.fio_process import FioEnd
from raidtui.features.bench.surroundings import Surroundings
from raidtui.host.stack.device_mapper import STATUS
from raidtui.host.tools import output_path
from raidtui.jobs.sandbox import Sandbox
from tests.features.bench.records import READ, record
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
    monkeypatch.setattr("raidtui.features.bench.run.lookout.FIRST_S", 3600.0)
    host = StackHost()
    monkeypatch.setattr(measure, "run_fio", fio(host))
    place = place_on(host, "dm-0")
    watch = CacheWatch(host, place)
    begun = record(caches=watch.begin(READ.total_bytes))
    surrounded: list[Surroundings] = []
    added: list[RunSample] = []
    run, samples, _ = measure.measure(
        host, begun, place, tmp_path, sandbox=Sandbox(), watch=watch,
        add=added.append, add_surroundings=surrounded.append,
        stopped=lambda: False,
    )  # fmt: skip
    (cache,) = run.caches
    assert (cache.hits, cache.misses, run.cache) == (100, 20, cache)
    assert cache.after is not None
    assert (cache.after.read_hits, cache.after.read_misses) == (1751, 102)
    assert [[reading.t_s for reading in each.caches] for each in samples] == [[0.0], [1.0]]
    assert [len(each.caches) for each in added] == [1, 0]


def test_a_run_that_is_over_before_its_first_sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its hits are known all the same."""
    monkeypatch.setattr("raidtui.features.bench.run.lookout.FIRST_S", 3600.0)
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
        add=lambda _: None, add_surroundings=lambda _: None,
        stopped=lambda: False,
    )  # fmt: skip
    assert (samples, run.caches[0].hits, run.caches[0].misses) == ([], 100, 20)


def test_a_warm_up_is_no_part_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("raidtui.features.bench.run.lookout.FIRST_S", 3600.0)
    host = StackHost()
    added: list[RunSample] = []
    monkeypatch.setattr(measure, "run_fio", fio(host, added))
    place = place_on(host, "dm-0")
    watch = CacheWatch(host, place)
    begun = record(caches=watch.begin(READ.total_bytes))
    run, samples, _ = measure.measure(
        host, begun, place, tmp_path, sandbox=Sandbox(), watch=watch,
        add=added.append, add_surroundings=lambda _: None,
        stopped=lambda: False,
    )  # fmt: skip
    assert (run.caches[0].hits, run.caches[0].misses) == (90, 10)
    assert samples[0].anew
