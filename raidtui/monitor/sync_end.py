"""When a sync ends. Pure, and without a clock of its own.

Where the limit decides, md's throttle is run forward from its marks (see ``sync_track``): a limit that was
lowered stops md for 25 s, and a raised one lets it run at the members' speed until its mean has caught up.
Where the members decide, what they did lately and what they did in all this time decide together; how long
it takes holds only if they stay as fast. The band comes from the estimates of this regime before: each is
compared with what came of it.
"""

from __future__ import annotations

import math
from collections import deque

from msgspec import Struct

from raidtui.monitor.sync_track import SyncSample, SyncTrack

_LATELY_S, _FASTEST_S, _SHOWN_S = 15.0, 35.0, 30.0
_MARKS, _MARK_STEP_S = 11, 3.0
_LONG_RUN = 1.032
"""Over a long time md does so much of its limit: it compares with one second more than has passed."""
_LATELY_WEIGHT = 0.6
_AHEAD_S, _SLEEP_S, _PIECE_S = 90.0, 0.5, 0.25
_LEAST_KIB = 128.0
_ABOVE = 1.1
_LEAST_BUSY = 0.02
SATURATED = 0.7
"""A member that is busy for so much of the time decides how fast a sync is."""
_BASE, _YOUNG, _MOST = 0.05, 0.30, 0.7
_LOW, _HIGH = 0.07, 0.93
_LEAST_SCORES, _KEPT_SCORES, _SCORE_AGE_S = 8, 120, 4.0


class Estimate(Struct, frozen=True, kw_only=True):
    """The expected speed and end of a running sync.

    Args:
        speed_kib_s: the mean of the last 30 s, in the unit of the sync's progress.
        left_s: seconds to the end; None where none can be told: it does not move, stands where it is to stop,
            or skips what is unchanged.
        left_low_s, left_high_s: between these it ends, in nine of ten cases. Without ``left_s`` the second is
            what it takes at most.
        if_as_fast: whether the members decide how long it takes, so that it holds only if they stay as fast.
    """

    speed_kib_s: float
    left_s: float | None
    left_low_s: float | None
    left_high_s: float | None
    if_as_fast: bool = False


def by_the_kernel(sample: SyncSample) -> Estimate | None:
    """Return what one sample alone says; None where it says nothing."""
    if sample.mean_kib_s <= 0 or sample.halted:
        return None
    speed = float(min(sample.mean_kib_s, sample.ceiling_kib_s or sample.mean_kib_s))
    left_s = (sample.target_kib - sample.done_kib) / speed
    return Estimate(
        speed_kib_s=float(sample.mean_kib_s),
        left_s=left_s,
        left_low_s=None,
        left_high_s=None,
        if_as_fast=not sample.binds,
    )


class _Score(Struct, frozen=True, kw_only=True):
    """An estimate that was made before: when, at which place, of how many seconds and KiB."""

    clock_s: float
    done_kib: int
    left_s: float
    left_kib: int


class SyncEnd:
    """The end of one run of a sync. It takes every sample.

    Args:
        first: the first sample.
    """

    def __init__(self, first: SyncSample) -> None:
        self.track = SyncTrack(first)
        self._scores: deque[_Score] = deque(maxlen=_KEPT_SCORES)
        self._latest: Estimate | None = None

    def add(self, sample: SyncSample) -> None:
        """Take the next sample, which is later."""
        self.track.add(sample)
        self._latest = self._estimated()

    @property
    def estimate(self) -> Estimate | None:
        """The estimate after the last sample; None before there are two."""
        return self._latest

    def _estimated(self) -> Estimate:
        track, now = self.track, self.track.now
        speed = track.speed(_SHOWN_S)
        shown = float(now.mean_kib_s) if speed is None else speed
        left = now.target_kib - now.done_kib
        if track.stalled or now.halted or now.mean_kib_s <= 0 or (not shown and not now.binds):
            shown = 0.0 if track.stalled or now.halted else shown
            return Estimate(speed_kib_s=shown, left_s=None, left_low_s=None, left_high_s=None)
        if left <= 0:
            return Estimate(speed_kib_s=shown, left_s=0.0, left_low_s=0.0, left_high_s=0.0)
        capability = self._capability()
        if track.skips:
            return Estimate(speed_kib_s=shown, left_s=None, left_low_s=None, left_high_s=left / capability)
        return self._told(shown, left, capability)

    def _told(self, shown: float, left: int, capability: float) -> Estimate:
        track, now = self.track, self.track.now
        ceiling = now.ceiling_kib_s
        span: tuple[float, float] | None = None
        if ceiling is None or (not now.binds and capability < ceiling):
            whole = self._whole(capability)
            span = left / max(capability, whole), left / min(capability, whole)
            left_s = left / (capability**_LATELY_WEIGHT * whole ** (1 - _LATELY_WEIGHT))
        else:
            left_s = self._run_forward(left, capability, ceiling)
        low_s, high_s = self._band(left_s, span or (left_s, left_s))
        if now.clock_s - track.begun_s >= 2:
            self._scores.append(
                _Score(clock_s=now.clock_s, done_kib=now.done_kib, left_s=left_s, left_kib=left)
            )
        return Estimate(
            speed_kib_s=shown,
            left_s=left_s,
            left_low_s=low_s,
            left_high_s=high_s,
            if_as_fast=span is not None or self._saturated(),
        )

    def _saturated(self) -> bool:
        """Whether the busiest member was at work most of the time lately: it decides as much as the limit."""
        lately = [each for each in self.track.intervals if each.end_s > self.track.now.clock_s - _LATELY_S]
        return sum(each.busy_s for each in lately) >= SATURATED * sum(each.took_s for each in lately) > 0

    def _capability(self) -> float:
        """Return what the members could do without the limit, KiB/s."""
        track, now = self.track, self.track.now
        free_s = free_kib = bound_s = bound_kib = busy_s = fastest = 0.0
        for each in reversed(track.intervals):
            age_s = now.clock_s - each.end_s
            if age_s > _FASTEST_S and (bound_s or free_s > 3):
                break
            if each.bound:
                bound_s, bound_kib, busy_s = bound_s + each.took_s, bound_kib + each.kib, busy_s + each.busy_s
            elif (each.end_s - each.took_s >= track.regime_s - 0.01 or not bound_s) and (
                age_s <= _LATELY_S or free_s < 3
            ):
                free_s, free_kib = free_s + each.took_s, free_kib + each.kib
            fastest = max(fastest, each.kib / each.took_s)
        changed = track.begun_s < track.regime_s > now.clock_s - _FASTEST_S
        if free_kib > 0 and (free_s >= 3 or not changed) and not (now.binds and bound_kib):
            return free_kib / free_s
        if now.binds:
            return max(fastest, _ABOVE * (now.ceiling_kib_s or 0))
        if bound_kib:  # the limit was raised a moment ago
            return max(fastest, bound_kib / max(busy_s, _LEAST_BUSY * bound_s))
        return max(fastest, now.mean_kib_s, 1.0)

    def _whole(self, capability: float) -> float:
        """Return the mean of this regime, KiB/s."""
        track = self.track
        return track.worked_kib / track.worked_s if track.worked_s > 3 and track.worked_kib else capability

    def _run_forward(self, left: int, capability: float, ceiling: int) -> float:
        """Return how long md takes under its limit, from the marks that it has now."""
        marks = self.track.marks(_MARKS, _MARK_STEP_S)
        at_s, done = self.track.now.clock_s, float(self.track.now.done_kib)
        end, stop_s = done + left, at_s + _AHEAD_S
        first = 0
        while done < end and at_s < stop_s:
            if at_s >= marks[-1][0] + _MARK_STEP_S:
                first += 1
                marks.append((at_s, done))
            mark_s, mark_kib = marks[first]
            room = ceiling * (int(at_s - mark_s) + 1) - (done - mark_kib)
            if room <= 0:
                at_s += _SLEEP_S
            else:
                piece = min(max(room, _LEAST_KIB), capability * _PIECE_S, end - done)
                done += piece
                at_s += piece / capability
        if done < end:
            at_s += (end - done) / min(capability, ceiling * _LONG_RUN)
        return at_s - self.track.now.clock_s

    def _band(self, left_s: float, span: tuple[float, float]) -> tuple[float, float]:
        """Return between which times it ends, by what came of the estimates of this regime."""
        track, now = self.track, self.track.now
        low, high = span
        misses = []
        for each in self._scores:
            took_s, gone = now.clock_s - each.clock_s, now.done_kib - each.done_kib
            if took_s >= _SCORE_AGE_S and gone > 0 and each.clock_s >= track.regime_s:
                misses.append(math.log(took_s / max(each.left_s * gone / each.left_kib, 0.1)))
        if len(misses) < _LEAST_SCORES:
            return min(low, left_s) * math.exp(-_YOUNG), max(high, left_s) * math.exp(_YOUNG)
        misses.sort()
        under = max(min(misses[int(_LOW * len(misses))], 0.0), -_MOST)
        over = min(max(misses[min(len(misses) - 1, int(_HIGH * len(misses)))], 0.0), _MOST)
        base = _BASE + min(0.3, 1.0 / max(left_s, 1.0))
        return (
            min(low, left_s * math.exp(under)) * math.exp(-base),
            max(high, left_s * math.exp(over)) * math.exp(base),
        )
