"""When a sync ends: recordings played again, without a clock, against what the kernel prints."""

from __future__ import annotations

import statistics

import pytest

from raidtui.monitor.sync_end import Estimate, SyncEnd, by_the_kernel
from raidtui.monitor.sync_track import SyncSample
from tests.monitor.recordings import NAMES, Scored, scored

UNTOLD = 9.99
SKIPS = "bitmap"
OWN_SPEED = ("fast", "fio_heavy", "slow", "zoned")
LIMITED = ("t1", "t2", "t5", "t20", "moves", "down", "recover", "reshape", "pause")
PLAYED = {name: list(scored(name)) for name in NAMES}


def missed(each: Scored) -> float:
    """Return by which part of the time that was left an estimate was wrong."""
    left_s = each.estimate.left_s
    return UNTOLD if left_s is None else min(UNTOLD, abs(left_s - each.true_s) / each.true_s)


def missed_by_finish(each: Scored) -> float:
    """Return the same of the ``finish`` that the kernel prints."""
    return min(UNTOLD, abs(each.finish_s - each.true_s) / each.true_s)


def holds(each: Scored) -> bool:
    """Return whether it ended between the times that were told."""
    low_s, high_s = each.estimate.left_low_s, each.estimate.left_high_s
    assert low_s is not None
    assert high_s is not None
    return low_s <= each.true_s <= high_s


def test_over_all_recordings_it_is_nearer_than_finish() -> None:
    every = [each for played in PLAYED.values() for each in played]
    assert len(every) == 850
    assert statistics.median(map(missed_by_finish, every)) > 0.24
    assert statistics.median(map(missed, every)) < 0.07


@pytest.mark.parametrize("name", [name for name in NAMES if PLAYED[name]])
def test_in_no_recording_is_it_much_worse_than_finish(name: str) -> None:
    own = statistics.median(map(missed, PLAYED[name]))
    assert own <= statistics.median(map(missed_by_finish, PLAYED[name])) + 0.1


def test_the_band_holds_what_came_and_is_not_too_wide() -> None:
    told = [each for played in PLAYED.values() for each in played if each.estimate.left_s is not None]
    assert 0.80 <= sum(map(holds, told)) / len(told) <= 0.95


@pytest.mark.parametrize("name", OWN_SPEED)
def test_where_the_disks_decide_it_holds_if_it_stays_as_fast(name: str) -> None:
    assert [each for each in PLAYED[name] if not each.estimate.if_as_fast and not holds(each)] == []
    assert sum(each.estimate.if_as_fast for each in PLAYED[name]) > 0.9 * len(PLAYED[name])


@pytest.mark.parametrize("name", LIMITED)
def test_where_the_limit_decides_it_holds_without_that(name: str) -> None:
    assert not any(each.estimate.if_as_fast for each in PLAYED[name])


def test_a_recovery_that_skips_has_no_end_but_one_that_it_takes_at_most() -> None:
    """With a bitmap only what was written is copied, and no file of md says how much that is."""
    jumped = [each for each in PLAYED[SKIPS] if each.true_s < 20]
    assert {each.estimate.left_s for each in jumped} == {None}
    assert all(each.true_s < (each.estimate.left_high_s or 0.0) for each in jumped)


@pytest.mark.parametrize("every_s", [0.2, 3.0])
def test_how_often_it_looks_matters_little(every_s: float) -> None:
    every = [missed(each) for name in ("down", "t5", "up", "syncmax") for each in scored(name, every_s)]
    assert statistics.median(every) < 0.1


def sample(clock_s: float, done_kib: int, **more: int) -> SyncSample:
    """Return a sample of a sync of 100 000 KiB with a speed of 1000 KiB/s."""
    values = {"total_kib": 100_000, "mean_kib_s": 1000, "ceiling_kib_s": 200_000} | more
    return SyncSample(clock_s=clock_s, done_kib=done_kib, **values)


def test_one_sample_has_the_speed_of_the_kernel_and_no_band() -> None:
    assert SyncEnd(sample(0.0, 40_000)).estimate is None
    told = Estimate(speed_kib_s=1000, left_s=60.0, left_low_s=None, left_high_s=None, if_as_fast=True)
    assert by_the_kernel(sample(0.0, 40_000)) == told
    assert by_the_kernel(sample(0.0, 40_000, mean_kib_s=0)) is None


def test_after_a_lowered_limit_the_speed_of_the_kernel_is_not_that_of_the_rest() -> None:
    told = by_the_kernel(sample(0.0, 40_000, mean_kib_s=8000, ceiling_kib_s=2000))
    assert told is not None
    assert (told.left_s, told.if_as_fast) == (30.0, False)


def test_what_stands_at_its_halt_has_no_end() -> None:
    assert by_the_kernel(sample(0.0, 50_000, halt_kib=50_000)) is None
    end = SyncEnd(sample(0.0, 49_000, halt_kib=50_000))
    end.add(sample(1.0, 50_000, halt_kib=50_000))
    assert end.estimate == Estimate(speed_kib_s=0.0, left_s=None, left_low_s=None, left_high_s=None)


def test_no_time_is_told_before_it_has_moved() -> None:
    end = SyncEnd(sample(0.0, 40_000))
    end.add(sample(1.0, 40_000))
    assert end.estimate == Estimate(speed_kib_s=0.0, left_s=None, left_low_s=None, left_high_s=None)
