"""The controller: which limits an array has next, from what has just been read of it. Pure.

What md offers decides how it works (drivers/md/md.c, md_do_sync; measured on Linux 6.1):

- md compares its limit with a mean over up to 30 seconds, and does not count what is under way. So even under
  a low limit it sends at once as much as it may have under way: 32 MiB for RAID 10, as often as every 30 s.
  RAID 1 and RAID 10 let requests of applications wait until that is done. What bounds it is the queue of the
  members (``nr_requests``): who sends more than fits waits. With a short queue, md has little under way at
  any time, and a request waits for little.
- A short queue is short for applications, too. Where they have many requests under way, it grows with them.
- A limit that is lowered after a fast phase stops the sync until md's mean has fallen; what a raised one adds
  to this mean is used up in one go. So a limit is lowered at once, and approached upwards as the mean
  follows, so that the speed is even. The controller finds the highest one by the share of time in which a
  request would wait too long. While no one uses the array, the sync has all speed.
- Who comes while the sync has all the speed waits until that is done. How often this may happen follows from
  what it has cost, and from what the target is about: one request in a hundred.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from raidtui.jobs.lent_limits import LEAST_QUEUE
from raidtui.model.pace import PaceWhy

LEAST_KIB_S = 128
"""The lowest limit: md looks at its limit every 128 KiB, so that less is no gentler."""
START_KIB_S = 256
QUIET_S = 1.5
"""After so long without a request, the array counts as unused, where enough requests have paid for it."""
LONG_QUIET_S = 30.0
"""After so long it does in any case."""
_FIRST_PRICE = 300
_FOR_EACH = 100
"""So many requests pay for one that waits."""
_COST_S = 3.0
"""So long after a time at full speed it is seen what that has cost."""
_MEAN_S = 30.0
"""Over so long md takes its mean (SYNC_MARKS x SYNC_MARK_STEP, less than one of them)."""
_SHARE, _EASY_SHARE = 0.01, 0.005
"""In this share of the time a request may wait longer than the target, as it is about 99 of 100: above the
first the limit is lowered, below the second it is raised."""
_MOST_BASE = 0.05
_TRIAL_SHARE = 0.1
"""Above this share the trial ends: a few seconds say no more. The limit is lowered from there."""
_HARD_S = 90.0
"""The first is a share of at least so long: one wait alone lowers nothing."""
_WINDOW_S, _TRIAL_WINDOW_S = 30.0, 6.0
"""So long a limit is judged before it is raised; in the trial and after it."""
_LEAST_PROBES = 10
_SHOWN_S = 10.0
_MOVES = 0.5
"""The sync counts as moving from this share of its limit on."""
_DOWN, _UP, _TRIAL_UP = 0.6, 1.4, 2.0
_QUEUE_S = 20.0
"""So long a longer queue is kept after applications needed it: each change stops the device for a moment."""
_RESERVE_SHARE, _RESERVE_S = 0.1, 60.0
"""An end is aimed at so much before its time: md follows its limits with a delay."""
_FLOOR_STEP = 0.7


class PaceGoal(Struct, frozen=True, kw_only=True):
    """What is to be held.

    Args:
        latency_ms: what 99 of 100 requests are to take at most.
        full_kib_s: all the speed: the limit that the array had before.
        queue: the shortest queue that a member had before; None where members have none.
        members: how many members requests are spread over.
    """

    latency_ms: float
    full_kib_s: int
    queue: int | None = None
    members: int = 1


class PaceReading(Struct, frozen=True, kw_only=True):
    """What was read of an array since the reading before.

    Args:
        clock_s: now, by a clock that is never set.
        requests: of applications, that were done or are under way.
        flying: of them, those that are under way.
        waits_ms: how long the probes took, and the mean of each watched device.
        left_kib: what is left to sync; None where the kernel does not say.
        left_s: until the time at which it is to have ended; None where none was named.
        full: whether this is an hour at which it may have all the speed.
        may_raise: whether it is this array's turn, where several are synced at a time.
    """

    clock_s: float
    requests: int = 0
    flying: int = 0
    waits_ms: tuple[float, ...] = ()
    left_kib: int | None = None
    left_s: float | None = None
    full: bool = False
    may_raise: bool = True


class PaceState(Struct, frozen=True, kw_only=True):
    """What the controller remembers.

    Args:
        limit_kib_s: the highest speed under which an application was seen to have its latency.
        given_kib_s: the limit that lets md go so fast, as its mean follows.
        closed_s: when the sync last had all the speed, or may have had it; None: nothing was read yet.
        at_s: when the reading before was.
        trial: whether no limit has shown in the latency yet.
        judged_s: for how long the limit has been judged.
        over_s: for how long in this time a request would have waited too long, as far as the probes saw.
        base: in which share of the time one does so while md stands.
        probes: how many of them there were.
        left_kib: what was left to sync when that began; None: it has not.
        shown: (clock_s, ms) of the probes of the last seconds.
        used_s: when an application was last seen at work.
        paid: requests since the sync had all the speed.
        price: so many of them pay for the next time.
        cost_ms: the longest wait since the last time has ended; None: that is known.
        open: whether it has it now.
        floor_kib_s: the speed that ends the sync in time.
        queue: the members' queues.
        queue_s: when applications last needed so long ones.
        latency_ms: the worst probe of the last seconds; None where there was none.
    """

    limit_kib_s: int = START_KIB_S
    given_kib_s: float = START_KIB_S
    closed_s: float | None = None
    at_s: float | None = None
    trial: bool = True
    judged_s: float = 0.0
    over_s: float = 0.0
    base: float = 0.0
    probes: int = 0
    left_kib: int | None = None
    shown: tuple[tuple[float, float], ...] = ()
    used_s: float | None = None
    paid: int = _FIRST_PRICE
    price: int = _FIRST_PRICE
    cost_ms: float | None = None
    open: bool = False
    floor_kib_s: int = 0
    queue: int = LEAST_QUEUE
    queue_s: float = 0.0
    latency_ms: float | None = None


class PaceLimits(Struct, frozen=True, kw_only=True):
    """What to write.

    Args:
        min_kib_s: ``sync_speed_min``: md goes below it only where the disks cannot.
        max_kib_s: ``sync_speed_max``.
        why: what decided.
        queue: ``nr_requests`` of the members; None: none of them has it.
    """

    min_kib_s: int
    max_kib_s: int
    why: PaceWhy
    queue: int | None = None


def next_limits(goal: PaceGoal, state: PaceState, read: PaceReading) -> tuple[PaceState, PaceLimits]:
    """Return the state after a reading, and the limits that follow."""
    state = _seen(goal, state, read)
    if not state.open and not read.full:
        state = _followed(goal, state, read)
    floor = min(_floor(state, read), goal.full_kib_s)
    state = _queued(goal, replace(state, at_s=read.clock_s, floor_kib_s=floor), read)
    queue = None if goal.queue is None else min(state.queue, goal.queue)
    if read.full:
        queue = goal.queue
    if read.full or state.open:
        state = replace(state, closed_s=read.clock_s)
        why = PaceWhy.WINDOW if read.full else PaceWhy.UNUSED
        return state, PaceLimits(min_kib_s=max(1, floor), max_kib_s=goal.full_kib_s, why=why, queue=queue)
    given = max(LEAST_KIB_S, int(state.given_kib_s))
    if floor > given:
        return state, PaceLimits(min_kib_s=floor, max_kib_s=floor, why=PaceWhy.DEADLINE, queue=queue)
    why = PaceWhy.TRIAL if state.trial else PaceWhy.LATENCY
    return state, PaceLimits(min_kib_s=max(1, floor), max_kib_s=max(given, floor), why=why, queue=queue)


def _queued(goal: PaceGoal, state: PaceState, read: PaceReading) -> PaceState:
    """Let the members' queues be as long as applications need them, and no longer."""
    needed = LEAST_QUEUE
    while needed * goal.members < 2 * read.flying:
        needed *= 2
    if needed > state.queue or (needed < state.queue and read.clock_s - state.queue_s >= _QUEUE_S):
        return replace(state, queue=needed, queue_s=read.clock_s)
    return replace(state, queue_s=read.clock_s) if needed == state.queue else state


def _followed(goal: PaceGoal, state: PaceState, read: PaceReading) -> PaceState:
    """Judge the limit and move it, but not while md's mean has what was done at full speed."""
    since_s = read.clock_s - state.closed_s if state.closed_s is not None else _MEAN_S
    if since_s < _COST_S:
        return _from_now_on(replace(state, given_kib_s=float(LEAST_KIB_S)))
    if since_s < _MEAN_S + 1.0:
        took_s, over_s = _over(goal, state, read)
        judged_s, over_s = state.judged_s + took_s, state.over_s + over_s
        base = min(_MOST_BASE, over_s / max(judged_s, _WINDOW_S))
        return replace(state, judged_s=judged_s, over_s=over_s, base=base)
    if since_s < _MEAN_S + 1.5:
        state = _from_now_on(state)
    return _approached(_judged(goal, state, read), read)


def _over(goal: PaceGoal, state: PaceState, read: PaceReading) -> tuple[float, float]:
    """Return how long the reading took, and for how much of that a request would have waited too long."""
    took_s = read.clock_s - state.at_s if state.at_s is not None else 0.0
    over = sum(ms > goal.latency_ms for ms in read.waits_ms)
    return took_s, took_s * over / len(read.waits_ms) if over else 0.0


def _approached(state: PaceState, read: PaceReading) -> PaceState:
    """Move the limit that is written towards the speed that is wanted.

    With a mean over T, a limit that rises by (wanted - limit) / T a second gives just the wanted speed. What
    was done at full speed has left the mean after T.
    """
    wanted, given = float(state.limit_kib_s), state.given_kib_s
    took_s = read.clock_s - state.at_s if state.at_s is not None else 0.0
    given = wanted if wanted <= given else given + (wanted - given) * min(1.0, took_s / _MEAN_S)
    return replace(state, given_kib_s=given)


def _floor(state: PaceState, read: PaceReading) -> int:
    """Return the speed that ends the sync in time, KiB/s; 0 where no time was named.

    It falls in steps: md's mean is always above a limit that falls all the time, and the sync would stand.
    """
    if read.left_s is None or read.left_kib is None:
        return 0
    reserve_s = max(_RESERVE_SHARE * read.left_s, min(_RESERVE_S, read.left_s / 2))
    floor = int(read.left_kib / max(read.left_s - reserve_s, 1.0)) + 1
    return floor if not _FLOOR_STEP < floor / max(1, state.floor_kib_s) < 1 else state.floor_kib_s


def _seen(goal: PaceGoal, state: PaceState, read: PaceReading) -> PaceState:
    """Note who uses the array, and whether it has all the speed."""
    used_s = read.clock_s if read.requests or state.used_s is None else state.used_s
    quiet_s = read.clock_s - used_s
    state = _priced(goal, replace(state, paid=state.paid + read.requests), read)
    unused = quiet_s >= LONG_QUIET_S or (quiet_s >= QUIET_S and state.paid >= state.price)
    opens = not read.requests and (state.open or unused)
    shown = (*state.shown, *((read.clock_s, ms) for ms in read.waits_ms))
    shown = tuple(each for each in shown if each[0] > read.clock_s - _SHOWN_S)
    return replace(
        state,
        closed_s=read.clock_s if state.used_s is None else state.closed_s,  # what was before is not known
        used_s=used_s,
        paid=0 if state.open and not opens else state.paid,
        cost_ms=0.0 if state.open and not opens else state.cost_ms,
        open=opens,
        shown=shown,
        latency_ms=max((ms for _, ms in shown), default=None),
    )


def _priced(goal: PaceGoal, state: PaceState, read: PaceReading) -> PaceState:
    """Note what the end of a time at full speed costs: who comes meanwhile waits, and at least one does."""
    if state.cost_ms is None or state.closed_s is None or state.open:
        return state
    cost_ms = max(state.cost_ms, *read.waits_ms, 0.0)
    since_s = read.clock_s - state.closed_s
    if since_s < _COST_S:
        return replace(state, cost_ms=cost_ms)
    waited = state.paid / since_s * max(0.0, cost_ms - goal.latency_ms) / 1000
    price = int(_FOR_EACH * max(1.0, waited)) if cost_ms > goal.latency_ms else 0
    return replace(state, cost_ms=None, price=price)


def _judged(goal: PaceGoal, state: PaceState, read: PaceReading) -> PaceState:
    """Move the limit, if the probes under it say so."""
    took_s, over_s = _over(goal, state, read)
    state = replace(
        state,
        judged_s=state.judged_s + took_s,
        over_s=state.over_s + over_s,
        probes=state.probes + len(read.waits_ms),
        left_kib=read.left_kib if state.left_kib is None else state.left_kib,
    )
    if state.over_s > (_SHARE + state.base) * max(state.judged_s, _HARD_S):
        lower = max(LEAST_KIB_S, int(state.limit_kib_s * _DOWN))
        return _from_now_on(replace(state, limit_kib_s=lower, trial=False))
    window_s = _TRIAL_WINDOW_S if state.trial else _WINDOW_S
    easy = _TRIAL_SHARE if state.trial else _EASY_SHARE
    if state.over_s > (easy + state.base) * max(state.judged_s, window_s):
        return replace(state, trial=False)
    if state.judged_s < window_s or state.probes < _LEAST_PROBES or not read.may_raise:
        return state
    if (state.left_kib or 0) - (read.left_kib or 0) < _MOVES * state.limit_kib_s * state.judged_s:
        return state
    higher = int(state.limit_kib_s * (_TRIAL_UP if state.trial else _UP))
    return _from_now_on(replace(state, limit_kib_s=min(higher, goal.full_kib_s)))


def _from_now_on(state: PaceState) -> PaceState:
    """Judge by what comes from now on."""
    return replace(state, judged_s=0.0, over_s=0.0, probes=0, left_kib=None)
