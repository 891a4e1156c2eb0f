"""Speed limits: every plan whole, every refusal whole."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from raidtui.model.plan import Harm, Plan, Refusal, Step, Write
from raidtui.model.snapshot import Snapshot, SystemLimits
from raidtui.plans.sync_speed import HIGHEST_KIB_S, plan_give_back, plan_limits
from tests.hosts.kernel import Kernel
from tests.hosts.specs import ArraySpec, container, inactive, raid0, raid1, raid5, raid10

MD = "/sys/class/block/md127/md"
SYSTEM = "/proc/sys/dev/raid"
UUID = raid10().array_uuid


def snapshot(*arrays: ArraySpec, writable: bool = True, **more: object) -> Snapshot:
    """What a host with these arrays samples to."""
    return Kernel(*arrays, writable=writable, **more).sampler().sample()


def key(found: Snapshot) -> str:
    """The only array's key."""
    return found.arrays[0].key


def step(attribute: str, text: str, why: str) -> Step:
    """A write to the array, bound to it."""
    return Write(path=f"{MD}/{attribute}", text=text, why=why, identity=(f"{MD}/uuid", UUID))


def system_step(attribute: str, text: str, why: str) -> Step:
    """A write to the system's limits."""
    return Write(path=f"{SYSTEM}/speed_limit_{attribute}", text=text, why=why)


def test_max_of_an_array_that_follows_the_system() -> None:
    found = snapshot(raid10())
    assert plan_limits(found, key(found), 1000, 488_281) == Plan(
        title="max 205 MB/s → 500 MB/s (this array)",
        subject="data",
        steps=(step("sync_speed_max", "488281", "max 500 MB/s"),),
        undo=(step("sync_speed_max", "system", "max as before"),),
    )


def test_min_of_an_array_with_limits_of_its_own() -> None:
    found = snapshot(raid10(limits=(195_313, 488_281)))
    assert plan_limits(found, key(found), 97_656, 488_281) == Plan(
        title="min 200 MB/s → 100 MB/s (this array)",
        subject="data",
        steps=(step("sync_speed_min", "97656", "min 100 MB/s"),),
        undo=(step("sync_speed_min", "195313", "min as before"),),
    )


def test_both_upwards_has_max_first_and_is_undone_in_reverse() -> None:
    found = snapshot(raid10(limits=(1000, 2000)))
    assert plan_limits(found, key(found), 3000, 4000) == Plan(
        title="min 1.0 MB/s → 3.1 MB/s, max 2.0 MB/s → 4.1 MB/s (this array)",
        subject="data",
        steps=(
            step("sync_speed_max", "4000", "max 4.1 MB/s"),
            step("sync_speed_min", "3000", "min 3.1 MB/s"),
        ),
        undo=(
            step("sync_speed_min", "1000", "min as before"),
            step("sync_speed_max", "2000", "max as before"),
        ),
    )


def test_both_downwards_has_min_first_and_is_undone_in_reverse() -> None:
    found = snapshot(raid10(limits=(3000, 4000)))
    plan = plan_limits(found, key(found), 1000, 2000)
    assert isinstance(plan, Plan)
    assert plan.harm is Harm.HARMLESS
    assert [(each.path[-3:], each.text) for each in plan.steps] == [("min", "1000"), ("max", "2000")]
    assert [(each.path[-3:], each.text) for each in plan.undo] == [("max", "4000"), ("min", "3000")]


def test_the_systems() -> None:
    found = snapshot(raid10())
    assert plan_limits(found, None, 1000, 488_281) == Plan(
        title="max 205 MB/s → 500 MB/s (all arrays)",
        subject="system",
        steps=(system_step("max", "488281", "max 500 MB/s"),),
        undo=(system_step("max", "200000", "max 205 MB/s"),),
    )
    assert plan_limits(found, None, 300_000, 400_000) == Plan(
        title="min 1.0 MB/s → 307 MB/s, max 205 MB/s → 410 MB/s (all arrays)",
        subject="system",
        steps=(system_step("max", "400000", "max 410 MB/s"), system_step("min", "300000", "min 307 MB/s")),
        undo=(system_step("min", "1000", "min 1.0 MB/s"), system_step("max", "200000", "max 205 MB/s")),
    )


def test_give_back() -> None:
    found = snapshot(raid10(limits=(1000, 488_281)))
    assert plan_give_back(found, key(found)) == Plan(
        title="the system's limits apply again",
        subject="data",
        steps=(
            step("sync_speed_min", "system", "min of the system"),
            step("sync_speed_max", "system", "max of the system"),
        ),
        undo=(
            step("sync_speed_min", "1000", "min as before"),
            step("sync_speed_max", "488281", "max as before"),
        ),
    )
    found = snapshot(raid10(limits=(None, 488_281)))
    plan = plan_give_back(found, key(found))
    assert isinstance(plan, Plan)
    assert plan.steps == (step("sync_speed_max", "system", "max of the system"),)


@pytest.mark.parametrize(
    ("low", "high", "sentence"),
    [
        (0, 10, "min must be between 1 and 2147483647 KiB/s, not 0"),
        (-5, 10, "min must be between 1 and 2147483647 KiB/s, not -5"),
        (1, 0, "max must be between 1 and 2147483647 KiB/s, not 0"),
        (1, HIGHEST_KIB_S + 1, "max must be between 1 and 2147483647 KiB/s, not 2147483648"),
        (
            300_000,
            200_000,
            "min 307 MB/s would exceed max 205 MB/s, and the kernel lets min win; lower min or raise max",
        ),
        (1000, 200_000, "the limits are already set to that"),
    ],
)
def test_refused_values(low: int, high: int, sentence: str) -> None:
    found = snapshot(raid10())
    for which in (key(found), None):
        refusal = plan_limits(found, which, low, high)
        assert isinstance(refusal, Refusal)
        assert refusal.sentence == sentence


def said(refusal: Plan | Refusal) -> str:
    """The sentence of what must be a refusal."""
    assert isinstance(refusal, Refusal)
    return refusal.sentence


def test_refused_for_who_asks_or_what_is_asked_of() -> None:
    found = snapshot(raid10(), writable=False)
    assert said(plan_limits(found, key(found), 1, 2)) == "needs root; run it as: sudo raidtui"
    assert said(plan_give_back(found, key(found))) == "needs root; run it as: sudo raidtui"
    capture = replace(found, host=replace(found.host, source="bug.tar.gz"))
    assert said(plan_limits(capture, None, 1, 2)) == "bug.tar.gz is a capture: nothing in it can be changed"
    found = snapshot(raid0(), raid1("md1"))
    assert said(plan_limits(found, "gone", 1, 2)) == "the array is gone"
    assert said(plan_give_back(found, "gone")) == "the array is gone"
    why = "raid0 has no redundancy, so nothing is synced"
    assert said(plan_limits(found, key(found), 1, 2)) == why
    assert said(plan_give_back(found, key(found))) == why
    found = snapshot(container())
    assert (
        said(plan_limits(found, key(found), 1, 2)) == "md127 is a container of volumes, so nothing is synced"
    )
    found = snapshot(inactive(raid5()))
    assert said(plan_limits(found, key(found), 1, 2)) == "md125 is not started, so nothing is synced"
    found = snapshot(raid10(), sysfs=False)
    assert said(plan_limits(found, key(found), 1, 2)) == "the kernel shows no limits for data"
    found = snapshot(raid10())
    assert said(plan_give_back(found, key(found))) == "data already follows the system's limits"
    lost = replace(found, limits=SystemLimits(min_kib_s=None, max_kib_s=None))
    why = "the system has no md limits; load md: modprobe md_mod"
    assert said(plan_limits(lost, None, 1, 2)) == why
