"""More slots for an array: plans, refusals, and how far the data move."""

from __future__ import annotations

import re
from typing import Any

import pytest
from msgspec.structs import replace

from raidtui.features.reshape.plan.backup_place import BackupPlace
from raidtui.features.reshape.plan.grow_plan import GrowOptions, plan_grow, plan_grow_size
from raidtui.features.reshape.plan.grow_shape import Direction, GrowShape, Room, least_move, towards
from raidtui.model.disk import Use
from raidtui.model.plan import Plan, Refusal, Step
from raidtui.model.survey import Device, Survey
from tests.hosts.specs import ArraySpec, Syncing, raid0, raid1, raid5, raid10
from tests.plans.goldens import accepted, commands
from tests.plans.new_array import device
from tests.plans.running import BIG, OTHER, first, former, host, planned

ROOM = 1 << 18
NEW = device("sdz", size_bytes=BIG)
RAID5 = raid5()
SMALL_CHUNK = raid5(chunk_kib=64)
EXT4 = device("sdy", Use(kind="signature", what="ext4", detail="root"), size_bytes=BIG)
PLACE = BackupPlace(path="/var/lib/backup", where="/", kind="ext4")
CONF = {
    "/etc/mdadm/mdadm.conf": (
        f"ARRAY /dev/md/vm level=raid5 UUID={RAID5.array_uuid} num-devices=3 spares=1 # three\n"
        f"ARRAY /dev/md/x UUID={OTHER} num-devices=3\n"
    )
}


def grown(array: ArraySpec, *new: Device, room: int | None = ROOM, tail: int = 0, **more: Any) -> Survey:
    """A host with an array, its members with so much room before and after the data, and new devices."""
    block = former(array.array_uuid, f"nas:{array.label}", spare_sectors=room, tail_sectors=tail)
    members = (device(name, size_bytes=BIG, superblock=block) for name in array.members if name)
    return host(array, devices=(*members, *new), **more)


def plan(survey: Survey, *names: str, **more: Any) -> Plan | Refusal:
    return plan_grow(survey, first(survey), names, slots=more.pop("slots", 0), options=GrowOptions(**more))


def more(array: ArraySpec, *names: str, new: tuple[Device, ...] = (NEW,), **given: Any) -> Plan | Refusal:
    """The answer on a host with new devices."""
    asked = {word: given.pop(word) for word in ("slots", "backup", "above") if word in given}
    return plan(grown(array, *new, **given), *names, **asked)


def larger(array: ArraySpec, **given: Any) -> Plan | Refusal:
    survey = grown(array, **given)
    return plan_grow_size(survey, first(survey))


def misplaced(**place: str) -> Plan | Refusal:
    backup = BackupPlace(path="/x/file", **place)
    return more(SMALL_CHUNK, "sdz", room=0, mounts={RAID5.name: "/srv"}, backup=backup)


def conf_of(found: Plan | Refusal) -> list[Step]:
    return [step for step in planned(found).steps if step.content is not None]


def shape(level: str, layout: int | None, chunk_kib: int, disks: int) -> GrowShape:
    return GrowShape(level=level, layout=layout, chunk_bytes=chunk_kib << 10, disks=disks)


@pytest.mark.parametrize(
    ("old", "new", "sectors", "where"),
    [
        (("raid5", 2, 512, 3), ("raid5", 2, 512, 4), 3072, "start"),
        (("raid5", 2, 512, 3), ("raid5", 2, 512, 5), 2048, "start"),
        (("raid5", 2, 64, 2), ("raid5", 2, 64, 3), 256, "start"),
        (("raid6", 2, 64, 4), ("raid6", 2, 64, 5), 384, "start"),
        (("raid4", 0, 64, 3), ("raid4", 0, 64, 4), 384, "start"),
        (("raid0", None, 64, 2), ("raid0", None, 64, 3), 384, "start"),
        (("raid10", 0x102, 64, 4), ("raid10", 0x102, 64, 5), 128, "start"),
        (("raid10", 0x10201, 64, 4), ("raid10", 0x10201, 64, 5), 256, "start"),
        (("raid1", 0, 0, 2), ("raid1", 0, 0, 3), 0, "nowhere"),
        (("raid5", 2, 64, 4), ("raid5", 2, 64, 3), 256, "end"),
        (("raid6", 2, 64, 5), ("raid6", 2, 64, 4), 256, "end"),
        (("raid10", 0x102, 64, 5), ("raid10", 0x102, 64, 4), 128, "end"),
        (("raid5", 2, 64, 3), ("raid5", 2, 128, 3), 256, "either"),
        (("raid5", 2, 64, 3), ("raid6", 2, 64, 4), 128, "either"),
        (("raid5", 2, 64, 3), ("raid6", 18, 64, 4), 0, "nowhere"),
        (("raid6", 18, 64, 4), ("raid5", 2, 64, 3), 0, "nowhere"),
        (("raid0", None, 64, 2), ("raid5", 2, 64, 3), 128, "either"),
        (("raid5", 5, 64, 3), ("raid0", 0, 64, 2), 0, "nowhere"),
        (("raid4", 0, 64, 3), ("raid5", 5, 64, 3), 0, "nowhere"),
        (("raid0", None, 64, 2), ("raid10", 0x102, 64, 4), 0, "nowhere"),
        (("raid1", 0, 0, 2), ("raid5", 2, 64, 2), 0, "nowhere"),
    ],
)
def test_how_far_the_data_move(old: Any, new: Any, sectors: int, where: str) -> None:
    """As mdadm 4.2 moved the data offset on real arrays."""
    before, after = shape(*old), shape(*new)
    assert (least_move(before, after), towards(before, after)) == (sectors, Direction(where))


@pytest.mark.parametrize(
    ("room", "old", "new", "left"),
    [
        ((1968, 0), ("raid5", 2, 64, 3), ("raid5", 2, 64, 4), (1584, 384)),
        ((1584, 384), ("raid5", 2, 64, 4), ("raid5", 2, 64, 3), (1840, 128)),
        ((1968, 0), ("raid5", 2, 64, 3), ("raid6", 2, 64, 4), (984, 984)),
        ((100, 900), ("raid5", 2, 64, 3), ("raid6", 2, 64, 4), (550, 450)),
        ((1968, 0), ("raid5", 2, 64, 4), ("raid5", 2, 64, 3), None),
        ((383, 0), ("raid5", 2, 64, 3), ("raid5", 2, 64, 4), None),
        ((127, 127), ("raid5", 2, 64, 3), ("raid6", 2, 64, 4), None),
        ((0, 0), ("raid1", 0, 0, 2), ("raid5", 2, 64, 2), (0, 0)),
    ],
)
def test_what_room_is_left(room: tuple[int, int], old: Any, new: Any, left: tuple[int, int] | None) -> None:
    """Of a chain of reshapes each finds the room that the one before has left."""
    before, after = shape(*old), shape(*new)
    found = Room(before=room[0], after=room[1], name="sda")
    assert found.fits(before, after) == (left is not None)
    moved = found.moved(before, after)
    assert (moved.before, moved.after) == (left or room)


test_plans = accepted(
    {
        "a slot": lambda: more(RAID5, "sdz"),
        # Nothing moves, so that no room is needed; only the new member is written.
        "a mirror": lambda: more(raid1(), "sdz", room=0),
        "two slots, and what is on the devices": lambda: more(
            raid10(layout="o2"), "sdz", "sdy", new=(NEW, EXT4)
        ),
        # An array whose line counts other devices is not assembled at boot.
        "mdadm.conf, all the time": lambda: conf_of(more(RAID5, "sdz", texts=CONF)),
        # A raid4 meanwhile; mdadm, which takes a pause for the end, is ended; the plan makes it a raid0.
        "raid0": lambda: more(raid0(), "sdz"),
        # Mdadm moves the data through the file, and is not ended.
        "raid0 with a backup file": lambda: more(raid0(), "sdz", room=0, backup=PLACE),
        "a backup file where there is no room": lambda: more(SMALL_CHUNK, "sdz", room=383, backup=PLACE),
        "all of larger members": lambda: larger(RAID5, tail=4 << 21, mounts={RAID5.name: "/srv"}),
    }
)


test_commands = accepted(
    {
        # When md has finished, not before; or not at all, where that is asked.
        "what stands on it, afterwards": lambda: more(RAID5, "sdz", mounts={RAID5.name: "/srv"}),
        "what stands on it, not at all": lambda: more(RAID5, "sdz", mounts={RAID5.name: "/srv"}, above=False),
        "raid0 without pkill": lambda: more(raid0(), "sdz", missing=("pkill",)),
        "raid0 where systemd continues": lambda: more(raid0(), "sdz", systemd=True),
        "no backup file where there is room": lambda: more(SMALL_CHUNK, "sdz", room=384, backup=PLACE),
        "a spare fills the slot": lambda: more(replace(RAID5, spares=("sdz",)), slots=4),
    },
    commands,
)


def test_just_enough_room() -> None:
    assert planned(more(SMALL_CHUNK, "sdz", room=384))


def test_which_mdadm_is_ended() -> None:
    """The one that grows this array, or continues it; no other."""
    grow, end, *_ = planned(more(raid0(), "sdz")).steps
    pattern, words, path = end.argv[-1], " ".join(grow.argv[1:]), f"/dev/{raid0().name}"
    for line in (f"mdadm {words}", f"/usr/sbin/mdadm {words}", f"/sbin/mdadm --grow --continue {path}"):
        assert re.fullmatch(pattern, line), line
    for line in (f"mdadm {words} /dev/sdy", f"mdadm --grow --continue {path}0", f"vi mdadm {words}"):
        assert not re.fullmatch(pattern, line), line


test_refused = accepted(
    {
        "backup file: in memory": lambda: misplaced(where="/run", kind="tmpfs"),
        "backup file: on the array": lambda: misplaced(where="/srv", kind="ext4"),
        "backup file: there": lambda: misplaced(why_not="it is there already"),
        "larger members: no room": lambda: larger(RAID5),
        "larger members: raid0": lambda: larger(raid0(), tail=1 << 20),
        "larger members: degraded": lambda: larger(raid5(failed=("sdi",)), tail=1 << 20),
        "refused: far copies": lambda: more(raid10(layout="f2"), "sdz"),
        "refused: named twice": lambda: more(RAID5, "sdz", "sdz"),
        "refused: nothing named": lambda: more(RAID5),
        "refused: more slots than devices": lambda: more(RAID5, "sdz", slots=5),
        "refused: spares": lambda: more(replace(RAID5, spares=("sdy",)), "sdz"),
        "refused: in a check": lambda: more(replace(RAID5, sync=Syncing(action="check", done_kib=1)), "sdz"),
        "refused: degraded": lambda: more(raid5(failed=("sdi",)), "sdz"),
        "refused: bad blocks": lambda: more(replace(RAID5, bad_blocks={"sdh": "264200 16\n"}), "sdz"),
        "refused: read-only": lambda: more(replace(RAID5, read_only="auto-read-only"), "sdz"),
        "refused: room not known": lambda: more(SMALL_CHUNK, "sdz", room=None),
        "refused: room too small": lambda: more(SMALL_CHUNK, "sdz", room=383),
        "refused: no room": lambda: more(SMALL_CHUNK, "sdz", room=0),
        # Of 4096 bytes among members of 512: what is on the array may not be readable then.
        "refused: larger sectors": lambda: more(RAID5, "sdz", new=(replace(NEW, sector_bytes=4096),)),
    }
)
