"""Add, re-add, replace and zero-superblock: plans whole. Refusals are in test_repair_refused."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from raidtui.model.disk import Use
from raidtui.model.fact import FactKind
from raidtui.model.plan import Harm, Loss, Plan, RunTool, Step, WaitUntil
from raidtui.model.survey import Device
from raidtui.plans.leave import plan_fail, plan_remove, plan_zero_superblock
from raidtui.plans.manage import undo_add_spare, undo_replace
from raidtui.plans.re_add import plan_re_add
from raidtui.plans.repair import (
    plan_add,
    plan_replace,
)
from tests.hosts.specs import ArraySpec, Syncing, raid1, raid5, raid6, raid10
from tests.plans.new_array import device
from tests.plans.running import (
    BIG,
    OTHER,
    RAID,
    fact,
    first,
    former,
    host,
    manage,
    planned,
    same,
    serial,
    was,
)

DEGRADED = raid10(failed=("sdb",))
BITMAP = (1, 8)
EXT4 = Use(kind="signature", what="ext4", detail="root")
NEW = device("sdz", size_bytes=BIG)
USED = device("sdz", EXT4, size_bytes=BIG)


def waits(array: ArraySpec, words: str) -> Step:
    """The step that waits for the copy to sdz, which md makes by itself."""
    same_array, member = fact(FactKind.ARRAY, array.name, array.array_uuid), f"{array.name}/sdz"
    return WaitUntil(
        why=words,
        until=(same_array, fact(FactKind.MEMBER, member, "in_sync")),
        as_long_as=(same_array, fact(FactKind.MEMBER, member, "spare|in_sync")),
    )


def wipes(found: Device) -> tuple[Step, ...]:
    """What clears a device that held a file system, or was a member."""
    block, name = found.superblock, found.disk.name
    none = fact(FactKind.SUPERBLOCK, name)
    wipe = RunTool(
        argv=("wipefs", "--all", found.path),
        why=f"clears all signatures of {name}, so that none reappears",
        needs=same(found) if block is None else (*same(found, untouched=False), none),
        proves=(fact(FactKind.CLEAN, name),),
        destroys=True,
    )
    if block is None:
        return (wipe,)
    zero = RunTool(
        argv=("mdadm", "--zero-superblock", found.path),
        why=f"{name} no longer belongs to {block.label}",
        needs=(*same(found), fact(FactKind.SUPERBLOCK, name, block.uuid or "")),
        proves=(none,),
        destroys=True,
    )
    return zero, wipe


def test_fail() -> None:
    """Another loss between the plan and the step would make it one too many."""
    survey = host(raid10(spares=("sde",)))
    others = tuple(fact(FactKind.MEMBER, f"md127/{name}", "in_sync") for name in ("sdb", "sdc", "sdd"))
    assert plan_fail(survey, first(survey), "sda") == Plan(
        title="fail: sda",
        subject="data",
        steps=(
            manage(
                raid10(),
                "--fail /dev/sda",
                "take it out of service",
                needs=(*others, serial("sda")),
                proves="sda faulty",
            ),
        ),
        harm=Harm.REDUCES,
        warning="Failing it drops redundancy at once. Use replace to copy it first.",
        notes=("After this: slot 1 must not fail: the last copy · others may.",),
        devices=("sda",),
        arrays=("md127",),
    )


@pytest.mark.parametrize(
    ("array", "name"),
    [
        (raid10(failed=("sdb",)), "sdc"),  # the other mirror set
        (raid10(layout="f2", failed=("sda",)), "sdc"),  # far 2: 0 shares chunks with 1 and 3
        (raid1(members=("sde", "sdf", "sdg"), failed=("sdg",)), "sdf"),
        (raid5(), "sdg"),
        (raid6(failed=("sdj",)), "sdk"),
    ],
)
def test_fail_of_what_is_not_the_last_copy(array: ArraySpec, name: str) -> None:
    survey = host(array)
    assert planned(plan_fail(survey, first(survey), name)).title == f"fail: {name}"


@pytest.mark.parametrize(
    ("array", "name"),
    [
        (raid10(spares=("sde",)), "sde"),
        (raid10(rebuilding=("sdb",), sync=Syncing(action="recover", done_kib=1)), "sdb"),
    ],
)
def test_fail_of_what_holds_no_copy(array: ArraySpec, name: str) -> None:
    survey = host(array)
    found = planned(plan_fail(survey, first(survey), name))
    assert found.warning == ""
    assert found.steps[0].needs == (fact(FactKind.ARRAY, "md127", array.array_uuid), serial(name))


@pytest.mark.parametrize(("array", "name"), [(DEGRADED, "sdb"), (raid10(spares=("sdb1",)), "sdb1")])
def test_remove(array: ArraySpec, name: str) -> None:
    survey = host(array)
    step = manage(array, f"--remove /dev/{name}", "remove it", needs=(serial(name),), proves=f"{name} absent")
    assert plan_remove(survey, first(survey), name) == Plan(
        title=f"remove: {name}",
        subject="data",
        steps=(step,),
        harm=Harm.REDUCES,
        devices=(name,),
        arrays=("md127",),
    )


def test_re_add() -> None:
    array = replace(raid10(members=("sda", None, "sdc", "sdd")), bitmap=BITMAP)
    found = was(array)
    survey = host(array, devices=(found,))
    assert plan_re_add(survey, first(survey), "sdz") == Plan(
        title="re-add: sdz",
        subject="data",
        steps=(
            replace(
                manage(
                    array,
                    "--re-add /dev/sdz",
                    "it was a member before",
                    needs=same(found),
                    proves="sdz present",
                ),
                patient=True,  # udev may have it open
            ),
            waits(array, "md recovers sdz"),
        ),
        harm=Harm.REDUCES,
        notes=("The bitmap limits the copy to what was written since it left.", WHICH),
        devices=("sdz",),
        arrays=("md127",),
    )


WRITTEN = "210G is written to sdz; this takes at least 18 min at the limit of 205 MB/s."
WHICH = "sdz is: unknown model, serial S-sdz."
SPARE = "It becomes a spare."
RECOVER = Syncing(action="recover", done_kib=1)


@pytest.mark.parametrize(
    ("array", "option", "note"),
    [
        (raid10(), "--add-spare", SPARE),
        (DEGRADED, "--add", WRITTEN),
        (raid6(members=("sdj", None, None, "sdm"), spares=("sdn",)), "--add", WRITTEN),
        (raid10(rebuilding=("sdb",), sync=RECOVER), "--add-spare", SPARE),
        (raid10(failed=("sdb",), spares=("sde",)), "--add-spare", SPARE),
    ],
)
def test_add(array: ArraySpec, option: str, note: str) -> None:
    survey = host(array, devices=(NEW,))
    step = manage(array, f"{option} /dev/sdz", "a new member", needs=same(NEW), proves="sdz present")
    assert plan_add(survey, first(survey), "sdz") == Plan(
        title="add: sdz",
        subject=array.label,
        steps=(step, *((waits(array, "md recovers sdz"),) if option == "--add" else ())),
        harm=Harm.REDUCES,
        notes=(note, WHICH),
        devices=("sdz",),
        arrays=(array.name,),
    )


@pytest.mark.parametrize(
    ("found", "loss"),
    [
        (USED, 'the ext4 file system "root"'),
        (was(DEGRADED), f'a member of the array "data" ({DEGRADED.array_uuid})'),
    ],
)
def test_add_of_a_device_that_is_not_empty(found: Device, loss: str) -> None:
    """A former member without a bitmap is one too: all of it is written anew."""
    survey = host(DEGRADED, devices=(found,))
    step = manage(
        DEGRADED,
        "--add /dev/sdz",
        "a new member",
        needs=(
            *same(found, untouched=False),
            *([fact(FactKind.SUPERBLOCK, "sdz")] if found.superblock else []),
        ),
        proves="sdz present",
    )
    assert plan_add(survey, first(survey), "sdz") == Plan(
        title="add: sdz",
        subject="data",
        steps=(*wipes(found), step, waits(DEGRADED, "md recovers sdz")),
        harm=Harm.DESTROYS,
        losses=(Loss(device="sdz", what=loss),),
        confirm="data",
        notes=(WRITTEN, WHICH),
        devices=("sdz",),
        arrays=("md127",),
    )


def replacing(array: ArraySpec, new: str, *, spare: bool = False) -> Step:
    """What takes it back is the business of ``replace_undo``, and of its tests."""
    there = first(host(array))
    step = manage(
        array,
        f"--replace /dev/sda --with /dev/{new}",
        "copy the old member, which is marked faulty when the copy is complete",
        needs=(serial("sda"), *((serial(new),) if spare else ())),
        proves="sda want_replacement|faulty|absent",
    )
    return replace(step, undo=undo_replace(there, "sda", new, spare=spare))


COPIED = waits(raid10(), "md copies sda to sdz")
REPLACED = Plan(
    title="replace: sda → sdz",
    subject="data",
    steps=(),
    harm=Harm.REDUCES,
    notes=(
        "sda stays in service until the copy is complete; then remove it.",
        "The copy writes 210G to sdz and takes at least 18 min at the limit of 205 MB/s.",
    ),
    rolls_back=True,
    devices=("sda", "sdz"),
    arrays=("md127",),
)


def test_replace_by_a_spare() -> None:
    array = raid10(spares=("sdz",))
    survey = host(array)
    expected = replace(REPLACED, steps=(replacing(array, "sdz", spare=True), COPIED))
    assert plan_replace(survey, first(survey), "sda", "sdz") == expected


@pytest.mark.parametrize("found", [NEW, USED])
def test_replace_by_a_device(found: Device) -> None:
    survey = host(raid10(), devices=(found,))
    used = found is USED
    kept = (fact(FactKind.SERIAL, "sdz", "S-sdz"), fact(FactKind.SIZE, "sdz", str(BIG)))
    undo = undo_add_spare(first(survey), "sda", "sdz", kept)
    add = manage(
        raid10(),
        "--add-spare /dev/sdz",
        "takes the copy",
        needs=same(found, untouched=not used),
        proves="sdz present",
        undo=undo,
    )
    assert plan_replace(survey, first(survey), "sda", "sdz") == replace(
        REPLACED,
        steps=(*(wipes(found) if used else ()), add, replacing(raid10(), "sdz"), COPIED),
        harm=Harm.DESTROYS if used else Harm.REDUCES,
        losses=(Loss(device="sdz", what='the ext4 file system "root"'),) if used else (),
        notes=(*REPLACED.notes, WHICH),
        confirm="data" if used else "",
    )


def test_zero_superblock() -> None:
    """A file system of a mirror with its superblock at the end is not lost by that."""
    found = device("sdz", EXT4, RAID, superblock=former())
    assert plan_zero_superblock(host(raid10(), devices=(found,)), "sdz") == Plan(
        title="zero superblock: sdz",
        subject="sdz",
        steps=(
            RunTool(
                argv=("mdadm", "--zero-superblock", "/dev/sdz"),
                why="it no longer belongs to an array",
                needs=same(found),
                proves=(fact(FactKind.SUPERBLOCK, "sdz"),),
                destroys=True,
            ),
        ),
        harm=Harm.DESTROYS,
        losses=(Loss(device="sdz", what=f'a member of the array "old" ({OTHER})'),),
        warning="After this, sdz no longer belongs to old.",
        notes=(WHICH,),
        confirm="old",
        devices=("sdz",),
    )


def test_what_is_not_known_is_not_asked_for() -> None:
    bare = replace(NEW, digest=None, disk=replace(NEW.disk, serial=None))
    survey = host(DEGRADED, devices=(bare,))
    step = planned(plan_add(survey, first(survey), "sdz")).steps[0]
    assert step.needs == (
        fact(FactKind.ARRAY, "md127", DEGRADED.array_uuid),
        fact(FactKind.SIZE, "sdz", str(BIG)),
        fact(FactKind.FREE, "sdz"),
        fact(FactKind.CONTENTS, "sdz"),
    )
    unread = replace(survey, snapshot=replace(survey.snapshot, disks={}))
    gone = planned(plan_remove(unread, first(unread), "sdb")).steps[0]
    assert gone.needs == (fact(FactKind.ARRAY, "md127", DEGRADED.array_uuid),)


def test_what_is_known_of_the_disk_is_reported() -> None:
    """A cable is not a reason to throw a disk away: the plan says which of the two it looks like."""
    array = replace(raid10(members=("sda", None, "sdc", "sdd")), bitmap=BITMAP)
    block = former(array.array_uuid, "nas:data", events=17, updated_s=1_795_209_900.0 - 180)
    words = "may have a bad cable: 12 transfers failed (CRC errors); reseat or change the cable"
    found = device("sdz", RAID, size_bytes=BIG, superblock=block, trouble=words)
    live = device("sda", superblock=former(array.array_uuid, "nas:data", events=40, dirty_bytes=3 << 26))
    survey = host(array, devices=(found, live))
    assert planned(plan_re_add(survey, first(survey), "sdz")).notes == (
        "sdz left the array at event 17, 3 min ago; data is at event 40.",
        "At most 192 MiB of 210 GiB are copied: the bitmap knows what was written since it left.",
        WHICH,
        f"sdz {words}.",
    )


def test_what_a_copy_costs_of_a_disks_life() -> None:
    worn = replace(NEW, life_bytes=100 * BIG)
    survey = host(DEGRADED, devices=(worn,))
    assert planned(plan_add(survey, first(survey), "sdz")).notes[0] == (
        "210G is written to sdz (1 % of its life); this takes at least 18 min at the limit of 205 MB/s."
    )
    survey = host(raid10(), devices=(worn,))
    assert planned(plan_replace(survey, first(survey), "sda", "sdz")).notes[1] == (
        "The copy writes 210G to sdz (1 % of its life) and takes at least 18 min at the limit of 205 MB/s."
    )
