"""Plans that give up a copy, where bad blocks leave no other one."""

from __future__ import annotations

from raidtui.model.fact import FactKind
from raidtui.plans.leave import plan_fail, plan_remove, plan_zero_superblock
from raidtui.plans.repair import plan_add, plan_replace
from tests.hosts.specs import raid1, raid10
from tests.plans.new_array import device
from tests.plans.running import BIG, fact, first, former, host, planned, refused

OFFSET = 264192
BAD = f"{OFFSET + 100} 8\n"
NEW = device("sdz", size_bytes=BIG)


def test_the_only_good_copy_is_not_failed() -> None:
    survey = host(raid1(bad_blocks={"sde": "", "sdf": BAD}))
    assert refused(plan_fail(survey, first(survey), "sde")) == (
        "sde alone holds 4 KiB of root: there are bad blocks on sdf; replace sdf first: its bad blocks are"
        " then read from sde"
    )
    [step] = planned(plan_fail(survey, first(survey), "sdf")).steps
    path = "/sys/class/block/md126/md/dev-sde/bad_blocks"
    assert fact(FactKind.TEXT, path) in step.needs  # nor was one recorded on the other one meanwhile


def test_where_copies_lie_apart_too() -> None:
    survey = host(raid10(layout="f2", bad_blocks={"sdb": BAD}))
    assert refused(plan_fail(survey, first(survey), "sda")).startswith("sda alone holds up to 4 KiB of data:")
    planned(plan_fail(survey, first(survey), "sdd"))


def test_a_failed_member_may_still_hold_what_is_bad_elsewhere() -> None:
    survey = host(raid1(failed=("sde",), bad_blocks={"sdf": BAD}))
    words = (
        "4 KiB of root cannot be read because of bad blocks on sdf."
        " {} may still hold that data: leave it unchanged."
    )
    assert planned(plan_remove(survey, first(survey), "sde")).warning == words.format("sde")
    there = first(survey)
    left = device("sdy", superblock=former(there.uuid, "nas:root", level="raid1", raid_disks=2, slot=0))
    survey = host(raid1(failed=("sde",), bad_blocks={"sdf": BAD}), devices=(left, NEW))
    warning = planned(plan_zero_superblock(survey, "sdy")).warning
    assert warning == f"{words.format('sdy')} After this, sdy no longer belongs to root."
    survey = host(raid1(members=("sde", None), bad_blocks={"sde": BAD}), devices=(NEW,))
    assert planned(plan_add(survey, first(survey), "sdz")).notes[1] == (
        "4 KiB cannot be copied: there are bad blocks on sde, and no good copy is left in root. A former"
        " member may still hold it: leave it unchanged."
    )


def test_replace_says_what_is_read_from_whom() -> None:
    survey = host(raid1(bad_blocks={"sde": "", "sdf": BAD}), devices=(NEW,))
    assert planned(plan_replace(survey, first(survey), "sdf", "sdz")).notes[1] == (
        "sdf has 4 KiB of bad blocks: those are read from the other members."
    )
    assert planned(plan_replace(survey, first(survey), "sde", "sdz")).notes[1] == (
        "sde alone holds 4 KiB, because of bad blocks on sdf: do not fail it before the copy is complete."
    )
