"""Speed and end of a sync from our own samples, with a band, and no lag when the limits are moved.

The kernel's own figure is a mean over about 30 s (drivers/md/md.c, SYNC_MARKS) and trails every change. Ours
is a mean over the same time, but it starts anew when a limit was moved or the pace has plainly changed. A
mean, because below some 10 MB/s md works in bursts: a second of 16 MB, then seconds of nothing.
"""

from __future__ import annotations

from collections import deque
from itertools import pairwise

from msgspec import Struct

WINDOW_S = 30.0
_JUMP = 1.25
_ALIKE = 1.15
_CALM = 3
_BLOCKS = 3


class Estimate(Struct, frozen=True, kw_only=True):
    """What is expected of a running sync.

    Args:
        speed_kib_s: the mean; in the unit of the sync's own progress.
        left_s: seconds to the end at that speed; ``left_low_s`` to ``left_high_s`` at the fastest and slowest
            third of the window. None where nothing moves.
    """

    speed_kib_s: float
    left_s: float | None
    left_low_s: float | None
    left_high_s: float | None


class Progress:
    """Follows one sync. Feed it every sample."""

    def __init__(self) -> None:
        self._points: deque[tuple[float, int]] = deque()
        self._total = 0

    def add(self, clock_s: float, done_kib: int, total_kib: int) -> float | None:
        """Take a sample; return the speed since the one before, KiB/s, or None where there is none."""
        before = self._points[-1] if self._points else None
        if before is None or done_kib < before[1] or total_kib != self._total:
            self._points.clear()
            self._points.append((clock_s, done_kib))
            self._total = total_kib
            return None
        elapsed_s = clock_s - before[0]
        if elapsed_s < 0.2:  # two events in a row: wait for more to measure
            return None
        self._points.append((clock_s, done_kib))
        while len(self._points) > 2 and self._points[0][0] < clock_s - WINDOW_S:
            self._points.popleft()
        self._notice_change()
        return (done_kib - before[1]) / elapsed_s

    def restart(self) -> None:
        """Forget the pace so far: a limit was moved."""
        while len(self._points) > 1:
            self._points.popleft()

    def _notice_change(self) -> None:
        """Start anew where the last few samples agree with each other and not with the mean."""
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
        """Return what is expected now; None before two samples."""
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
