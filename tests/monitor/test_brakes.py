"""Why a sync is not faster."""

from __future__ import annotations

import time
from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from raidtui.model.array import Array, Member
from raidtui.model.array_sync import Phase, SpeedLimit, Sync
from raidtui.model.disk import DiskIo
from raidtui.model.snapshot import Snapshot
from raidtui.monitor.brakes import Brake, DeviceLoad, HeldBack, Stood, held_back_by, sharing
from raidtui.monitor.sync_track import SyncSample, SyncTrack
from tests.hosts.trees import ArraySpec, Syncing, host_tree, raid1, raid5, raid10, snapshot_of
from tests.monitor.recordings import loaded

RESYNC = Syncing(action="resync", done_kib=5, speed_kib_s=5)


def braked(
    *specs: ArraySpec,
    speeds: Sequence[int] = (100_000, 100_000),
    limits: tuple[int, int] = (1000, 200_000),
    loads: dict[str, DeviceLoad] | None = None,
) -> tuple[Brake, str] | None:
    """Return what holds the first array back, after so many KiB in each second."""
    snapshot = snapshot_of(host_tree(*specs, limits=limits))
    array = snapshot.arrays[0]
    held = held_back_by(array, snapshot, followed(array, speeds), loads)
    return None if held is None else (held.brake, held.words)


def followed(array: Array, speeds: Sequence[int]) -> SyncTrack | None:
    """Return the track of a sync that has done so many KiB in each second."""
    sync = array.sync
    if sync is None or sync.done_kib is None or sync.total_kib is None:
        return None
    sample = SyncSample(
        clock_s=0.0,
        done_kib=sync.done_kib,
        total_kib=1 << 40,
        mean_kib_s=sync.kernel_speed_kib_s or 0,
        ceiling_kib_s=array.speed_limit.ceiling_kib_s if array.speed_limit else None,
        halt_kib=array.halts_at_kib,
    )
    track = SyncTrack(sample)
    for second, speed in enumerate(speeds):
        sample = replace(sample, clock_s=second + 1.0, done_kib=sample.done_kib + speed)
        track.add(sample)
    return track


def at(speed_kib_s: int) -> Syncing:
    """Return a resync of which the kernel prints this speed."""
    return Syncing(action="resync", done_kib=5, speed_kib_s=speed_kib_s)


def busy(part: float, wait_ms: float = 10.0) -> DeviceLoad:
    """Return the load of a device that was busy for a part of the time."""
    return DeviceLoad(busy=part, wait_ms=wait_ms, requests_a_s=100.0)


def test_nothing_to_hold_back() -> None:
    assert braked(raid10()) is None
    assert braked(raid1(sync=RESYNC)) is None
    assert braked(raid1(sync=RESYNC), speeds=()) is None
    assert braked(raid1(sync=Syncing(action="resync", waiting="REMOTE"))) is None


@pytest.mark.parametrize(
    ("speed_kib_s", "brake"),
    [(189_000, None), (190_000, (Brake.MAX_LIMIT, "max limit")), (199_000, (Brake.MAX_LIMIT, "max limit"))],
)
def test_max_limit(speed_kib_s: int, brake: tuple[Brake, str] | None) -> None:
    """What md compares with its limit is its own mean; a limit far above it is no cause."""
    assert braked(raid1(sync=at(speed_kib_s)), speeds=(199_000,)) == brake


def test_local_limit_goes_before_the_system_s() -> None:
    assert braked(raid1(sync=at(90_000), limits=(None, 90_000))) == (Brake.MAX_LIMIT, "max limit")
    assert braked(raid1(sync=at(200_000), limits=(None, 900_000))) is None


def test_min_above_max() -> None:
    spec = raid1(sync=at(50_000), limits=(50_000, 3000))
    assert braked(spec, speeds=(50_304,)) == (Brake.MIN_LIMIT, "min limit (above max: min wins)")


def test_limit_of_nothing_is_none() -> None:
    assert braked(raid1(sync=RESYNC, limits=(None, 0)), limits=(0, 0)) is None


@pytest.mark.parametrize(("speed_kib_s", "slowed"), [(690, False), (700, True), (1300, True), (1310, False)])
def test_other_io(speed_kib_s: int, slowed: bool) -> None:  # noqa: FBT001
    """At md's minimum it is other I/O only where there was some on the array."""
    expected = (Brake.OTHER_IO, "other I/O: md yields down to min") if slowed else None
    spec = raid1("md126", sync=at(speed_kib_s))
    assert braked(spec, speeds=(speed_kib_s,), loads={"md126": busy(0.5)}) == expected
    assert braked(spec, speeds=(speed_kib_s,)) is None


def test_slow_member() -> None:
    spec = raid1(sync=RESYNC)
    slow = (Brake.SLOW_MEMBER, "slow member sdf (97% busy, 80 ms a request)")
    assert braked(spec, loads={"sde": busy(0.4), "sdf": busy(0.97, 80.0), "sdz": busy(1.0)}) == slow
    unknown = DeviceLoad(busy=0.4, wait_ms=None, requests_a_s=0.0)  # no request of it has ended
    assert braked(spec, loads={"sde": unknown, "sdf": busy(0.97, 80.0)}) == slow
    assert braked(spec, loads={"sde": busy(0.4, 70.0), "sdf": busy(0.97, 80.0)}) is None
    assert braked(spec, loads={"sde": busy(0.4), "sdf": busy(0.69, 80.0)}) is None
    assert braked(spec, loads={"sdf": busy(0.97, 80.0)}) is None


def test_both_members_slow() -> None:
    spec = raid1(sync=RESYNC)
    words = "the disks are the limit: sdf 97% busy and sde 80% busy"
    assert braked(spec, loads={"sde": busy(0.8), "sdf": busy(0.97)}) == (Brake.MEMBERS, words)
    assert braked(spec, loads={"sde": busy(0.6), "sdf": busy(0.69)}) is None


def test_an_nvme_device_that_is_always_busy_may_have_room() -> None:
    spec = raid1(members=("nvme0n1", "nvme1n1"), sync=RESYNC)
    assert braked(spec, loads={"nvme0n1": busy(1.0), "nvme1n1": busy(1.0)}) is None


def test_a_stall_has_its_time_and_no_cause_that_was_not_measured() -> None:
    now = snapshot_of(host_tree(raid1(sync=RESYNC)))
    array, busy_ones = now.arrays[0], {"sde": busy(1.0), "sdf": busy(1.0)}
    track = followed(array, (0,) * 6)
    since = time.strftime("%H:%M", time.localtime(now.taken_s - 600))

    def said(stood: Stood, snapshot: Snapshot = now) -> str:
        held = held_back_by(array, snapshot, track, busy_ones, stood)
        assert held is not None
        return held.sentence

    stood = Stood(since_s=now.taken_s - 600)
    assert said(stood) == f"has not moved since {since}; the cause is not known"
    quiet = replace(stood, silent=("sdf",))
    assert said(quiet) == f"has not moved since {since}; sdf has finished no request since then"
    hung = DiskIo(
        reads=1, read_sectors=8, read_ms=1, writes=0, written_sectors=0, write_ms=0, busy_ms=1, in_flight=4
    )
    seen = replace(now, io={"sde": hung})
    assert said(stood, seen) == f"has not moved since {since}; sde has requests in flight"


CAUSES = {
    "t1": {Brake.MAX_LIMIT}, "t20": {Brake.MAX_LIMIT}, "down": {Brake.MAX_LIMIT}, "moves": {Brake.MAX_LIMIT},
    "reshape": {Brake.MAX_LIMIT}, "fio_light": {Brake.MAX_LIMIT}, "up": {Brake.MAX_LIMIT},
    "syncmax": {Brake.MAX_LIMIT, Brake.HALTED}, "stall1": {Brake.MAX_LIMIT, Brake.STALLED},
    "slow": {Brake.SLOW_MEMBER}, "zoned": {Brake.MAX_LIMIT, Brake.SLOW_MEMBER}, "fast": {Brake.MEMBERS},
    "fio_heavy": {Brake.MEMBERS, Brake.OTHER_IO},
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(CAUSES))
def test_causes_of_recorded_syncs(name: str) -> None:
    """Nothing else is ever said of them, and what is right is."""
    said = set()
    for row, track, loads in loaded(name):
        assert row.sample is not None
        members = tuple(Member(name=each, number=None, slot=None, states=("in_sync",)) for each in row.stats)
        array = Array(
            name="md0",
            path="/dev/md0",
            members=members,
            sync=Sync(
                action=row.action,
                phase=Phase.RUNNING,
                done_kib=row.sample.done_kib,
                total_kib=row.sample.total_kib,
            ),
            sync_max_sectors=None if row.sample.halt_kib is None else 2 * row.sample.halt_kib,
            speed_limit=SpeedLimit(
                min_kib_s=1000, max_kib_s=row.sample.ceiling_kib_s, min_scope=None, max_scope=None
            ),
        )
        now = replace(snapshot_of(host_tree()), taken_s=row.clock_s, clock_s=row.clock_s)
        stood = Stood(since_s=0.0) if track.stalled else None
        held = held_back_by(array, now, track, loads, stood)
        said |= {held.brake} if held is not None else set()
    assert said == CAUSES[name]


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
        "max_limit", "min_limit", "other_io", "delayed", "pending", "frozen", "slow_member", "members",
        "halted", "stalled",
    ]  # fmt: skip
    assert HeldBack(brake=Brake.FROZEN, words="x") != HeldBack(brake=Brake.PENDING, words="x")


def test_a_limit_that_was_lowered() -> None:
    """The kernel sleeps until its own mean is below the limit: the speed is 0 then, and the limit is why."""
    words = "max limit: md waits until its mean speed is below it"
    for limit, expected in ((5_000, (Brake.MAX_LIMIT, words)), (900_000, None)):
        spec = raid1(sync=at(480_000), limits=(None, limit))
        assert braked(spec, speeds=(0, 0)) == expected


@pytest.mark.parametrize(
    ("limit", "action", "words"),
    [
        ("10", "reshape", "stopped at sync_max: resume its job (raidtui jobs)"),
        ("10", "resync", "stopped at sync_max: write max to md125/md/sync_max"),
        ("10", "check", "stopped at sync_max: write max to md125/md/sync_max"),
        ("12", "check", ""),
        ("max", "check", ""),
    ],
)
def test_what_stands_where_md_is_to_stop(limit: str, action: str, words: str) -> None:
    spec = raid5("md125", sync=Syncing(action=action, done_kib=5), attributes={"sync_max": limit})
    assert braked(spec, speeds=(0,)) == ((Brake.HALTED, words) if words else None)
