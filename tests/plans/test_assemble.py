"""Arrays that do not run, as their superblocks describe them, and how one is started."""

from __future__ import annotations

from typing import Any

import pytest

from raidtui.model.disk import Use
from raidtui.model.fact import Fact, FactKind
from raidtui.model.plan import Plan, Refusal, RefusalCode
from raidtui.model.survey import Superblock
from raidtui.plans.assemble import StoppedArray, start_methods, stopped_arrays
from raidtui.plans.whole import StaleMember, refuse_start, standing
from tests.hosts.specs import inactive, raid1, raid5
from tests.plans.new_array import device, survey

A, B = "aaaaaaaa:bbbbbbbb:cccccccc:dddddddd", "11111111:22222222:33333333:44444444"


def block(slot: int | None, **more: Any) -> Superblock:
    """A member of the RAID-5 "media"."""
    given = {"uuid": A, "name": "nas:media", "level": "raid5", "raid_disks": 3, "events": 40, **more}
    return Superblock(slot=slot, **given)


def made(way: str, found: StoppedArray, *, host: Any) -> Plan | Refusal:
    return next(each.made for each in start_methods(found, host) if each.words == way)


def test_all_members() -> None:
    host = survey(*(device(f"sd{letter}2", superblock=block(n)) for n, letter in enumerate("abc")))
    [found] = stopped_arrays(host)
    assert found.words == "media        raid5   3 of 3 members  sda2 sdb2 sdc2"
    assert (found.missing, found.short) == (0, ())
    assert [method.words for method in start_methods(found, host)] == ["normal", "read-only"]
    plan = made("read-only", found, host=host)
    assert isinstance(plan, Plan)
    assert [step.argv for step in plan.steps] == [
        (
            *("mdadm", "--assemble", "/dev/md/media", f"--uuid={A}", "--readonly"),
            *("/dev/sda2", "/dev/sdb2", "/dev/sdc2"),
        )
    ]


def test_a_member_that_is_missing() -> None:
    host = survey(device("sda2", superblock=block(0)), device("sdb2", superblock=block(2)))
    [found] = stopped_arrays(host)
    assert found.words == "media        raid5   2 of 3 members  sda2 sdb2"
    assert [method.words for method in start_methods(found, host)] == [
        *("normal", "read-only", "degraded, read-only", "degraded (--run)"),
    ]
    assert made("normal", found, host=host) == Refusal(
        code=RefusalCode.INVALID,
        why="media has 3 members, and only 2 of those given are up to date",
        remedy="name all of them, or start it degraded with --run",
    )
    plan = made("degraded, read-only", found, host=host)
    assert isinstance(plan, Plan)
    assert plan.steps[0].argv[3:6] == (f"--uuid={A}", "--run", "--readonly")
    plan = made("degraded (--run)", found, host=host)
    assert isinstance(plan, Plan)
    assert plan.steps[0].argv[3:6] == (f"--uuid={A}", "--run", "/dev/sda2")


@pytest.mark.parametrize(("events", "behind"), [(40, ()), (39, ()), (38, ("sdb2 is 2 events behind",))])
def test_a_member_that_is_behind(events: int, behind: tuple[str, ...]) -> None:
    """A crash leaves members one event apart, and mdadm takes both."""
    old = block(1, events=events)
    host = survey(
        device("sda2", superblock=block(0)),
        device("sdb2", superblock=old),
        device("sdc2", superblock=block(2)),
    )
    [found] = stopped_arrays(host)
    assert found.short == behind
    assert ("3 of 3 members, sdb2 is 2 events behind" in found.words) is bool(behind)
    assert len(start_methods(found, host)) == (4 if behind else 2)


def test_a_spare_fills_no_slot() -> None:
    host = survey(
        device("sda2", superblock=block(0)),
        device("sdb2", superblock=block(1)),
        device("sdc2", superblock=block(None)),
    )
    [found] = stopped_arrays(host)
    assert (found.found, found.missing) == (2, 1)
    assert found.words == "media        raid5   2 of 3 members  sda2 sdb2 sdc2"


def test_without_slots_members_are_counted() -> None:
    host = survey(device("sda2", superblock=block(None, raid_disks=None)))
    [found] = stopped_arrays(host)
    assert found.words == "media        raid5   1 member  sda2"


def test_what_runs_is_left_out_and_what_is_inactive_is_refused_in_part() -> None:
    running, stopped = raid1("md126", "root"), inactive(raid5(members=("sdg", "sdh")))
    host = survey(
        device("sda2", superblock=Superblock(uuid=running.array_uuid)),
        device("sdg", superblock=block(0, uuid=stopped.array_uuid)),
        device("sdb2", superblock=Superblock(uuid=None, level="container")),
        device("sdc2"),
        arrays=(running, stopped),
    )
    [found] = stopped_arrays(host)
    assert found.names == ("sdg",)
    refusal = made("normal", found, host=host)
    assert isinstance(refusal, Refusal)
    assert refusal.remedy == "name all of its members (sdg sdh), or stop it first"


def test_an_inactive_array_lets_go_of_its_members_first() -> None:
    stopped = inactive(raid5(members=("sdg", "sdh")))
    host = survey(
        device("sdg", superblock=block(0, uuid=stopped.array_uuid)),
        device("sdh", superblock=block(2, uuid=stopped.array_uuid)),
        arrays=(stopped,),
    )
    [found] = stopped_arrays(host)
    plan = made("degraded (--run)", found, host=host)
    assert isinstance(plan, Plan)
    assert [step.argv[:3] for step in plan.steps] == [
        ("mdadm", "--stop", "/dev/md125"),
        ("mdadm", "--assemble", "/dev/md/media"),
    ]
    assert [fact.kind for fact in plan.steps[0].needs] == [FactKind.UNUSED]
    assert plan.steps[0].proves == (Fact(kind=FactKind.GONE, subject="md125"),)


R5 = {"level": "raid5", "raid_disks": 3}
R10 = {"level": "raid10", "raid_disks": 4, "layout": 0x102}
AT = {"recovery_sectors": 5632}


@pytest.mark.parametrize(
    ("shape", "found", "run", "sentence"),
    [
        (R5, {0: {}, 2: {}}, True, ""),
        (R5, {0: {}, 1: {}, 2: AT}, False, ""),  # as mdadm counts: the rebuild continues
        (R5, {0: {"roles": "AA."}, 1: {"roles": "AA."}}, False, ""),  # it was degraded before
        (
            R5,
            {0: {}, 1: {}},
            False,
            (
                "media has 3 members, and only 2 of those given are up to date; name all of them, or start it"
                " degraded with --run"
            ),
        ),
        (
            R5,
            {1: {}, 2: AT},
            True,
            (
                "media does not have enough members to start: slot 1 (sdb) is up to date, sdc (slot 2)"
                " was being"
                " rebuilt, up to 2.8 MiB, slot 0 is missing; reconnect the disk of slot 0"
            ),
        ),
        (
            R5,
            {1: {}},
            True,
            (
                "media does not have enough members to start: slot 1 (sdb) is up to date, slots 0 and 2"
                " are missing;"
                " reconnect the disks of slots 0 and 2"
            ),
        ),
        (
            R5,
            {0: {"dirty": True}, 1: {"dirty": True}},
            True,
            (
                "media was being written to when it stopped, and its parity cannot be corrected without"
                " slot 2: the kernel does not start it; reconnect the disk of slot 2"
            ),
        ),
        (
            R5,
            {0: {"events": 12}, 1: {}, 2: {"events": 12}},
            True,
            (
                "media does not have enough members to start: slot 1 (sdb) is up to date, sda (slot 0) is"
                " 28 events"
                " behind, sdc (slot 2) is 28 events behind; restore the disks as they were; as a last"
                " resort, mdadm --assemble --force accepts outdated data as current"
            ),
        ),
        (R10, {0: {}, 2: {}}, True, ""),
        (
            R10,
            {0: {}, 1: {}},
            True,
            (
                "media does not have enough members to start: slot 0 (sda) is up to date, slot 1 (sdb) is"
                " up to date,"
                " slots 2 and 3 are missing; reconnect one of the disks of slots 2 and 3"
            ),
        ),
        (
            {"level": "raid1", "raid_disks": 2},
            {0: {"roles": "A."}, 1: {"roles": "AA", "events": 39}},
            True,
            "",
        ),
        ({"level": "raid0", "raid_disks": 2}, {0: {}, 1: {}}, False, ""),
        (
            {"level": "raid0", "raid_disks": 2},
            {0: {}},
            True,
            (
                "media does not have enough members to start: slot 0 (sda) is up to date, slot 1 is missing;"
                " reconnect the disk of slot 1"
            ),
        ),
        ({"level": None, "raid_disks": 2}, {0: {}, 1: {}}, True, ""),
        (
            {"level": "raid1", "raid_disks": 2},
            {0: {"roles": "A."}, 1: {"roles": ".A", "events": 41}},  # each has run without the other
            False,
            "",
        ),
    ],
)
def test_what_is_enough_to_start(
    shape: dict[str, Any], found: dict[int, dict[str, Any]], sentence: str, *, run: bool
) -> None:
    blocks = {f"sd{'abcd'[slot]}": block(slot, **shape, **more) for slot, more in found.items()}
    refusal = refuse_start(blocks, run=run)
    assert (refusal.sentence if refusal else "") == sentence


def test_who_takes_the_newest_for_failed() -> None:
    blocks = {
        "sda": block(0, **R5, roles=".AA"),
        "sdb": block(1, **R5, roles=".AA"),
        "sdc": block(2, **R5, events=41),
    }
    assert standing(blocks).not_whole == ()
    assert standing({**blocks, "sdc": block(2, **R5, events=41, roles=".AA")}).not_whole == (
        StaleMember(name="sda", slot=0, verb="is", rest="marked as failed by sdc"),
    )
    torn = {**blocks, "sdb": block(1, **R5, roles="AA.")}
    assert standing(torn).not_whole == (
        StaleMember(name="sdb", slot=1, verb="marks", rest="sdc, which is newer, as failed"),
    )


def test_a_superblock_at_the_end_is_the_last_partitions() -> None:
    end = block(0, metadata="1.0", device_uuid=B)
    host = survey(
        device("sda", Use(kind="partition", what="sda1"), superblock=end), device("sda1", superblock=end)
    )
    assert [found.names for found in stopped_arrays(host)] == [("sda1",)]
