"""Watches the syncs of a host, and keeps their records: ``raidtui.model.sync_record`` says what they hold.

A record is written when a run begins or ends, at md's own steps (a sixteenth, or five minutes), and when the
watcher ends. Several watchers of one host each write what all of them see: who finds that another has written
continues from there.
"""

from __future__ import annotations

import time

from msgspec.structs import replace

from raidtui.host.readers.host_reader import HostReader
from raidtui.jobs.sync_book import SyncBook
from raidtui.model.array import Array
from raidtui.model.array_sync import Phase
from raidtui.model.snapshot import Snapshot
from raidtui.model.sync_record import (
    LastCheck,
    RunEnd,
    SyncLook,
    SyncRecord,
    SyncRun,
    check_result,
    credited,
    followed,
)

_BOOT_ID = "/proc/sys/kernel/random/boot_id"
_BY_S = 10.0
_STANDS_S = 60.0


class SyncWatch:
    """The records of one host.

    Args:
        reader: the host.
        book: where they are kept.
        keeps: whether this watcher continues watching, and so may write.
    """

    def __init__(self, reader: HostReader, book: SyncBook, *, keeps: bool) -> None:
        self._book = book
        self._keeps = keeps
        self._boot = (reader.text(_BOOT_ID) or "").strip()
        self._records: dict[str, SyncRecord] = {}
        self._written: dict[str, SyncRecord] = {}
        self._looked_s: float | None = None
        self._since_s = float("inf")
        self._stops: dict[str, float] = {}
        self._followed: dict[str, tuple[Array, SyncRecord]] = {}
        self._results: dict[str, tuple[Array, SyncRecord, LastCheck | None]] = {}
        self.first: dict[str, SyncRun] = {}
        """The run of an array that was under way by the record, before this watcher's first look at it."""

    @property
    def trouble(self) -> str:
        """Why the last record could not be kept; "" where it was."""
        return self._book.trouble

    def see(self, snapshot: Snapshot) -> None:
        """Take a snapshot. What cannot be read leaves the records as they are."""
        if snapshot.stale is not None or not snapshot.readable:
            return
        for array in snapshot.arrays:
            if array.stale is None and array.active and array.sync_action is not None and not array.twin:
                self._follow(array, snapshot.taken_s)
        self._looked_s = snapshot.taken_s
        self._since_s = min(self._since_s, snapshot.taken_s)

    def note_stop(self, name: str, at_s: float) -> None:
        """Note that raidtui stops what runs on an array, by its kernel name."""
        self._stops[name] = at_s

    def _follow(self, array: Array, at_s: float) -> None:
        key = array.key
        known = self._records.get(key)
        seen = self._followed.get(key)
        if seen is not None and seen[0] is array and seen[1] is known and seen[1].open is None:
            return  # nothing runs, and nothing has changed
        if known is None:
            known = self._book.read(key) or SyncRecord(uuid=key)
            self._records[key] = self._written[key] = known
            if (run := known.open) is not None:
                self.first[key] = run
        look = self._look(array, at_s)
        if known.open is None or self._stops.get(array.name, 0.0) < known.open.begun_s:
            look = replace(look, by="")
        now = followed(known, look, self._looked_s)
        if now is known:
            self._followed[key] = (array, known)
            return
        if self._keeps and _is_news(self._written[key], now):
            with self._book.turn():
                if self._book.changed(key):
                    others = self._book.read(key)
                    now = followed(credited(others, look) if others else known, look, self._looked_s)
                self._book.write(now)
            self._written[key] = now
        self._records[key] = now

    def _look(self, array: Array, at_s: float) -> SyncLook:
        sync = array.sync
        runs = sync is not None and sync.phase is Phase.RUNNING and sync.done_kib is not None
        stopped_s = self._stops.get(array.name, 0.0)
        return SyncLook(
            at_s=at_s,
            boot=self._boot,
            action=sync.action if sync is not None and runs else "",
            done_kib=(sync.done_kib or 0) if sync is not None and runs else 0,
            total_kib=(sync.total_kib or 0) if sync is not None else 0,
            mean_kib_s=(sync.kernel_speed_kib_s or 0) if sync is not None else 0,
            kept_kib=(array.sync_kept_sectors or 0) // 2,
            start_kib=(array.sync_min_sectors or 0) // 2,
            mismatches=array.mismatch_count,
            last_action=array.last_sync_action or "",
            work_waits=array.work_waits or bool(array.degraded),
            by="raidtui" if at_s - stopped_s < _BY_S else "",
        )

    def run(self, array: Array) -> SyncRun | None:
        """Return the run of an array that is under way."""
        record = self._records.get(array.key)
        return record.open if record is not None else None

    def stopped_by(self, array: Array) -> str:
        """Return who stopped what is held now: raidtui, where this watcher has looked ever since; else ""."""
        record = self._records.get(array.key)
        last = record.runs[-1] if record is not None and record.runs else None
        if last is None or last.ended_s is None or array.sync is None or last.boot != self._boot:
            return ""
        seen = last.ended_s > self._since_s and last.action == array.sync.action
        return last.by if seen and last.end is RunEnd.STOPPED else ""

    def result(self, array: Array, at_s: float) -> LastCheck | None:
        """Return what is known of an array's last check or repair; None where none was."""
        key = array.key
        record = self._records.get(key)
        if record is None:
            return check_result(None, array.last_sync_action or "", self._look(array, at_s))
        known = self._results.get(key)
        if known is None or known[0] is not array or known[1] is not record:
            result = check_result(record, array.last_sync_action or "", self._look(array, at_s))
            known = self._results[key] = (array, record, result)
        return known[2]

    def close(self) -> None:
        """Keep what was seen last; it is not watched from now on."""
        for key, record in self._records.items():
            if self._keeps and record is not self._written[key] and record.open is not None:
                with self._book.turn():
                    if not self._book.changed(key):  # else another watcher continues
                        self._book.write(record)


def ended_at(result: LastCheck) -> str:
    """Return when a check ended, for people; "" where that is not known."""
    return "" if result.ended_s is None else time.strftime("%d %b %H:%M", time.localtime(result.ended_s))


def _is_news(written: SyncRecord, now: SyncRecord) -> bool:
    """Whether something must not be lost: a run, its end, a step of md, a gap, or that nothing moves."""
    if [_marks(run) for run in written.runs] != [_marks(run) for run in now.runs]:
        return True
    before, after = written.runs[-1], now.runs[-1]
    return after.seen_s - after.moved_s > _STANDS_S and after.done_kib != before.done_kib


def _marks(run: SyncRun) -> tuple[object, ...]:
    return run.begun_s, run.end, run.kept_kib, len(run.gaps)
