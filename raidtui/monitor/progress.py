"""Speed and end of a sync from our own samples, with a band, and no lag when the limits are moved.

The kernel's own figure is a mean over about 30 s (drivers/md/md.c, SYNC_MARKS) and trails every change.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

WINDOW_S = 30.0
_SMOOTHING_S = 8.0
_JUMP = 1.3


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What is expected of a running sync.

    Args:
        speed_kib_s: smoothed; in the unit of the sync's own progress.
        left_s: seconds to the end at that speed; ``left_low_s`` to ``left_high_s`` at the window's fast and
            slow quarters. None while nothing has moved yet.
    """

    speed_kib_s: float
    left_s: float | None
    left_low_s: float | None
    left_high_s: float | None


class Progress:
    """Follows one sync. Feed it every sample."""

    def __init__(self) -> None:
        self._last: tuple[float, int] | None = None
        self._speeds: deque[tuple[float, float]] = deque()
        self._smooth: float | None = None
        self._total = 0

    def add(self, clock_s: float, done_kib: int, total_kib: int) -> float | None:
        """Take a sample; return the speed since the one before, KiB/s, or None where there is none."""
        before, self._last = self._last, (clock_s, done_kib)
        if before is None or done_kib < before[1] or total_kib != self._total:
            self._speeds.clear()
            self._smooth = None
            self._total = total_kib
            return None
        elapsed_s = clock_s - before[0]
        if elapsed_s < 0.2:  # two events in a row: wait for more to measure
            self._last = before
            return None
        speed = (done_kib - before[1]) / elapsed_s
        self._take(clock_s, elapsed_s, speed)
        return speed

    def _take(self, clock_s: float, elapsed_s: float, speed: float) -> None:
        self._speeds.append((clock_s, speed))
        while self._speeds and self._speeds[0][0] < clock_s - WINDOW_S:
            self._speeds.popleft()
        recent = [each for _, each in list(self._speeds)[-2:]]
        if self._smooth is None:
            self._smooth = speed
        elif len(recent) == 2 and all(_far(each, self._smooth) for each in recent):
            self._smooth = sum(recent) / 2  # not noise: the limit was moved, or another load came
            while len(self._speeds) > 2:
                self._speeds.popleft()
        else:
            weight = min(1.0, elapsed_s / _SMOOTHING_S)
            self._smooth += (speed - self._smooth) * weight

    def estimate(self) -> Estimate | None:
        """Return what is expected now; None before two samples."""
        if self._smooth is None or self._last is None:
            return None
        left_kib = max(0, self._total - self._last[1])
        ordered = sorted(speed for _, speed in self._speeds)
        slow, fast = ordered[len(ordered) // 4], ordered[-1 - len(ordered) // 4]
        return Estimate(
            speed_kib_s=self._smooth,
            left_s=_left(left_kib, self._smooth),
            left_low_s=_left(left_kib, max(fast, self._smooth)),
            left_high_s=_left(left_kib, min(slow, self._smooth)),
        )


def _far(speed: float, smooth: float) -> bool:
    return speed > smooth * _JUMP or speed * _JUMP < smooth


def _left(left_kib: int, speed_kib_s: float) -> float | None:
    return left_kib / speed_kib_s if speed_kib_s >= 1 else None
