"""Members: what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from raidtui.model.array import Array
from raidtui.model.disk import Use
from raidtui.model.plan import Plan, Refusal
from raidtui.model.survey import Device, Survey
from raidtui.plans.leave import plan_fail, plan_remove, plan_zero_superblock
from raidtui.plans.re_add import plan_re_add
from raidtui.plans.repair import (
    plan_add,
    plan_replace,
)
from tests.hosts.specs import (
    COMPONENT_KIB,
    ArraySpec,
    Syncing,
    growing_raid0,
    inactive,
    raid0,
    raid1,
    raid5,
    raid6,
    raid10,
)
from tests.plans.goldens import accepted
from tests.plans.new_array import MOUNT, device
from tests.plans.running import BIG, NO_MDADM, first, former, host

NEW = device("sdz", size_bytes=BIG)
RESYNC = Syncing(action="resync", done_kib=1)
RECOVER = Syncing(action="recover", done_kib=1)
ONE_FAILED, BARE = raid10(failed=("sdb",)), raid10()
OWN = former(raid10().array_uuid, "nas:data")
FORMER = replace(NEW, superblock=OWN)
NEEDED = COMPONENT_KIB * 1024 + 8192

Plans = Callable[[Survey, Array, str], Plan | Refusal]


def replaced(survey: Survey, array: Array, name: str) -> Plan | Refusal:
    return plan_replace(survey, array, "sda", name)


def fail(name: str, array: ArraySpec, **unread: Any) -> Plan | Refusal:
    survey = host(array)
    return plan_fail(survey, replace(first(survey), **unread), name)


def remove(name: str, array: ArraySpec) -> Plan | Refusal:
    survey = host(array)
    return plan_remove(survey, first(survey), name)


def takes(plan: Plans, array: ArraySpec, found: Device = NEW, **unread: Any) -> Plan | Refusal:
    survey = host(array, devices=(found,))
    return plan(survey, replace(first(survey), **unread), "sdz")


def cleared(then: int) -> Plan | Refusal:
    """What left at an event, of an array whose bitmap was cleared at event 20."""
    array = replace(raid10(members=("sda", None, "sdc", "sdd")), bitmap=(1, 8))
    live = device("sda", superblock=replace(OWN, uuid=array.array_uuid, events=40, cleared_events=20))
    left = replace(NEW, superblock=replace(OWN, uuid=array.array_uuid, events=then))
    survey = host(array, devices=(live, left))
    return plan_re_add(survey, first(survey), "sdz")


def exchange(old: str, new: str, array: ArraySpec = BARE) -> Plan | Refusal:
    survey = host(array, raid1(), devices=(NEW,))
    return plan_replace(survey, first(survey), old, new)


def zero(name: str, found: Device, array: ArraySpec = ONE_FAILED, **more: Any) -> Plan | Refusal:
    return plan_zero_superblock(host(array, devices=(found,), **more), name)


test_fail = accepted(
    {
        "fail: the last copy, raid10": lambda: fail("sda", ONE_FAILED),
        "fail: the last copy, raid10 recovering": lambda: fail(
            "sda", raid10(rebuilding=("sdb",), sync=RECOVER)
        ),
        "fail: the last copy, far 2, before": lambda: fail("sdb", raid10(layout="f2", failed=("sda",))),
        "fail: the last copy, far 2, behind": lambda: fail("sdd", raid10(layout="f2", failed=("sda",))),
        "fail: the last copy, raid1": lambda: fail("sde", raid1(failed=("sdf",))),
        "fail: the last copy, raid5": lambda: fail("sdh", raid5(failed=("sdg",))),
        "fail: the last copy, raid6": lambda: fail("sdl", raid6(failed=("sdj", "sdk"))),
        "fail: the last copy, in a reshape": lambda: fail(
            "sdg",
            raid5(
                layout="pl",
                rebuilding=("sdi",),
                reshape_position="0",
                sync=Syncing(action="reshape", done_kib=5),
                attributes={"layout": "2 (5)"},
            ),
        ),
        "fail: in a resync": lambda: fail("sdg", raid5(sync=RESYNC, resync_start="2")),
        "fail: in a resync, raid6": lambda: fail("sdj", raid6(sync=RESYNC)),
        "fail: a resync is frozen": lambda: fail("sdg", raid5(frozen=True, resync_start="2")),
        # Nothing runs, and nothing says that anything waits.
        "fail: a resync was never begun": lambda: fail("sdg", raid5(resync_start="0")),
        "fail: raid0": lambda: fail("sdn", raid0()),
        "fail: raid0 as it grows": lambda: fail("sdn", growing_raid0()),
        "fail: a journal": lambda: fail("sdx", raid5(journal="sdx")),
        "fail: it has failed": lambda: fail("sdb", ONE_FAILED),
        "fail: no member": lambda: fail("sdz", BARE),
        "fail: who is in sync is not known": lambda: fail("sda", BARE, up=None),
        "fail: the layout is not known": lambda: fail("sda", BARE, layout=None),
    }
)
test_remove = accepted(
    {
        "remove: in service": lambda: remove("sda", BARE),
        "remove: recovering": lambda: remove("sdb", raid10(rebuilding=("sdb",))),
        "remove: raid0": lambda: remove("sdn", raid0()),
        "remove: no member": lambda: remove("sdz", BARE),
    }
)
test_add_or_re_add = accepted(
    {
        "re-add: it has no superblock": lambda: takes(plan_re_add, BARE),
        "re-add: a member of another array": lambda: takes(
            plan_re_add, BARE, replace(NEW, superblock=former())
        ),
        "re-add: neither array nor superblock has a UUID": lambda: takes(
            plan_re_add, BARE, replace(NEW, superblock=former(None)), uuid=None
        ),
        "re-add: no bitmap": lambda: takes(plan_re_add, BARE, FORMER),
        "re-add: no bitmap, the size not known": lambda: takes(plan_re_add, BARE, FORMER, component_kib=None),
        "re-add: it left before the bitmap was cleared": lambda: cleared(19),
        "re-add: raid0": lambda: takes(plan_re_add, raid0()),
        "add: raid0": lambda: takes(plan_add, raid0()),
        "add: the bitmap knows what changed": lambda: takes(plan_add, raid10(bitmap=(1, 8)), FORMER),
    }
)

DEVICES = {
    "not there": device("sdy"),
    "mounted": device("sdz", MOUNT),
    "held": device("sdz", Use(kind="holder", what="dm-0", detail="vg-lv")),
    "swap": device("sdz", Use(kind="swap", what="sdz")),
    "used by something": device("sdz", busy="something uses it"),
    "read-only": device("sdz", read_only=True),
    "partitions": device("sdz", Use(kind="partition", what="sdz1"), Use(kind="partition", what="sdz2")),
    "too small": device("sdz", size_bytes=NEEDED - 1),
    "larger sectors": replace(NEW, sector_bytes=4096),
}


def everywhere(answers: Callable[[Plans], Plan | Refusal], *more: Plans) -> Plan | Refusal:
    """The answer, which is the same whether it is added, re-added or takes another's place."""
    found, *others = map(answers, (*more, plan_add, plan_re_add))
    assert all(each == found for each in others)
    return found


def taken(found: Device) -> Plan | Refusal:
    survey = host(BARE, devices=(found, device("sda")))
    return everywhere(lambda plan: plan(survey, first(survey), "sdz"), replaced)


test_devices = accepted({f"device: {name}": found for name, found in DEVICES.items()}, taken)


def member(name: str) -> Plan | Refusal:
    survey = host(ONE_FAILED, raid1(failed=("sdf",)), devices=(device(name),))
    return everywhere(lambda plan: plan(survey, first(survey), name))


test_members_already = accepted(
    {"member: in sync": "sda", "member: faulty": "sdb", "member: of another array": "sdf"}, member
)
test_replace = accepted(
    {
        "replace: no member": lambda: exchange("sdy", "sdz"),
        "replace: a faulty one": lambda: exchange("sdb", "sdz", ONE_FAILED),
        "replace: a spare": lambda: exchange("sde", "sdz", raid10(spares=("sde",))),
        "replace: it is being replaced": lambda: exchange("sda", "sdz", raid10(replacements={"sde": 0})),
        "replace: raid0": lambda: exchange("sdn", "sdz", raid0()),
        "replace: degraded": lambda: exchange("sdc", "sdz", ONE_FAILED),
        "replace: by itself": lambda: exchange("sda", "sda"),
        "replace: by a member": lambda: exchange("sda", "sdb"),
        "replace: by a faulty spare": lambda: exchange(
            "sda", "sde", raid10(spares=("sde",), states={"sde": "faulty,spare"})
        ),
        "replace: by a member of another array": lambda: exchange("sda", "sdf"),
    }
)
test_zero_superblock = accepted(
    {
        "zero: not there": lambda: zero("sdy", NEW),
        "zero: it has none": lambda: zero("sdz", NEW),
        "zero: a member": lambda: zero("sda", device("sda", superblock=OWN)),
        "zero: a failed member": lambda: zero("sdb", device("sdb", superblock=OWN)),
        "zero: mounted": lambda: zero("sdz", device("sdz", MOUNT, superblock=OWN)),
        "zero: used by something": lambda: zero(
            "sdz", device("sdz", superblock=OWN, busy="something uses it")
        ),
        "zero: a member of an inactive array": lambda: zero(
            "sda", device("sda", superblock=OWN), inactive(BARE)
        ),
        "zero: not root": lambda: zero("sdz", device("sdz", superblock=OWN), writable=False),
    }
)


def whatever(array: ArraySpec, **more: Any) -> Plan | Refusal:
    survey = host(array, devices=(NEW,), **more)
    return everywhere(lambda plan: plan(survey, first(survey), "sda"), plan_fail, plan_remove, replaced)


test_whatever_is_asked = accepted(
    {
        "host: not root": lambda: whatever(BARE, writable=False),
        "host: no mdadm": lambda: whatever(BARE, mdadm=NO_MDADM),
        "array: inactive": lambda: whatever(inactive(BARE)),
        "array: read-only": lambda: whatever(raid10(read_only="read-only")),
        "array: external metadata": lambda: whatever(raid10(metadata="external:/md9/0")),
    }
)


def test_what_left_when_the_bitmap_was_cleared_is_taken_back() -> None:
    assert isinstance(cleared(20), Plan)
