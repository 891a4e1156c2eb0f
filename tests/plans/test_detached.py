"""Plans for arrays of which a disk left the machine, which md has not noticed."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from raidtui.model.fact import Fact, FactKind
from raidtui.model.plan import Harm, Plan, Refusal, RunTool
from raidtui.model.survey import Device, Survey
from raidtui.plans.leave import plan_fail, plan_remove
from raidtui.plans.re_add import plan_re_add
from raidtui.plans.rename import plan_rename
from raidtui.plans.repair import plan_replace
from raidtui.plans.stop import plan_stop
from raidtui.plans.sync import plan_check
from tests.hosts.specs import ArraySpec, raid0, raid1, raid5, raid6
from tests.plans.new_array import device
from tests.plans.running import BIG, fact, first, host, manage, planned, refused, was

LEFT = raid1(pulled=("sdf",))


def member(array: ArraySpec, name: str, words: str) -> Fact:
    """A fact of a member."""
    return fact(FactKind.MEMBER, f"{array.name}/{name}", words)


def failing(survey: Survey, name: str) -> Plan | Refusal:
    """The plan that fails a member of the first array."""
    return plan_fail(survey, first(survey), name)


def test_fail_and_remove_by_the_kernels_name() -> None:
    """Its node under /dev is gone; mdadm finds the name in md's sysfs."""
    survey = host(LEFT)
    found = planned(failing(survey, "sdf"))
    assert found.steps == (
        manage(
            LEFT,
            "--fail sdf",
            "it left the machine; md has not noticed yet",
            needs=(member(LEFT, "sde", "in_sync"), member(LEFT, "sdf", "detached")),
            proves="sdf faulty",
        ),
    )
    assert (found.harm, found.warning) == (Harm.REDUCES, "")
    assert found.notes == ("After this: if one fails: all is lost.",)
    failed = raid1(failed=("sdf",), pulled=("sdf",))
    survey = host(failed)
    assert planned(plan_remove(survey, first(survey), "sdf")).steps == (
        manage(
            failed,
            "--remove sdf",
            "remove it",
            needs=(member(failed, "sdf", "detached"),),
            proves="sdf absent",
        ),
    )


def back(array: ArraySpec, slot: int) -> Device:
    """A disk that was pulled and pushed back: its superblock has this slot."""
    found = was(array)
    assert found.superblock is not None
    return replace(found, superblock=replace(found.superblock, slot=slot))


@pytest.mark.parametrize("failed", [(), ("sdf",)])
def test_what_left_is_let_go_before_it_is_taken_back(failed: tuple[str, ...]) -> None:
    """Md keeps its number until then, under the name that is gone, and takes no disk with the same one."""
    left = replace(raid1(failed=failed, pulled=("sdf",)), bitmap=(1, 8))
    survey = host(left, devices=(back(left, 1),))
    steps = planned(plan_re_add(survey, first(survey), "sdz")).steps
    words = [step.argv[3:] for step in steps]
    *let_go, again, waits = steps
    removed = [("--remove", "sdf"), ("--re-add", "/dev/sdz"), ()]
    assert words == (removed if failed else [("--fail", "sdf"), *removed])
    for step in let_go:
        assert member(left, "sdf", "detached") in step.needs
        assert isinstance(step, RunTool)
        assert step.proof_decides
    assert let_go[-1].proves == (member(left, "sdf", "absent"),)
    assert isinstance(step, RunTool)
    assert isinstance(again, RunTool)
    assert (step.patient, again.patient, waits.waits) == (True, True, True)


def test_another_one_that_left_is_not_touched() -> None:
    """Slot 0 is not what was pushed back; md has not noticed that it left, either."""
    left = replace(raid6(members=("sda", "sdb", "sdc", "sdd"), pulled=("sda", "sdb")), bitmap=(1, 8))
    survey = host(left, devices=(back(left, 1),))
    steps = planned(plan_re_add(survey, first(survey), "sdz")).steps
    assert [step.argv[3:] for step in steps if step.argv] == [
        ("--fail", "sdb"),
        ("--remove", "sdb"),
        ("--re-add", "/dev/sdz"),
    ]


def test_the_last_one_that_left_is_not_failed() -> None:
    left = replace(raid1(failed=("sde",), pulled=("sdf",)), bitmap=(1, 8))
    survey = host(left, devices=(back(left, 1),))
    assert refused(plan_re_add(survey, first(survey), "sdz")) == (
        "too few members of root are there: sdf left the machine; reconnect what left, stop the array, and"
        " assemble it again"
    )


def test_a_name_with_a_slash() -> None:
    survey = host(raid1(members=("cciss/c0d0", "cciss/c0d1"), pulled=("cciss/c0d1",)))
    [step] = planned(failing(survey, "cciss/c0d1")).steps
    assert step.argv == ("mdadm", "--manage", "/dev/md126", "--fail", "cciss!c0d1")


def test_a_spare_and_a_journal_that_left() -> None:
    survey = host(raid5(spares=("sdn",), pulled=("sdn",)))
    [step] = planned(plan_remove(survey, first(survey), "sdn")).steps
    assert step.argv == ("mdadm", "--manage", "/dev/md125", "--remove", "sdn")
    survey = host(raid5(journal="sdn", pulled=("sdn",)))
    [step] = planned(failing(survey, "sdn")).steps
    assert step.argv == ("mdadm", "--manage", "/dev/md125", "--fail", "sdn")


@pytest.mark.parametrize(
    ("array", "name", "words"),
    [
        (LEFT, "sde", "sde holds the last copy of part of root; add a disk, or replace it"),
        (
            raid5(pulled=("sdg", "sdi")),
            "sdg",
            (
                "too few members of media are there: sdg and sdi left the machine; reconnect what left, stop"
                " the array, and assemble it again"
            ),
        ),
        (
            raid0(pulled=("sdo",)),
            "sdo",
            "raid0 has no redundancy: without sdo all data is lost",
        ),
    ],
)
def test_what_must_not_fail(array: ArraySpec, name: str, words: str) -> None:
    assert refused(failing(host(array), name)) == words


def test_one_more_of_a_raid6_may_fail() -> None:
    survey = host(raid6(pulled=("sdj",)))
    planned(failing(survey, "sdk"))
    assert refused(failing(host(raid6(pulled=("sdj", "sdl"))), "sdk")).startswith("sdk holds the last copy")


def test_what_waits_until_it_is_failed() -> None:
    survey = host(LEFT, devices=(device("sdz", size_bytes=BIG),))
    array = first(survey)
    words = "sdf left the machine, and md has not noticed yet; "
    assert refused(plan_remove(survey, array, "sdf")) == f"{words}fail it first"
    assert refused(plan_rename(survey, array, "new")) == f"{words}mark it as failed first"
    assert refused(plan_replace(survey, array, "sde", "sdz")) == f"{words}mark it as failed first"
    assert refused(plan_check(survey.snapshot, array.key)) == (
        "a check needs all members; replace the missing member first"
    )


def test_a_stopped_array_is_started_without_it() -> None:
    survey = host(LEFT)
    [back] = planned(plan_stop(survey, first(survey))).undo
    assert back.argv[4:] == ("--run", "/dev/sde")
    survey = host(replace(LEFT, pulled=()))
    [back] = planned(plan_stop(survey, first(survey))).undo
    assert back.argv[4:] == ("/dev/sde", "/dev/sdf")
