"""More slots for an array: plans whole, refusals whole, and how far the data move."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from raidtui.model.disk import Use
from raidtui.model.plan import FactKind, Harm, Plan, Refusal, Step
from raidtui.model.survey import Device, Survey
from raidtui.plans.grow import least_move, plan_grow
from tests.hosts.specs import ArraySpec, Syncing, raid0, raid1, raid5, raid10
from tests.plans.new_array import device
from tests.plans.running import BIG, OTHER, fact, first, former, host, manage, planned, refused, same

ROOM = 1 << 18
NEW = device("sdz", size_bytes=BIG)
RAID5 = raid5()
NAMES = ("sdg", "sdh", "sdi")


def grown(array: ArraySpec, *new: Device, room: int | None = ROOM, **more: Any) -> Survey:
    """A host with an array, its members with so much room, and new devices."""
    block = former(array.array_uuid, f"nas:{array.label}", spare_sectors=room)
    members = (device(name, size_bytes=BIG, superblock=block) for name in array.members if name)
    return host(array, devices=(*members, *new), **more)


def plan(survey: Survey, *names: str, **more: Any) -> Plan | Refusal:
    return plan_grow(survey, first(survey), names, **more)


@pytest.mark.parametrize(
    ("level", "layout", "chunk_kib", "slots", "sectors"),
    [
        ("raid5", 2, 512, (3, 4), 3072),
        ("raid5", 2, 512, (3, 5), 2048),
        ("raid5", 2, 64, (2, 3), 256),
        ("raid6", 2, 64, (4, 5), 384),
        ("raid4", 0, 64, (3, 4), 384),
        ("raid10", 0x102, 64, (4, 5), 128),
        ("raid10", 0x10201, 64, (4, 5), 256),
        ("raid1", 0, 0, (2, 3), 0),
    ],
)
def test_how_far_the_data_move(
    level: str, layout: int, chunk_kib: int, slots: tuple[int, int], sectors: int
) -> None:
    """As mdadm 4.2 moved the data offset on real arrays."""
    assert least_move(level, layout, chunk_kib * 1024, slots) == sectors


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
    zero = Step(
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
    grow = Step(
        argv=("mdadm", "--grow", f"/dev/{RAID5.name}", "--raid-devices=4"),
        why="md moves every block",
        timeout_s=300.0,
        needs=(own, *members, fact(FactKind.MEMBER, f"{RAID5.name}/sdz", "spare")),
        proves=(fact(FactKind.SLOTS, RAID5.name, "4"),),
    )
    found = planned(plan(survey, "sdz"))
    assert found.steps == (add, grow)
    assert found == Plan(
        title="grow: 3 → 4 devices",
        subject="media",
        steps=(add, grow),
        harm=Harm.REDUCES,
        warning="A reshape cannot be cancelled: it continues after a reboot. It can be paused and slowed.",
        notes=found.notes,
        devices=(*NAMES, "sdz"),
        arrays=(RAID5.name,),
        goes_on="md moves every block",
        ends=(
            own,
            *grow.proves,
            fact(FactKind.RESHAPED, RAID5.name),
            fact(FactKind.MEMBER, f"{RAID5.name}/sdz", "in_sync"),
        ),
        lasts=(own, *grow.proves),
    )
    assert found.notes == (
        (
            "Capacity 420 GiB → 630 GiB, when the reshape has ended. What is on the array is not larger by"
            " itself."
        ),
        "Meanwhile the array survives the loss of 1 member, as now (4 devices instead of 3 can fail).",
        "210 GiB are written to each of sdg, sdh, sdi and sdz.",
        "It takes at least 18 min at the limit of 205 MB/s.",
        "No backup file is needed: there is room before the data.",
        found.notes[-1],
    )
    assert "sdz" in found.notes[-1]


def test_a_mirror_more() -> None:
    """Nothing moves, so that no room is needed; only the new member is written."""
    survey = grown(raid1(), NEW, room=0)
    found = planned(plan(survey, "sdz"))
    assert found.steps[-1].argv[-1] == "--raid-devices=3"
    assert (found.warning, found.goes_on) == ("", "md copies to the new members")
    assert any("are written to each of sdz." in note for note in found.notes)


def test_two_devices_and_what_is_on_them() -> None:
    ext4 = device("sdy", Use(kind="signature", what="ext4", detail="root"), size_bytes=BIG)
    found = planned(plan(grown(raid10(layout="o2"), NEW, ext4), "sdz", "sdy"))
    assert (found.harm, found.confirm) == (Harm.DESTROYS, "data")
    assert found.loses == ('sdy: the ext4 file system "root"',)
    assert [step.argv[:2] for step in found.steps] == [
        ("wipefs", "--all"),
        ("mdadm", "--manage"),
        ("mdadm", "--manage"),
        ("mdadm", "--grow"),
    ]


def test_spares_fill_the_slots() -> None:
    survey = grown(replace(RAID5, spares=("sdz",)), NEW)
    found = planned(plan(survey, slots=4))
    assert [step.argv[1] for step in found.steps] == ["--grow"]


def test_what_stands_on_it_is_grown_afterwards() -> None:
    survey = grown(RAID5, NEW, mounts={RAID5.name: "/srv"})
    assert any("resize2fs /dev/" in note for note in planned(plan(survey, "sdz")).notes)


def test_the_number_in_mdadm_conf_follows() -> None:
    """An array whose line counts other devices is not assembled at boot."""
    conf = "/etc/mdadm/mdadm.conf"
    line = f"ARRAY /dev/md/vm UUID={RAID5.array_uuid} num-devices=3 spares=1\n"
    line += f"ARRAY /dev/md/x UUID={OTHER} num-devices=3\n"
    survey = grown(RAID5, NEW, texts={conf: line})
    steps = planned(plan(survey, "sdz")).steps
    assert (steps[2].path, steps[2].content) == (conf, line.replace("num-devices=3", "num-devices=4", 1))


@pytest.mark.parametrize(
    ("array", "names", "more", "sentence"),
    [
        (raid0(), ("sdz",), {}, "raidtui cannot add slots to raid0"),
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
            replace(RAID5, consistency_policy="ppl"),
            ("sdz",),
            {},
            "media has consistency policy ppl: the kernel refuses to reshape it",
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
        f"there is not enough room before the data of sdg ({has}, 384 needed): mdadm would require a"
        " backup file, and a crash without it loses data; make a new array and copy"
    )


def test_just_enough_room() -> None:
    assert planned(plan(grown(raid5(chunk_kib=64), NEW, room=384), "sdz"))
