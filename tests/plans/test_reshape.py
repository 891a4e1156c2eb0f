"""A new chunk, a bitmap more or less: plans whole, refusals whole."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from raidtui.model.plan import FactKind, Harm, Plan, Step
from raidtui.model.survey import Device, Survey
from raidtui.plans.reshape import plan_bitmap, plan_grow_chunk
from tests.hosts.specs import ArraySpec, Syncing, inactive, raid0, raid1, raid5, raid6, raid10
from tests.plans.new_array import device
from tests.plans.running import fact, first, former, host, planned, refused

UUID = raid10().array_uuid
NAMES = ("sda", "sdb", "sdc", "sdd")
CHECK = Syncing(action="check", done_kib=1)


def members(array: ArraySpec, room: int | None = 1 << 18) -> tuple[Device, ...]:
    """The members of an array, with so many sectors free before the data."""
    block = former(array.array_uuid, f"nas:{array.label}", spare_sectors=room)
    return tuple(device(name, superblock=block) for name in array.members if name)


def with_room(array: ArraySpec, room: int | None = 1 << 18, **more: Any) -> Survey:
    return host(array, devices=members(array, room), **more)


def test_grow_chunk() -> None:
    survey = with_room(raid10())
    step = Step(
        argv=("mdadm", "--grow", "/dev/md127", "--chunk=64"),
        why="md moves every block to its new place",
        needs=(
            fact(FactKind.ARRAY, "md127", UUID),
            *(fact(FactKind.MEMBER, f"md127/{name}", "in_sync") for name in NAMES),
        ),
        proves=(fact(FactKind.CHUNK, "md127", "64"),),
    )
    assert plan_grow_chunk(survey, first(survey), 64) == Plan(
        title="chunk 32 → 64 KiB",
        subject="data",
        steps=(step,),
        harm=Harm.REDUCES,
        warning="A reshape cannot be cancelled: it continues after a reboot, and only another reshape"
        " reverses it.",
        notes=(
            "All data is read and written again (210 GiB on each member).",
            "No backup file is needed: there is room before the data.",
            (
                "The file system keeps the old geometry; for ext4 the new one is stride 16, stripe width 32"
                " (tune2fs -E)."
            ),
        ),
        devices=NAMES,
        arrays=("md127",),
        goes_on="md moves every block to its new place",
        ends=(fact(FactKind.ARRAY, "md127", UUID), *step.proves, fact(FactKind.RESHAPED, "md127")),
        lasts=(fact(FactKind.ARRAY, "md127", UUID), *step.proves),
    )


ROOM = (
    "there is not enough room before the data of {} ({}, {} needed): mdadm would require a backup file,"
    " and a crash"
    " without it loses data; choose a smaller chunk, or make a new array and copy"
)


@pytest.mark.parametrize(
    ("array", "chunk", "sentence"),
    [
        (raid0(), 64, "raidtui cannot change the chunk size of raid0"),
        (raid1(), 64, "raidtui cannot change the chunk size of raid1"),
        (raid10(layout="f2"), 64, "a raid10 with far copies cannot be reshaped"),
        (raid10(), 32, "data already has chunks of 32 KiB"),
        (raid10(), 48, "48 KiB is not a valid chunk size; choose a power of two of at least 4 KiB"),
        (raid10(), 2, "2 KiB is not a valid chunk size; choose a power of two of at least 4 KiB"),
        (raid10(), 1 << 21, "2097152 KiB is not a valid chunk size; choose a power of two of at least 4 KiB"),
        (raid10(sync=CHECK), 64, "a check is in progress; wait until it is done"),
        (raid10(resync_start="0"), 64, "a sync is in progress; wait until it is done"),
        (raid10(failed=("sdb",)), 64, "data is degraded; replace the missing member first"),
        (inactive(raid10()), 64, "md127 is inactive; assemble it first"),
    ],
)
def test_grow_chunk_refused(array: ArraySpec, chunk: int, sentence: str) -> None:
    survey = with_room(array)
    assert refused(plan_grow_chunk(survey, first(survey), chunk)) == sentence


def test_grow_chunk_of_an_odd_size() -> None:
    survey = with_room(raid10())
    odd = replace(first(survey), component_kib=1_000_032)
    assert refused(plan_grow_chunk(survey, odd, 64)) == (
        "1000032 KiB of each member is not a multiple of 64 KiB; choose a smaller chunk"
    )


@pytest.mark.parametrize(
    ("array", "room", "sentence"),
    [
        (raid10(), 511, ROOM.format("sda", "511 sectors", "512")),
        (raid10(), 100, ROOM.format("sda", "100 sectors", "512")),
        (raid6(), 0, ROOM.format("sdj", "0 sectors", "512")),
        (raid5(), None, ROOM.format("sdg", "not known", "512")),
    ],
)
def test_grow_chunk_without_room(array: ArraySpec, room: int | None, sentence: str) -> None:
    """A backup file that is lost, or on the array itself, loses stripes: that way is not offered."""
    survey = with_room(array, room)
    chunk = 64 if array.level == "raid10" else 16
    found = plan_grow_chunk(survey, first(survey), chunk)
    needed = sentence.partition("(")[0]
    assert refused(found).startswith(needed)
    if array.level == "raid10":
        assert refused(found) == sentence


def test_grow_chunk_with_just_enough_room() -> None:
    survey = with_room(raid10(), 512)
    assert isinstance(plan_grow_chunk(survey, first(survey), 64), Plan)


def bitmap_step(wanted: str, why: str) -> Step:
    return Step(
        argv=("mdadm", "--grow", "/dev/md127", f"--bitmap={wanted}"),
        why=why,
        needs=(fact(FactKind.ARRAY, "md127", UUID),),
        proves=(fact(FactKind.BITMAP, "md127", wanted),),
    )


def test_bitmap_more() -> None:
    survey = host(raid10())
    assert plan_bitmap(survey, first(survey), "internal") == Plan(
        title="bitmap none → internal",
        subject="data",
        steps=(
            replace(
                bitmap_step("internal", "records what may be out of sync before it is written"),
                undo=(bitmap_step("none", "as it was"),),
            ),
        ),
        undo=(bitmap_step("none", "as it was"),),
        notes=(
            (
                "After a crash, or when a member comes back, only what changed is synced."
                " Writes are a little slower."
            ),
        ),
        arrays=("md127",),
    )


def test_bitmap_less() -> None:
    survey = host(raid10(bitmap=(1, 8)))
    found = planned(plan_bitmap(survey, first(survey), "none"))
    assert found.harm is Harm.REDUCES
    step = bitmap_step("none", "writes are no longer recorded")
    assert found.steps == (replace(step, undo=(bitmap_step("internal", "as it was"),)),)
    assert found.notes == (
        "After a crash the whole array is resynced, and a member that returns is copied whole.",
    )


@pytest.mark.parametrize(
    ("array", "wanted", "sentence"),
    [
        (raid10(), "none", "data already has no bitmap"),
        (raid10(bitmap=(1, 8)), "internal", "data already has a bitmap"),
        (raid10(), "/file", "'/file' is not a kind of bitmap; choose none or internal"),
        (raid0(), "internal", "raid0 has no redundancy: nothing is synced, so it has no bitmap"),
        (raid10(sync=CHECK), "internal", "a check is in progress; wait until it is done"),
        (
            raid5(consistency_policy="ppl"),
            "internal",
            "media has consistency policy ppl, which excludes a bitmap",
        ),
        (
            raid5(bitmap=(1, 8)),
            "none",
            (
                "raid5 without a bitmap resyncs all parity after a crash, and losing a member before that"
                " ends can lose data (the write hole); keep the bitmap"
            ),
        ),
    ],
)
def test_bitmap_refused(array: ArraySpec, wanted: str, sentence: str) -> None:
    survey = host(array)
    assert refused(plan_bitmap(survey, first(survey), wanted)) == sentence
