"""Arrays that do not run, as their superblocks tell of them, and the ways to start one."""

from __future__ import annotations

from typing import Any

import pytest

from raidtui.actions.assembly import AtRest, arrays_at_rest, ways
from raidtui.model.disk import Use
from raidtui.model.plan import Plan, Refusal
from raidtui.model.survey import Superblock
from tests.actions.new_array import device, survey
from tests.specs import inactive, raid1, raid5

A, B = "aaaaaaaa:bbbbbbbb:cccccccc:dddddddd", "11111111:22222222:33333333:44444444"


def block(slot: int | None, **more: Any) -> Superblock:
    """A member of the RAID-5 "media"."""
    given = {"uuid": A, "name": "nas:media", "level": "raid5", "raid_disks": 3, "events": 40, **more}
    return Superblock(slot=slot, **given)


def made(way: str, found: AtRest, *, host: Any) -> Plan | Refusal:
    return next(each.made for each in ways(found, host) if each.words == way)


def test_all_members() -> None:
    host = survey(*(device(f"sd{letter}2", superblock=block(n)) for n, letter in enumerate("abc")))
    [found] = arrays_at_rest(host)
    assert found.words == "media        raid5   3 of 3 members  sda2 sdb2 sdc2"
    assert (found.missing, found.behind) == (0, ())
    assert [way.words for way in ways(found, host)] == ["normal", "read-only"]
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
    [found] = arrays_at_rest(host)
    assert found.words == "media        raid5   2 of 3 members  sda2 sdb2"
    assert [way.words for way in ways(found, host)] == [
        *("normal", "read-only", "degraded, read-only", "degraded (--run)"),
    ]
    assert made("normal", found, host=host) == Refusal(
        code="invalid",
        why="media has 3 members, 2 are given",
        remedy="name all, or start it degraded with --run",
    )
    plan = made("degraded, read-only", found, host=host)
    assert isinstance(plan, Plan)
    assert plan.steps[0].argv[3:6] == (f"--uuid={A}", "--run", "--readonly")
    plan = made("degraded (--run)", found, host=host)
    assert isinstance(plan, Plan)
    assert plan.steps[0].argv[3:6] == (f"--uuid={A}", "--run", "/dev/sda2")


@pytest.mark.parametrize(("events", "behind"), [(40, ()), (39, ()), (38, (("sdb2", 2),))])
def test_a_member_that_is_behind(events: int, behind: tuple[tuple[str, int], ...]) -> None:
    """A crash leaves members one event apart, and mdadm takes both."""
    old = block(1, events=events)
    host = survey(
        device("sda2", superblock=block(0)),
        device("sdb2", superblock=old),
        device("sdc2", superblock=block(2)),
    )
    [found] = arrays_at_rest(host)
    assert found.behind == behind
    assert ("3 of 3 members, sdb2 2 events behind" in found.words) is bool(behind)
    assert len(ways(found, host)) == (4 if behind else 2)


def test_a_spare_fills_no_slot() -> None:
    host = survey(
        device("sda2", superblock=block(0)),
        device("sdb2", superblock=block(1)),
        device("sdc2", superblock=block(None)),
    )
    [found] = arrays_at_rest(host)
    assert (found.found, found.missing) == (2, 1)
    assert found.words == "media        raid5   2 of 3 members  sda2 sdb2 sdc2"


def test_without_slots_members_are_counted() -> None:
    host = survey(device("sda2", superblock=block(None, raid_disks=None)))
    [found] = arrays_at_rest(host)
    assert found.words == "media        raid5   1 member  sda2"


def test_what_runs_is_left_out_and_what_is_inactive_is_refused() -> None:
    running, stopped = raid1("md126", "root"), inactive(raid5(members=("sdg", "sdh")))
    host = survey(
        device("sda2", superblock=Superblock(uuid=running.array_uuid)),
        device("sdg", superblock=block(0, uuid=stopped.array_uuid)),
        device("sdb2", superblock=Superblock(uuid=None, level="container")),
        device("sdc2"),
        arrays=(running, stopped),
    )
    [found] = arrays_at_rest(host)
    assert found.names == ("sdg",)
    refusal = made("normal", found, host=host)
    assert isinstance(refusal, Refusal)
    assert refusal.remedy == "stop that first"


def test_a_superblock_at_the_end_is_the_last_partitions() -> None:
    end = block(0, metadata="1.0", device_uuid=B)
    host = survey(
        device("sda", Use(kind="partition", what="sda1"), superblock=end), device("sda1", superblock=end)
    )
    assert [found.names for found in arrays_at_rest(host)] == [("sda1",)]
