"""What was: per array the speeds for the chart and the estimate, per disk the load between two samples."""

from __future__ import annotations

from collections import deque

from raidtui.model.array import Array, Phase
from raidtui.model.disk import DiskIo
from raidtui.model.snapshot import Snapshot
from raidtui.monitor.progress import Estimate, Progress

_KEEP = 600


class Track:
    """One array's sync over time."""

    def __init__(self) -> None:
        self.action = ""
        self.ceiling_kib_s: int | None = None
        self.progress = Progress()
        self.speeds: deque[tuple[float, float]] = deque(maxlen=_KEEP)


class History:
    """Takes every snapshot; answers for the present one. All times are the snapshots' monotonic clock."""

    def __init__(self) -> None:
        self._tracks: dict[str, Track] = {}
        self._before: Snapshot | None = None
        self._now: Snapshot | None = None

    def add(self, snapshot: Snapshot) -> None:
        """Take the next snapshot. One that only repeats what was read before tells nothing."""
        if snapshot.stale is not None:
            return
        if self._now is not None and snapshot.clock_s <= self._now.clock_s:
            self._now = snapshot  # a capture stands still: no progress is no speed of zero
            return
        if self._now is None or snapshot.clock_s - self._now.clock_s > 0.2:
            self._before = self._now
        self._now = snapshot
        for array in snapshot.arrays:
            self._follow(array, snapshot.clock_s)
        keys = {array.key for array in snapshot.arrays}
        for key in [key for key in self._tracks if key not in keys]:
            del self._tracks[key]

    def _follow(self, array: Array, clock_s: float) -> None:
        if array.stale is not None:
            return
        sync = array.sync
        if sync is None or sync.done_kib is None or sync.total_kib is None:
            if array.key in self._tracks:
                self._tracks[array.key].progress = Progress()
            return
        track = self._tracks.setdefault(array.key, Track())
        if track.action != sync.action:
            track.action = sync.action
            track.progress = Progress()
            track.speeds.clear()
        ceiling_kib_s = array.speed_limit.ceiling_kib_s if array.speed_limit else None
        if ceiling_kib_s != track.ceiling_kib_s:
            track.ceiling_kib_s = ceiling_kib_s
            track.progress.restart()
        speed = track.progress.add(clock_s, sync.done_kib, sync.total_kib)
        if speed is not None:
            track.speeds.append((clock_s, speed))

    def speeds(self, key: str) -> tuple[tuple[float, float], ...]:
        """Return (clock_s, KiB/s) of the array's present or last sync, oldest first; about 600 at most."""
        track = self._tracks.get(key)
        return tuple(track.speeds) if track else ()

    def estimate(self, array: Array) -> Estimate | None:
        """Return the estimate for a running sync; the kernel's speed stands in before two samples."""
        sync = array.sync
        if sync is None or sync.phase is not Phase.RUNNING:
            return None
        track = self._tracks.get(array.key)
        own = track.progress.estimate() if track else None
        if own is not None:
            return own
        if not sync.kernel_speed_kib_s or sync.done_kib is None or sync.total_kib is None:
            return None
        left_s = (sync.total_kib - sync.done_kib) / sync.kernel_speed_kib_s
        return Estimate(
            speed_kib_s=float(sync.kernel_speed_kib_s), left_s=left_s, left_low_s=None, left_high_s=None
        )

    def busy(self) -> dict[str, float]:
        """Return the part of the time, 0 to 1, that each disk was busy between the last two samples."""
        loads: dict[str, float] = {}
        for name, now, before, elapsed_s in self._pairs():
            loads[name] = min(1.0, max(0.0, (now.busy_ms - before.busy_ms) / 1000 / elapsed_s))
        return loads

    def latency_ms(self) -> dict[str, float]:
        """Return each disk's mean time per request between two samples, ms; idle disks are left out."""
        found: dict[str, float] = {}
        for name, now, before, _ in self._pairs():
            requests = now.reads + now.writes - before.reads - before.writes
            spent_ms = now.read_ms + now.write_ms - before.read_ms - before.write_ms
            if requests > 0 and spent_ms >= 0:
                found[name] = spent_ms / requests
        return found

    def _pairs(self) -> list[tuple[str, DiskIo, DiskIo, float]]:
        if self._now is None or self._before is None:
            return []
        elapsed_s = self._now.clock_s - self._before.clock_s
        if elapsed_s <= 0:
            return []
        earlier = self._before.io
        return [
            (name, now, earlier[name], elapsed_s) for name, now in self._now.io.items() if name in earlier
        ]
