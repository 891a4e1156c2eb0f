"""Speeds per array and load per disk, over snapshots."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.model.array_sync import Stale
from raidtui.model.snapshot import Snapshot
from raidtui.monitor.brakes import DeviceLoad
from raidtui.monitor.sample_history import SampleHistory
from raidtui.monitor.sampler import Sampler, interval_s
from raidtui.monitor.sync_end import Estimate
from tests.hosts.trees import COMPONENT_KIB, ArraySpec, Syncing, host_tree, raid1, raid5, raid10

KEY = "3a6eb079:0f39ac87:c94f3856:b2dd2c5d"
TOTAL = 2 * COMPONENT_KIB
UNREAD = Stale(since_s=1.0, reason="Input/output error")


def resyncing(
    done_kib: int, *, action: str = "resync", speed_kib_s: int = 777, waiting: str = ""
) -> ArraySpec:
    sync = Syncing(action=action, done_kib=done_kib, speed_kib_s=speed_kib_s, waiting=waiting)
    return raid10(sync=sync)


def taken(*specs: ArraySpec, at_s: float = 0.0, io: dict[str, list[int]] | None = None) -> Snapshot:
    stage = host_tree(*specs, io=io).root()
    stage.passed_s = at_s
    return stage.sampler().sample()


def test_speeds_and_estimate() -> None:
    history = SampleHistory()
    for second in range(4):
        history.add(taken(resyncing(1000 * second), at_s=second))
    assert history.speeds(KEY) == ((1001.0, 1000.0), (1002.0, 1000.0), (1003.0, 1000.0))
    told = history.estimate(taken(resyncing(3000)).arrays[0])
    assert told is not None
    assert told.left_s == pytest.approx((TOTAL - 3000) / 1000)
    assert (told.speed_kib_s, told.if_as_fast) == (1000, True)


def test_kernel_speed_stands_in_before_two_samples() -> None:
    history = SampleHistory()
    snapshot = taken(resyncing(7770))
    history.add(snapshot)
    assert history.speeds(KEY) == ()
    assert history.estimate(snapshot.arrays[0]) == Estimate(
        speed_kib_s=777, left_s=(TOTAL - 7770) / 777, left_low_s=None, left_high_s=None, if_as_fast=True
    )


@pytest.mark.parametrize(
    "spec",
    [resyncing(1, speed_kib_s=0), resyncing(1, waiting="DELAYED"), resyncing(1, waiting="PENDING"), raid10()],
)
def test_no_estimate(spec: ArraySpec) -> None:
    history = SampleHistory()
    snapshot = taken(spec)
    history.add(snapshot)
    assert history.estimate(snapshot.arrays[0]) is None


def test_another_sync_begins_anew() -> None:
    history = SampleHistory()
    for second, spec in enumerate(
        [resyncing(0), resyncing(1000), resyncing(0, action="check"), resyncing(500, action="check")]
    ):
        history.add(taken(spec, at_s=second))
    assert history.speeds(KEY) == ((1003.0, 500.0),)


def test_speeds_of_the_last_sync_stay_after_its_end() -> None:
    history = SampleHistory()
    for second, spec in enumerate([resyncing(0), resyncing(1000), raid10()]):
        history.add(taken(spec, at_s=second))
    assert history.speeds(KEY) == ((1001.0, 1000.0),)
    history.add(taken(resyncing(5000), at_s=3))
    assert history.estimate(taken(resyncing(5000)).arrays[0]) == Estimate(
        speed_kib_s=777, left_s=(TOTAL - 5000) / 777, left_low_s=None, left_high_s=None, if_as_fast=True
    )


def test_a_pause_leaves_a_gap_and_another_run_begins_anew() -> None:
    history = SampleHistory()
    half = TOTAL // 2
    steps = [half, half + 1000, None, None, half + 1000, half + 2000]
    for second, done_kib in enumerate(steps):
        history.add(taken(resyncing(done_kib) if done_kib else raid10(frozen=True), at_s=second))
    assert history.speeds(KEY) == ((1001.0, 1000.0), (1005.0, 1000.0))
    for second, done_kib in ((6, None), (7, 0), (8, 500)):
        history.add(taken(raid10() if done_kib is None else resyncing(done_kib), at_s=second))
    assert history.speeds(KEY) == ((1008.0, 500.0),)


def test_arrays_that_are_gone_are_forgotten() -> None:
    history = SampleHistory()
    history.add(taken(resyncing(0)))
    history.add(taken(resyncing(1000), at_s=1))
    history.add(taken(raid1(), at_s=2))
    assert history.speeds(KEY) == ()


def test_what_could_not_be_read_is_no_standstill() -> None:
    """A snapshot that repeats old values must not show as a speed of nothing."""
    history = SampleHistory()
    history.add(taken(resyncing(0), io={"sda": [0] * 11}))
    good = taken(resyncing(1000), at_s=1, io={"sda": [0] * 9 + [500, 0]})
    history.add(good)
    loads = history.loads()
    array = replace(good.arrays[0], stale=UNREAD)
    history.add(replace(good, clock_s=1002.0, readable=False, stale=UNREAD))
    history.add(replace(good, clock_s=1003.0, arrays=(array,), io={}))
    history.add(taken(resyncing(4000), at_s=4))
    assert loads == {"sda": DeviceLoad(busy=0.5, wait_ms=None, requests_a_s=0.0)}
    assert history.speeds(KEY) == ((1001.0, 1000.0), (1004.0, 1000.0))


def test_load_between_two_samples() -> None:
    history = SampleHistory()
    assert (history.loads(), history.latency_ms()) == ({}, {})
    history.add(
        taken(
            resyncing(0),
            io={"sda": [100, 0, 0, 50, 10, 0, 0, 5, 0, 1000], "sdb": [0] * 10, "sdc": [9] * 10},
        )
    )
    assert (history.loads(), history.latency_ms()) == ({}, {})
    history.add(
        taken(
            resyncing(1000),
            at_s=2,
            io={
                "sda": [300, 0, 0, 150, 10, 0, 0, 5, 0, 2800],
                "sdb": [0] * 9 + [9000],
                "sdc": [0] * 10,
                "sdd": [1] * 10,
            },
        )
    )
    assert history.loads() == {
        "sda": DeviceLoad(busy=0.9, wait_ms=0.5, requests_a_s=100.0),
        "sdb": DeviceLoad(busy=1.0, wait_ms=None, requests_a_s=0.0),
        "sdc": DeviceLoad(busy=0.0, wait_ms=None, requests_a_s=0.0),
    }
    assert history.latency_ms() == {"sda": 0.5}
    history.add(taken(raid10(), at_s=4, io={"sda": [300] * 10}))  # at rest nobody asks for the counters
    assert (history.loads(), history.latency_ms()) == ({}, {})


def test_load_is_not_measured_over_an_instant() -> None:
    history = SampleHistory()
    history.add(taken(resyncing(0), io={"sda": [0] * 10}))
    history.add(taken(resyncing(1000), at_s=2, io={"sda": [0] * 9 + [1000]}))
    history.add(taken(resyncing(1050), at_s=2.1, io={"sda": [0] * 9 + [1050]}))
    assert history.loads()["sda"].busy == pytest.approx(0.5)


def test_cadence() -> None:
    assert interval_s(taken(resyncing(5))) == 1.0
    assert interval_s(taken(raid5(), raid1(sync=Syncing(action="check", done_kib=1)))) == 1.0
    assert interval_s(taken(resyncing(5, waiting="DELAYED"))) == 5.0
    assert interval_s(taken(raid10())) == 5.0
    assert interval_s(taken()) == 5.0


def test_capture_that_stands_still_is_no_standstill() -> None:
    """Time does not pass in a capture, however often it is sampled: the speed is the kernel's."""
    tree = host_tree(resyncing(7770))
    history, sampler = SampleHistory(), Sampler(MemoryReader(tree.files, links=tree.links, still=True))
    for _ in range(3):
        snapshot = sampler.sample()
        assert snapshot.clock_s == 0.0
        history.add(snapshot)
        assert history.estimate(snapshot.arrays[0]) == Estimate(
            speed_kib_s=777, left_s=(TOTAL - 7770) / 777, left_low_s=None, left_high_s=None, if_as_fast=True
        )
    assert history.speeds(KEY) == ()


def test_samples_of_one_instant_count_once() -> None:
    history = SampleHistory()
    for at_s, done_kib in ((0, 0), (0, 500), (1, 1000), (1, 500), (2, 2000)):
        history.add(taken(resyncing(done_kib), at_s=at_s))
    assert history.speeds(KEY) == ((1001.0, 1000.0), (1002.0, 1000.0))


def test_wall_clock_set_back_changes_nothing() -> None:
    history = SampleHistory()
    for second in range(3):
        history.add(replace(taken(resyncing(1000 * second), at_s=second), taken_s=5000.0 - 3600 * second))
    assert history.speeds(KEY) == ((1001.0, 1000.0), (1002.0, 1000.0))
