"""Members: what is refused, in whole sentences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
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
from tests.plans.new_array import MOUNT, device
from tests.plans.running import BIG, NO_MDADM, first, former, host, refused

LAST = "{} holds the last copy of part of {}; add a disk, or replace it"
UNSYNCED = "media is not yet in sync; wait for the resync"
NO_REDUNDANCY = "raid0 has no redundancy: without sdn all data is lost"
NO_SPARES = "raid0 has no redundancy: it takes neither spares nor new members"
NEW = device("sdz", size_bytes=BIG)
RESYNC = Syncing(action="resync", done_kib=1)
RECOVER = Syncing(action="recover", done_kib=1)

Plans = Callable[[Survey, Array, str], Plan | Refusal]


def replaced(survey: Survey, array: Array, name: str) -> Plan | Refusal:
    return plan_replace(survey, array, "sda", name)


@pytest.mark.parametrize(
    ("array", "name", "sentence"),
    [
        (raid10(failed=("sdb",)), "sda", LAST.format("sda", "data")),
        (raid10(rebuilding=("sdb",), sync=RECOVER), "sda", LAST.format("sda", "data")),
        (raid10(layout="f2", failed=("sda",)), "sdb", LAST.format("sdb", "data")),
        (raid10(layout="f2", failed=("sda",)), "sdd", LAST.format("sdd", "data")),
        (raid1(failed=("sdf",)), "sde", LAST.format("sde", "root")),
        (raid5(failed=("sdg",)), "sdh", LAST.format("sdh", "media")),
        (raid6(failed=("sdj", "sdk")), "sdl", LAST.format("sdl", "backup")),
        (raid5(sync=RESYNC, resync_start="2"), "sdg", UNSYNCED),
        (raid5(frozen=True, resync_start="2"), "sdg", UNSYNCED),
        (raid5(resync_start="0"), "sdg", UNSYNCED),  # nothing runs, and nothing says that anything waits
        (raid6(sync=RESYNC), "sdj", UNSYNCED.replace("media", "backup")),
        (raid0(), "sdn", NO_REDUNDANCY),
        (growing_raid0(), "sdn", NO_REDUNDANCY),
        (
            raid5(
                layout="pl",
                rebuilding=("sdi",),
                reshape_position="0",
                sync=Syncing(action="reshape", done_kib=5),
                attributes={"layout": "2 (5)"},
            ),
            "sdg",
            LAST.format("sdg", "media"),
        ),
        (raid5(journal="sdx"), "sdx", "sdx is the journal of media, which is read-only without it"),
        (raid10(failed=("sdb",)), "sdb", "sdb has already failed; remove it"),
        (raid10(), "sdz", "sdz is not a member of data"),
    ],
)
def test_fail(array: ArraySpec, name: str, sentence: str) -> None:
    survey = host(array)
    assert refused(plan_fail(survey, first(survey), name)) == sentence


def test_fail_where_too_little_is_known() -> None:
    survey = host(raid10())
    array = first(survey)
    unread = replace(array, up=None)
    assert refused(plan_fail(survey, unread, "sda")) == "which members are in sync is not known"
    unknown = replace(array, layout=None)
    assert refused(plan_fail(survey, unknown, "sda")) == LAST.format("sda", "data")


@pytest.mark.parametrize(
    ("array", "name", "sentence"),
    [
        (raid10(), "sda", "sda is in service; replace it, or fail it first"),
        (raid10(rebuilding=("sdb",)), "sdb", "sdb is in service; replace it, or fail it first"),
        (raid0(), "sdn", NO_REDUNDANCY),
        (raid10(), "sdz", "sdz is not a member of data"),
    ],
)
def test_remove(array: ArraySpec, name: str, sentence: str) -> None:
    survey = host(array)
    assert refused(plan_remove(survey, first(survey), name)) == sentence


OWN = former(raid10().array_uuid, "nas:data")


@pytest.mark.parametrize(
    ("plan", "array", "found", "sentence"),
    [
        (plan_re_add, raid10(), NEW, "sdz was not a member of data; add it"),
        (plan_re_add, raid10(), replace(NEW, superblock=former()), "sdz was not a member of data; add it"),
        (
            plan_re_add,
            raid10(),
            replace(NEW, superblock=OWN),
            "data has no bitmap, so what changed is not known; add it: the whole disk is copied (210G)",
        ),
        (
            plan_add,
            raid10(bitmap=(1, 8)),
            replace(NEW, superblock=OWN),
            (
                "sdz was a member, and the bitmap records what has changed since;"
                " re-add it; where that fails, zero its superblock and add it"
            ),
        ),
        (plan_add, raid0(), NEW, NO_SPARES),
        (plan_re_add, raid0(), NEW, NO_SPARES),
    ],
)
def test_add_or_re_add(plan: Plans, array: ArraySpec, found: Device, sentence: str) -> None:
    survey = host(array, devices=(found,))
    assert refused(plan(survey, first(survey), "sdz")) == sentence


def test_re_add_where_the_size_is_not_known() -> None:
    survey = host(raid10(), devices=(replace(NEW, superblock=OWN),))
    unread = replace(first(survey), component_kib=None)
    sentence = "data has no bitmap, so what changed is not known; add it: the whole disk is copied"
    assert refused(plan_re_add(survey, unread, "sdz")) == sentence
    bare = replace(first(survey), uuid=None)
    nameless = replace(survey, devices={"sdz": replace(NEW, superblock=former(None))})
    assert refused(plan_re_add(nameless, bare, "sdz")) == "sdz was not a member of data; add it"


NEEDED = COMPONENT_KIB * 1024 + 8192


@pytest.mark.parametrize("plan", [plan_add, plan_re_add, replaced])
@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (device("sdy"), "there is no device sdz"),
        (device("sdz", MOUNT), "sdz is in use: ext4 mounted at /srv; choose a free device"),
        (
            device("sdz", Use(kind="holder", what="dm-0", detail="vg-lv")),
            "sdz is in use: held by dm-0 (vg-lv); choose a free device",
        ),
        (
            device("sdz", Use(kind="swap", what="sdz")),
            "sdz is in use: swap in use; choose a free device",
        ),
        (
            device("sdz", busy="something uses it"),
            "sdz: something uses it; find out by what: lsblk /dev/sdz; fuser -v /dev/sdz",
        ),
        (device("sdz", read_only=True), "sdz is read-only; choose a writable device"),
        (
            device("sdz", Use(kind="partition", what="sdz1"), Use(kind="partition", what="sdz2")),
            "sdz has partitions (sdz1, sdz2); name one of them",
        ),
        (
            device("sdz", size_bytes=NEEDED - 1),
            f"sdz is too small: {NEEDED - 1} bytes, {NEEDED} are needed; choose a larger device",
        ),
        (
            replace(NEW, sector_bytes=4096),
            "sdz has sectors of 4096 bytes, sda of 512; choose a device of the same kind",
        ),
    ],
)
def test_devices(plan: Plans, found: Device, sentence: str) -> None:
    survey = host(raid10(), devices=(found, device("sda")))
    assert refused(plan(survey, first(survey), "sdz")) == sentence


@pytest.mark.parametrize("plan", [plan_add, plan_re_add])
@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("sda", "sda is in_sync of data already; choose a free device"),
        ("sdb", "sdb is faulty of data already; remove it first"),
        ("sdf", "sdf is a member of root; choose a free device"),
    ],
)
def test_members_already(plan: Plans, name: str, sentence: str) -> None:
    survey = host(raid10(failed=("sdb",)), raid1(failed=("sdf",)), devices=(device(name),))
    assert refused(plan(survey, first(survey), name)) == sentence


@pytest.mark.parametrize(
    ("array", "old", "new", "sentence"),
    [
        (raid10(), "sdy", "sdz", "sdy is not a member of data"),
        (
            raid10(failed=("sdb",)),
            "sdb",
            "sdz",
            "sdb is faulty, so there is nothing to copy from it; add a disk",
        ),
        (
            raid10(spares=("sde",)),
            "sde",
            "sdz",
            "sde is spare, so there is nothing to copy from it; add a disk",
        ),
        (raid10(replacements={"sde": 0}), "sda", "sdz", "sda is already being replaced"),
        (raid0(), "sdn", "sdz", "raid0 has no redundancy: a member cannot be replaced while in service"),
        (
            raid10(failed=("sdb",)),
            "sdc",
            "sdz",
            (
                "data is degraded: a new device goes to the empty slot first;"
                " add a disk and wait for the recovery"
            ),
        ),
        (raid10(), "sda", "sda", "sda is in_sync of data already; choose a free device"),
        (raid10(), "sda", "sdb", "sdb is in_sync of data already; choose a free device"),
        (
            raid10(spares=("sde",), states={"sde": "faulty,spare"}),
            "sda",
            "sde",
            "sde is faulty of data already; choose a free device",
        ),
        (raid10(), "sda", "sdf", "sdf is a member of root; choose a free device"),
    ],
)
def test_replace(array: ArraySpec, old: str, new: str, sentence: str) -> None:
    survey = host(array, raid1(), devices=(NEW,))
    assert refused(plan_replace(survey, first(survey), old, new)) == sentence


@pytest.mark.parametrize(
    ("name", "found", "sentence"),
    [
        ("sdy", NEW, "there is no device sdy"),
        ("sdz", NEW, "sdz has no md superblock"),
        ("sda", device("sda", superblock=OWN), "sda is a member of data; remove it from the array first"),
        ("sdb", device("sdb", superblock=OWN), "sdb is a member of data; remove it from the array first"),
        ("sdz", device("sdz", MOUNT, superblock=OWN), "sdz is in use: ext4 mounted at /srv"),
        (
            "sdz",
            device("sdz", superblock=OWN, busy="something uses it"),
            "sdz is in use: something uses it",
        ),
    ],
)
def test_zero_superblock(name: str, found: Device, sentence: str) -> None:
    survey = host(raid10(failed=("sdb",)), devices=(found,))
    assert refused(plan_zero_superblock(survey, name)) == sentence


def test_zero_superblock_of_an_array_that_does_not_run() -> None:
    survey = host(inactive(raid10()), devices=(device("sda", superblock=OWN),))
    assert refused(plan_zero_superblock(survey, "sda")) == (
        "sda is a member of md127; remove it from the array first"
    )


@pytest.mark.parametrize("plan", [plan_fail, plan_remove, plan_re_add, plan_add, replaced])
@pytest.mark.parametrize(
    ("array", "more", "sentence"),
    [
        (raid10(), {"writable": False}, "needs root; run it as: sudo raidtui"),
        (raid10(), {"mdadm": NO_MDADM}, "mdadm is not installed; apt install mdadm"),
        (inactive(raid10()), {}, "md127 is inactive; assemble it first"),
        (raid10(read_only="read-only"), {}, "data is read-only; mdadm --readwrite /dev/md127"),
        (
            raid10(metadata="external:/md9/0"),
            {},
            "data has external metadata, which raidtui only monitors",
        ),
    ],
)
def test_whatever_is_asked(plan: Plans, array: ArraySpec, more: dict[str, Any], sentence: str) -> None:
    survey = host(array, devices=(NEW,), **more)
    assert refused(plan(survey, first(survey), "sda")) == sentence


def test_zero_superblock_needs_root() -> None:
    survey = host(devices=(device("sdz", superblock=OWN),), writable=False)
    assert refused(plan_zero_superblock(survey, "sdz")) == "needs root; run it as: sudo raidtui"
