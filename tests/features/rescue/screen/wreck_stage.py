"""Hosts with an array that does not start, each in another state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from raidtui.model.survey import Device, MemberRole, PendingReshape, Superblock
from tests.frame.machines import ssd

UUID = "aaaaaaaa:bbbbbbbb:cccccccc:dddddddd"
STOPPED_S = 1_763_000_000.0


def member(slot: int | None, **more: Any) -> Superblock:
    """A member of the RAID-5 "media" with four slots."""
    given: dict[str, Any] = {
        "uuid": UUID,
        "name": "alpha:media",
        "level": "raid5",
        "raid_disks": 4,
        "metadata": "1.2",
        "device_uuid": f"00000000:00000000:00000000:0000000{slot}",
        "events": 1042,
        "updated_s": STOPPED_S,
        "role": MemberRole.ACTIVE,
        "slot": slot,
        "layout_name": "left-symmetric",
        "chunk_bytes": 64 << 10,
        "offset_sectors": 264_192,
        "super_sectors": 8,
        "avail_sectors": 488_000_000,
        "used_sectors": 488_000_000,
        "roles": "AAAA",
        "dirty": False,
        "features": 1,
        "checksum_ok": True,
    }
    return Superblock(slot=slot, **{key: value for key, value in {**given, **more}.items() if key != "slot"})


def disks(*blocks: Superblock | None) -> tuple[Device, ...]:
    """A partition for each superblock, sda2 and so on; None: it has none."""
    return tuple(ssd(f"sd{letter}2", superblock=block) for letter, block in zip("abcdefgh", blocks))  # noqa: B905


def kicked() -> tuple[Device, ...]:
    """Two members were kicked, one after the other."""
    fresh = {"roles": "AA..", "events": 1042}
    return disks(
        member(0, **fresh),
        member(1, **fresh),
        member(2, events=1022, updated_s=STOPPED_S - 14, roles="AAAA", dirty=True),
        member(3, events=1021, updated_s=STOPPED_S - 17, roles="AAAA", dirty=True),
    )


def rebuilding() -> tuple[Device, ...]:
    """A rebuild was cut off."""
    return disks(*(member(slot) for slot in range(3)), member(3, recovery_sectors=164_000_000))


def reshaping() -> tuple[Device, ...]:
    """A reshape to another chunk size was cut off."""
    reshape = PendingReshape(position_kib=344_064, new_chunk_bytes=128 << 10)
    return disks(*(member(slot, reshape=reshape, features=5) for slot in range(4)))


def halves() -> tuple[Device, ...]:
    """Both halves of a mirror ran alone."""
    pair = {"level": "raid1", "raid_disks": 2, "layout_name": "", "chunk_bytes": 0}
    return disks(
        member(0, **pair, roles="A.", events=60),
        member(1, **pair, roles=".A", events=58, updated_s=STOPPED_S + 7200),
    )


WRECKS: Mapping[str, Callable[[], tuple[Device, ...]]] = {
    "whole": lambda: disks(*(member(slot) for slot in range(4))),
    "one-missing": lambda: disks(member(0), member(1), member(3)),
    "two-kicked": kicked,
    "two-missing": lambda: disks(member(0), member(2)),
    "rebuilding": rebuilding,
    "reshaping": reshaping,
    "halves": halves,
    "superblock-lost": lambda: disks(member(0, roles="AA.."), member(1, roles="AA.."), None, None),
}
