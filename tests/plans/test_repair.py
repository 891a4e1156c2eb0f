"""Fail, remove, add, re-add, replace and zero-superblock: plans. Refusals are in test_repair_refused."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from raidtui.model.disk import Use
from raidtui.model.plan import Plan, Refusal
from raidtui.model.survey import Device
from raidtui.plans.leave import plan_fail, plan_remove, plan_zero_superblock
from raidtui.plans.re_add import plan_re_add
from raidtui.plans.repair import plan_add, plan_replace
from tests.hosts.specs import ArraySpec, Syncing, raid1, raid5, raid6, raid10
from tests.plans.goldens import accepted, brief
from tests.plans.new_array import device
from tests.plans.running import BIG, RAID, first, former, host, planned, was

DEGRADED = raid10(failed=("sdb",))
RECOVER = Syncing(action="recover", done_kib=1)
REBUILDING = raid10(rebuilding=("sdb",), sync=RECOVER)
WITH_BITMAP = replace(raid10(members=("sda", None, "sdc", "sdd")), bitmap=(1, 8))
EXT4 = Use(kind="signature", what="ext4", detail="root")
NEW = device("sdz", size_bytes=BIG)
USED = device("sdz", EXT4, size_bytes=BIG)
WORN = replace(NEW, life_bytes=100 * BIG)
BARE = replace(NEW, digest=None, disk=replace(NEW.disk, serial=None))


def fail(array: ArraySpec, name: str) -> Plan | Refusal:
    survey = host(array)
    return plan_fail(survey, first(survey), name)


def remove(array: ArraySpec, name: str, **seen: Any) -> Plan | Refusal:
    survey = host(array)
    snapshot = replace(survey.snapshot, **seen)
    return plan_remove(replace(survey, snapshot=snapshot), first(survey), name)


def add(array: ArraySpec, found: Device = NEW) -> Plan | Refusal:
    survey = host(array, devices=(found,))
    return plan_add(survey, first(survey), "sdz")


def re_add(*found: Device) -> Plan | Refusal:
    survey = host(WITH_BITMAP, devices=found)
    return plan_re_add(survey, first(survey), "sdz")


def exchange(*found: Device, array: ArraySpec | None = None) -> Plan | Refusal:
    survey = host(array or raid10(), devices=found)
    return plan_replace(survey, first(survey), "sda", "sdz")


def left_and_live() -> tuple[Device, Device]:
    """One that left a while ago, and a member; the disk of the former may have a bad cable."""
    uuid = WITH_BITMAP.array_uuid
    block = former(uuid, "nas:data", events=17, updated_s=1_795_209_900.0 - 180)
    words = "may have a bad cable: 12 transfers failed (CRC errors); reseat or change the cable"
    live = former(uuid, "nas:data", events=40, dirty_bytes=3 << 26)
    return device("sdz", RAID, size_bytes=BIG, superblock=block, trouble=words), device(
        "sda", superblock=live
    )


def zero() -> Plan | Refusal:
    found = device("sdz", EXT4, RAID, superblock=former())
    return plan_zero_superblock(host(raid10(), devices=(found,)), "sdz")


test_plans = accepted(
    {
        # Another loss between the plan and the step would make it one too many.
        "fail": lambda: fail(raid10(spares=("sde",)), "sda"),
        "fail: a spare": lambda: fail(raid10(spares=("sde",)), "sde"),
        "fail: what is being rebuilt": lambda: fail(REBUILDING, "sdb"),
        "remove: a failed one": lambda: remove(DEGRADED, "sdb"),
        "remove: a spare": lambda: remove(raid10(spares=("sdb1",)), "sdb1"),
        "remove: its disk is not known": lambda: remove(DEGRADED, "sdb", disks={}),
        "re-add": lambda: re_add(was(WITH_BITMAP)),
        "add: to a degraded one": lambda: add(DEGRADED),
        "add: what had a file system": lambda: add(DEGRADED, USED),
        # Without a bitmap all of it is written anew.
        "add: a former member": lambda: add(DEGRADED, was(DEGRADED)),
        # What is not known is not asked for.
        "add: its serial number and contents are not known": lambda: add(DEGRADED, BARE),
        "replace: by a spare": lambda: exchange(array=raid10(spares=("sdz",))),
        "replace: by a device": lambda: exchange(NEW),
        "replace: by what had a file system": lambda: exchange(USED),
        # A file system of a mirror with its superblock at the end is not lost by that.
        "zero": zero,
    }
)
test_plans_in_brief = accepted(
    {
        # A cable is not a reason to throw a disk away: the plan says which of the two it looks like.
        "re-add: how long it was away": lambda: re_add(*left_and_live()),
        "add: a spare": lambda: add(raid10()),
        "add: a spare beside a recovery": lambda: add(REBUILDING),
        "add: a spare beside another": lambda: add(raid10(failed=("sdb",), spares=("sde",))),
        "add: for the second that is missing": lambda: add(
            raid6(members=("sdj", None, None, "sdm"), spares=("sdn",))
        ),
        "add: what it costs of the disk's life": lambda: add(DEGRADED, WORN),
        "replace: what it costs of the disk's life": lambda: exchange(WORN),
    },
    brief,
)


@pytest.mark.parametrize(
    ("array", "name"),
    [
        (DEGRADED, "sdc"),  # the other mirror set
        (raid10(layout="f2", failed=("sda",)), "sdc"),  # far 2: 0 shares chunks with 1 and 3
        (raid1(members=("sde", "sdf", "sdg"), failed=("sdg",)), "sdf"),
        (raid5(), "sdg"),
        (raid6(failed=("sdj",)), "sdk"),
    ],
)
def test_fail_of_what_is_not_the_last_copy(array: ArraySpec, name: str) -> None:
    assert planned(fail(array, name)).title == f"fail: {name}"
