"""Larger members: each replaced and removed, then all of the new ones is used; refusals."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from raidtui.features.reshape.plan.grow_plan import GrowOptions
from raidtui.features.reshape.plan.size_plan import plan_larger
from raidtui.model.disk import Use
from raidtui.model.plan import Plan, Refusal
from raidtui.model.survey import Device
from tests.hosts.specs import ArraySpec, raid0, raid5
from tests.plans.goldens import accepted, brief
from tests.plans.new_array import device
from tests.plans.running import BIG, first
from tests.plans.test_grow import grown

RAID5 = raid5()
MORE = 8 << 30
NEW = tuple(device(name, size_bytes=BIG + MORE) for name in ("sdx", "sdy", "sdz"))


EXT4 = device("sdw", Use(kind="signature", what="ext4", detail="old"), size_bytes=BIG + MORE)
OTHERS = (
    device("sdw", size_bytes=BIG - (1 << 20) + 8192),
    device("sdv", size_bytes=1 << 30),
    device("sdu", Use(kind="mount", what="/mnt", detail="ext4"), size_bytes=BIG + MORE),
)
THREE = ("sdx", "sdy", "sdz")


def larger(array: ArraySpec, *names: str, more: tuple[Device, ...] = (), **given: Any) -> Plan | Refusal:
    survey = grown(array, *NEW, *more, **given)
    return plan_larger(survey, first(survey), names, GrowOptions())


def only_one_without_room() -> Plan | Refusal:
    survey = grown(RAID5, *NEW, tail=4 << 21)
    small = survey.devices["sdh"]
    assert small.superblock is not None
    small = replace(small, superblock=replace(small.superblock, tail_sectors=0))
    survey = replace(survey, devices={**survey.devices, "sdh": small})
    return plan_larger(survey, first(survey), ("sdz",), GrowOptions())


# Each is copied before the next: that is not touched before the one before is replaced, which stays so.
test_plans = accepted({"all": lambda: larger(RAID5, *THREE, mounts={RAID5.name: "/srv"})})
test_plans_in_brief = accepted(
    {
        "all, and what is on a new device": lambda: larger(RAID5, "sdw", "sdy", "sdz", more=(EXT4,)),
        # New members have no place for a partial parity log, so that it does not come back.
        "all, with ppl": lambda: larger(replace(RAID5, consistency_policy="ppl"), *THREE),
        # Members that were replaced before stay.
        "only one without room": only_one_without_room,
    },
    brief,
)
test_refused = accepted(
    {
        "refused: none named": lambda: larger(RAID5),
        "refused: too few": lambda: larger(RAID5, "sdx", "sdy"),
        "refused: too many": lambda: larger(RAID5, "sdw", *THREE, more=OTHERS),
        "refused: not larger": lambda: larger(RAID5, "sdw", "sdx", "sdy", more=OTHERS),
        "refused: smaller": lambda: larger(RAID5, "sdv", "sdx", "sdy", more=OTHERS),
        "refused: mounted": lambda: larger(RAID5, "sdu", "sdx", "sdy", more=OTHERS),
        "refused: named twice": lambda: larger(RAID5, "sdx", "sdx", "sdy"),
        "refused: raid0": lambda: larger(raid0(), "sdx", "sdy"),
        "refused: degraded": lambda: larger(raid5(failed=("sdi",)), *THREE),
    }
)
