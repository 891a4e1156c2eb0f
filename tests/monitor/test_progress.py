"""Speed and end of a sync."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raidtui.monitor.sample_history import WINDOW_S, Estimate, SyncPace

TOTAL = 10_000_000


def feed(
    progress: SyncPace, speeds: list[float], *, start_s: float = 0.0, done: float = 0.0
) -> list[float | None]:
    """Feed a sample a second, the first at rest; return what each reported."""
    reported = [progress.add(start_s, int(done), TOTAL)]
    for index, speed in enumerate(speeds, 1):
        done += speed
        reported.append(progress.add(start_s + index, int(done), TOTAL))
    return reported


def estimate(progress: SyncPace) -> Estimate:
    found = progress.estimate()
    assert found is not None
    return found


def test_steady() -> None:
    progress = SyncPace()
    assert feed(progress, [1000.0] * 10) == [None, *[1000.0] * 10]
    left_s = (TOTAL - 10_000) / 1000
    assert progress.estimate() == Estimate(
        speed_kib_s=1000, left_s=left_s, left_low_s=left_s, left_high_s=left_s
    )


def test_nothing_before_two_samples() -> None:
    progress = SyncPace()
    assert progress.estimate() is None
    assert progress.add(5.0, 100, TOTAL) is None
    assert progress.estimate() is None


def test_not_moving() -> None:
    progress = SyncPace()
    feed(progress, [0.0, 0.0])
    assert progress.estimate() == Estimate(speed_kib_s=0, left_s=None, left_low_s=None, left_high_s=None)


def test_stall_is_noticed_within_three_samples() -> None:
    progress = SyncPace()
    feed(progress, [1000.0] * 20 + [0.0, 0.0])
    assert estimate(progress).speed_kib_s > 900
    progress.add(23.0, 20_000, TOTAL)
    assert progress.estimate() == Estimate(speed_kib_s=0, left_s=None, left_low_s=None, left_high_s=None)


def test_bursts_are_no_stalls() -> None:
    """Below some 10 MB/s md copies a second long and sleeps the next: the mean is what counts."""
    progress = SyncPace()
    feed(progress, [5000.0, 0.0, 0.0, 0.0, 0.0] * 8)
    assert estimate(progress).speed_kib_s == pytest.approx(1000, rel=0.2)


def test_noise_is_smoothed() -> None:
    progress = SyncPace()
    feed(progress, [1000.0, 1200.0, 900.0, 1300.0, 700.0, 1100.0, 800.0] * 6)
    found = estimate(progress)
    assert 950 < found.speed_kib_s < 1050
    assert found.left_low_s is not None
    assert found.left_s is not None
    assert found.left_high_s is not None
    assert found.left_low_s < found.left_s < found.left_high_s


def test_one_odd_sample_is_noise() -> None:
    progress = SyncPace()
    feed(progress, [1000.0] * 20 + [9000.0])
    assert estimate(progress).speed_kib_s == (20 * 1000 + 9000) / 21


@pytest.mark.parametrize("after", [250.0, 4000.0])
def test_pace_that_changed(after: float) -> None:
    """Three samples later the estimate goes by the new speed alone; the kernel's own trails by 30 s."""
    progress = SyncPace()
    feed(progress, [1000.0] * 20 + [after, after, after])
    left_s = (TOTAL - 20_000 - 3 * after) / after
    assert progress.estimate() == Estimate(
        speed_kib_s=after, left_s=left_s, left_low_s=left_s, left_high_s=left_s
    )


def test_limit_moved_by_the_user() -> None:
    """With the news that a limit was moved, the very next sample counts alone."""
    progress = SyncPace()
    feed(progress, [1000.0] * 20)
    progress.restart()
    assert progress.estimate() is None
    progress.add(21.0, 20_250, TOTAL)
    assert estimate(progress).speed_kib_s == 250


def test_restart_counts_anew() -> None:
    progress = SyncPace()
    feed(progress, [1000.0] * 5)
    assert progress.add(6.0, 10, TOTAL) is None
    assert progress.estimate() is None
    assert progress.add(7.0, 60, TOTAL) == 50
    assert estimate(progress).left_s == (TOTAL - 60) / 50


def test_other_total_counts_anew() -> None:
    progress = SyncPace()
    feed(progress, [1000.0] * 5)
    assert progress.add(6.0, 6000, TOTAL * 2) is None
    assert progress.estimate() is None
    assert progress.add(7.0, 7000, TOTAL * 2) == 1000
    assert estimate(progress).left_s == (TOTAL * 2 - 7000) / 1000


def test_done() -> None:
    progress = SyncPace()
    progress.add(0.0, TOTAL - 100, TOTAL)
    progress.add(1.0, TOTAL, TOTAL)
    assert progress.estimate() == Estimate(speed_kib_s=100, left_s=0, left_low_s=0, left_high_s=0)


def test_samples_in_quick_succession_are_measured_together() -> None:
    progress = SyncPace()
    progress.add(0.0, 0, TOTAL)
    assert [progress.add(0.05, 900, TOTAL), progress.add(0.15, 1000, TOTAL)] == [None, None]
    assert progress.add(0.5, 1000, TOTAL) == 2000
    assert progress.add(0.5, 1000, TOTAL) is None
    assert estimate(progress).speed_kib_s == 2000


def test_only_the_window_makes_the_band() -> None:
    progress = SyncPace()
    slow, fast = [800.0] * 10, [1000.0] * (int(WINDOW_S) + 1)
    feed(progress, slow + fast)
    found = estimate(progress)
    assert found.left_low_s == (TOTAL - 8000 - 31_000) / 1000


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.floats(0.01, 20), st.integers(-100, 300_000)), min_size=1, max_size=60))
def test_band_is_in_order(steps: list[tuple[float, int]]) -> None:
    progress, clock_s, done = SyncPace(), 0.0, 0
    for elapsed_s, moved in steps:
        clock_s += elapsed_s
        done = max(0, min(TOTAL, done + moved))
        speed = progress.add(clock_s, done, TOTAL)
        assert speed is None or speed >= 0
        found = progress.estimate()
        if found is None:
            continue
        assert found.speed_kib_s >= 0
        band = [found.left_low_s, found.left_s, found.left_high_s]
        known = [value for value in band if value is not None]
        assert known == sorted(known)
        assert band == known + [None] * (3 - len(known))
