"""A whole disk among members that are partitions gets a table first: one partition, which is the member."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from raidtui.features.reshape.plan.convert_plan import plan_convert
from raidtui.features.reshape.plan.convert_stages import ConvertRequest
from raidtui.features.reshape.plan.grow_plan import plan_grow
from raidtui.model.disk import Use
from raidtui.model.plan import Harm, Loss, Plan, Refusal
from raidtui.model.survey import Device, Survey
from raidtui.plans.repair import plan_add, plan_replace
from tests.hosts.specs import raid1
from tests.plans.new_array import device
from tests.plans.running import BIG, first, planned, refused, was
from tests.plans.test_grow import grown

PARTS = raid1(members=("sde2", "sdf2"))
DEGRADED = raid1(members=("sde2", "sdf2"), failed=("sdf2",))
DISK = device("sdz", size_bytes=BIG + (4 << 20))
EXT4 = Use(kind="signature", what="ext4", detail="root")
TABLE = "sfdisk --quiet --wipe always --wipe-partitions always /dev/sdz"
Made = Plan | Refusal


def added(survey: Survey, name: str = "sdz") -> Made:
    return plan_add(survey, first(survey), name)


def replaced(survey: Survey) -> Made:
    return plan_replace(survey, first(survey), "sde2", "sdz")


def grows(survey: Survey) -> Made:
    return plan_grow(survey, first(survey), ("sdz",))


def converted(survey: Survey) -> Made:
    return plan_convert(survey, first(survey), ConvertRequest(level="raid5", names=("sdz",)))


@pytest.mark.parametrize(
    ("make", "title", "takes"),
    [
        (added, "add: sdz1", "--add-spare /dev/sdz1"),
        (replaced, "replace: sde2 → sdz1", "--replace /dev/sde2 --with /dev/sdz1"),
        (grows, "grow: 2 → 3 devices", "--add-spare /dev/sdz1"),
        (converted, "convert: raid1 of 2 → raid5 of 3", "--add-spare /dev/sdz1"),
    ],
)
def test_it_is_partitioned_first(make: Callable[[Survey], Made], title: str, takes: str) -> None:
    plan = planned(make(grown(PARTS, DISK)))
    words = [" ".join(step.argv) for step in plan.steps]
    assert (plan.title, words[:2]) == (title, [TABLE, "udevadm settle"])
    assert plan.steps[0].stdin.startswith("label: gpt\nstart=2048, size=")
    assert any(each.endswith(takes) for each in words)
    assert not any(each.endswith("/dev/sdz") for each in words[1:])
    assert plan.notes[0] == (
        "sdz is a whole disk, and gets a table with one partition: the members of root are partitions."
    )
    assert (plan.harm, plan.confirm, "sdz" in plan.devices) == (Harm.REDUCES, "", True)


def test_what_is_on_it_is_lost() -> None:
    plan = planned(added(grown(PARTS, device("sdz", EXT4, size_bytes=BIG + (4 << 20)))))
    assert plan.steps[0].argv == ("wipefs", "--all", "/dev/sdz")
    assert plan.losses == (Loss(device="sdz", what='the ext4 file system "root"'),)
    assert (plan.harm, plan.confirm) == (Harm.DESTROYS, "root")


@pytest.mark.parametrize(
    ("array", "new"),
    [
        (raid1(), device("sdz", size_bytes=BIG)),  # the others are whole disks, too
        (PARTS, device("sdz1", size_bytes=BIG)),
        (raid1(members=("sde2", "sdf")), device("sdz", size_bytes=BIG)),
        (DEGRADED, was(DEGRADED)),  # it was a member as it is
        (PARTS, device("dm-7", size_bytes=BIG)),
    ],
)
def test_others_are_taken_as_they_are(array: object, new: Device) -> None:
    plan = planned(added(grown(array, new), new.disk.name))  # type: ignore[arg-type]
    assert not any("sfdisk" in step.argv for step in plan.steps)


def test_what_is_refused() -> None:
    assert refused(added(grown(PARTS, device("sdz", size_bytes=BIG)))) == (
        f"sdz1 is too small: {BIG - (2 << 20)} bytes, {BIG - (1 << 20) + (8 << 10)} are needed;"
        " choose a larger device"
    )
    busy = device("sdz", size_bytes=BIG + (4 << 20), busy="something uses it")
    assert refused(added(grown(PARTS, busy))).startswith("sdz: something uses it")
    assert refused(added(grown(PARTS, DISK, missing=("sfdisk",)))).startswith("sfdisk is not installed")
