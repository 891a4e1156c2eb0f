"""Headers of LUKS, LVM and GPT, which have no check of their own, and the parts that they make of a device.

Headers are read, and their checksums compared. Partitions and volumes are tables of linear maps: no kernel,
no LVM activates them. Sources: LUKS2 On-Disk Format Specification 1.1; LVM2 lib/format_text/layout.h and
format-text.c; UEFI 2.10, section 5.3.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import struct
import zlib
from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct

from raidtui.features.rescue.search.volumes import LUKS, LVM_AREA, SECOND_LUKS, lvm_crc, parse_lvm_areas
from raidtui.host.readers.host_reader import HostReader
from raidtui.model.answer import Answer, AnswerKind
from raidtui.view.units import SECTOR_BYTES

_WHERE = re.compile(r"(.+)\(([0-9]{1,12})\)\Z")
_TOOL_S = 60.0
_PROTECTIVE = "ee"
"""The entry of an MBR that stands for a GPT: all of the device."""
_SECTOR = 512
_MOST_TEXT = 16 << 20
_LABELS = 4
"""LVM looks for its label in the first four sectors."""
_Read = Callable[[int, int], bytes]
"""Returns bytes of a device, fewer at its end: (place, length)."""


class Part(Struct, frozen=True, kw_only=True):
    """A part of a device.

    Args:
        name: for people: p1, vg0/data.
        table: the device mapper's table.
    """

    name: str
    table: str


def find_partitions(reader: HostReader, target: str) -> Answer[tuple[Part, ...]]:
    """Return the partitions of a device."""
    output = reader.ask("sfdisk", "--json", target, timeout_s=_TOOL_S)
    if output.kind is not AnswerKind.ANSWER:
        return output.silent()
    try:
        table: dict[str, Any] = json.loads(output.stdout)["partitiontable"]
        unit = int(table.get("sectorsize", SECTOR_BYTES)) // SECTOR_BYTES
        rows = [
            (int(row["start"]) * unit, int(row["size"]) * unit)
            for row in table.get("partitions", ())
            if row.get("type") != _PROTECTIVE
        ]
    except (ValueError, LookupError, TypeError, AttributeError):
        return output.silent(AnswerKind.NOT_UNDERSTOOD, "sfdisk's table cannot be parsed")
    parts = tuple(
        Part(name=f"p{number}", table=f"0 {sectors} linear {target} {start}")
        for number, (start, sectors) in enumerate(rows, start=1)
        if sectors > 2  # the two sectors of an extended partition hold no more than a table
    )
    return output.answer(parts)


def find_volumes(reader: HostReader, target: str, beside: Sequence[str] = ()) -> Answer[tuple[Part, ...]]:
    """Return the volumes on a physical volume that lie on it, and on nothing but it and what is beside it.

    LVM reads these devices and no others, so that it never sees a volume group twice.

    Args:
        reader: the host.
        target: the device's path.
        beside: paths of devices that hold the rest of its volume group: arrays that run.
    """
    known = (target, *beside)
    accepted = ", ".join(f'"a|^{re.escape(path)}$|"' for path in known)
    only = f'devices {{ filter=[{accepted},"r|.*|"] global_filter=["a|.*|"] use_devicesfile=0 }}'
    options = ("--config", only, "--readonly", "--reportformat", "json", "--units", "s", "--nosuffix")
    volumes = reader.ask(
        *("lvs", *options, "--segments", "--options"),
        "vg_name,lv_name,segtype,seg_start,seg_size,devices,vg_extent_size,stripe_size",
        timeout_s=_TOOL_S,
    )
    physical = reader.ask(*("pvs", *options, "--options", "pv_name,pe_start", *known), timeout_s=_TOOL_S)
    for output in (volumes, physical):
        if output.kind is not AnswerKind.ANSWER:
            return output.silent()
    try:
        rows = json.loads(physical.stdout)["report"][0]["pv"]
        begins = {str(row["pv_name"]): int(row["pe_start"]) for row in rows}
        segments: list[dict[str, str]] = json.loads(volumes.stdout)["report"][0]["seg"]
        lines: dict[str, list[str] | None] = {}
        on_target: set[str] = set()
        for row in segments:
            name = f"{row['vg_name']}/{row['lv_name']}"
            found = [_WHERE.fullmatch(each) for each in row["devices"].split(",")]
            places = [
                (each[1], begins[each[1]] + int(each[2]) * int(row["vg_extent_size"]))
                for each in found
                if each is not None and each[1] in begins
            ]
            have = lines.setdefault(name, [])
            kind = row["segtype"]
            if len(places) < len(found) or kind not in ({"linear", "striped"} if beside else {"linear"}):
                lines[name] = None  # it is a snapshot, or lies on other devices, too
                continue
            on_target |= {name} if any(path == target for path, _ in places) else set()
            words = " ".join(f"{path} {start}" for path, start in places)
            shape = "linear" if kind == "linear" else f"striped {len(places)} {int(row['stripe_size'])}"
            if have is not None:
                have.append(f"{int(row['seg_start'])} {int(row['seg_size'])} {shape} {words}")
    except (ValueError, LookupError, TypeError):
        return volumes.silent(AnswerKind.NOT_UNDERSTOOD, "LVM's report cannot be parsed")
    parts = tuple(
        Part(name=name, table="\n".join(each)) for name, each in lines.items() if each and name in on_target
    )
    return volumes.answer(parts)


class HeaderCheck(Struct, frozen=True, kw_only=True):
    """What the headers say.

    Args:
        right: whether all that was found is right; None where it has nothing to compare with.
        words: what was compared, a clause.
        devices: how many devices belong together, where that is more than this one.
    """

    right: bool | None
    words: str
    devices: int = 1


def check_headers(target: str, kind: str) -> HeaderCheck | None:
    """Return what the headers on a device say; None where there is nothing to read.

    Args:
        target: the device's path, or an image; it is only read.
        kind: what blkid calls it: crypto_LUKS, LVM2_member, gpt, btrfs.
    """
    checker = {"crypto_LUKS": _luks, "LVM2_member": _lvm, "gpt": _gpt, "btrfs": _btrfs}.get(kind)
    if checker is None:
        return None
    try:
        descriptor = os.open(target, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        return HeaderCheck(right=None, words=f"its headers cannot be read: {error.strerror}")
    try:
        return checker(lambda place, length: os.pread(descriptor, length, place), _size(descriptor))
    except OSError as error:
        return HeaderCheck(right=False, words=f"its headers cannot be read: {error.strerror}")
    finally:
        os.close(descriptor)


def _size(descriptor: int) -> int:
    return os.lseek(descriptor, 0, os.SEEK_END)


def _luks(read: _Read, _: int) -> HeaderCheck | None:
    head = read(0, 4096)
    if len(head) < 4096 or head[:6] not in {LUKS, SECOND_LUKS}:
        return HeaderCheck(right=False, words="the first header of LUKS is not there")
    version, length = struct.unpack_from(">HQ", head, 6)
    if version == 1:
        return HeaderCheck(right=None, words="LUKS 1 has one header, without a checksum")
    if version != 2 or not 4096 <= length <= 4 << 20:
        return HeaderCheck(right=False, words="the first header of LUKS is damaged")
    first, second = _is_luks2(read(0, length), LUKS), _is_luks2(read(length, length), SECOND_LUKS)
    if first and second:
        return HeaderCheck(right=True, words="both headers of LUKS 2 have the right checksum")
    which = "the second header" if first else "the first header" if second else "both headers"
    be = "are" if not first and not second else "is"
    return HeaderCheck(right=False, words=f"{which} of LUKS 2 {be} damaged, or not at the right place")


def _is_luks2(data: bytes, magic: bytes) -> bool:
    name = data[72:104].rstrip(b"\0").decode("ascii", "replace")
    if data[:6] != magic or name not in hashlib.algorithms_available:
        return False
    try:
        digest = hashlib.new(name, data[:448] + bytes(64) + data[512:]).digest()
    except (ValueError, TypeError):  # not in this build, or of variable length
        return False
    return data[448 : 448 + len(digest)] == digest


def _lvm(read: _Read, _: int) -> HeaderCheck | None:
    for number in range(_LABELS):
        sector = read(number * _SECTOR, _SECTOR)
        if sector[:8] == b"LABELONE":
            break
    else:
        return HeaderCheck(right=False, words="the label of LVM is not there")
    place, crc, header = struct.unpack_from("<QII", sector, 8)
    if place != number or lvm_crc(sector[20:]) != crc or header + 40 > _SECTOR:
        return HeaderCheck(right=False, words="the checksum of LVM's label is wrong")
    areas = parse_lvm_areas(sector, header)
    texts = [_lvm_text(read, at, size) for at, size in areas]
    if not areas:
        return HeaderCheck(
            right=None, words="LVM's label has the right checksum, but there are no metadata here"
        )
    if not all(texts):
        return HeaderCheck(right=False, words="the checksum of LVM's metadata is wrong")
    # The text names each physical volume once: pv0 { id = "..." }; on a device it is not indented.
    count = sum(line.lstrip().startswith(b"dev_size = ") for line in texts[0].split(b"\n")) or 1
    words = "LVM's label, metadata header and metadata text have the right checksums"
    return HeaderCheck(right=True, words=words, devices=count)


def _lvm_text(read: _Read, at: int, size: int) -> bytes:
    """Return the text of the volume group; empty where a checksum is wrong."""
    head = read(at, _SECTOR)
    if (
        len(head) < _SECTOR
        or head[4:20] != LVM_AREA
        or lvm_crc(head[4:]) != struct.unpack_from("<I", head)[0]
    ):
        return b""
    offset, length, crc = struct.unpack_from("<QQI", head, 40)
    if not _SECTOR <= offset < size or not 0 < length <= min(size, _MOST_TEXT):
        return b""
    text = read(at + offset, min(length, size - offset))
    text += read(at + _SECTOR, length - len(text)) if len(text) < length else b""  # the area is a ring
    return text if lvm_crc(text) == crc else b""


def _gpt(read: _Read, size: int) -> HeaderCheck | None:
    for unit in (512, 4096):
        first = read(unit, unit)
        last = read(size - unit, unit) if size > 2 * unit else b""
        if b"EFI PART" in (first[:8], last[:8]):
            break
    right = [_is_gpt(read, head, unit) for head in (first, last)]
    if all(right):
        return HeaderCheck(right=True, words="both headers and tables of the GPT have the right checksum")
    if not any(right):
        return HeaderCheck(right=False, words="no header of the GPT has the right checksum")
    if right[0]:
        return HeaderCheck(
            right=False,
            words="the backup of the GPT is not at the end: the array had another size, or it is damaged",
        )
    return HeaderCheck(right=False, words="the first header or table of the GPT is damaged")


def _is_gpt(read: _Read, head: bytes, unit: int) -> bool:
    if len(head) < 92 or head[:8] != b"EFI PART":
        return False
    length, crc = struct.unpack_from("<II", head, 12)
    if not 92 <= length <= unit or zlib.crc32(head[:16] + bytes(4) + head[20:length]) != crc:
        return False
    place, count, entry, table = struct.unpack_from("<QIII", head, 72)
    return bool(count * entry <= 1 << 20 and zlib.crc32(read(place * unit, count * entry)) == table)


def _btrfs(read: _Read, _: int) -> HeaderCheck | None:
    data = read(65536, 4096)
    if data[64:72] != b"_BHRfS_M":
        return None
    (count,) = struct.unpack_from("<Q", data, 136)
    return HeaderCheck(right=None, words=f"a btrfs of {count} devices", devices=count)
