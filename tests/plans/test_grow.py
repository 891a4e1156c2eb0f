"""More slots for an array: plans whole, refusals whole, and how far the data move."""

from __future__ import annotations

import re
from typing import Any

import pytest
from msgspec.structs import replace

from raidtui.features.reshape.plan.backup_place import BackupPlace
from raidtui.features.reshape.plan.grow_plan import GrowOptions, plan_grow, plan_grow_size
from raidtui.features.reshape.plan.grow_shape import Direction, GrowShape, Room, least_move, towards
from raidtui.model.disk import Use
from raidtui.model.fact import FactKind
from raidtui.model.plan import Harm, Plan, Refusal, RunTool, WaitUntil
from raidtui.model.survey import Device, Survey
from tests.hosts.specs import ArraySpec, Syncing, raid0, raid1, raid5, raid10
from tests.plans.new_array import device
from tests.plans.running import BIG, OTHER, fact, first, former, host, manage, planned, refused, same

ROOM = 1 << 18
NEW = device("sdz", size_bytes=BIG)
RAID5 = raid5()
NAMES = ("sdg", "sdh", "sdi")


def grown(array: ArraySpec, *new: Device, room: int | None = ROOM, tail: int = 0, **more: Any) -> Survey:
    """A host with an array, its members with so much room before and after the data, and new devices."""
    block = former(array.array_uuid, f"nas:{array.label}", spare_sectors=room, tail_sectors=tail)
    members = (device(name, size_bytes=BIG, superblock=block) for name in array.members if name)
    return host(array, devices=(*members, *new), **more)


def plan(survey: Survey, *names: str, **more: Any) -> Plan | Refusal:
    return plan_grow(survey, first(survey), names, slots=more.pop("slots", 0), options=GrowOptions(**more))


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


def test_grow() -> None:
    survey = grown(RAID5, NEW)
    own = fact(FactKind.ARRAY, RAID5.name, RAID5.array_uuid)
    free = (
        *same(NEW, untouched=False),
        fact(FactKind.FREE, "sdz"),
        fact(FactKind.SUPERBLOCK, "sdz", RAID5.array_uuid),
    )
    remove = manage(
        RAID5,
        "--remove /dev/sdz",
        "release it",
        needs=(fact(FactKind.LOOSE, f"{RAID5.name}/sdz"),),
        proves="sdz absent",
    )
    zero = RunTool(
        argv=("mdadm", "--zero-superblock", "/dev/sdz"),
        why="with its superblock, udev would add it as a spare again",
        needs=tuple(dict.fromkeys(free)),
        proves=(fact(FactKind.SUPERBLOCK, "sdz"),),
    )
    add = manage(
        RAID5,
        "--add-spare /dev/sdz",
        "a new member",
        needs=same(NEW),
        proves="sdz spare",
        undo=(remove, zero),
    )
    members = tuple(fact(FactKind.MEMBER, f"{RAID5.name}/{name}", "in_sync") for name in NAMES)
    begun = fact(FactKind.SHAPE, RAID5.name, "raid5/4/2")
    grow = RunTool(
        argv=("mdadm", "--grow", f"/dev/{RAID5.name}", "--raid-devices=4"),
        why="begins the reshape",
        timeout_s=300.0,
        needs=(
            own,
            fact(FactKind.SHAPE, RAID5.name, "raid5/3/2"),
            fact(FactKind.RESHAPED, RAID5.name),
            *members,
            fact(FactKind.MEMBER, f"{RAID5.name}/sdz", "spare"),
        ),
        awaits=(fact(FactKind.SYNCED, RAID5.name),),  # after a crash, md resyncs first
        proves=(begun,),
        final=True,
    )
    wait = WaitUntil(
        why="md moves every block",
        until=(
            own,
            begun,
            fact(FactKind.RESHAPED, RAID5.name),
            fact(FactKind.MEMBER, f"{RAID5.name}/sdz", "in_sync"),
            fact(FactKind.LARGER, RAID5.name, str(first(survey).size_bytes)),
        ),
        as_long_as=(own, begun),
    )
    found = planned(plan(survey, "sdz"))
    assert found.steps == (add, grow, wait)
    assert found == Plan(
        title="grow: 3 → 4 devices",
        subject="media",
        steps=(add, grow, wait),
        harm=Harm.REDUCES,
        warning="A reshape cannot be cancelled: it continues after a reboot. It can be paused and slowed;"
        " only a stopped array can be sent back.",
        notes=found.notes,
        devices=(*NAMES, "sdz"),
        arrays=(RAID5.name,),
    )
    assert found.notes == (
        "Capacity 420 GiB → 630 GiB, when it has ended.",
        "Meanwhile the array survives the loss of 1 member, as now (4 devices instead of 3 can fail).",
        "210 GiB are written to each of sdg, sdh, sdi and sdz.",
        "It takes at least 18 min at the limit of 205 MB/s.",
        "No backup file is needed: there is room beside the data.",
        found.notes[-1],
    )
    assert "sdz" in found.notes[-1]


def test_a_mirror_more() -> None:
    """Nothing moves, so that no room is needed; only the new member is written."""
    survey = grown(raid1(), NEW, room=0)
    found = planned(plan(survey, "sdz"))
    *_, grow, wait = found.steps
    assert (grow.argv[-1], found.warning, wait.why) == (
        "--raid-devices=3",
        "",
        "md copies to the new members",
    )
    assert any("are written to each of sdz." in note for note in found.notes)


def test_two_devices_and_what_is_on_them() -> None:
    ext4 = device("sdy", Use(kind="signature", what="ext4", detail="root"), size_bytes=BIG)
    found = planned(plan(grown(raid10(layout="o2"), NEW, ext4), "sdz", "sdy"))
    assert (found.harm, found.confirm) == (Harm.DESTROYS, "data")
    assert found.loss_sentences == ('sdy: the ext4 file system "root"',)
    assert [step.argv[:2] for step in found.steps] == [
        ("wipefs", "--all"),
        ("mdadm", "--manage"),
        ("mdadm", "--manage"),
        ("mdadm", "--grow"),
        (),
    ]


def test_spares_fill_the_slots() -> None:
    survey = grown(replace(RAID5, spares=("sdz",)), NEW)
    found = planned(plan(survey, slots=4))
    assert [step.argv[1:2] for step in found.steps] == [("--grow",), ()]
    assert "210 GiB are written to each of sdg, sdh, sdi and sdz." in found.notes


def test_what_stands_on_it_is_grown_afterwards() -> None:
    """When md has finished, not before; or not at all, where that is asked."""
    survey = grown(RAID5, NEW, mounts={RAID5.name: "/srv"})
    *_, wait, resize, tune = planned(plan(survey, "sdz")).steps
    assert (wait.waits, resize.argv) == (True, ("resize2fs", f"/dev/{RAID5.name}"))
    assert tune.argv[0] == "tune2fs"
    assert planned(plan(survey, "sdz", above=False)).steps[-1].waits


def test_mdadm_conf_fits_the_array_all_the_time() -> None:
    """An array whose line counts other devices is not assembled at boot."""
    conf = "/etc/mdadm/mdadm.conf"
    line = f"ARRAY /dev/md/vm level=raid5 UUID={RAID5.array_uuid} num-devices=3 spares=1 # three\n"
    line += f"ARRAY /dev/md/x UUID={OTHER} num-devices=3\n"
    survey = grown(RAID5, NEW, texts={conf: line})
    [step] = [step for step in planned(plan(survey, "sdz")).steps if step.content is not None]
    assert (step.path, step.content) == (
        conf,
        line.replace(" num-devices=3", "", 1).replace(" level=raid5", ""),
    )


def test_raid0_is_a_raid4_meanwhile() -> None:
    """Mdadm, which takes a pause for the end, is ended; the plan makes it a RAID 0 again."""
    array = raid0()
    survey = grown(array, NEW)
    before = first(survey).raid_disks or 0
    grow, end, wait, back = planned(plan(survey, "sdz")).steps
    path = f"/dev/{array.name}"
    assert grow.argv == (*("mdadm", "--grow", path, f"--raid-devices={before + 1}", "--add", "/dev/sdz"),)
    assert grow.proves == (fact(FactKind.SHAPE, array.name, f"raid4/{before + 2}|raid0/{before + 1}"),)
    pattern = end.argv[-1]
    assert end.argv[:-1] == ("pkill", "--full", "--exact")
    words = " ".join(grow.argv[1:])
    for line in (f"mdadm {words}", f"/usr/sbin/mdadm {words}", f"/sbin/mdadm --grow --continue {path}"):
        assert re.fullmatch(pattern, line), line
    for line in (f"mdadm {words} /dev/sdy", f"mdadm --grow --continue {path}0", f"vi mdadm {words}"):
        assert not re.fullmatch(pattern, line), line
    assert isinstance(end, RunTool)
    assert (end.proves, end.proof_decides) == ((fact(FactKind.UNATTENDED, array.name),), True)
    assert wait.waits
    assert back.argv == ("mdadm", "--grow", path, "--level=0")
    assert fact(FactKind.SHAPE, array.name, f"raid4/{before + 2}") in back.needs
    assert back.proves[0] == fact(FactKind.SHAPE, array.name, f"raid0/{before + 1}")
    assert isinstance(back, RunTool)
    assert back.proof_decides
    assert "It can be paused and slowed" in planned(plan(survey, "sdz")).warning


def test_mdadm_of_a_raid0_is_not_ended_where_it_is_needed() -> None:
    """It moves the data through the backup file; and without pkill nothing is ended."""
    place = BackupPlace(path="/var/lib/backup", where="/", kind="ext4")
    found = planned(plan(grown(raid0(), NEW, room=0), "sdz", backup=place))
    assert not any(step.argv[:1] == ("pkill",) for step in found.steps)
    assert "must not be paused" in found.warning
    found = planned(plan(grown(raid0(), NEW, missing=("pkill",)), "sdz"))
    assert not any(step.argv[:1] == ("pkill",) for step in found.steps)
    service = planned(plan(grown(raid0(), NEW, systemd=True), "sdz")).steps[1]
    assert service.command == f"systemctl stop mdadm-grow-continue@{raid0().name}.service"
    assert isinstance(service, RunTool)
    assert service.may_fail


def test_a_backup_file_where_there_is_no_room() -> None:
    place = BackupPlace(path="/var/lib/backup", where="/", kind="ext4")
    survey = grown(raid5(chunk_kib=64), NEW, room=383)
    found = planned(plan(survey, "sdz", backup=place))
    [grow] = [step for step in found.steps if step.argv[1:2] == ("--grow",)]
    assert "--backup-file=/var/lib/backup" in grow.argv
    assert "a crash can lose what was being moved" in found.warning
    survey = grown(raid5(chunk_kib=64), NEW, room=384)
    found = planned(plan(survey, "sdz", backup=place))
    assert not any("--backup-file=/var/lib/backup" in step.argv for step in found.steps)


@pytest.mark.parametrize(
    ("place", "why"),
    [
        ({"where": "/run", "kind": "tmpfs"}, "/run is in memory: after a crash the file would be gone"),
        ({"where": "/srv", "kind": "ext4"}, "/srv is on media itself"),
        ({"why_not": "it is there already"}, "it is there already"),
    ],
)
def test_where_a_backup_file_cannot_be(place: dict[str, str], why: str) -> None:
    survey = grown(raid5(chunk_kib=64), NEW, room=0, mounts={RAID5.name: "/srv"})
    assert refused(plan(survey, "sdz", backup=BackupPlace(path="/x/file", **place))) == (
        f"the backup file cannot be /x/file: {why}; name a file that is not there yet, on a disk that the"
        " array does not use"
    )


def test_all_of_larger_members() -> None:
    survey = grown(RAID5, tail=4 << 21, mounts={RAID5.name: "/srv"})
    array = first(survey)
    found = planned(plan_grow_size(survey, array))
    size, resize, wait = found.steps
    assert size.argv == ("mdadm", "--grow", f"/dev/{RAID5.name}", "--size=max")
    assert (resize.argv[0], wait.waits) == ("resize2fs", True)
    assert found.notes[0] == "Capacity 420 GiB → 428 GiB, at once."


@pytest.mark.parametrize(
    ("array", "tail", "sentence"),
    [
        (
            RAID5,
            0,
            (
                "sdg has no room after its data: 210 GiB of it are used; replace every member by a larger one"
                " first, one after the other"
            ),
        ),
        (raid0(), 1 << 20, "raid0 always uses all of each member"),
        (raid5(failed=("sdi",)), 1 << 20, "media is degraded; replace the missing member first"),
    ],
)
def test_all_of_members_that_are_not_larger(array: ArraySpec, tail: int, sentence: str) -> None:
    survey = grown(array, tail=tail)
    assert refused(plan_grow_size(survey, first(survey))) == sentence


@pytest.mark.parametrize(
    ("array", "names", "more", "sentence"),
    [
        (raid10(layout="f2"), ("sdz",), {}, "a raid10 with far copies cannot be reshaped"),
        (RAID5, ("sdz", "sdz"), {}, "a device is named twice; name each once"),
        (
            RAID5,
            (),
            {},
            "media has 3 slots already; name the devices that are added, or a larger number of slots",
        ),
        (
            RAID5,
            ("sdz",),
            {"slots": 5},
            (
                "1 device more would be needed for 5 slots: it would be degraded; name free devices, or fewer"
                " slots"
            ),
        ),
        (
            replace(RAID5, spares=("sdy",)),
            ("sdz",),
            {},
            (
                "media has spares (sdy): which of them md would take cannot be chosen; grow to 5 slots, or"
                " remove the spares first"
            ),
        ),
        (
            replace(RAID5, sync=Syncing(action="check", done_kib=1)),
            ("sdz",),
            {},
            "a check is in progress; wait until it is done",
        ),
        (
            raid5(failed=("sdi",)),
            ("sdz",),
            {},
            "media is degraded; replace the missing member first",
        ),
        (
            replace(RAID5, bad_blocks={"sdh": "264200 16\n"}),
            ("sdz",),
            {},
            "bad blocks are recorded on sdh: they would move with the data; replace sdh first",
        ),
        (
            replace(RAID5, read_only="auto-read-only"),
            ("sdz",),
            {},
            "media is auto-read-only; make it read-write first",
        ),
    ],
)
def test_refused(array: ArraySpec, names: tuple[str, ...], more: dict[str, Any], sentence: str) -> None:
    assert refused(plan(grown(array, NEW), *names, **more)) == sentence


@pytest.mark.parametrize(("room", "has"), [(None, "not known"), (383, "383 sectors"), (0, "0 sectors")])
def test_no_room(room: int | None, has: str) -> None:
    found = plan(grown(raid5(chunk_kib=64), NEW, room=room), "sdz")
    assert refused(found) == (
        f"there is not enough room before the data of sdg ({has}, 384 needed): mdadm needs a backup file;"
        " give --backup-file=PATH on another device, or make a new array and copy"
    )


def test_just_enough_room() -> None:
    assert planned(plan(grown(raid5(chunk_kib=64), NEW, room=384), "sdz"))


def test_a_disk_with_larger_sectors() -> None:
    """Of 4096 bytes among members of 512: what is on the array may not be readable then."""
    found = refused(plan(grown(RAID5, replace(NEW, sector_bytes=4096)), "sdz"))
    assert found == "sdz has sectors of 4096 bytes, sdg of 512; choose a device of the same kind"
