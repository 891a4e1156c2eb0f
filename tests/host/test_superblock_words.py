"""Superblocks of all versions as mdadm 4.2 has printed them: what is made of them."""

from __future__ import annotations

from typing import Any

import pytest

from raidtui.host.md.mdadm import parse_export
from raidtui.host.md.superblock_words import parse_superblock
from raidtui.model.survey import ContainerVolume, MemberRole, PendingReshape, Superblock
from tests.places import FIXTURES

EXAMINED = FIXTURES / "examine"


def examined(name: str, *changes: tuple[str, str]) -> Superblock:
    text, _, export = (EXAMINED / f"{name}.txt").read_text().partition("\n---\n")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return parse_superblock(parse_export(export), text)


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        (
            "0.90-stale",
            {"metadata": "0.90.00", "slot": 3, "role": MemberRole.ACTIVE, "roles": "AAAA", "events": 1,
             "used_sectors": 130944, "offset_sectors": None, "device_uuid": None, "name": None,
             "own_host": True},
        ),
        ("0.90-fresh", {"slot": 0, "roles": "AAA.", "events": 5, "layout_name": "left-symmetric"}),
        (
            "1.0-bitmap",
            {"metadata": "1.0", "super_sectors": 131056, "used_sectors": 130944, "avail_sectors": 131040,
             "offset_sectors": None, "chunk_bytes": None, "layout_name": "", "own_host": False},
        ),
        (
            "1.1-far",
            {"metadata": "1.1", "super_sectors": 0, "offset_sectors": 4096, "layout": 0x201,
             "layout_name": "f2", "chunk_bytes": 512 << 10, "roles": "AA."},
        ),
        (
            "1.2-kicked",
            {"metadata": "1.2", "super_sectors": 8, "offset_sectors": 2048, "slot": 2, "roles": "AAA.",
             "events": 4, "dirty": False, "checksum_ok": True, "created_s": 1795378175.0,
             "updated_s": 1795378176.0, "chunk_bytes": 64 << 10, "features": 0, "reshape": None},
        ),
        ("1.2-dirty", {"dirty": True}),
        ("1.2-ppl", {"dirty": None, "features": 0x800, "offset_sectors": 4096}),
        ("1.2-spare", {"role": MemberRole.SPARE, "slot": None}),
        ("1.2-journal", {"role": MemberRole.JOURNAL, "slot": None, "features": 0x200}),
        (
            "1.2-replacement",
            {"role": MemberRole.REPLACEMENT, "slot": None, "replaces": 0, "recovery_sectors": 8448,
             "roles": "RA"},
        ),
        ("1.2-bad-blocks", {"bad_blocks": True, "features": 8}),
        ("1.2-own-host", {"own_host": True, "name": "lab:t", "bad_blocks": False, "events": 0}),
        ("1.2-raid0", {"level": "raid0", "slot": 1, "layout_name": "", "chunk_bytes": 64 << 10}),
        (
            "1.2-grow",
            {"raid_disks": 4,
             "reshape": PendingReshape(position_kib=960, delta_disks=1, new_offset_sectors=1664)},
        ),
        (
            "ddf",
            {"metadata": "ddf", "level": "container", "uuid": "4d4ea147:c2ccb5f2:db5f14b9:dab65d79",
             "events": 10, "slot": None, "volumes": (
                 ContainerVolume(name="t", level="raid5", raid_disks=4, state="Optimal, Consistent"),
             )},
        ),
        (
            "imsm",
            {"metadata": "imsm", "level": "container", "events": 26, "checksum_ok": True, "raid_disks": 3,
             "volumes": (ContainerVolume(name="t", level="raid5", raid_disks=3, state="normal"),)},
        ),
    ],
)  # fmt: skip
def test_what_is_said_of_it(name: str, fields: dict[str, Any]) -> None:
    found = examined(name)
    assert {field: getattr(found, field) for field in fields} == fields


def test_a_reshape_of_another_kind() -> None:
    found = examined(
        "1.2-grow",
        ("Feature Map : 0x44", "Feature Map : 0x24"),
        ("     New Offset : 1664 sectors\n", ""),
        (
            "Delta Devices : 1 (3->4)\n",
            (
                "Delta Devices : -1 (5->4)\n      New Level : raid6\n     New Layout : left-symmetric\n"
                "  New Chunksize : 128K\n"
            ),
        ),
    ).reshape
    assert found == PendingReshape(
        position_kib=960,
        new_level="raid6",
        new_layout="left-symmetric",
        new_chunk_bytes=128 << 10,
        delta_disks=-1,
        backwards=True,
    )


def test_a_wrong_checksum() -> None:
    found = examined("1.2-kicked", ("92c6ece6 - correct", "92c6ece6 - expected 92c6ece7"))
    assert found.checksum_ok is False


def test_times_of_a_host_in_another_time_zone() -> None:
    here = examined("1.2-kicked")
    there = examined("1.2-kicked", ("Sun Nov 22 20:09", "Mon Nov 23 01:39"))
    assert (there.created_s, there.updated_s) == (here.created_s, here.updated_s)


@pytest.mark.parametrize("text", ["", "nonsense", " : \n : :", "          Version : 1.2\n"])
def test_what_is_not_there_is_not_known(text: str) -> None:
    found = parse_superblock({"MD_LEVEL": "raid5"}, text)
    assert (found.role, found.slot, found.reshape, found.checksum_ok, found.roles) == (None,) * 5
    assert (found.offset_sectors, found.chunk_bytes, found.own_host, found.created_s) == (None,) * 4
