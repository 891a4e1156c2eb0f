"""One sync over time, as md itself counts it: the marks that it measures from, its throttle, a stall. Pure.

md keeps marks of time and position, a new one each 3 s, and measures from the oldest: 30 to 33 s ago, or
from the start while that is younger (drivers/md/md.c, md_do_sync, SYNC_MARKS). What /proc/mdstat prints as
speed is that mean, and while it is above the limit md sleeps, so a sync may rest for 25 s without a stall.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque

from msgspec import Struct

BINDS = 0.95
"""From this share of the limit on, the limit is what decides the speed."""
STALL_S = 5.0
"""So long nothing moves, while the limit would let it, before that is a stall."""
MARK_S = 30.0
_MARK_TOP_S = 35.0
_KEEP_S = 110.0
_SEARCH_S = 100.0
_WAITS_S = 3.0
"""From so long on, time in which nothing moves says nothing of what the members can do."""
_IN_FLIGHT_KIB = 65536
BACK_KIB = 2048
_USED_A_S, _LEAST_UNUSED_S = 5.0, 3.0
"""A position may step back a little while requests are under way; further back it is another run."""


class SyncSample(Struct, frozen=True, kw_only=True):
    """What is read of a running sync.

    Args:
        clock_s: monotonic seconds.
        done_kib, total_kib: as /proc/mdstat has them.
        mean_kib_s: the kernel's own speed.
        ceiling_kib_s: the limit that it keeps to; None where the kernel does not say.
        halt_kib: where it stops by itself (``sync_max``); None where it does not.
        busy_s: for how long the busiest member was busy since the sample before.
        requests: of applications on the array since then.
    """

    clock_s: float
    done_kib: int
    total_kib: int
    mean_kib_s: int
    ceiling_kib_s: int | None = None
    halt_kib: int | None = None
    busy_s: float = 0.0
    requests: int = 0

    @property
    def target_kib(self) -> int:
        """How far it goes: to its end, or to where it stops before."""
        halt = self.halt_kib
        return min(self.total_kib, halt) if halt is not None and halt > self.done_kib else self.total_kib

    @property
    def halted(self) -> bool:
        """Whether it has come to where it stops by itself."""
        return self.halt_kib is not None and self.done_kib >= self.halt_kib and self.halt_kib < self.total_kib

    @property
    def binds(self) -> bool:
        """Whether the limit decides the speed."""
        return self.ceiling_kib_s is not None and self.mean_kib_s >= BINDS * self.ceiling_kib_s


class Interval(Struct, frozen=True, kw_only=True):
    """What was done between two samples.

    Args:
        end_s: when it ended.
        took_s: how long it was.
        kib: what was done.
        busy_s: for how long the busiest member was busy.
        bound: whether the limit decided.
        used: whether applications used the array.
    """

    end_s: float
    took_s: float
    kib: int
    busy_s: float
    bound: bool
    used: bool = False


class SyncTrack:
    """Follows one run of a sync. A regime is the time since its start, or since a limit was changed.

    Args:
        first: the first sample.
    """

    def __init__(self, first: SyncSample) -> None:
        self.begun_s = self.regime_s = self.moved_s = first.clock_s
        self.now = first
        self.mark_s = first.clock_s
        self.throttled = False
        self.intervals: deque[Interval] = deque()
        self.worked_s, self.worked_kib = 0.0, 0
        """Time and work of this regime, without the time in which it waited for a member."""
        self.skips = False
        """Whether it has jumped: with a bitmap, what is unchanged is skipped."""
        self._times = [first.clock_s]
        self._places = [first.done_kib]
        self._turned = [True]
        self._still_s = self._countable_s = 0.0

    def continues(self, sample: SyncSample) -> bool:
        """Whether a sample is of this run."""
        same = sample.total_kib == self.now.total_kib
        return same and sample.done_kib >= self.now.done_kib - BACK_KIB

    def add(self, sample: SyncSample) -> None:
        """Take the next sample, which is later."""
        before = self.now
        took_s, kib = sample.clock_s - before.clock_s, max(0, sample.done_kib - before.done_kib)
        self.now = sample
        self._note(sample, took_s, kib)
        if (sample.ceiling_kib_s, sample.halt_kib) != (before.ceiling_kib_s, before.halt_kib):
            self.regime_s, self.worked_s, self.worked_kib = sample.clock_s, 0.0, 0
        counted_s = min(sample.clock_s - self.begun_s, _SEARCH_S) + 1
        if kib > sample.mean_kib_s * counted_s + _IN_FLIGHT_KIB:
            self.skips = True  # further than all that md has counted: it has left something out
            return
        interval = Interval(
            end_s=sample.clock_s,
            took_s=took_s,
            kib=kib,
            busy_s=min(sample.busy_s, took_s),
            bound=sample.binds or before.binds,
            used=sample.requests >= _USED_A_S * took_s,
        )
        self._take(interval)
        self._watch_stall(sample, interval)

    def _note(self, sample: SyncSample, took_s: float, kib: int) -> None:
        """Keep the point, and find from when md measures now."""
        self._times.append(sample.clock_s)
        self._places.append(sample.done_kib)
        self.mark_s = self._find_mark()
        span_s = max(1, int(sample.clock_s - self.mark_s))
        compared = sample.mean_kib_s * span_s / (span_s + 1) + 1
        self.throttled = sample.ceiling_kib_s is not None and compared > sample.ceiling_kib_s
        self._turned.append(kib > 0 or self.throttled)
        if kib:
            self.moved_s = sample.clock_s
        if self._times[0] < sample.clock_s - 2 * _KEEP_S - took_s:
            first = bisect_left(self._times, sample.clock_s - _KEEP_S)
            del self._times[:first], self._places[:first], self._turned[:first]

    def _take(self, interval: Interval) -> None:
        self.intervals.append(interval)
        while self.intervals[0].end_s < interval.end_s - _KEEP_S:
            self.intervals.popleft()
        if interval.end_s - interval.took_s >= self.regime_s - 0.01:
            self.worked_s += interval.took_s
            self.worked_kib += interval.kib
        if interval.kib or self.throttled:
            self._still_s = 0.0
            return
        self._still_s += interval.took_s
        if self._still_s >= _WAITS_S:
            while self.intervals and not self.intervals[-1].kib:
                dropped = self.intervals.pop()
                if dropped.end_s - dropped.took_s >= self.regime_s - 0.01:
                    self.worked_s -= dropped.took_s

    def _watch_stall(self, sample: SyncSample, interval: Interval) -> None:
        """Count the time in which it could move and does not. Above its limit, md itself makes a pause."""
        if interval.kib or sample.halted:
            self._countable_s = 0.0
        elif sample.ceiling_kib_s is None or sample.mean_kib_s <= sample.ceiling_kib_s:
            self._countable_s += interval.took_s

    @property
    def stalled(self) -> bool:
        """Whether it could move and does not."""
        return self._countable_s >= STALL_S

    @property
    def resting(self) -> bool:
        """Whether md itself lets it rest: above its limit, or where it is to stop."""
        ceiling = self.now.ceiling_kib_s
        return self.now.halted or (ceiling is not None and self.now.mean_kib_s > ceiling)

    @property
    def pauses(self) -> bool:
        """Whether md itself makes a pause: its mean is above the limit, as after that was lowered."""
        return self.resting and not self.now.halted and self.moved_s < self.now.clock_s

    @property
    def unused_kib_s(self) -> float | None:
        """The mean of the time in which no application used the array; None where that was too short."""
        unused = [each for each in self.intervals if not each.used and not each.bound]
        took_s = sum(each.took_s for each in unused)
        return sum(each.kib for each in unused) / took_s if took_s >= _LEAST_UNUSED_S else None

    def at(self, clock_s: float) -> float:
        """Return the KiB that were done at a time of the last two minutes, between two samples."""
        times = self._times
        index = bisect_left(times, clock_s)
        if index == 0:
            return float(self._places[0])
        if index == len(times):
            return float(self._places[-1])
        before, after = times[index - 1], times[index]
        done, further = self._places[index - 1], self._places[index]
        return done + (further - done) * (clock_s - before) / (after - before)

    def speed(self, seconds: float) -> float | None:
        """Return the mean of the last seconds of this regime, KiB/s; None while they are too few."""
        now = self.now
        since_s = max(now.clock_s - seconds, self.regime_s, self._times[0])
        took_s = now.clock_s - since_s
        return (now.done_kib - self.at(since_s)) / took_s if took_s > 0 else None

    def _find_mark(self) -> float:
        """Return the moment whose KiB explain the speed that md prints: from there it measures."""
        now = self.now
        if now.clock_s - self.begun_s <= MARK_S:
            return self.begun_s
        best, found_s = None, self.begun_s
        at_s = max(self.begun_s, self._times[0], now.clock_s - _SEARCH_S)
        while at_s < now.clock_s - 1:
            age_s = now.clock_s - at_s
            miss = abs(now.mean_kib_s * int(age_s) - (now.done_kib - self.at(at_s)))
            miss = miss / max(now.mean_kib_s, 1) + 0.05 * max(0.0, age_s - _MARK_TOP_S)
            miss += 0.2 * max(0.0, MARK_S - age_s)
            if best is None or miss < best:
                best, found_s = miss, at_s
            at_s += 0.5
        return found_s

    def marks(self, count: int, step_s: float) -> list[tuple[float, float]]:
        """Return md's marks, oldest first: the one that it measures from, and those that replace it."""
        span_s = max(1, int(self.now.clock_s - self.mark_s))
        found = [(self.mark_s, float(self.now.done_kib - self.now.mean_kib_s * span_s))]
        last_s = self.mark_s
        for at_s, done, turned in zip(self._times, self._places, self._turned, strict=True):
            if len(found) < count and turned and at_s >= last_s + step_s:
                found.append((at_s, float(done)))
                last_s = at_s
        return [found[0]] * (count - len(found)) + found
