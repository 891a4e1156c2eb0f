"""A bitmap more or less: plans whole, refusals whole."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from raidtui.model.fact import FactKind
from raidtui.model.plan import Harm, Plan, RunTool, Step
from raidtui.plans.bitmap import plan_bitmap
from tests.hosts.specs import ArraySpec, Syncing, raid0, raid5, raid10
from tests.plans.running import fact, first, host, planned, refused

UUID = raid10().array_uuid
CHECK = Syncing(action="check", done_kib=1)


def bitmap_step(wanted: str, why: str) -> Step:
    return RunTool(
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


def test_before_the_first_write() -> None:
    """After a start md is auto-read-only, and mdadm refuses: "while array is resyncing or reshaping"."""
    survey = host(raid10(read_only="auto-read-only"))
    found = planned(plan_bitmap(survey, first(survey), "internal"))
    assert found.steps[0] == RunTool(
        argv=("mdadm", "--readwrite", "/dev/md127"),
        why="md changes no bitmap before the first write after its start",
        needs=(fact(FactKind.ARRAY, "md127", UUID),),
        proves=(fact(FactKind.STATE, "md127", "clean|active|write-pending|active-idle"),),
    )
    assert found.steps[1].argv == ("mdadm", "--grow", "/dev/md127", "--bitmap=internal")


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
        (
            raid10(),
            "lockless",
            (
                "a lockless bitmap is only made with the array: mdadm 4.6 reports success for one that runs,"
                " and gives it an ordinary bitmap; choose internal, or make a new array and copy"
            ),
        ),
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
