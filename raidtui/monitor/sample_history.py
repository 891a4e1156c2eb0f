"""The history of samples: per array the speed and end of a sync, per disk the load between two samples.

The kernel's own speed is a mean over about 30 s (drivers/md/md.c, SYNC_MARKS) and lags behind every change.
Ours is a mean over the same time, but starts again when a limit is changed or the speed has clearly changed.
It is a mean because below some 10 MB/s md works in bursts: 16 MB in one second, then nothing for seconds.
"""

from __future__ import annotations

from collections import deque
from itertools import pairwise

from msgspec import Struct

from raidtui.model.array import Array, Phase
from raidtui.model.disk import DiskIo
from raidtui.model.snapshot import Snapshot

_KEEP = 600


WINDOW_S = 30.0
_JUMP = 1.25
_ALIKE = 1.15
_CALM = 3
_BLOCKS = 3


class Track:
    """The sync of one array over time."""

    def __init__(self) -> None:
        self.action = ""
        self.ceiling_kib_s: int | None = None
        self.progress = SyncPace()
        self.speeds: deque[tuple[float, float]] = deque(maxlen=_KEEP)


class SampleHistory:
    """Takes every snapshot, and answers for the last one. All times are the snapshots' monotonic clock."""

    def __init__(self) -> None:
        self._tracks: dict[str, Track] = {}
        self._before: Snapshot | None = None
        self._now: Snapshot | None = None

    def add(self, snapshot: Snapshot) -> None:
        """Take the next snapshot; a stale one is ignored."""
        if snapshot.stale is not None:
            return
        if self._now is not None and snapshot.clock_s <= self._now.clock_s:
            self._now = snapshot  # a capture does not change: without time there is no speed
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
                self._tracks[array.key].progress = SyncPace()
            return
        track = self._tracks.setdefault(array.key, Track())
        if track.action != sync.action:
            track.action = sync.action
            track.progress = SyncPace()
            track.speeds.clear()
        ceiling_kib_s = array.speed_limit.ceiling_kib_s if array.speed_limit else None
        if ceiling_kib_s != track.ceiling_kib_s:
            track.ceiling_kib_s = ceiling_kib_s
            track.progress.restart()
        speed = track.progress.add(clock_s, sync.done_kib, sync.total_kib)
        if speed is not None:
            track.speeds.append((clock_s, speed))

    def speeds(self, key: str) -> tuple[tuple[float, float], ...]:
        """Return (clock_s, KiB/s) of the array's current or last sync, oldest first, at most 600."""
        track = self._tracks.get(key)
        return tuple(track.speeds) if track else ()

    def estimate(self, array: Array) -> Estimate | None:
        """Return the estimate for a running sync; by the kernel's speed until there are two samples."""
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
        """Return the part of the time, 0 to 1, in which each disk was busy between the last two samples."""
        loads: dict[str, float] = {}
        for name, now, before, elapsed_s in self._pairs():
            loads[name] = min(1.0, max(0.0, (now.busy_ms - before.busy_ms) / 1000 / elapsed_s))
        return loads

    def latency_ms(self) -> dict[str, float]:
        """Return each disk's mean time per request between the last two samples, ms; without idle disks."""
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


class Estimate(Struct, frozen=True, kw_only=True):
    """The expected speed and end of a running sync.

    Args:
        speed_kib_s: the mean, in the unit of the sync's progress.
        left_s: seconds to the end at that speed; None where it does not move.
        left_low_s, left_high_s: the same at the speeds of the fastest and slowest third of the window.
    """

    speed_kib_s: float
    left_s: float | None
    left_low_s: float | None
    left_high_s: float | None


class SyncPace:
    """The pace of one sync. It takes every sample."""

    def __init__(self) -> None:
        self._points: deque[tuple[float, int]] = deque()
        self._total = 0

    def add(self, clock_s: float, done_kib: int, total_kib: int) -> float | None:
        """Take a sample; return the speed since the last one, KiB/s, or None where there is none."""
        before = self._points[-1] if self._points else None
        if before is None or done_kib < before[1] or total_kib != self._total:
            self._points.clear()
            self._points.append((clock_s, done_kib))
            self._total = total_kib
            return None
        elapsed_s = clock_s - before[0]
        if elapsed_s < 0.2:  # two events in a row: too short to measure
            return None
        self._points.append((clock_s, done_kib))
        while len(self._points) > 2 and self._points[0][0] < clock_s - WINDOW_S:
            self._points.popleft()
        self._notice_change()
        return (done_kib - before[1]) / elapsed_s

    def restart(self) -> None:
        """Forget the speed so far: a limit has changed."""
        while len(self._points) > 1:
            self._points.popleft()

    def _notice_change(self) -> None:
        """Start again if the last few samples agree with each other but not with the mean."""
        points = list(self._points)
        if len(points) <= _CALM + 1:
            return
        recent = [_speed(earlier, later) for earlier, later in pairwise(points[-_CALM - 1 :])]
        if max(recent) == 0:  # a stop, unless md works in bursts and this is a pause between two
            earlier_speeds = [_speed(earlier, later) for earlier, later in pairwise(points[:-_CALM])]
            changed = min(earlier_speeds) > 0
        else:
            calm = max(recent) <= _ALIKE * min(recent)
            mean, now = _speed(points[0], points[-1]), sum(recent) / len(recent)
            changed = calm and (now > mean * _JUMP or now * _JUMP < mean)
        if changed:
            while len(self._points) > _CALM + 1:
                self._points.popleft()

    def estimate(self) -> Estimate | None:
        """Return the estimate; None before there are two samples."""
        if len(self._points) < 2:
            return None
        points = list(self._points)
        left_kib = max(0, self._total - points[-1][1])
        speed = _speed(points[0], points[-1])
        blocks = _block_speeds(points)
        return Estimate(
            speed_kib_s=speed,
            left_s=_left(left_kib, speed),
            left_low_s=_left(left_kib, max(*blocks, speed)),
            left_high_s=_left(left_kib, min(*blocks, speed)),
        )


def _speed(earlier: tuple[float, int], later: tuple[float, int]) -> float:
    return (later[1] - earlier[1]) / (later[0] - earlier[0])


def _block_speeds(points: list[tuple[float, int]]) -> list[float]:
    """Return the speeds of the thirds of the window, or of all of it while it is short."""
    size = (len(points) - 1) // _BLOCKS
    if size < 1:
        return [_speed(points[0], points[-1])]
    marks = [points[index * size] for index in range(_BLOCKS)] + [points[-1]]
    return [_speed(earlier, later) for earlier, later in pairwise(marks)]


def _left(left_kib: int, speed_kib_s: float) -> float | None:
    return left_kib / speed_kib_s if speed_kib_s >= 1 else None
