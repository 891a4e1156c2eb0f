"""Whole disks as members: the table that is written, the partition that comes of it, and what is refused."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from raidtui.model.disk import Use
from raidtui.model.fact import Fact, FactKind
from raidtui.model.plan import Harm, Plan, Refusal, RunTool
from raidtui.plans.create.partition import plan_on_disks
from raidtui.plans.member_partition import RAID_TYPE, partition_name, partition_of
from tests.plans.new_array import FOUR, GIB, device, plan, request, survey

DISKS = ("sde", "sdf")
MIB = 1 << 20


def partitioned(reserve_percent: int = 10, **more: object) -> Plan:
    """The plan of a mirror on two empty whole disks."""
    asked = request(level="raid1", chunk_kib=0, devices=DISKS)
    made = plan_on_disks(asked, survey(**more), reserve_percent=reserve_percent)  # type: ignore[arg-type]
    assert isinstance(made, Plan), made
    return made


@pytest.mark.parametrize(
    ("disk", "name"), [("sda", "sda1"), ("nvme0n1", "nvme0n1p1"), ("mmcblk0", "mmcblk0p1")]
)
def test_partition_names(disk: str, name: str) -> None:
    assert partition_name(disk) == name


@pytest.mark.parametrize(
    ("reserve", "optimal", "start_mib", "end_mib"),
    [
        (0, 0, 1, 100 * 1024 - 1),  # the last MiB has the backup table
        (10, 0, 1, 92160),
        (7, 0, 1, 95232),
        (10, 4 * MIB, 4, 92160),
        (10, 3 * MIB, 3, 92160),
        (10, 4096, 1, 92160),
    ],
)
def test_the_partition_begins_and_ends_at_whole_mebibytes(
    reserve: int, optimal: int, start_mib: int, end_mib: int
) -> None:
    part = partition_of(device("sde", optimal_bytes=optimal), reserve)
    assert (part.start_bytes // MIB, part.start_bytes % MIB) == (start_mib, 0)
    assert part.disk.size_bytes == (end_mib - start_mib) * MIB
    assert (part.disk.disk, part.disk.serial, part.aligned) == ("sde", "S-sde", True)


def test_a_disk_of_4_kib_sectors_counts_in_them() -> None:
    disks = (device("sde", sector_bytes=4096), device("sdf", sector_bytes=4096))
    made = plan_on_disks(
        request(level="raid1", chunk_kib=0, devices=DISKS), survey(*disks), reserve_percent=0
    )
    assert isinstance(made, Plan)
    assert (
        made.steps[0].stdin
        == f"label: gpt\nstart=256, size={(100 * GIB - 2 * MIB) // 4096}, type={RAID_TYPE}\n"
    )


def test_steps_on_two_empty_disks() -> None:
    made = partitioned()
    size = 92159 * MIB
    there = (
        Fact(kind=FactKind.NODE, subject="/dev/sde1"),
        Fact(kind=FactKind.SIZE, subject="sde1", value=str(size)),
    )
    assert made.steps[:2] == (
        RunTool(
            argv=("sfdisk", "--quiet", "--wipe", "always", "--wipe-partitions", "always", "/dev/sde"),
            stdin=f"label: gpt\nstart=2048, size={size // 512}, type={RAID_TYPE}\n",
            why="one Linux RAID partition, starting at 1 MiB",
            needs=(
                Fact(kind=FactKind.SERIAL, subject="sde", value="S-sde"),
                Fact(kind=FactKind.SIZE, subject="sde", value=str(100 * GIB)),
                Fact(kind=FactKind.FREE, subject="sde"),
                Fact(kind=FactKind.UNTOUCHED, subject="sde", value="digest of sde"),
                Fact(kind=FactKind.CONTENTS, subject="sde"),
            ),
            proves=there,
            destroys=True,
        ),
        RunTool(argv=("udevadm", "settle"), why="waits for /dev/sde1", proves=there),
    )
    [create] = [step for step in made.steps if "--create" in step.argv]
    assert create.argv[-2:] == ("/dev/sde1", "/dev/sdf1")
    assert Fact(kind=FactKind.SERIAL, subject="sdf1", value="S-sdf") in create.needs
    assert (made.harm, made.confirm, made.devices) == (Harm.DESTROYS, "127", DISKS)
    assert made.notes[-1] == (
        "10 % at the end of each disk stays unused (20 GiB in total), as spare area for the SSD."
    )


def test_what_was_on_the_disk_is_named_and_wiped_first() -> None:
    old = Use(kind="signature", what="ext4", detail="games")
    made = plan_on_disks(
        request(level="raid1", chunk_kib=0, devices=DISKS),
        survey(device("sde", old), device("sdf")),
        reserve_percent=10,
    )
    assert isinstance(made, Plan)
    assert [step.argv[0] for step in made.steps[:3]] == ["wipefs", "sfdisk", "udevadm"]
    assert made.loss_sentences == ('sde: the ext4 file system "games"',)
    assert made.warning == "What is on the devices is lost, and undo does not restore it."


def test_partitions_stay_what_they_are() -> None:
    host = survey()
    asked = request()
    assert plan_on_disks(asked, host, reserve_percent=10) == plan(asked, host)
    mixed = plan_on_disks(replace(asked, devices=(*FOUR[:3], "sde")), host, reserve_percent=10)
    assert isinstance(mixed, Plan)
    [create] = [step for step in mixed.steps if "--create" in step.argv]
    assert create.argv[-4:] == ("/dev/sda2", "/dev/sdb2", "/dev/sdc2", "/dev/sde1")


@pytest.mark.parametrize(
    ("reserve", "more", "sentence"),
    [
        (-1, {}, "-1 % cannot be left free; choose 0 to 50"),
        (51, {}, "51 % cannot be left free; choose 0 to 50"),
        (10, {"missing": ("sfdisk",)}, "sfdisk is not installed; apt install fdisk"),
    ],
)
def test_refused(reserve: int, more: dict[str, object], sentence: str) -> None:
    asked = request(level="raid1", chunk_kib=0, devices=DISKS)
    made = plan_on_disks(asked, survey(**more), reserve_percent=reserve)  # type: ignore[arg-type]
    assert isinstance(made, Refusal)
    assert made.sentence == sentence


def test_create_refuses_as_it_does_without_a_table() -> None:
    made = plan_on_disks(request(devices=("sde", "nosuch")), survey(), reserve_percent=10)
    assert isinstance(made, Refusal)
    assert made.sentence == "there is no device nosuch"
