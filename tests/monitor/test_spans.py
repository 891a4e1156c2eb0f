"""Syncs from begin to end."""

from __future__ import annotations

from raidtui.model.snapshot import Snapshot
from raidtui.monitor.spans import Begun, Ended, SyncSpans
from tests.hosts.specs import ArraySpec, Syncing, raid1, raid5, raid10
from tests.hosts.trees import host_tree, snapshot_of

RUNS = Syncing(action="recover", done_kib=4096, speed_kib_s=200_000)
CHECKS = Syncing(action="check", done_kib=1, speed_kib_s=1)


def io(**sectors: int) -> dict[str, tuple[int, ...]]:
    return {name: (1, 0, 8, 1, 1, 0, count, 1, 0, 1) for name, count in sectors.items()}


def seen(*arrays: ArraySpec, **sectors: int) -> Snapshot:
    return snapshot_of(host_tree(*arrays, io=io(**sectors)))


REST, RECOVERS = (
    raid1(members=("sda1", "sdb1")),
    raid1(members=("sda1", "sdb1"), rebuilding=("sdb1",), sync=RUNS),
)


def test_a_sync_that_begins_and_ends() -> None:
    spans = SyncSpans()
    assert spans.see(seen(REST)) == ()
    (begun,) = spans.see(seen(RECOVERS, sda1=10, sdb1=2000))
    assert isinstance(begun, Begun)
    assert (begun.action, begun.array.title, begun.seen) == ("recover", "root", True)
    assert begun.disks == {"sda1": "sda", "sdb1": "sdb"}
    assert begun.written_bytes == {"sda1": 10 * 512, "sdb1": 2000 * 512}
    assert spans.see(seen(RECOVERS, sda1=10, sdb1=9000)) == ()
    (ended,) = spans.see(seen(REST))
    assert isinstance(ended, Ended)
    assert (ended.begun, ended.array.sync) == (begun, None)
    assert spans.see(seen(REST)) == ()


def test_one_that_ran_before() -> None:
    (begun,) = SyncSpans().see(seen(RECOVERS, sdb1=5))
    assert isinstance(begun, Begun)
    assert (begun.seen, begun.written_bytes) == (False, {"sdb1": 5 * 512})


def test_nothing_at_first_then_one() -> None:
    spans = SyncSpans()
    spans.see(seen())
    (begun,) = spans.see(seen(RECOVERS))
    assert isinstance(begun, Begun)
    assert (begun.seen, begun.written_bytes) == (True, {})


def test_a_pause_is_no_end() -> None:
    spans = SyncSpans()
    spans.see(seen(RECOVERS))
    waits = Syncing(action="recover", waiting="DELAYED")
    assert spans.see(seen(raid1(members=("sda1", "sdb1"), rebuilding=("sdb1",), sync=waits))) == ()
    assert spans.see(seen(RECOVERS)) == ()


def test_one_after_the_other() -> None:
    spans = SyncSpans()
    spans.see(seen(RECOVERS))
    ended, begun = spans.see(seen(raid1(members=("sda1", "sdb1"), sync=CHECKS)))
    assert isinstance(ended, Ended)
    assert isinstance(begun, Begun)
    assert (ended.begun.action, begun.action) == ("recover", "check")


def test_what_waits_has_not_begun() -> None:
    spans = SyncSpans()
    assert spans.see(seen(raid1(sync=Syncing(action="resync", waiting="PENDING")), raid5())) == ()


def test_an_array_that_is_stopped() -> None:
    spans = SyncSpans()
    spans.see(seen(RECOVERS, raid10()))
    assert spans.see(seen(raid10())) == ()
    (begun,) = spans.see(seen(RECOVERS, raid10()))
    assert isinstance(begun, Begun)
