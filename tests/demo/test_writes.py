"""Writes: taken as md takes them, refused with md's error number."""

from __future__ import annotations

import errno

import pytest

from raidtui.model.plan import Plan
from raidtui.plans.sync import plan_resume
from tests.demo.scene import DATA, ROOT, SCRATCH, SYSTEM, VM, Scene


@pytest.mark.parametrize(
    ("path", "text", "code"),
    [
        (f"{DATA}/sync_action", "check", errno.EBUSY),
        (f"{DATA}/sync_action", "resync", errno.EBUSY),
        (f"{DATA}/sync_action", "rubbish", errno.EBUSY),
        (f"{ROOT}/sync_action", "rubbish", errno.EINVAL),
        (f"{ROOT}/sync_action", "recovery", errno.EINVAL),
        (f"{ROOT}/sync_action", "", errno.EINVAL),
        (f"{ROOT}/sync_action", "Idle", errno.EINVAL),
        (f"{SCRATCH}/sync_action", "check", errno.ENOENT),
        (f"{SCRATCH}/sync_speed_max", "1000", errno.ENOENT),
        (f"{DATA}/sync_speed_min", "0", errno.EINVAL),
        (f"{DATA}/sync_speed_min", "-5", errno.EINVAL),
        (f"{DATA}/sync_speed_max", "fast", errno.EINVAL),
        (f"{DATA}/sync_speed_max", "12 ", errno.EINVAL),
        (f"{DATA}/sync_speed_max", "", errno.EINVAL),
        (f"{DATA}/sync_speed_max", "4294967296", errno.ERANGE),
        (f"{SYSTEM}/speed_limit_max", "fast", errno.EINVAL),
        (f"{SYSTEM}/speed_limit_max", "", errno.EINVAL),
        (f"{SYSTEM}/speed_limit_min", "2147483648", errno.EINVAL),
        (f"{DATA}/sync_min", "0", errno.EBUSY),
        (f"{ROOT}/sync_min", "x", errno.EINVAL),
        (f"{DATA}/sync_max", "640", errno.EBUSY),
        (f"{VM}/sync_max", "100", errno.EINVAL),
        (f"{VM}/stripe_cache_size", "16", errno.EINVAL),
        (f"{ROOT}/stripe_cache_size", "256", errno.ENOENT),
        (f"{DATA}/mismatch_cnt", "0", errno.EACCES),
        (f"{DATA}/uuid", "0", errno.EACCES),
        ("/proc/mdstat", "0", errno.EACCES),
        (f"{DATA}/array_state", "inactive", errno.EBUSY),
        (f"{DATA}/array_state", "happy", errno.EINVAL),
        (f"{DATA}/dev-sda2/state", "remove", errno.EBUSY),
        (f"{DATA}/dev-sda2/state", "re-add", errno.EBUSY),
        (f"{DATA}/dev-sda2/state", "unhappy", errno.EINVAL),
        (f"{DATA}/dev-sdz2/state", "faulty", errno.ENOENT),
        ("/sys/class/block/sda/queue/scheduler", "cfq", errno.EINVAL),
        ("/sys/class/block/sda/size", "1", errno.EACCES),
    ],
)
def test_refusals(scene: Scene, path: str, text: str, code: int) -> None:
    before = scene.reader.read("/proc/mdstat")
    with pytest.raises(OSError) as caught:  # noqa: PT011  (the number is looked at)
        scene.reader.take_value(path, text)
    assert caught.value.errno == code
    assert scene.reader.read("/proc/mdstat") == before


def test_local_limits_read_back(scene: Scene) -> None:
    scene.reader.take_value(f"{DATA}/sync_speed_max", "20000\n")
    assert scene.reader.read(f"{DATA}/sync_speed_max") == b"20000 (local)\n"
    scene.reader.take_value(f"{DATA}/sync_speed_max", "system")
    assert scene.reader.read(f"{DATA}/sync_speed_max") == b"781250 (system)\n"
    scene.reader.take_value(f"{SYSTEM}/speed_limit_max", "-7\n")
    assert scene.reader.read(f"{SYSTEM}/speed_limit_max") == b"-7\n"
    assert scene.reader.read(f"{DATA}/sync_speed_max") == b"-7 (system)\n"


def _speed(scene: Scene, name: str = "md127") -> float:
    before = scene.done_kib(name)
    scene.go(10)
    return (scene.done_kib(name) - before) / 10


def test_limits_change_the_speed(scene: Scene) -> None:
    assert _speed(scene) == pytest.approx(488_281, rel=0.02)
    scene.reader.take_value(f"{DATA}/sync_speed_max", "300000")
    assert _speed(scene) == pytest.approx(300_000, rel=0.02)
    scene.reader.take_value(f"{DATA}/sync_speed_min", "400000")  # above max: min wins
    assert _speed(scene) == pytest.approx(400_000, rel=0.02)
    scene.reader.take_value(f"{DATA}/sync_speed_max", "4000000")  # more than the disks give
    assert _speed(scene) == pytest.approx(2 * 498_000, rel=0.03)


def test_bursts_of_other_io_slow_it_down_to_min(scene: Scene) -> None:
    scene.go(66)
    slow = _speed(scene)
    assert slow < 330_000
    scene.go(74 - 8)
    scene.reader.take_value(f"{DATA}/sync_speed_min", "450000")
    assert _speed(scene) > 440_000


def test_the_kernels_own_speed_trails(scene: Scene) -> None:
    scene.reader.take_value(f"{DATA}/sync_speed_max", "200000")
    scene.go(5)
    sync = scene.array("md127").sync
    assert sync is not None
    assert (sync.speed_kib_s or 0) > 350_000
    scene.go(30)
    sync = scene.array("md127").sync
    assert sync is not None
    assert sync.speed_kib_s == pytest.approx(200_000, rel=0.02)


def test_system_limit_holds_arrays_without_their_own(scene: Scene) -> None:
    scene.go(45)
    scene.reader.take_value(f"{SYSTEM}/speed_limit_max", "100000")
    assert _speed(scene, "md125") == pytest.approx(100_000, rel=0.02)
    assert _speed(scene, "md127") > 150_000


def test_pause_and_resume(scene: Scene) -> None:
    scene.reader.take_value(f"{DATA}/sync_action", "frozen\n")
    assert scene.reader.text(f"{DATA}/sync_action") == "frozen"
    sync = scene.array("md127").sync
    assert sync is not None
    assert sync.waiting == "PENDING"
    start = int(scene.reader.text(f"{DATA}/resync_start") or "")
    scene.go(20)
    scene.reader.take_value(f"{DATA}/sync_action", "idle")
    assert scene.reader.text(f"{DATA}/sync_action") == "resync"
    assert scene.done_kib("md127") == start // 2


def test_idle_lets_a_resync_start_again(scene: Scene) -> None:
    before = scene.done_kib("md127")
    scene.reader.take_value(f"{DATA}/sync_action", "idle")
    assert scene.reader.text(f"{DATA}/sync_action") == "resync"
    assert scene.done_kib("md127") == before


def test_while_frozen_nothing_is_rebuilt(scene: Scene) -> None:
    scene.reader.take_value(f"{VM}/sync_action", "frozen")
    scene.go(60)
    assert scene.array("md125").up == "U_U"
    assert scene.array("md125").sync is None
    assert scene.reader.text(f"{VM}/dev-nvme3n1p1/slot") == "none"
    scene.reader.take_value(f"{VM}/sync_action", "idle")
    assert scene.reader.text(f"{VM}/sync_action") == "recover"
    assert scene.reader.text(f"{VM}/dev-nvme3n1p1/slot") == "1"
    assert scene.reader.text(f"{VM}/dev-nvme1n1p1/slot") == "none"


def test_a_check_waits_for_a_shared_disk(scene: Scene) -> None:
    scene.reader.take_value(f"{ROOT}/sync_action", "check")
    assert scene.reader.text(f"{ROOT}/sync_action") == "check"
    assert scene.reader.text(f"{ROOT}/sync_completed") == "delayed"
    sync = scene.array("md126").sync
    assert sync is not None
    assert sync.waiting == "DELAYED"
    scene.reader.take_value(f"{ROOT}/sync_force_parallel", "1")
    scene.go(1)
    assert scene.array("md126").sync is not None
    assert scene.done_kib("md126") > 100_000
    with pytest.raises(OSError, match="busy"):
        scene.reader.take_value(f"{ROOT}/sync_action", "repair")


def test_an_interrupted_check_goes_on_where_it_was(scene: Scene) -> None:
    scene.reader.take_value(f"{VM}/sync_action", "check")
    scene.go(20)
    scene.reader.take_value(f"{VM}/sync_action", "idle")
    assert scene.reader.text(f"{VM}/sync_action") == "idle"
    place = int(scene.reader.text(f"{VM}/sync_min") or "")
    assert place > 0
    assert place % 8 == 0
    scene.reader.take_value(f"{VM}/sync_action", "check")
    assert scene.done_kib("md125") == place // 2
    scene.reader.take_value(f"{VM}/sync_action", "idle")
    scene.reader.take_value(f"{VM}/sync_min", "0")
    scene.reader.take_value(f"{VM}/sync_action", "check")
    assert scene.done_kib("md125") == 1


@pytest.mark.parametrize("action", ["check", "repair"])
def test_what_was_paused_is_resumed_as_what_it_was(scene: Scene, action: str) -> None:
    scene.reader.take_value(f"{VM}/sync_action", action)
    scene.go(20)
    scene.reader.take_value(f"{VM}/sync_action", "idle")
    snapshot = scene.sampler.sample()
    key = next(array.key for array in snapshot.arrays if array.name == "md125")
    plan = plan_resume(snapshot, key)
    assert isinstance(plan, Plan)
    assert plan.title == f"{action} resumed where it was paused"
    for step in plan.steps:
        scene.reader.take_value(step.path, step.text)
    assert scene.reader.text(f"{VM}/sync_action") == action
    assert scene.done_kib("md125") == int(scene.reader.text(f"{VM}/sync_min") or "") // 2


def test_a_sync_stops_at_whole_sectors_however_often_time_is_asked(scene: Scene) -> None:
    scene.reader.take_value(f"{VM}/sync_max", "128000")
    scene.reader.take_value(f"{VM}/sync_action", "check")
    kernel = scene.reader.simulated
    array = next(each for each in kernel.arrays if each.name == "md125")
    scene.go(5)
    assert array.sync is not None
    array.sync.done_sectors = 128_000 - 0.5  # what rounding leaves; half of it, and half of that, never end
    assert kernel.speed_kib_s(array) == 0.0
    scene.go(400)
    assert scene.done_kib("md125") == 64_000 - 1


def test_sync_max_holds_a_check_until_it_is_raised(scene: Scene) -> None:
    end = 128 * 1000
    scene.reader.take_value(f"{VM}/sync_max", str(end))
    scene.reader.take_value(f"{VM}/sync_action", "check")
    scene.go(20)
    assert scene.done_kib("md125") == end // 2
    assert scene.reader.text(f"{VM}/sync_action") == "check"
    scene.reader.take_value(f"{VM}/sync_max", "max")
    scene.go(5)
    assert scene.done_kib("md125") > end


def test_knobs_are_remembered(scene: Scene) -> None:
    scene.reader.take_value(f"{VM}/stripe_cache_size", "4096\n")
    assert scene.reader.text(f"{VM}/stripe_cache_size") == "4096"
    scene.reader.take_value("/sys/class/block/sda/queue/scheduler", "none")
    assert scene.reader.text("/sys/class/block/sda/queue/scheduler") == "[none] mq-deadline kyber bfq"
    scene.reader.take_value("/sys/class/block/sda/device/queue_depth", "1")
    assert scene.reader.text("/sys/class/block/sda/device/queue_depth") == "1"
