"""Plans that give up a copy, where bad blocks leave no other one."""

from __future__ import annotations

from raidtui.model.plan import Plan, Refusal
from raidtui.model.survey import Device
from raidtui.plans.leave import plan_fail, plan_remove, plan_zero_superblock
from raidtui.plans.repair import plan_add, plan_replace
from tests.hosts.specs import ArraySpec, raid1, raid10
from tests.plans.goldens import accepted, brief
from tests.plans.new_array import device
from tests.plans.running import BIG, first, former, host

OFFSET = 264192
BAD = f"{OFFSET + 100} 8\n"
NEW = device("sdz", size_bytes=BIG)


LEFT = device("sdy", superblock=former(raid1().array_uuid, "nas:root", level="raid1", raid_disks=2, slot=0))
BOTH, FAILED = raid1(bad_blocks={"sde": "", "sdf": BAD}), raid1(failed=("sde",), bad_blocks={"sdf": BAD})
FAR = raid10(layout="f2", bad_blocks={"sdb": BAD})


def fail(array: ArraySpec, name: str) -> Plan | Refusal:
    survey = host(array)
    return plan_fail(survey, first(survey), name)


def exchange(name: str) -> Plan | Refusal:
    survey = host(BOTH, devices=(NEW,))
    return plan_replace(survey, first(survey), name, "sdz")


def remove() -> Plan | Refusal:
    survey = host(FAILED)
    return plan_remove(survey, first(survey), "sde")


def add(array: ArraySpec, *found: Device) -> Plan | Refusal:
    survey = host(array, devices=found)
    return plan_add(survey, first(survey), "sdz")


test_plans = accepted(
    {
        "fail: refused, the only good copy": lambda: fail(BOTH, "sde"),
        "fail: refused, where copies lie apart": lambda: fail(FAR, "sda"),
        # Nor was one recorded on the other one meanwhile.
        "fail: the bad copy": lambda: fail(BOTH, "sdf"),
        "fail: another pair, where copies lie apart": lambda: fail(FAR, "sdd"),
    }
)
test_plans_in_brief = accepted(
    {
        # They may still hold what is bad elsewhere.
        "remove: a failed one": remove,
        "zero: a former member": lambda: plan_zero_superblock(host(FAILED, devices=(LEFT, NEW)), "sdy"),
        "add: no good copy is left": lambda: add(raid1(members=("sde", None), bad_blocks={"sde": BAD}), NEW),
        # It is said what is read from whom.
        "replace: the bad copy": lambda: exchange("sdf"),
        "replace: the good copy": lambda: exchange("sde"),
    },
    brief,
)
