"""Hosts with disks to build arrays from: SSDs of one kind, with what one finds on disks."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from raidtui.model.disk import Use
from raidtui.model.survey import Device, Superblock, Survey
from tests.plans.new_array import FOUR, GIB, device, survey

OLD = Superblock(
    uuid="aaaaaaaa:bbbbbbbb:cccccccc:dddddddd",
    name="nas:old",
    level="raid1",
    raid_disks=2,
    events=812,
    slot=0,
    updated_s=1_763_000_000.0,
)
GAMES = Use(kind="signature", what="ext4", detail="games [bold]x")
MOUNTED = Use(kind="mount", what="/srv", detail="ext4")
NUMBERS = {"a": "X0H812345", "b": "X0H812346", "c": "X0H912001", "d": "X0H912002", "e": "4040", "f": "5151"}


def ssd(name: str, *uses: Use, **more: Any) -> Device:
    """An SSD, or a partition of one, with model and serial number, that takes discards."""
    given = {"discards": True, "size_bytes": 233 * GIB, **more}
    made = device(name, *uses, **given)
    serial = f"S21PN{NUMBERS.get(name[2], name)}"
    return replace(made, disk=replace(made.disk, model="Samsung SSD 850 EVO", serial=serial))


def host(**more: Any) -> Survey:
    """Free partitions, one with a file system, one of an old array, one that is mounted; a whole disk."""
    given = {"raid456_discards": False, **more}
    return survey(
        ssd("sda2", wear_percent=3, life_bytes=413 << 40),
        ssd("sdb2", GAMES, wear_percent=3, life_bytes=413 << 40),
        ssd("sdc2", superblock=OLD, wear_percent=11),
        ssd("sdd2", start_bytes=63 * 512),
        ssd("sde", size_bytes=466 * GIB),
        ssd("sdf", MOUNTED),
        **given,
    )


def plain_host(**more: Any) -> Survey:
    """Four equal, free partitions, and two whole disks."""
    given = {"raid456_discards": False, **more}
    return survey(*(ssd(name) for name in (*FOUR, "sde", "sdf")), **given)
