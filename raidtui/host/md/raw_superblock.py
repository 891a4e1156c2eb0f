"""md's superblock 1.x where mdadm does not look for it: on a disk whose partition table is lost.

struct mdp_superblock_1 of include/uapi/linux/raid/md_p.h, little-endian. It says how far it is from the
start of its device, so that it shows where that began.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from raidtui.host.md.array_names import canonical_uuid
from raidtui.model.levels import PARITY_LAYOUTS, disk_count, layout_short
from raidtui.model.survey import MemberRole, Superblock

_MAGIC = b"\xfc\x4e\x2b\xa9\x01\x00\x00\x00"  # with the major version
_SECTOR = 512
_BYTES = 1024
_LEVELS = {0: "raid0", 1: "raid1", 4: "raid4", 5: "raid5", 6: "raid6", 10: "raid10", -1: "linear"}
_SECONDS = (1 << 40) - 1  # the upper bits of a time are microseconds
_RECOVERY = 2  # MD_FEATURE_RECOVERY_OFFSET
_MOST_ROLES = 384
_VERSIONS = {0: "1.1", 8: "1.2"}


def find_superblocks(data: bytes, first_sector: int) -> Iterator[tuple[int, Superblock]]:
    """Yield the superblocks in a part of a device, with the sector at which their device began.

    Args:
        data: the part.
        first_sector: where it begins on the device.
    """
    at = data.find(_MAGIC)
    while at >= 0:
        if at % _SECTOR == 0 and at + _BYTES <= len(data):
            found = _parsed(data[at : at + _BYTES], first_sector + at // _SECTOR)
            if found is not None:
                yield found
        at = data.find(_MAGIC, at + 1)


def _parsed(block: bytes, sector: int) -> tuple[int, Superblock] | None:
    features, uuid, name, created, level, layout, size = struct.unpack_from("<I4x16s32sQiIQ", block, 8)
    chunk, disks = struct.unpack_from("<II", block, 88)
    offset, avail, place, recovery, number, device = struct.unpack_from("<QQQQI4x16s", block, 128)
    updated, events = struct.unpack_from("<QQ", block, 192)
    most = min(struct.unpack_from("<I", block, 220)[0], _MOST_ROLES)
    start = sector - place
    kind = _LEVELS.get(level)
    if start < 0 or kind is None or disk_count(disks) is None or number >= most:
        return None
    roles = struct.unpack_from(f"<{most}H", block, 256)
    own = roles[number]
    short = layout_short(kind, layout)
    return start, Superblock(
        uuid=canonical_uuid(uuid.hex()),
        name=name.rstrip(b"\0").decode("utf-8", "replace") or None,
        level=kind,
        raid_disks=disks,
        metadata=_VERSIONS.get(place, "1.0"),
        device_uuid=canonical_uuid(device.hex()),
        events=events,
        updated_s=float(updated & _SECONDS),
        created_s=float(created & _SECONDS),
        role=MemberRole.ACTIVE if own < disks else MemberRole.SPARE,
        slot=own if own < disks else None,
        layout=layout if kind == "raid10" else None,
        layout_name=short if kind == "raid10" else PARITY_LAYOUTS.get(layout, "") if short else "",
        chunk_bytes=chunk * _SECTOR or None,
        offset_sectors=offset,
        super_sectors=place,
        avail_sectors=avail,
        used_sectors=size or avail,
        recovery_sectors=recovery if features & _RECOVERY else None,
        roles="".join("A" if slot in roles else "." for slot in range(disks)),
        features=features,
    )
