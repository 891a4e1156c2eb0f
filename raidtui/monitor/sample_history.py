"""The history of samples: per array the speed and end of a sync, per disk the load between two samples."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

from raidtui.model.array import Array
from raidtui.model.array_sync import Phase
from raidtui.model.disk import DiskIo
from raidtui.model.snapshot import Snapshot
from raidtui.monitor.brakes import DeviceLoad
from raidtui.monitor.sync_end import Estimate, SyncEnd, by_the_kernel
from raidtui.monitor.sync_track import BACK_KIB, SyncSample, SyncTrack

_KEEP = 600
_SHORTEST_S = 0.2
"""Two events in a row: too short to measure."""
_BLOCK_S = 5.0
"""Over so long it is measured how busy the members are."""


class Track:
    """The sync of one array over time."""

    def __init__(self, action: str, first: SyncSample) -> None:
        self.action = action
        self.end = SyncEnd(first)
        self.speeds: deque[tuple[float, float]] = deque(maxlen=_KEEP)
        self.runs = True
        self.moved_io: Mapping[str, DiskIo] = {}
        """The counters when it moved last."""

    def continues(self, sample: SyncSample) -> bool:
        """Whether a sample is of this sync; after a pause, a check begins a sixteenth earlier at most."""
        last = self.end.track.now
        if self.runs:
            return self.end.track.continues(sample)
        back_kib = last.total_kib // 16 + BACK_KIB
        return sample.total_kib == last.total_kib and 0 < last.done_kib - back_kib <= sample.done_kib

    def resume(self, sample: SyncSample) -> None:
        """Go on after a pause: md measures again."""
        self.end, self.runs = SyncEnd(sample), True


class SampleHistory:
    """Takes every snapshot, and answers for the last one. All times are the snapshots' monotonic clock."""

    def __init__(self) -> None:
        self._tracks: dict[str, Track] = {}
        self._before: Snapshot | None = None
        self._now: Snapshot | None = None
        self._recent: deque[Snapshot] = deque()

    def add(self, snapshot: Snapshot) -> None:
        """Take the next snapshot; a stale one is ignored."""
        if snapshot.stale is not None:
            return
        if self._now is not None and snapshot.clock_s <= self._now.clock_s:
            self._now = snapshot  # a capture does not change: without time there is no speed
            return
        if self._now is None or snapshot.clock_s - self._now.clock_s > _SHORTEST_S:
            self._before = self._now
        self._now = snapshot
        self._recent.append(snapshot)
        while len(self._recent) > 2 and self._recent[1].clock_s <= snapshot.clock_s - _BLOCK_S:
            self._recent.popleft()
        for array in snapshot.arrays:
            self._follow(array, snapshot.clock_s)
        keys = {array.key for array in snapshot.arrays}
        for key in [key for key in self._tracks if key not in keys]:
            del self._tracks[key]

    def _follow(self, array: Array, clock_s: float) -> None:
        if array.stale is not None:
            return
        sync, track = array.sync, self._tracks.get(array.key)
        sample = self._sample_of(array, clock_s)
        if sync is None or sample is None:
            if track is not None:
                track.runs = False
        elif track is None or track.action != sync.action or not track.continues(sample):
            self._tracks[array.key] = Track(sync.action, sample)
        elif not track.runs:
            track.resume(sample)
        elif clock_s - track.end.track.now.clock_s >= _SHORTEST_S:
            before = track.end.track.now
            if sample.done_kib != before.done_kib and self._now is not None:
                track.moved_io = self._now.io
            track.end.add(sample)
            done = max(0, sample.done_kib - before.done_kib)
            track.speeds.append((clock_s, done / (clock_s - before.clock_s)))

    def _sample_of(self, array: Array, clock_s: float) -> SyncSample | None:
        """Return what is read of a running sync; None where none runs."""
        sync = array.sync
        if sync is None or sync.phase is not Phase.RUNNING or sync.done_kib is None or not sync.total_kib:
            return None
        done = {name: (now, before) for name, now, before, _ in self._pairs(self._before)}
        own = done.get(array.name)
        members = [done[member.name] for member in array.members if member.name in done]
        return SyncSample(
            clock_s=clock_s,
            done_kib=sync.done_kib,
            total_kib=sync.total_kib,
            mean_kib_s=sync.kernel_speed_kib_s or 0,
            ceiling_kib_s=array.speed_limit.ceiling_kib_s if array.speed_limit else None,
            halt_kib=array.halts_at_kib,
            busy_s=max((now.busy_ms - before.busy_ms for now, before in members), default=0) / 1000,
            requests=own[0].requests - own[1].requests if own else 0,
        )

    @property
    def keys(self) -> tuple[str, ...]:
        """The arrays that sync or have synced, by their keys."""
        return tuple(self._tracks)

    def speeds(self, key: str) -> tuple[tuple[float, float], ...]:
        """Return (clock_s, KiB/s) of the array's current or last sync, oldest first, at most 600."""
        track = self._tracks.get(key)
        return tuple(track.speeds) if track else ()

    def track(self, array: Array) -> SyncTrack | None:
        """Return how the array's sync has moved; None where none runs."""
        track = self._tracks.get(array.key)
        return track.end.track if track and track.runs else None

    def estimate(self, array: Array) -> Estimate | None:
        """Return the estimate for a running sync; by the kernel's speed until there are two samples."""
        track = self._tracks.get(array.key)
        return (
            None
            if track is None or not track.runs
            else track.end.estimate or by_the_kernel(track.end.track.now)
        )

    def silent(self, array: Array) -> tuple[str, ...]:
        """Return the members that have finished no request since the sync moved, if others have."""
        track = self._tracks.get(array.key)
        if track is None or self._now is None:
            return ()
        both = [
            (each.name, self._now.io[each.name].requests - track.moved_io[each.name].requests)
            for each in array.members
            if each.name in self._now.io and each.name in track.moved_io
        ]
        quiet = tuple(name for name, done in both if not done)
        return quiet if len(quiet) < len(both) else ()

    def loads(self) -> dict[str, DeviceLoad]:
        """Return what each device did in the last seconds."""
        return {
            name: DeviceLoad(
                busy=min(1.0, max(0.0, (now.busy_ms - before.busy_ms) / 1000 / elapsed_s)),
                wait_ms=_wait_ms(before, now),
                requests_a_s=max(0, now.requests - before.requests) / elapsed_s,
            )
            for name, now, before, elapsed_s in self._pairs(self._recent[0] if self._recent else None)
        }

    def latency_ms(self) -> dict[str, float]:
        """Return each disk's mean time per request between the last two samples, ms; without idle disks."""
        waits = {name: _wait_ms(before, now) for name, now, before, _ in self._pairs(self._before)}
        return {name: wait_ms for name, wait_ms in waits.items() if wait_ms is not None}

    def _pairs(self, before: Snapshot | None) -> list[tuple[str, DiskIo, DiskIo, float]]:
        if self._now is None or before is None:
            return []
        elapsed_s = self._now.clock_s - before.clock_s
        if elapsed_s <= 0:
            return []
        earlier = before.io
        return [
            (name, now, earlier[name], elapsed_s) for name, now in self._now.io.items() if name in earlier
        ]


def _wait_ms(before: DiskIo, now: DiskIo) -> float | None:
    """Return the mean time of a request between two readings; None where there was none."""
    requests = now.requests - before.requests
    spent_ms = now.read_ms + now.write_ms - before.read_ms - before.write_ms
    return spent_ms / requests if requests > 0 and spent_ms >= 0 else None
