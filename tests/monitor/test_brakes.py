"""Why a sync is not faster."""

from __future__ import annotations

import pytest

from raidtui.monitor.brakes import Brake, HeldBack, held_back_by, sharing
from tests.hosts.trees import ArraySpec, Syncing, host_tree, raid1, raid5, raid10, snapshot_of

RESYNC = Syncing(action="resync", done_kib=5, speed_kib_s=5)


def braked(
    *specs: ArraySpec,
    speed_kib_s: float | None = 100_000,
    limits: tuple[int, int] = (1000, 200_000),
    busy: dict[str, float] | None = None,
) -> tuple[Brake, str] | None:
    """Return what holds the first array back."""
    snapshot = snapshot_of(host_tree(*specs, limits=limits))
    held = held_back_by(snapshot.arrays[0], snapshot, speed_kib_s, busy)
    return None if held is None else (held.brake, held.words)


def test_nothing_to_hold_back() -> None:
    assert braked(raid10()) is None
    assert braked(raid1(sync=RESYNC)) is None
    assert braked(raid1(sync=RESYNC), speed_kib_s=None) is None
    assert braked(raid1(sync=RESYNC), speed_kib_s=0) is None
    assert braked(raid1(sync=Syncing(action="resync", waiting="REMOTE"))) is None


@pytest.mark.parametrize(
    ("speed_kib_s", "brake"),
    [(169_000, None), (170_000, (Brake.MAX_LIMIT, "max limit")), (210_000, (Brake.MAX_LIMIT, "max limit"))],
)
def test_max_limit(speed_kib_s: float, brake: tuple[Brake, str] | None) -> None:
    assert braked(raid1(sync=RESYNC), speed_kib_s=speed_kib_s) == brake


def test_local_limit_goes_before_the_system_s() -> None:
    spec = raid1(sync=RESYNC, limits=(None, 90_000))
    assert braked(spec) == (Brake.MAX_LIMIT, "max limit")
    assert braked(raid1(sync=RESYNC, limits=(None, 900_000)), speed_kib_s=200_000) is None


def test_min_above_max() -> None:
    spec = raid1(sync=RESYNC, limits=(50_000, 3000))
    assert braked(spec, speed_kib_s=50_304) == (Brake.MIN_LIMIT, "min limit (above max: min wins)")


def test_limit_of_nothing_is_none() -> None:
    assert braked(raid1(sync=RESYNC, limits=(None, 0)), limits=(0, 0)) is None


@pytest.mark.parametrize(("speed_kib_s", "slowed"), [(690, False), (700, True), (1300, True), (1310, False)])
def test_other_io(speed_kib_s: float, slowed: bool) -> None:  # noqa: FBT001
    expected = (Brake.OTHER_IO, "other I/O: md yields down to min") if slowed else None
    assert braked(raid1(sync=RESYNC), speed_kib_s=speed_kib_s) == expected


def test_slow_member() -> None:
    spec = raid1(sync=RESYNC)
    slow = (Brake.SLOW_MEMBER, "slow member sdf (97% busy)")
    assert braked(spec, busy={"sde": 0.4, "sdf": 0.97, "sdz": 1.0}) == slow
    assert braked(spec, busy={"sde": 0.71, "sdf": 0.97}) is None
    assert braked(spec, busy={"sde": 0.4, "sdf": 0.89}) is None
    assert braked(spec, busy={"sdf": 0.97}) is None
    assert braked(spec, busy={"sde": 0.4, "sdf": 0.97}, speed_kib_s=190_000) == (Brake.MAX_LIMIT, "max limit")


def test_frozen() -> None:
    assert braked(raid1(frozen=True, resync_start="5")) == (Brake.FROZEN, "until it is resumed")


@pytest.mark.parametrize(
    ("read_only", "words"),
    [
        ("auto-read-only", "auto-read-only until the first write"),
        ("read-only", "read-only until it is made writable"),
        ("", "not started yet"),
    ],
)
def test_pending(read_only: str, words: str) -> None:
    spec = raid1(read_only=read_only, sync=Syncing(action="resync", waiting="PENDING"))
    assert braked(spec) == (Brake.PENDING, words)


def test_delayed() -> None:
    waiting = raid1(members=("sda2", "sdb2"), sync=Syncing(action="resync", waiting="DELAYED"))
    first = raid5("md3", "media", members=("sdc1", "sdb1", "sda1"), sync=RESYNC)
    elsewhere = raid10(members=("sdw", "sdx", "sdy", "sdz"), sync=RESYNC)
    at_rest = raid1("md4", "other", members=("sda3", "sdb3"))
    assert braked(waiting, elsewhere, at_rest, first) == (Brake.DELAYED, "waits for media: both use sda")
    assert braked(waiting, elsewhere, at_rest) == (Brake.DELAYED, "waits for another array on the same disks")
    snapshot = snapshot_of(host_tree(waiting, elsewhere, at_rest, first))
    assert sharing(snapshot.arrays[0], snapshot) == [(snapshot.arrays[3], "sda")]
    assert sharing(snapshot.arrays[3], snapshot) == []


def test_words_for_machines() -> None:
    assert [str(brake) for brake in Brake] == [
        "max_limit", "min_limit", "other_io", "delayed", "pending", "frozen", "slow_member", "halted"
    ]  # fmt: skip
    assert HeldBack(brake=Brake.FROZEN, words="x") != HeldBack(brake=Brake.PENDING, words="x")


def test_a_limit_that_was_lowered() -> None:
    """The kernel sleeps until its own mean is below the limit: the speed is 0 then, and the limit is why."""
    was_fast = Syncing(action="check", done_kib=5, speed_kib_s=480_000)
    words = "max limit: md waits until its mean speed is below it"
    for speed_kib_s in (None, 0, 30_000):
        spec = raid1(sync=was_fast, limits=(None, 5_000))
        assert braked(spec, speed_kib_s=speed_kib_s) == (Brake.MAX_LIMIT, words)
    assert braked(raid1(sync=was_fast, limits=(None, 900_000)), speed_kib_s=0) is None


@pytest.mark.parametrize(
    ("limit", "speed_kib_s", "halted"),
    [("10", 0, True), ("10", None, True), ("12", 0, False), ("10", 500, False), ("max", 0, False)],
)
def test_a_reshape_that_nobody_lets_on(limit: str, speed_kib_s: float | None, *, halted: bool) -> None:
    """It stands at the limit that its job moves on."""
    spec = raid5(
        sync=Syncing(action="reshape", done_kib=5), reshape_position="1920", attributes={"sync_max": limit}
    )
    expected = (Brake.HALTED, "its limit, sync_max: resume its job (raidtui jobs)") if halted else None
    assert braked(spec, speed_kib_s=speed_kib_s) == expected
