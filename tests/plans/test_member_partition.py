"""A whole disk among members that are partitions gets a table first: one partition, which is the member."""

from __future__ import annotations

import pytest

from raidtui.features.reshape.plan.convert_plan import plan_convert
from raidtui.features.reshape.plan.convert_stages import ConvertRequest
from raidtui.features.reshape.plan.grow_plan import plan_grow
from raidtui.model.disk import Use
from raidtui.model.plan import Plan, Refusal
from raidtui.model.survey import Device, Survey
from raidtui.plans.repair import plan_add, plan_replace
from tests.hosts.specs import raid1
from tests.plans.goldens import accepted, brief
from tests.plans.new_array import device
from tests.plans.running import BIG, first, planned, was
from tests.plans.test_grow import grown

PARTS = raid1(members=("sde2", "sdf2"))
DEGRADED = raid1(members=("sde2", "sdf2"), failed=("sdf2",))
SIZE = BIG + (4 << 20)
EXT4 = Use(kind="signature", what="ext4", detail="root")
BUSY = device("sdz", size_bytes=SIZE, busy="something uses it")
HOST = grown(PARTS, device("sdz", size_bytes=SIZE))
ARRAY = first(HOST)


def added(survey: Survey = HOST, name: str = "sdz") -> Plan | Refusal:
    return brief(plan_add(survey, first(survey), name))


test_plans = accepted(
    {
        "added": added,
        "replaced": lambda: brief(plan_replace(HOST, ARRAY, "sde2", "sdz")),
        "grown": lambda: brief(plan_grow(HOST, ARRAY, ("sdz",))),
        "converted": lambda: brief(plan_convert(HOST, ARRAY, ConvertRequest(level="raid5", names=("sdz",)))),
        "what is on it is lost": lambda: added(grown(PARTS, device("sdz", EXT4, size_bytes=SIZE))),
        "too small": lambda: added(grown(PARTS, device("sdz", size_bytes=BIG))),
        "busy": lambda: added(grown(PARTS, BUSY)),
        "no sfdisk": lambda: added(grown(PARTS, device("sdz", size_bytes=SIZE), missing=("sfdisk",))),
    }
)


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
