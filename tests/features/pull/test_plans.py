"""The plans of an exchange: out of the arrays, and into them."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from raidtui.features.pull.bays import BayDisk, part_number, partition_of_disk, read_bays
from raidtui.features.pull.put_in import model_disk, plan_push_back, plan_put_in, plan_return
from raidtui.features.pull.record import PullDisk, PullRecord
from raidtui.features.pull.tables import parse_dump
from raidtui.features.pull.take_out import plan_take_out, record_of
from raidtui.model.answer import known
from raidtui.model.disk import Disk, Use
from raidtui.model.fact import FactKind
from raidtui.model.plan import Harm, Plan, Refusal
from raidtui.model.survey import Device, Superblock, Survey
from tests.hosts.bays import MEDIA, BayHost, without
from tests.hosts.kernel import Kernel
from tests.hosts.specs import COMPONENT_KIB, ArraySpec, Syncing, raid0, raid1
from tests.plans.running import planned, refused

ROOT = raid1("md0", "root", members=("sda2", "sdb2"), bitmap=(0, 1))
SWAP = raid1("md1", "swap", members=("sda3", "sdb3"))
DUMP = """\
label: gpt
device: /dev/sdb
unit: sectors
sector-size: 512

/dev/sdb1 : start=2048, size=4096, type=C12A7328-F81F-11D2-BA4B-00A0C93EC93B, uuid=1
/dev/sdb2 : start=6144, size=440409900, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=2
/dev/sdb3 : start=440416256, size=440667000, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=3
"""
TIB = 1 << 40


def disk(name: str, whole: str = "", *uses: Use, size_bytes: int = TIB, **more: Any) -> Device:
    made = Disk(
        name=name,
        disk=whole or name,
        size_bytes=size_bytes,
        serial=f"S{(whole or name).upper()}0001",
        model="SSD",
        rotational=False,
        uses=uses,
    )
    probed = known(tuple(use for use in uses if use.kind == "signature"))
    return Device(disk=made, appearance="boot/7", digest=f"digest of {name}", probed=probed, **more)


def bay(name: str, **more: Any) -> BayDisk:
    return BayDisk(name=name, identity=f"S{name.upper()}0001", label=f"S{name.upper()}0001", **more)


BAYS = (bay("sda", bay="ata-1", appearance="boot/7"), bay("sdb", bay="ata-2"))


def parted(*arrays: ArraySpec, uses: tuple[Use, ...] = (), **more: Any) -> Survey:
    """Two disks with three partitions each: one for the firmware, two for arrays."""
    found = []
    for name in ("sda", "sdb"):
        parts = [Use(kind="partition", what=f"{name}{number}") for number in (1, 2, 3)]
        found.append(disk(name, "", *parts))
        found.append(disk(f"{name}1", name, *(uses if name == "sda" else ())))
        found += [disk(f"{name}{number}", name) for number in (2, 3)]
    kernel = Kernel(*(arrays or (ROOT, SWAP)))
    return Survey(
        snapshot=kernel.sampler().sample(),
        devices={each.disk.name: each for each in (*found, *more.pop("also", ()))},
        mdadm=known((4, 2)),
        **more,
    )


def record(survey: Survey, name: str = "sda2", *, light: bool = False) -> PullRecord:
    return record_of(survey, name, BAYS, light=light, who="ada", now_s=1.0)


def commands(plan: Plan) -> list[str]:
    return [" ".join(step.argv) if step.argv else f"wait: {step.why}" for step in plan.steps]


# -- out


def test_all_members_on_the_disk_leave_their_arrays() -> None:
    plan = planned(plan_take_out(parted(), "sda2", BAYS))
    assert commands(plan) == [
        "ledctl --listed-only locate=/dev/sda",
        "mdadm --manage /dev/md0 --fail /dev/sda2",
        "mdadm --manage /dev/md0 --remove /dev/sda2",
        "mdadm --manage /dev/md1 --fail /dev/sda3",
        "mdadm --manage /dev/md1 --remove /dev/sda3",
    ]
    assert (plan.harm, plan.title) == (Harm.REDUCES, "take out: sda, serial SSDA0001")
    for step in plan.steps:
        kinds = {fact.kind: fact.value for fact in step.needs}
        assert kinds[FactKind.SERIAL] == "SSDA0001"
    fails = [step for step in plan.steps if "--fail" in step.argv]
    for step, other in zip(fails, ("md0/sdb2", "md1/sdb3"), strict=True):
        facts = {(fact.kind, fact.subject): fact.value for fact in step.needs}
        assert facts[FactKind.MEMBER, other] == "in_sync"
        assert facts[FactKind.APPEARANCE, step.argv[-1].removeprefix("/dev/")] == "boot/7"


def test_what_has_failed_is_only_removed_and_without_ledctl_there_is_no_light() -> None:
    failed = replace(ROOT, failed=("sda2",))
    plan = planned(plan_take_out(parted(failed, missing=("ledctl",)), "sda2", BAYS))
    assert commands(plan) == ["mdadm --manage /dev/md0 --remove /dev/sda2"]


def test_what_is_out_already_needs_no_plan() -> None:
    block = Superblock(uuid=ROOT.array_uuid, name="nas:root")
    survey = parted(replace(ROOT, members=(None, "sdb2")), missing=("ledctl",))
    devices = {**survey.devices, "sda2": replace(survey.devices["sda2"], superblock=block)}
    survey = replace(survey, devices=devices)
    assert planned(plan_take_out(survey, "sda", BAYS)).steps == ()
    [member] = record(survey, "sda").target.members
    assert (member.array, member.part, member.slot) == ("root", 2, None)


@pytest.mark.parametrize(
    ("arrays", "why"),
    [
        ((raid0(members=("sda2", "sdb2")),), "raid0 has no redundancy: without sda2 all data is lost"),
        (
            (raid1("md0", "root", members=("sda2", "sdb2", None)),),
            "root misses another member already; add a disk and wait for the recovery first",
        ),
        (
            (replace(ROOT, rebuilding=("sdb2",), sync=Syncing(action="recover")),),
            "a recover of root is in progress; wait until it is done, or end it if it is a check",
        ),
        (
            (ROOT, replace(SWAP, members=("sda3", None))),
            "swap misses another member already; add a disk and wait for the recovery first",
        ),
        (
            (replace(ROOT, read_only="read-only"),),
            "root is read-only; mdadm --readwrite /dev/md0",
        ),
    ],
)
def test_refused_where_data_would_hang_on_one_hand(arrays: tuple[ArraySpec, ...], why: str) -> None:
    assert refused(plan_take_out(parted(*arrays), "sda2", BAYS)) == why


def test_refused_where_more_than_members_is_in_use() -> None:
    mounted = Use(kind="mount", what="/boot/efi", detail="vfat")
    assert refused(plan_take_out(parted(uses=(mounted,)), "sda2", BAYS)) == (
        "sda1 is in use: vfat mounted at /boot/efi; end that first: umount, or swapoff"
    )


@pytest.mark.parametrize(
    ("bays", "why"),
    [
        ((BayDisk(name="sda", identity=""),), "sda has neither a serial number nor a WWN"),
        ((BAYS[0], replace(BAYS[1], identity="SSDA0001")), "sda and sdb report one serial number, SSDA0001"),
        ((BAYS[1],), "sda is not there"),
    ],
)
def test_refused_where_it_could_not_be_said_which_one_left(bays: tuple[BayDisk, ...], why: str) -> None:
    assert refused(plan_take_out(parted(), "sda2", bays)).startswith(why)


def test_refused_without_root_and_for_what_is_no_disk() -> None:
    host = replace(parted(), snapshot=Kernel(ROOT, writable=False).sampler().sample())
    assert refused(plan_take_out(host, "sda2", BAYS)) == "needs root; run it as: sudo raidtui"
    assert refused(plan_take_out(parted(), "sdc", BAYS)) == "sdc holds no member of an array that is there"
    assert refused(plan_take_out(parted(), "dm-0", BAYS)).startswith(
        "dm-0 is not a disk: it is built on others"
    )


# -- in


def filling(*also: Device, light: bool = False) -> tuple[Survey, PullRecord]:
    """Sda was pulled, sdc is there."""
    kept = record(parted(), light=light)
    gone = (replace(ROOT, members=(None, "sdb2")), replace(SWAP, members=(None, "sdb3")))
    return parted(*gone, also=also or (disk("sdc"),)), kept


def test_a_new_disk_gets_the_table_of_a_neighbour_and_joins_both_arrays() -> None:
    survey, kept = filling(light=True)
    assert model_disk(survey, kept.target) == "sdb"
    plan = planned(plan_put_in(survey, kept, "sdc", parse_dump(DUMP), of="sdb"))
    assert commands(plan) == [
        "sfdisk --quiet --wipe always --wipe-partitions always /dev/sdc",
        "udevadm settle",
        "mdadm --manage /dev/md0 --add /dev/sdc2",
        "mdadm --manage /dev/md1 --add /dev/sdc3",
        "wait: md recovers sdc2",
        "wait: md recovers sdc3",
        "ledctl --listed-only locate_off=/dev/sdc",
    ]
    assert (plan.harm, plan.confirm, plan.title) == (Harm.REDUCES, "", "put in: sdc, serial SSDC0001")
    table, settle, add = plan.steps[:3]
    assert "uuid" not in table.stdin
    assert "/dev/sdc2 : start=6144, size=440409900" in table.stdin
    needs = {(fact.kind, fact.subject): fact.value for fact in table.needs}
    assert needs[FactKind.SERIAL, "sdc"] == "SSDC0001"
    assert needs[FactKind.UNTOUCHED, "sdc"] == "digest of sdc"
    assert (FactKind.FREE, "sdc") in needs
    assert {fact.subject for fact in settle.proves} == {
        *(f"/dev/sdc{number}" for number in (1, 2, 3)),
        *(f"sdc{number}" for number in (1, 2, 3)),
    }
    of_part = {(fact.kind, fact.subject): fact.value for fact in add.needs}
    assert of_part[FactKind.SERIAL, "sdc2"] == "SSDC0001"
    assert of_part[FactKind.APPEARANCE, "sdc2"] == "boot/7"
    assert of_part[FactKind.SIZE, "sdc2"] == str(440409900 * 512)
    assert any("/dev/sdc1 is an EFI system partition, and empty" in note for note in plan.notes)
    assert plan.notes[-1] == (
        "At the end a boot check says whether the machine boots without any one of its disks."
    )


def test_what_is_on_the_new_disk_is_typed_away() -> None:
    used = disk("sdc", "", Use(kind="signature", what="ext4", detail="photos"))
    survey, kept = filling(used)
    plan = planned(plan_put_in(survey, kept, "sdc", parse_dump(DUMP), of="sdb"))
    assert commands(plan)[0] == "wipefs --all /dev/sdc"
    assert (plan.harm, plan.confirm) == (Harm.DESTROYS, "root")
    assert plan.loss_sentences == ('sdc: the ext4 file system "photos"',)


@pytest.mark.parametrize(
    ("new", "why"),
    [
        (disk("sdc", size_bytes=400 << 30), "sdc is too small for this table"),
        (disk("sdc", sector_bytes=4096), "sdc has sectors of 4096 bytes, the table counts in 512"),
        (disk("sdc", "", Use(kind="mount", what="/mnt", detail="xfs")), "sdc is in use: xfs mounted at /mnt"),
        (disk("sdc", "", Use(kind="signature", what="LVM2_member")), "sdc holds an LVM physical volume"),
        (disk("sdc", read_only=True), "sdc is read-only"),
        (
            disk("sdc", superblock=Superblock(uuid="1:2:3:4", name="nas:old")),
            'sdc is a member of the array "old"',
        ),
    ],
)
def test_a_new_disk_that_does_not_do_is_refused(new: Device, why: str) -> None:
    survey, kept = filling(new)
    assert refused(plan_put_in(survey, kept, "sdc", parse_dump(DUMP), of="sdb")).startswith(why)


def test_what_speaks_against_a_disk_is_a_warning() -> None:
    old = disk("sdc", wear_percent=41.0, trouble="has failed its SMART self-assessment")
    survey, kept = filling(replace(old, disk=replace(old.disk, rotational=True)))
    plan = planned(plan_put_in(survey, kept, "sdc", parse_dump(DUMP), of="sdb"))
    assert "sdc has failed its SMART self-assessment." in plan.warning
    assert "sdc is not new: 41 % of its rated endurance is used." in plan.warning
    assert "sdc is a hard disk among SSDs" in plan.warning
    assert "a hard disk, 1 TiB, sectors of 512 bytes, 41 % worn" in plan.notes[0]


def test_without_a_neighbour_of_the_same_kind_there_is_no_table_to_copy() -> None:
    survey, kept = filling()
    lost = replace(kept.target, members=(*kept.target.members, replace(kept.target.members[0], part=9)))
    found = model_disk(survey, lost)
    assert isinstance(found, Refusal)
    assert found.sentence.startswith("no other disk has the same members on partitions of the same numbers")
    assert plan_put_in(survey, kept, "sdc", found) is found


def test_a_whole_disk_is_added_as_it_is() -> None:
    host = BayHost()
    kept = host.record("sdc")
    host.now(without("sdc"))
    big = disk("sdf", size_bytes=(MEDIA.component_kib + (1 << 20)) * 1024)
    survey = replace(host.survey(), devices={"sdf": big})
    plan = planned(plan_put_in(survey, kept, "sdf", None))
    assert commands(plan) == ["mdadm --manage /dev/md125 --add /dev/sdf", "wait: md recovers sdf"]
    assert refused(
        plan_put_in(replace(survey, devices={"sdf": disk("sdf", size_bytes=TIB)}), kept, "sdf", None)
    ).startswith("sdf is too small")
    assert read_bays(host)[2].bay == kept.target.bay


# -- back


def back(disk_now: str, *arrays: ArraySpec, bitmap: bool = True) -> Plan | Refusal:
    """Sdb was pulled by mistake, and is there again under another name."""
    kept = record(parted())
    [other] = kept.others
    parts = [
        disk(
            f"{disk_now}{number}",
            disk_now,
            superblock=Superblock(uuid=array.array_uuid, name="nas:x", events=5),
            size_bytes=(COMPONENT_KIB + (1 << 20)) * 1024,
        )
        for number, array in ((2, ROOT), (3, SWAP))
    ]
    survey = parted(*arrays, also=tuple(parts))
    return plan_push_back(survey, other, disk_now)


def test_a_disk_that_comes_back_is_re_added_by_the_bitmap_and_else_added() -> None:
    arrays = (replace(ROOT, members=("sda2", None)), replace(SWAP, members=("sda3", None)))
    plan = planned(back("sdf", *arrays))
    assert commands(plan) == [
        "mdadm --manage /dev/md0 --re-add /dev/sdf2",
        "mdadm --zero-superblock /dev/sdf3",
        "wipefs --all /dev/sdf3",
        "mdadm --manage /dev/md1 --add /dev/sdf3",
        "wait: md recovers sdf2",
        "wait: md recovers sdf3",
    ]
    assert (plan.harm, plan.confirm) == (Harm.DESTROYS, "swap")  # its superblock goes, as by add


def test_what_is_in_already_is_left_alone() -> None:
    arrays = (replace(ROOT, members=("sda2", "sdf2")), replace(SWAP, members=("sda3", "sdf3")))
    assert refused(back("sdf", *arrays)) == "sdf is in all its arrays already"


def test_an_array_that_is_gone_takes_nothing_back() -> None:
    assert refused(back("sdf", replace(ROOT, members=("sda2", None)))) == (
        "the array swap is not there; start it first: a in pane 1, or raidtui rescue"
    )


def test_the_disk_itself_goes_back_and_its_light_goes_out() -> None:
    kept = record(parted(), light=True)
    gone = (replace(ROOT, members=(None, "sdb2")), SWAP)
    block = Superblock(uuid=ROOT.array_uuid, name="nas:root", events=5)
    survey = parted(*gone)
    size = (COMPONENT_KIB + (1 << 20)) * 1024
    devices = {**survey.devices, "sda2": disk("sda2", "sda", superblock=block, size_bytes=size)}
    plan = planned(plan_return(replace(survey, devices=devices), kept, "sda"))
    assert commands(plan) == [
        "mdadm --manage /dev/md0 --re-add /dev/sda2",
        "wait: md recovers sda2",
        "ledctl --listed-only locate_off=/dev/sda",
    ]


@pytest.mark.parametrize(
    ("name", "part", "found"),
    [("sda", 0, "sda"), ("sda", 2, "sda2"), ("nvme0n1", 0, "nvme0n1"), ("nvme0n1", 2, "nvme0n1p2")],
)
def test_names_of_partitions(name: str, part: int, found: str) -> None:
    assert partition_of_disk(name, part) == found
    assert part_number(found, name) == part


def test_a_disk_of_the_record_reads_as_on_its_label() -> None:
    assert PullDisk(identity="5000c500a0b0d001", name="sda", label="ZA1234").printed == "ZA1234"
    assert PullDisk(identity="ZA1234", name="sda").printed == "ZA1234"
