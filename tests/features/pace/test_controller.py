"""The controller on a simulated md: the target is held, what is left is used, and every end is met."""

import pytest

from raidtui.features.pace.controller import LEAST_KIB_S, START_KIB_S, PaceGoal, PaceState, next_limits
from raidtui.model.pace import DayWindow, PaceWhy
from tests.features.pace.simulated_md import LONG_QUEUE, STEP_S, Run, SimulatedMd, at

FULL_KIB_S = 200_000


def run_of(target_ms: float, *, queues: bool = True, **more: int) -> Run:
    queue = LONG_QUEUE if queues else None
    return Run(
        SimulatedMd(**more), PaceGoal(latency_ms=target_ms, full_kib_s=FULL_KIB_S, queue=queue, members=4)
    )


def test_the_simulated_md_has_a_memory_of_thirty_seconds() -> None:
    """Lowered after a fast phase, it stands; raised after a slow one, it catches up in one go."""
    md = SimulatedMd()
    for _ in range(round(10 / STEP_S)):
        md.go_on(FULL_KIB_S)
    fast = md.done
    for _ in range(round(20 / STEP_S)):
        md.go_on(2000)
    assert fast > 300_000
    assert md.done - fast <= md.flight_kib
    for _ in range(round(60 / STEP_S)):
        md.go_on(1000)
    slow = md.done
    for _ in range(round(4 / STEP_S)):
        md.go_on(8000)
    assert md.done - slow > 3 * 4 * 8000  # three times what the new limit says


@pytest.mark.parametrize(("target_ms", "flight_kib"), [(20.0, 32 << 10), (20.0, 2 << 10), (150.0, 32 << 10)])
def test_the_target_is_held_under_an_application_that_never_pauses(target_ms: float, flight_kib: int) -> None:
    run = run_of(target_ms, flight_kib=flight_kib)
    run.go_on(400, a_second=100)
    run.share_above(target_ms)
    before = run.md.done
    run.go_on(1200, a_second=100)
    assert run.share_above(target_ms) <= 0.0125
    assert run.limits.why in {PaceWhy.LATENCY, PaceWhy.TRIAL}
    assert (run.md.done - before) / 1200 > LEAST_KIB_S  # and the sync goes on


def test_a_looser_target_gives_the_sync_more() -> None:
    done = []
    for target_ms in (10.0, 40.0):
        run = run_of(target_ms)
        run.go_on(600, a_second=100)
        done.append(run.md.done)
    assert done[1] > 1.5 * done[0]


def test_where_md_disturbs_nobody_it_gets_all_the_speed() -> None:
    run = run_of(2000.0)
    run.go_on(300, a_second=100)
    assert run.state.limit_kib_s > 2 * run.md.disks_kib_s  # which limits nothing
    assert run.state.trial
    before = run.md.done
    run.go_on(30, a_second=100)
    assert run.md.done - before > 0.95 * 30 * run.md.disks_kib_s


def test_an_array_that_nobody_uses_is_synced_at_full_speed_within_seconds() -> None:
    run = run_of(20.0)
    run.go_on(60, a_second=100)
    before, at_s = run.md.done, run.md.clock_s
    run.go_on(3, a_second=0)
    assert (run.limits.max_kib_s, run.limits.why) == (FULL_KIB_S, PaceWhy.UNUSED)
    run.go_on(20, a_second=0)
    assert (run.md.done - before) / (run.md.clock_s - at_s) > 0.8 * run.md.disks_kib_s


def test_who_comes_back_has_the_array_at_once() -> None:
    """One reading with a request ends it; what was done fast stays in md's mean, and the sync stands."""
    run = run_of(20.0)
    run.go_on(60, a_second=100)
    run.go_on(15, a_second=0)
    run.go_on(STEP_S, a_second=1 / STEP_S)
    assert run.limits.max_kib_s == LEAST_KIB_S
    run.go_on(1.1, a_second=100)  # what was sent is done
    run.waited_ms.clear()
    run.go_on(25, a_second=100)
    assert run.share_above(20.0) == 0.0


def test_sparse_requests_are_no_idleness() -> None:
    """A request every three seconds: the sync does not get all the speed between two of them, but once."""
    run = run_of(20.0, queues=False)
    run.go_on(60, a_second=100)
    run.go_on(3, a_second=0)  # this one is paid for
    opened = 0
    for _ in range(20):
        run.go_on(STEP_S, a_second=1 / STEP_S)
        run.go_on(3, a_second=0)
        opened += run.state.open
    assert opened == 0


@pytest.mark.parametrize(("busy_s", "flight_kib", "share"), [(120, 32 << 10, 0.15), (10, 1 << 10, 0.6)])
def test_a_phased_load_gets_its_latency_and_the_sync_the_pauses(
    busy_s: float, flight_kib: int, share: float
) -> None:
    """A pause of 30 s after each: what waits at its end is one request in a hundred at most."""
    run = run_of(20.0, flight_kib=flight_kib)
    run.go_on(120, a_second=100)
    before, at_s = run.md.done, run.md.clock_s
    run.share_above(20.0)
    for _ in range(20):
        run.go_on(busy_s, a_second=100)
        run.go_on(30, a_second=0)
    assert run.share_above(20.0) <= 0.0125
    assert (run.md.done - before) / (run.md.clock_s - at_s) > share * run.md.disks_kib_s


def test_short_pauses_are_left_alone_where_their_end_costs_too_much() -> None:
    """A second of waiting after ten seconds of work would be one request in ten."""
    run = run_of(20.0)
    run.go_on(120, a_second=100)
    run.share_above(20.0)
    for _ in range(60):
        run.go_on(10, a_second=100)
        run.go_on(10, a_second=0)
    assert run.share_above(20.0) <= 0.0175


def test_the_limit_rises_no_faster_than_md_forgets() -> None:
    """The sync is not faster by far than what was bearable in the last half minute."""
    run = run_of(150.0)
    run.go_on(40, a_second=100)
    limits, over = [], []
    for _ in range(600):
        run.go_on(1, a_second=100)
        limits.append(run.state.limit_kib_s)
        over.append(run.speed_kib_s / max(*limits[-31:], 4 * LEAST_KIB_S))
    assert sorted(over)[int(0.98 * len(over))] < 2.0


def test_an_end_that_is_named_is_met() -> None:
    total_kib = 2_000_000
    run = run_of(4.0, total_kib=total_kib)  # such a target is hardly met: the sync would crawl
    end_s, why = 400.0, set()
    while run.md.done < total_kib and run.md.clock_s < 2 * end_s:
        run.go_on(1, a_second=100, left_s=end_s - run.md.clock_s)
        why.add(run.limits.why)
        assert run.limits.min_kib_s <= run.limits.max_kib_s
    assert run.md.clock_s <= end_s
    assert PaceWhy.DEADLINE in why


def test_without_an_end_md_is_never_forced() -> None:
    _, limits = next_limits(PaceGoal(latency_ms=20, full_kib_s=1000), PaceState(), at(5, left_kib=10**9))
    assert limits.min_kib_s == 1


def test_an_end_that_cannot_be_met_gets_what_there_was_before_and_no_more() -> None:
    read = at(5, left_kib=10**9, left_s=-1.0, requests=3)
    _, limits = next_limits(PaceGoal(latency_ms=20, full_kib_s=1000), PaceState(), read)
    assert (limits.min_kib_s, limits.max_kib_s, limits.why) == (1000, 1000, PaceWhy.DEADLINE)


def test_an_hour_of_full_speed() -> None:
    run = run_of(20.0)
    run.go_on(10, a_second=100, full=True)
    assert (run.limits.max_kib_s, run.limits.why) == (FULL_KIB_S, PaceWhy.WINDOW)
    run.go_on(1, a_second=100)
    assert run.limits.max_kib_s == LEAST_KIB_S


def test_an_array_waits_for_its_turn() -> None:
    run = run_of(2000.0)
    run.go_on(120, a_second=100, may_raise=False)
    assert run.state.limit_kib_s == PaceState().limit_kib_s


def test_without_probes_nothing_is_raised() -> None:
    """A suspended device is not read: the limit stays where it was."""
    state, limits = PaceState(), None
    for number in range(400):
        read = at(number / 4, requests=20)
        state, limits = next_limits(PaceGoal(latency_ms=20, full_kib_s=1000), state, read)
    assert limits is not None
    assert limits.max_kib_s <= START_KIB_S


@pytest.mark.parametrize(
    ("first", "last", "minute", "inside"),
    [(60, 120, 60, True), (60, 120, 120, False), (1320, 360, 1400, True), (1320, 360, 0, True),
     (1320, 360, 360, False), (0, 0, 700, True)],
)  # fmt: skip
def test_a_window_of_the_day(first: int, last: int, minute: int, inside: bool) -> None:  # noqa: FBT001
    assert DayWindow(first_minute=first, last_minute=last).has(minute) is inside
