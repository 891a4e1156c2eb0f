"""``mdadm --examine`` as a record: its lines for people, with what ``--export`` has of the same superblock.

The lines are those of examine_super0 (super0.c), examine_super1 (super1.c), examine_super_ddf (super-ddf.c)
and examine_super_imsm (super-intel.c) in the C locale.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from datetime import UTC, datetime

from raidtui.host.md.array_names import canonical_uuid
from raidtui.host.md.mdadm import parse_words
from raidtui.model.geometry import raid10_layout
from raidtui.model.levels import disk_count
from raidtui.model.survey import ContainerVolume, MemberRole, PendingReshape, Superblock

_UNITS = {"B": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_LAYOUT = re.compile(r"(near|far|offset)=([0-9]{1,3})")
_HEX = re.compile(r"0x[0-9a-f]{1,8}")
_SUM = re.compile(r"[0-9a-f]{1,8}")
_CHUNK = re.compile(r"([0-9]{1,9})([KMG]?)")
_DELTA = re.compile(r"(-?[0-9]{1,4}) ")
_TABLE_ROW = re.compile(r"\s*[0-9]+\s+[0-9]+\s+[0-9]+\s+[0-9]+\s+([0-9]+)\s+(\S.*)")
_DDF_VALUE = re.compile(r"\s*([A-Z][A-Za-z ]*|state)\[([0-9]{1,3})\] : (.*)")
_IMSM_VOLUME = re.compile(r"^\[(.{1,64})\]:$", re.MULTILINE)
_GUARDED = 0x200 | 0x400 | 0x800  # MD_FEATURE_JOURNAL, _PPL, _MULTIPLE_PPLS (md_p.h)
_BACKWARDS = 0x20  # MD_FEATURE_RESHAPE_BACKWARDS
_HOUR_QUARTER_S = 900
_IMSM = "Intel Raid ISM"


def parse_superblock(values: Mapping[str, str], text: str) -> Superblock:
    """Return the superblock that mdadm has printed.

    Args:
        values: of ``mdadm --examine --export``.
        text: of ``mdadm --examine``; "" where only the others are known.
    """
    words = parse_words(text)
    own = _own_row(text)
    metadata = values.get("MD_METADATA") or words.get("Version")
    if values.get("MD_METADATA") == "ddf":
        return _ddf(values, words, text)
    if words.get("Magic", "").startswith(_IMSM):
        return _imsm(values, words, text)
    old = metadata is not None and metadata.startswith("0.9")
    updated_s = _time(values.get("MD_UPDATE_TIME", ""))
    used = decimal(words.get("Used Dev Size", "").partition(" ")[0])
    avail = decimal(words.get("Avail Dev Size", "").partition(" ")[0])
    features, sums = words.get("Feature Map", ""), words.get("Checksum", "")
    damaged = not old and _bitmap_damaged(sums)
    return Superblock(
        uuid=canonical_uuid(values.get("MD_UUID")),
        name=values.get("MD_NAME"),
        level=values.get("MD_LEVEL"),
        raid_disks=disk_count(decimal(values.get("MD_DEVICES"))),
        metadata=metadata,
        device_uuid=canonical_uuid(values.get("MD_DEV_UUID")),
        events=decimal(values.get("MD_EVENTS")),
        updated_s=updated_s,
        created_s=_local_time(words.get("Creation Time", ""), words.get("Update Time", ""), updated_s),
        role=_role(words, own),
        slot=_slot(words, own),
        replaces=decimal(words.get("Device Role", "").partition("Replacement device ")[2]),
        layout=_layout(words.get("Layout", "")),
        layout_name=_layout_name(words.get("Layout", "")),
        chunk_bytes=_chunk(words.get("Chunk Size", "")),
        offset_sectors=decimal(words.get("Data Offset", "").partition(" ")[0]),
        super_sectors=decimal(words.get("Super Offset", "").partition(" ")[0]),
        avail_sectors=avail,
        used_sectors=(used * 2 if old and used is not None else used) or avail,
        spare_sectors=decimal(words.get("Unused Space", "").partition("before=")[2].partition(" ")[0]),
        tail_sectors=decimal(words.get("Unused Space", "").partition("after=")[2].partition(" ")[0]),
        bad_log_sectors=decimal(words.get("Bad Block Log", "").partition("at offset ")[2].partition(" ")[0]),
        recovery_sectors=_recovery_sectors(words, own),
        roles=_roles(words, text, own),
        dirty=_dirty(words),
        features=int(features, 16) if _HEX.fullmatch(features) else None,
        checksum_ok=None if not sums else damaged or sums.endswith(" correct"),
        bitmap_damaged=damaged,
        bad_blocks="bad blocks present" in words.get("Bad Block Log", ""),
        own_host=_own_host(words),
        reshape=_reshape(words),
    )


def decimal(text: str | None) -> int | None:
    """Return a decimal number of less than 20 digits, or None."""
    word = (text or "").strip().rstrip(",")
    return int(word) if word.isascii() and word.isdigit() and len(word) < 20 else None


def _own_row(text: str) -> list[str]:
    """Return the row "this" of 0.90's table: number, major, minor, slot, states; [] without one."""
    row = next((line for line in text.split("\n") if line.startswith("this ")), "")
    words = row.split()[1:]
    return words if len(words) > 4 else []


def _bitmap_damaged(sums: str) -> bool:
    """Whether mdadm misses the bitmap: it takes that bit from the features, and then the sum is one less."""
    is_sum, _, wanted = sums.partition(" - expected ")
    return bool(_SUM.fullmatch(is_sum) and _SUM.fullmatch(wanted)) and int(is_sum, 16) - int(wanted, 16) == 1


def _role(words: Mapping[str, str], own: list[str]) -> MemberRole | None:
    role = words.get("Device Role", "")
    if own:
        return MemberRole.ACTIVE if own[4] == "active" else MemberRole.SPARE
    if role.startswith("Active device "):
        return MemberRole.ACTIVE
    if role.startswith("Replacement device "):
        return MemberRole.REPLACEMENT
    return {"spare": MemberRole.SPARE, "Journal": MemberRole.JOURNAL}.get(role)


def _slot(words: Mapping[str, str], own: list[str]) -> int | None:
    """Return the slot of an active device: 1.x has "Device Role", 0.90 the row "this" of a table."""
    if own:
        return decimal(own[3]) if own[4] == "active" else None
    return decimal(words.get("Device Role", "").partition("Active device ")[2])


def _recovery_sectors(words: Mapping[str, str], own: list[str]) -> int | None:
    """Return how much has been rebuilt. 0.90 does not store that: an unfinished rebuild counts as 0."""
    if own:
        return None if own[4:6] == ["active", "sync"] else 0
    return decimal(words.get("Recovery Offset", "").partition(" ")[0])


def _roles(words: Mapping[str, str], text: str, own: list[str]) -> str | None:
    """Return a letter per slot; 0.90 has a table instead, with a row for each slot."""
    if "Array State" in words:
        return words["Array State"].partition(" ")[0]
    disks = disk_count(decimal(words.get("Raid Devices")))
    if not own or not disks:
        return None
    found = ["."] * disks
    for row in map(_TABLE_ROW.fullmatch, text.split("\n")):
        if row is not None and int(row[1][:4]) < disks and row[2].split()[:2] == ["active", "sync"]:
            found[int(row[1][:4])] = "A"
    return "".join(found)


def _dirty(words: Mapping[str, str]) -> bool | None:
    """Return whether parity may be stale; None where it is not known, or where a journal or PPL covers it."""
    features = words.get("Feature Map", "0x0")
    if "State" not in words or not _HEX.fullmatch(features) or int(features, 16) & _GUARDED:
        return None
    return words["State"] != "clean"


def _layout(text: str) -> int | None:
    """Return md's number for mdadm's "near=2", "far=2" or "offset=2"; None for levels with parity."""
    found = _LAYOUT.search(text)
    return raid10_layout(f"{found[1][0]}{found[2]}") if found else None


def _layout_name(text: str) -> str:
    found = _LAYOUT.search(text)
    return f"{found[1][0]}{found[2]}" if found else text if text and not text.startswith("-") else ""


def _chunk(text: str) -> int | None:
    found = _CHUNK.match(text)
    return int(found[1]) * _UNITS[found[2] or "B"] or None if found else None


def _own_host(words: Mapping[str, str]) -> bool | None:
    """The name (1.x) is marked, the UUID (0.90, whose second half is a hash of the host's name)."""
    named = [words[key] for key in ("Name", "UUID") if key in words]
    return any("(local to host " in each for each in named) if named else None


def _reshape(words: Mapping[str, str]) -> PendingReshape | None:
    position = decimal(words.get("Reshape pos'n", "").partition(" ")[0])
    if position is None:
        return None
    delta = _DELTA.match(words.get("Delta Devices", ""))
    features = words.get("Feature Map", "0x0")
    return PendingReshape(
        position_kib=position,
        new_level=words.get("New Level"),
        new_layout=_layout_name(words.get("New Layout", "")) or None,
        new_chunk_bytes=_chunk(words.get("New Chunksize", "")),
        delta_disks=int(delta[1]) if delta else 0,
        new_offset_sectors=decimal(words.get("New Offset", "").partition(" ")[0]),
        backwards=bool(_HEX.fullmatch(features) and int(features, 16) & _BACKWARDS),
    )


def _ddf(values: Mapping[str, str], words: Mapping[str, str], text: str) -> Superblock:
    found: dict[str, dict[str, str]] = {}
    for row in map(_DDF_VALUE.fullmatch, text.split("\n")):
        if row is not None:
            found.setdefault(row[2], {}).setdefault(row[1], row[3].strip())
    volumes = tuple(
        ContainerVolume(
            name=volume.get("Name", ""),
            level=volume.get("Raid Level", "").lower() or None,
            raid_disks=disk_count(decimal(volume.get("Raid Devices", "").partition(" ")[0])),
            state=volume.get("state", ""),
        )
        for _, volume in sorted(found.items())
    )
    count = words.get("Seq", "")
    return Superblock(
        uuid=canonical_uuid(values.get("MD_UUID")),
        level=values.get("MD_LEVEL"),
        raid_disks=disk_count(decimal(values.get("MD_DEVICES"))),
        metadata="ddf",
        events=int(count, 16) if _HEX.fullmatch(f"0x{count}") else None,
        volumes=volumes,
    )


def _imsm(values: Mapping[str, str], words: Mapping[str, str], text: str) -> Superblock:
    """The values before the first volume are the container's; a volume begins with its name in brackets."""
    parts = _IMSM_VOLUME.split(text)
    volumes = []
    for name, part in zip(parts[1::2], parts[2::2], strict=True):
        volume = parse_words(part)
        level = decimal(volume.get("RAID Level", "").partition(" ")[0])
        volumes.append(
            ContainerVolume(
                name=name,
                level=None if level is None else f"raid{level}",
                raid_disks=disk_count(decimal(volume.get("Members", "").partition(" ")[0])),
                state=volume.get("Map State", "").partition(" <-- ")[0],
            )
        )
    return Superblock(
        uuid=canonical_uuid(values.get("MD_UUID") or words.get("UUID")),
        level=values.get("MD_LEVEL") or "container",
        raid_disks=disk_count(decimal(values.get("MD_DEVICES"))) or disk_count(decimal(words.get("Disks"))),
        metadata="imsm",
        events=int(count, 16) if _HEX.fullmatch(f"0x{(count := words.get('Generation', ''))}") else None,
        checksum_ok=words["Checksum"].endswith(" correct") if "Checksum" in words else None,
        volumes=tuple(volumes),
    )


def _time(text: str) -> float | None:
    found = decimal(text)
    return float(found) if found else _spelled_time(text)  # words in older versions


def _spelled_time(text: str) -> float | None:
    """Return "Sat Nov 21 10:00:00 2026" as if it were UTC."""
    with contextlib.suppress(ValueError):
        return datetime.strptime(text, "%a %b %d %H:%M:%S %Y").replace(tzinfo=UTC).timestamp()
    return None


def _local_time(text: str, known: str, known_s: float | None) -> float | None:
    """Return a time in the host's time zone, which one that is known in words and as epoch seconds gives."""
    at_s, there_s = _spelled_time(text), _spelled_time(known)
    if at_s is None or there_s is None or known_s is None:
        return None
    return at_s - round((there_s - known_s) / _HOUR_QUARTER_S) * _HOUR_QUARTER_S
