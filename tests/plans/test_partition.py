"""Whole disks as members: the table that is written, the partition that comes of it, and what is refused."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from raidtui.model.disk import Use
from raidtui.model.plan import Plan, Refusal
from raidtui.model.survey import Device
from raidtui.plans.create.partition import plan_on_disks
from raidtui.plans.member_partition import partition_name, partition_of
from tests.plans.goldens import accepted, brief, commands
from tests.plans.new_array import FOUR, device, plan, request, survey

DISKS = ("sde", "sdf")
MIB = 1 << 20
GAMES = Use(kind="signature", what="ext4", detail="games")


def mirror(
    *found: Device, reserve: int = 10, devices: tuple[str, ...] = DISKS, **more: str
) -> Plan | Refusal:
    """The plan of a mirror on two whole disks."""
    asked = request(level="raid1", chunk_kib=0, devices=devices)
    return plan_on_disks(asked, survey(*found, **more), reserve_percent=reserve)  # type: ignore[arg-type]


def mixed() -> Plan | Refusal:
    """The plan on three partitions and a whole disk."""
    asked = replace(request(), devices=(*FOUR[:3], "sde"))
    return plan_on_disks(asked, survey(), reserve_percent=10)


def large_sectors() -> Plan | Refusal:
    """The plan on disks of 4 KiB sectors, in which the table counts."""
    return mirror(*(device(name, sector_bytes=4096) for name in DISKS), reserve=0)


test_plans = accepted(
    {
        "two empty disks": mirror,
        "what was on the disk": lambda: brief(mirror(device("sde", GAMES), device("sdf"))),
        "sectors of 4 KiB": lambda: brief(large_sectors()),
        "partitions and a disk": lambda: commands(mixed()),
        "less than nothing": lambda: mirror(reserve=-1),
        "more than half": lambda: mirror(reserve=51),
        "no sfdisk": lambda: mirror(missing=("sfdisk",)),  # type: ignore[arg-type]
        "no device": lambda: mirror(devices=("sde", "nosuch")),
    }
)


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


def test_partitions_stay_what_they_are() -> None:
    assert plan_on_disks(request(), survey(), reserve_percent=10) == plan(request(), survey())
