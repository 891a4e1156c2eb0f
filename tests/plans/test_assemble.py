"""Arrays that do not run, as their superblocks describe them, and how one is started."""

from __future__ import annotations

from typing import Any

import pytest

from raidtui.model.disk import Use
from raidtui.model.plan import Plan, Refusal
from raidtui.model.survey import Device, Superblock
from raidtui.plans.assemble import start_methods, stopped_arrays
from raidtui.plans.whole import StaleMember, refuse_start, standing
from tests.hosts.specs import ArraySpec, inactive, raid1, raid5
from tests.plans.goldens import accepted, commands
from tests.plans.new_array import device, survey

A, B = "aaaaaaaa:bbbbbbbb:cccccccc:dddddddd", "11111111:22222222:33333333:44444444"


def block(slot: int | None, **more: Any) -> Superblock:
    """A member of the RAID-5 "media"."""
    given = {"uuid": A, "name": "nas:media", "level": "raid5", "raid_disks": 3, "events": 40, **more}
    return Superblock(slot=slot, **given)


def offered(*devices: Device, arrays: tuple[ArraySpec, ...] = ()) -> list[object]:
    """The arrays that do not run, and each way to start one: what is done, or why not."""
    host, lines = survey(*devices, arrays=arrays), list[object]()
    for found in stopped_arrays(host):
        lines += [found.words, f"found {found.found}, missing {found.missing}, {' '.join(found.names)}"]
        for method in start_methods(found, host):
            lines.append(f"-- {method.words}")
            lines += [method.made] if isinstance(method.made, Refusal) else commands(method.made)
    return lines


def member(name: str, slot: int | None, **more: Any) -> Device:
    return device(name, superblock=block(slot, **more))


HALF = inactive(raid5(members=("sdg", "sdh")))
MIRROR = raid1("md126", "root")
AT_END = block(0, metadata="1.0", device_uuid=B)
test_stopped = accepted(
    {
        "all members": lambda: offered(member("sda2", 0), member("sdb2", 1), member("sdc2", 2)),
        "one is missing": lambda: offered(member("sda2", 0), member("sdb2", 2)),
        # A crash leaves members one event apart, and mdadm takes both.
        "one is one event behind": lambda: offered(
            member("sda2", 0), member("sdb2", 1, events=39), member("sdc2", 2)
        ),
        "one is two events behind": lambda: offered(
            member("sda2", 0), member("sdb2", 1, events=38), member("sdc2", 2)
        ),
        # It fills no slot.
        "one is a spare": lambda: offered(member("sda2", 0), member("sdb2", 1), member("sdc2", None)),
        # Members are counted then.
        "without slots": lambda: offered(member("sda2", None, raid_disks=None)),
        "what runs is left out, what is inactive refused in part": lambda: offered(
            device("sda2", superblock=Superblock(uuid=MIRROR.array_uuid)),
            member("sdg", 0, uuid=HALF.array_uuid),
            device("sdb2", superblock=Superblock(uuid=None, level="container")),
            device("sdc2"),
            arrays=(MIRROR, HALF),
        ),
        "an inactive one lets go of its members first": lambda: offered(
            member("sdg", 0, uuid=HALF.array_uuid), member("sdh", 2, uuid=HALF.array_uuid), arrays=(HALF,)
        ),
        "a superblock at the end is the last partition's": lambda: offered(
            device("sda", Use(kind="partition", what="sda1"), superblock=AT_END),
            device("sda1", superblock=AT_END),
        ),
    }
)


def release() -> Plan | Refusal:
    host = survey(
        member("sdg", 0, uuid=HALF.array_uuid), member("sdh", 2, uuid=HALF.array_uuid), arrays=(HALF,)
    )
    [found] = stopped_arrays(host)
    return next(each.made for each in start_methods(found, host) if each.words == "degraded (--run)")


test_release = accepted({"an inactive one, degraded": release})


R5 = {"level": "raid5", "raid_disks": 3}
R10 = {"level": "raid10", "raid_disks": 4, "layout": 0x102}
AT = {"recovery_sectors": 5632}


R1, R0 = {"level": "raid1", "raid_disks": 2}, {"level": "raid0", "raid_disks": 2}
Members = dict[int, dict[str, Any]]
ENOUGH: dict[str, tuple[dict[str, Any], Members, bool]] = {
    "raid5, one missing": (R5, {0: {}, 2: {}}, True),
    "raid5, one is rebuilt": (R5, {0: {}, 1: {}, 2: AT}, False),  # as mdadm counts: it continues
    "raid5, degraded before": (R5, {0: {"roles": "AA."}, 1: {"roles": "AA."}}, False),
    "raid10, one of each pair": (R10, {0: {}, 2: {}}, True),
    "raid1, one behind": (R1, {0: {"roles": "A."}, 1: {"roles": "AA", "events": 39}}, True),
    "raid1, each without the other": (R1, {0: {"roles": "A."}, 1: {"roles": ".A", "events": 41}}, False),
    "raid0": (R0, {0: {}, 1: {}}, False),
    "no level": ({"level": None, "raid_disks": 2}, {0: {}, 1: {}}, True),
}


def start(shape: dict[str, Any], found: Members, run: bool) -> Refusal | None:  # noqa: FBT001
    blocks = {f"sd{'abcd'[slot]}": block(slot, **shape, **more) for slot, more in found.items()}
    return refuse_start(blocks, run=run)


@pytest.mark.parametrize("name", ENOUGH)
def test_what_is_enough_to_start(name: str) -> None:
    assert start(*ENOUGH[name]) is None


test_refused = accepted(
    {
        "refused: raid5, one missing": (R5, {0: {}, 1: {}}, False),
        "refused: raid5, one missing, one is rebuilt": (R5, {1: {}, 2: AT}, True),
        "refused: raid5, two missing": (R5, {1: {}}, True),
        "refused: raid5, dirty": (R5, {0: {"dirty": True}, 1: {"dirty": True}}, True),
        "refused: raid5, two behind": (R5, {0: {"events": 12}, 1: {}, 2: {"events": 12}}, True),
        "refused: raid10, a pair missing": (R10, {0: {}, 1: {}}, True),
        "refused: raid0, one missing": (R0, {0: {}}, True),
    },
    lambda case: start(*case),
)


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
