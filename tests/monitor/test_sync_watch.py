"""Who watches keeps the records of syncs: over restarts, beside others, and with few writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidtui.jobs.sync_book import SyncBook
from raidtui.model.array_sync import Phase
from raidtui.model.check_words import check_words
from raidtui.model.sync_record import RunEnd
from raidtui.monitor.sync_watch import SyncWatch
from tests.hosts.trees import COMPONENT_KIB, ArraySpec, Stage, Syncing, host_tree, raid5

UUID = "f7c5a4ee:2a0fd4ab:3a0b1ea4:57b2f3f5"
BOOT = "/proc/sys/kernel/random/boot_id"


def checking(done_kib: int, *, kept: int = 0, mismatches: int = 0, start: int = 0) -> ArraySpec:
    """Return a RAID 5 that is checked; ``kept`` and ``start`` in KiB."""
    sync = Syncing(action="check", done_kib=done_kib, speed_kib_s=1000)
    attributes = {"sync_completed": f"{2 * kept} / {2 * COMPONENT_KIB}", "last_sync_action": "check"}
    return raid5(
        uuid=UUID.replace(":", ""),
        sync=sync,
        mismatches=mismatches,
        sync_min=2 * start,
        attributes=attributes,
    )


def resting(*, mismatches: int = 0, start: int = 0, last: str = "check") -> ArraySpec:
    """Return the same at rest."""
    return raid5(uuid=UUID.replace(":", ""), mismatches=mismatches, sync_min=2 * start, last_sync_action=last)


class Watched:
    """A host, and those who watch it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.stage: Stage = host_tree(resting(last="none")).root()
        self.sampler = self.stage.sampler()
        self.boot = "boot 1"

    def watcher(self, *, keeps: bool = True) -> SyncWatch:
        """Return another one, who has looked once."""
        self.stage.put(BOOT, self.boot)
        watch = SyncWatch(self.stage, SyncBook(self.folder, writes=True), keeps=keeps)
        watch.see(self.sampler.sample())
        return watch

    def then(self, spec: ArraySpec, *watches: SyncWatch, after_s: float = 1.0) -> None:
        """Let it be so, and let them look."""
        self.stage.show(host_tree(spec), after_s=after_s)
        self.stage.put(BOOT, self.boot)
        snapshot = self.sampler.sample()
        for watch in watches:
            watch.see(snapshot)

    def words(self, watch: SyncWatch) -> str:
        """Return what is known of the last check, without when."""
        snapshot = self.sampler.sample()
        result = watch.result(snapshot.arrays[0], snapshot.taken_s)
        return check_words(result).partition(", in")[0] if result is not None else ""


def test_a_check_is_watched_over_a_pause_and_a_restart(tmp_path: Path) -> None:
    host = Watched(tmp_path)
    first = host.watcher()
    host.then(checking(0), first)
    host.then(checking(COMPONENT_KIB // 2, kept=COMPONENT_KIB // 2, mismatches=64), first)
    host.then(resting(mismatches=64, start=COMPONENT_KIB // 2), first)
    assert host.words(first) == "check paused: 50 % read, 64 mismatched sectors in it"
    first.close()
    second = host.watcher()
    host.then(checking(COMPONENT_KIB // 2, start=COMPONENT_KIB // 2), second, after_s=100)
    half = COMPONENT_KIB - 900
    host.then(checking(half, kept=half, mismatches=8, start=COMPONENT_KIB // 2), second, after_s=10)
    host.then(resting(mismatches=8), second)
    assert host.words(second) == "last check: complete, 72 mismatched sectors"
    host.boot = "boot 2"
    host.then(resting(last="none"), second)
    assert host.words(host.watcher(keeps=False)) == "last check: complete, 72 mismatched sectors"


def test_it_writes_at_the_steps_of_md_alone(tmp_path: Path) -> None:
    host = Watched(tmp_path)
    watch = host.watcher()
    written = set()
    for second in range(200):
        host.then(checking(1000 * second, kept=50_000 * (second // 50)), watch)
        written |= {path.stat().st_ino for path in tmp_path.glob("*.json")}
    assert len(written) <= 5
    for _ in range(20):
        host.then(resting(), watch)
    assert len({path.stat().st_ino for path in tmp_path.glob("*.json")}) == 1
    before = next(tmp_path.glob("*.json")).stat()
    watch.close()
    assert next(tmp_path.glob("*.json")).stat() == before


def test_who_stops_watching_keeps_what_was_seen_last(tmp_path: Path) -> None:
    host = Watched(tmp_path)
    watch = host.watcher()
    host.then(checking(0), watch)
    host.then(checking(500), watch)
    watch.close()
    record = SyncBook(tmp_path, writes=False).read(UUID)
    assert record is not None
    assert record.runs[-1].done_kib == 500


def test_one_look_writes_nothing(tmp_path: Path) -> None:
    host = Watched(tmp_path)
    host.then(checking(5))
    host.watcher(keeps=False).close()
    assert list(tmp_path.iterdir()) == []


def test_two_watchers_write_what_both_see(tmp_path: Path) -> None:
    host = Watched(tmp_path)
    one, other = host.watcher(), host.watcher()
    host.then(checking(0), one, other)
    host.then(checking(500), one, other)
    one.close()
    host.then(checking(1000, kept=1000), other)
    host.then(resting(start=1000), other)
    record = SyncBook(tmp_path, writes=False).read(UUID)
    assert record is not None
    assert [(run.end, run.gaps) for run in record.runs] == [(RunEnd.STOPPED, ())]


def test_a_check_that_raidtui_ends_was_not_complete(tmp_path: Path) -> None:
    """Within the last second of a fast check: what is left could have been done."""
    host = Watched(tmp_path)
    watch = host.watcher()
    host.then(checking(0), watch)
    host.then(checking(COMPONENT_KIB - 500), watch, after_s=10)
    watch.note_stop("md125", host.stage.now_s() + 0.5)
    host.then(resting(), watch)
    assert host.words(watch) == "last check: stopped by raidtui, 99.9 % read, 0 mismatched sectors in it"


def test_a_pause_is_raidtuis_only_where_that_was_seen(tmp_path: Path) -> None:
    host = Watched(tmp_path)
    watch = host.watcher()
    half = COMPONENT_KIB // 2
    host.then(checking(half, kept=half), watch)
    watch.note_stop("md125", host.stage.now_s() + 0.5)
    host.then(resting(start=half), watch)
    assert host.words(watch) == "check paused by raidtui: 50 % read, 0 mismatched sectors in it"
    watch.close()
    assert host.words(host.watcher(keeps=False)).startswith("check paused by raidtui: ")
    host.then(resting(start=half + 5000))  # somebody resumed and paused it, and nobody watched
    assert host.words(host.watcher(keeps=False)) == "check paused: 50 % read, 0 mismatched sectors in it"


@pytest.mark.parametrize("by", ["raidtui", ""])
def test_who_froze_a_resync(by: str, tmp_path: Path) -> None:
    host = Watched(tmp_path)
    watch = host.watcher()
    host.then(raid5(uuid=UUID.replace(":", ""), sync=Syncing(action="resync", done_kib=500)), watch)
    if by:
        watch.note_stop("md125", host.stage.now_s() + 0.5)
    host.then(raid5(uuid=UUID.replace(":", ""), frozen=True, resync_start="500"), watch)
    later = host.watcher(keeps=False)
    array = host.sampler.sample().arrays[0]
    assert array.sync is not None
    assert (array.sync.phase, watch.stopped_by(array), later.stopped_by(array)) == (Phase.FROZEN, by, "")


def test_who_stopped_it_is_kept_though_another_watcher_saw_the_end_first(tmp_path: Path) -> None:
    host = Watched(tmp_path)
    console, pacer = host.watcher(), host.watcher()
    host.then(checking(0), console, pacer)
    half = COMPONENT_KIB // 2
    host.then(checking(half, kept=half), console, pacer)
    console.note_stop("md125", host.stage.now_s() + 0.5)
    host.then(resting(start=half), pacer)
    host.then(resting(start=half), console)
    host.then(resting(start=half), pacer)
    record = SyncBook(tmp_path, writes=False).read(UUID)
    assert record is not None
    assert [(run.end, run.by) for run in record.runs] == [(RunEnd.STOPPED, "raidtui")]
