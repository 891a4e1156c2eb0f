"""The controller: which speed limits an array has next, from what has just been read of it. Pure.

What md offers decides how it works (drivers/md/md.c, md_do_sync; measured on Linux 6.1):

- md compares its limit with a mean over up to 30 seconds. A limit that is lowered after a fast phase stops
  the sync until the mean has fallen; what a raised one adds to this mean is used up in one go. So a limit
  is lowered at once, and approached upwards as the mean follows, so that the speed is even.
- md sends at once what its limit has allowed since the last second, and RAID 1 and RAID 10 let requests of
  applications wait until that is done. So under an application that never pauses, a steady limit is all there
  is, and the controller finds it by what a probe waits. While nobody uses the array, the sync has all speed.
- Whoever comes while the sync has all the speed waits, once. How often that may happen follows from what the
  target is about: one request in a hundred.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from raidtui.model.pace import PaceWhy

LEAST_KIB_S = 128
"""The lowest limit: md looks at its limit every 128 KiB, so that less is no gentler."""
START_KIB_S = 256
QUIET_S = 1.5
"""After so long without a request, the array counts as unused, if that is not too often; see ``_PRICE``."""
LONG_QUIET_S = 10.0
"""After so long it does in any case."""
_PRICE = 300
"""So many requests come between two times at full speed: about three of them wait then, one in a hundred."""
_MEAN_S = 30.0
"""Over so long md takes its mean (SYNC_MARKS x SYNC_MARK_STEP, less than one of them)."""
_WINDOW_S, _TRIAL_WINDOW_S = 15.0, 5.0
_LEAST_PROBES, _LEAST_IN_TRIAL = 30, 10
_MOST_OVER = 1
"""So many probes of one window may be above the target by chance."""
_EASY = 0.8
"""The limit is raised while the worst probe of a window is below this share of the target."""
_MOVES = 0.5
"""The sync counts as moving from this share of its limit on."""
_DOWN, _UP, _TRIAL_UP = 0.6, 1.2, 2.0
_DEADLINE_RESERVE = 1.1


class PaceGoal(Struct, frozen=True, kw_only=True):
    """What is to be held.

    Args:
        latency_ms: what 99 of 100 requests are to take at most.
        full_kib_s: all the speed: the limit that the array had before.
    """

    latency_ms: float
    full_kib_s: int


class PaceReading(Struct, frozen=True, kw_only=True):
    """What was read of an array since the reading before.

    Args:
        clock_s: now, by a clock that is never set.
        requests: of applications, that were done or are under way.
        waits_ms: how long the probes took, and the mean of each watched device.
        speed_kib_s: of the sync, over the last seconds; None where that is not known yet.
        left_kib: what is left to sync; None where the kernel does not say.
        left_s: until the time at which it is to have ended; None where none was named.
        full: whether this is an hour at which it may have all the speed.
        may_raise: whether it is this array's turn, where several are synced at a time.
    """

    clock_s: float
    requests: int = 0
    waits_ms: tuple[float, ...] = ()
    speed_kib_s: float | None = None
    left_kib: int | None = None
    left_s: float | None = None
    full: bool = False
    may_raise: bool = True


class PaceState(Struct, frozen=True, kw_only=True):
    """What the controller remembers.

    Args:
        limit_kib_s: the highest speed under which an application was seen to have its latency.
        given_kib_s: the limit that lets md go so fast, as its mean follows.
        closed_s: when the sync last had all the speed; None: never yet.
        at_s: when the reading before was.
        trial: whether no limit was too high yet.
        waits: (clock_s, ms) of the probes by which the limit is judged.
        used_s: when an application was last seen at work.
        spent: requests since the sync had all the speed.
        open: whether it has it now.
        latency_ms: the worst probe of the last seconds; None where there was none.
    """

    limit_kib_s: int = START_KIB_S
    given_kib_s: float = START_KIB_S
    closed_s: float | None = None
    at_s: float | None = None
    trial: bool = True
    waits: tuple[tuple[float, float], ...] = ()
    used_s: float | None = None
    spent: int = _PRICE
    open: bool = False
    latency_ms: float | None = None


class PaceLimits(Struct, frozen=True, kw_only=True):
    """What to write.

    Args:
        min_kib_s: ``sync_speed_min``: md goes below it only where the disks cannot.
        max_kib_s: ``sync_speed_max``.
        why: what decided.
    """

    min_kib_s: int
    max_kib_s: int
    why: PaceWhy


def next_limits(goal: PaceGoal, state: PaceState, read: PaceReading) -> tuple[PaceState, PaceLimits]:
    """Return the state after a reading, and the limits that follow."""
    state = _seen(state, read)
    if not state.open and not read.full:
        state = _approached(_judged(goal, state, read), read)
    floor = min(_floor(read), goal.full_kib_s)
    state = replace(state, at_s=read.clock_s)
    if read.full or state.open:
        state = replace(state, closed_s=read.clock_s)
        why = PaceWhy.WINDOW if read.full else PaceWhy.UNUSED
        return state, PaceLimits(min_kib_s=max(1, floor), max_kib_s=goal.full_kib_s, why=why)
    given = max(LEAST_KIB_S, int(state.given_kib_s))
    if floor > given:
        return state, PaceLimits(min_kib_s=floor, max_kib_s=floor, why=PaceWhy.DEADLINE)
    why = PaceWhy.TRIAL if state.trial else PaceWhy.LATENCY
    return state, PaceLimits(min_kib_s=max(1, floor), max_kib_s=max(given, floor), why=why)


def _approached(state: PaceState, read: PaceReading) -> PaceState:
    """Move the limit that is written towards the speed that is wanted.

    With a mean over T, a limit that rises by (wanted - limit) / T a second gives just the wanted speed. What
    was done at full speed has left the mean after T; before that, the limit stays at the bottom.
    """
    wanted, given = float(state.limit_kib_s), state.given_kib_s
    if state.closed_s is not None and read.clock_s - state.closed_s < _MEAN_S + 1.0:
        return replace(state, given_kib_s=float(LEAST_KIB_S), waits=())
    took_s = read.clock_s - state.at_s if state.at_s is not None else 0.0
    given = wanted if wanted <= given else given + (wanted - given) * min(1.0, took_s / _MEAN_S)
    return replace(state, given_kib_s=given)


def _floor(read: PaceReading) -> int:
    """Return the speed that ends the sync in time, KiB/s; 0 where no time was named."""
    if read.left_s is None or read.left_kib is None:
        return 0
    return int(_DEADLINE_RESERVE * read.left_kib / max(read.left_s, 1.0)) + 1


def _seen(state: PaceState, read: PaceReading) -> PaceState:
    """Note who uses the array, and whether it has all the speed."""
    used_s = read.clock_s if read.requests or state.used_s is None else state.used_s
    spent = state.spent + read.requests
    quiet_s = read.clock_s - used_s
    unused = quiet_s >= LONG_QUIET_S or (quiet_s >= QUIET_S and spent >= _PRICE)
    opens = not read.requests and (state.open or unused)
    recent = tuple(each for each in state.waits if each[0] > read.clock_s - _WINDOW_S)
    now = max(read.waits_ms, default=None)
    worst = max([*(ms for _, ms in recent), *read.waits_ms], default=now)
    return replace(
        state,
        used_s=used_s,
        spent=0 if opens and not state.open else spent,
        open=opens,
        waits=() if opens else state.waits,
        latency_ms=worst if not opens else state.latency_ms,
    )


def _judged(goal: PaceGoal, state: PaceState, read: PaceReading) -> PaceState:
    """Move the limit, if the probes under it say so."""
    moves = read.speed_kib_s is not None and read.speed_kib_s >= _MOVES * state.limit_kib_s
    new = tuple((read.clock_s, ms) for ms in read.waits_ms) if moves else ()
    waits = (*state.waits, *new)
    over = [ms for _, ms in waits if ms > goal.latency_ms]
    if len(over) > _MOST_OVER:
        lower = max(LEAST_KIB_S, int(state.limit_kib_s * _DOWN))
        return replace(state, limit_kib_s=lower, trial=False, waits=())
    first_s = waits[0][0] if waits else read.clock_s
    window_s, least = (_TRIAL_WINDOW_S, _LEAST_IN_TRIAL) if state.trial else (_WINDOW_S, _LEAST_PROBES)
    if read.clock_s - first_s < window_s or len(waits) < least:
        return replace(state, waits=waits)
    easy = max(ms for _, ms in waits) <= _EASY * goal.latency_ms
    if not easy or not read.may_raise or not moves:
        return replace(state, waits=tuple(each for each in waits if each[0] > read.clock_s - _WINDOW_S))
    higher = int(state.limit_kib_s * (_TRIAL_UP if state.trial else _UP))
    return replace(state, limit_kib_s=min(higher, goal.full_kib_s), waits=())
