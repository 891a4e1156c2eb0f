"""What may stand at the start of an array or of a part of it: partition tables, LVM, LUKS, file systems.

Sources: UEFI 2.10 section 5.3 (GPT), LVM2 lib/format_text/layout.h and export.c, libdm/libdm-config.c, the
LUKS1 and LUKS2 on-disk formats.
"""

from __future__ import annotations

import hashlib
import re
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from raidtui.features.rescue.search.block_facts import BlockFact, Stretch, on
from raidtui.features.rescue.search.btrfs import Btrfs
from raidtui.features.rescue.search.ext4 import Ext4
from raidtui.features.rescue.search.xfs import Xfs

_TOKEN = re.compile(r'#[^\n]*|"((?:\\.|[^"\\])*)"|([\w.+/@-]+)|([{}=\[\],])')
_SECTOR = 512
_DEEPEST = 12
_Value = str | Sequence[str] | Mapping[str, "_Value"]
FileSystem = Ext4 | Xfs | Btrfs
HEAD_BYTES = 4096
_ENTRIES_BYTES = 4096  # the first 32 partitions, in one chunk however small it is
LUKS, SECOND_LUKS = b"LUKS\xba\xbe", b"SKUL\xba\xbe"
LVM_AREA = b" LVM2 x[5A%r0N*>"
_MOST_VOLUMES = 32
_LEAST_SUPERBLOCK = 8192  # before the end of a member: metadata 1.0, and 0.90 leaves more
_TABLE = "partition table"


def parse_lvm_volumes(text: str, own: str) -> Iterator[tuple[tuple[int, int, int], ...]]:
    """Yield the pieces of each logical volume that lie on a physical volume in a row.

    Args:
        text: the metadata of a volume group.
        own: the physical volume's identity, without dashes.

    Yields:
        For each volume: byte in the volume, length, byte in the physical volume.
    """
    for group in _sections(_parsed(text)):
        extent = _number(group, "extent_size")
        volumes, devices = group.get("logical_volumes"), group.get("physical_volumes")
        if not extent or not isinstance(volumes, Mapping) or not isinstance(devices, Mapping):
            continue
        starts = {
            name: start * _SECTOR
            for name, device in devices.items()
            if isinstance(device, Mapping)
            and str(device.get("id", "")).replace("-", "") == own
            and (start := _number(device, "pe_start")) is not None
        }
        for volume in _sections(volumes):
            pieces = [
                piece
                for segment in _sections(volume)
                if (piece := _piece(segment, starts, extent * _SECTOR)) is not None
            ]
            if pieces:
                yield tuple(sorted(pieces))


def _piece(
    segment: Mapping[str, _Value], starts: Mapping[str, int], extent: int
) -> tuple[int, int, int] | None:
    stripes = segment.get("stripes")
    if segment.get("type") != "striped" or not isinstance(stripes, list) or len(stripes) != 2:
        return None
    first, count = _number(segment, "start_extent"), _number(segment, "extent_count")
    start, at = starts.get(stripes[0]), stripes[1]
    if first is None or not count or start is None or not at.isdigit():
        return None
    return first * extent, count * extent, start + int(at) * extent


def _number(section: Mapping[str, _Value], name: str) -> int | None:
    value = section.get(name)
    return int(value) if isinstance(value, str) and value.isdigit() else None


def _sections(section: Mapping[str, _Value]) -> Iterator[Mapping[str, _Value]]:
    return (value for value in section.values() if isinstance(value, Mapping))


def _parsed(text: str) -> Mapping[str, _Value]:
    """Return sections as mappings, lists as lists, numbers and words as text; {} where it is no such text."""
    tokens = [
        (match[3] or "", match[1] if match[1] is not None else match[2] or "")
        for match in _TOKEN.finditer(text)
        if not match[0].startswith("#")
    ]
    root: dict[str, _Value] = {}
    open_sections = [root]
    at = 0
    while at + 1 < len(tokens) and 0 < len(open_sections) <= _DEEPEST:
        sign, word = tokens[at]
        if sign == "}":
            open_sections.pop()
            at += 1
        elif tokens[at + 1][0] == "{":
            section: dict[str, _Value] = {}
            open_sections[-1][word] = section
            open_sections.append(section)
            at += 2
        elif tokens[at + 1][0] == "=" and at + 2 < len(tokens):
            at = _assigned(tokens, at + 2, word, open_sections[-1])
        else:
            return {}
    return root


def _assigned(tokens: Sequence[tuple[str, str]], at: int, word: str, section: dict[str, _Value]) -> int:
    sign, value = tokens[at]
    if sign != "[":
        section[word] = value
        return at + 1
    values = []
    at += 1
    while at < len(tokens) and tokens[at][0] != "]":
        if not tokens[at][0]:
            values.append(tokens[at][1])
        at += 1
    section[word] = values
    return at + 1


def expect_head(where: Stretch, *, tables: bool = True) -> Iterator[BlockFact]:
    """Yield what is recognised at the start of an array or of a volume, whatever it is.

    Args:
        where: the array or volume.
        tables: whether a partition table there may be its own: in front of a file system that begins there,
            one is what a member has of its own.
    """
    for byte, length, kind in (
        (0, HEAD_BYTES, _TABLE),
        (_SECTOR, _SECTOR, "LVM label"),
        (0, HEAD_BYTES, "LUKS header"),
        (1024, 1024, "file system"),
        (0, _SECTOR, "file system"),
        (65536, HEAD_BYTES, "file system"),
    ):
        if tables or kind != _TABLE:
            yield from where.expect(
                byte,
                length,
                f"{kind} at the start",
                on(_recognise, kind, byte),
                on(_inside, kind, byte, where),
                must=False,
                loose=True,
            )


def recognise_container(head: bytes) -> str:
    """Return what begins with these bytes and holds others: gpt, dos, LVM2_member; "" for anything else.

    Args:
        head: HEAD_BYTES, or b"".
    """
    if is_gpt_header(head[_SECTOR:]):
        return "gpt"
    if parse_mbr(head[:_SECTOR]):
        return "dos"
    return "LVM2_member" if is_label(head[_SECTOR : 2 * _SECTOR]) else ""


def extent(head: bytes) -> int:
    """Return how many bytes a partition table or LVM's label says that there are at least; 0 without one.

    Args:
        head: HEAD_BYTES, or b"".
    """
    match recognise_container(head):
        case "gpt":
            own, backup = struct.unpack_from("<QQ", head, _SECTOR + 24)
            return int(max(own, backup) + 1) * _SECTOR
        case "dos":
            return max(first + count for first, count in parse_mbr(head[:_SECTOR])) * _SECTOR
        case "LVM2_member":
            label = head[_SECTOR : 2 * _SECTOR]
            return int(struct.unpack_from("<Q", label, struct.unpack_from("<I", label, 20)[0] + 32)[0])
    return 0


def is_of_the_member(extent_bytes: int, member_bytes: int) -> bool:
    """Whether what begins with a member ends with it, too: an array that begins there ends before.

    Args:
        extent_bytes: what it says that there is.
        member_bytes: the member's size.
    """
    return member_bytes - _LEAST_SUPERBLOCK < extent_bytes <= member_bytes


def _recognise(data: bytes, kind: str, byte: int) -> bool:
    match kind:
        case "partition table":
            return is_gpt_header(data[_SECTOR:]) or bool(parse_mbr(data[:_SECTOR]))
        case "LVM label":
            return is_label(data)
        case "LUKS header":
            return data[:6] == LUKS
    return _file_system(byte, data) is not None


def _file_system(byte: int, data: bytes) -> FileSystem | None:
    if byte == 1024:
        found = Ext4.parse(data)
        return found if found is not None and found.group == 0 else None
    return Xfs.parse(data) if byte == 0 else Btrfs.parse(data)


def _inside(data: bytes, kind: str, byte: int, where: Stretch) -> Iterator[BlockFact]:
    match kind:
        case "partition table":
            if is_gpt_header(data[_SECTOR:]):
                yield from _entries(data[_SECTOR:], where)
            for first, count in parse_mbr(data[:_SECTOR]):
                yield from expect_head(where.part(first * _SECTOR, count * _SECTOR))
        case "LVM label":
            yield from _lvm(data, where)
        case "LUKS header":
            yield from _luks(data, where)
        case _:
            found = _file_system(byte, data)
            if found is not None and found.size_bytes <= where.length:
                yield from found.facts(where)


def is_gpt_header(data: bytes) -> bool:
    """Whether bytes start with a GPT header whose checksum is right."""
    if data[:8] != b"EFI PART" or len(data) < _SECTOR:
        return False
    size, crc = struct.unpack_from("<II", data, 12)
    return bool(92 <= size <= _SECTOR and zlib.crc32(data[:16] + bytes(4) + data[20:size]) == crc)


def _entries(header: bytes, where: Stretch) -> Iterator[BlockFact]:
    first, count, size, crc = struct.unpack_from("<QIII", header, 72)
    backup = struct.unpack_from("<Q", header, 32)[0] * _SECTOR
    whole = count * size
    length = min(whole, _ENTRIES_BYTES)
    if size >= 128:
        yield from where.expect(
            first * _SECTOR,
            length,
            "GPT entries",
            on(_are_entries, size, crc if length == whole else None, backup),
            on(_partitions, size, where),
            loose=length < whole,
        )
    yield from where.expect(
        backup,
        _SECTOR,
        "GPT backup",
        lambda data: is_gpt_header(data) and data[56:72] == header[56:72],
        must=False,
    )


def _are_entries(data: bytes, size: int, crc: int | None, end: int) -> bool:
    if crc is not None:
        return zlib.crc32(data) == crc
    spans = list(_spans(data, size))
    used = sum(data[start : start + 16] != bytes(16) for start in range(0, len(data) - size + 1, size))
    return len(data) == _ENTRIES_BYTES and 0 < len(spans) == used and all(sum(span) <= end for span in spans)


def _spans(data: bytes, size: int) -> Iterator[tuple[int, int]]:
    for start in range(0, len(data) - size + 1, size):
        if data[start : start + 16] != bytes(16):
            first, last = struct.unpack_from("<QQ", data, start + 32)
            if 0 < first <= last:
                yield first * _SECTOR, (last - first + 1) * _SECTOR


def _partitions(data: bytes, size: int, where: Stretch) -> Iterator[BlockFact]:
    for first, length in _spans(data, size):
        yield from expect_head(where.part(first, length))


def parse_mbr(sector: bytes) -> tuple[tuple[int, int], ...]:
    """Return first sector and length of the primary partitions of an MBR; () where it is none."""
    if len(sector) < _SECTOR or sector[510:512] != b"\x55\xaa":
        return ()
    found = []
    for index in range(4):
        entry = sector[446 + 16 * index : 462 + 16 * index]
        first, count = struct.unpack_from("<II", entry, 8)
        if entry[0] not in {0, 0x80}:
            return ()
        if entry[4] not in {0, 0xEE} and first and count:
            found.append((first, count))
    return tuple(found)


def is_label(sector: bytes) -> bool:
    """Whether a sector is the label of an LVM physical volume."""
    return len(sector) == _SECTOR and sector[:8] == b"LABELONE" and sector[24:32] == b"LVM2 001"


def parse_lvm_areas(sector: bytes, header: int) -> list[tuple[int, int]]:
    """Return place and size of the metadata areas of a physical volume in bytes.

    Args:
        sector: with the label.
        header: where in it the physical volume's header begins; its second list has the areas.
    """
    at, lists, areas = header + 40, 0, list[tuple[int, int]]()
    while at + 16 <= len(sector) and lists < 2:
        offset, size = struct.unpack_from("<QQ", sector, at)
        at += 16
        if not offset:
            lists += 1
        elif lists == 1:
            areas.append((offset, size))
    return areas


def _lvm(sector: bytes, where: Stretch) -> Iterator[BlockFact]:
    header = struct.unpack_from("<I", sector, 20)[0]
    own = sector[header : header + 32].decode("ascii", "replace")
    for offset, size in parse_lvm_areas(sector, header):
        yield from where.expect(
            offset,
            _SECTOR,
            "LVM metadata header",
            lambda data: data[4:20] == LVM_AREA,
            on(_lvm_text, offset, size, own, where),
            loose=True,
        )


def _lvm_text(data: bytes, area: int, size: int, own: str, where: Stretch) -> Iterator[BlockFact]:
    offset, length = struct.unpack_from("<QQ", data, 40)
    crc = struct.unpack_from("<I", data, 56)[0]
    if 0 < length < size and offset + length <= size and length <= 65536:
        yield from where.expect(
            area + offset,
            length,
            "LVM metadata",
            lambda text: len(text) == length and lvm_crc(text) == crc,
            on(_logical_volumes, own, where),
            loose=True,
        )


def lvm_crc(data: bytes) -> int:
    """Return LVM's calc_crc: the CRC-32 of zlib, started with another value and not inverted."""
    return zlib.crc32(data, 0xF597A6CF ^ 0xFFFFFFFF) ^ 0xFFFFFFFF


def _logical_volumes(data: bytes, own: str, where: Stretch) -> Iterator[BlockFact]:
    for pieces in islice(parse_lvm_volumes(data.decode("ascii", "replace"), own), _MOST_VOLUMES):
        found = []
        for first, length, at in pieces:
            begin = where.at(at, length)
            if begin is not None:
                found.append((first, length, begin))
        if found:
            yield from expect_head(Stretch(pieces=tuple(found)))


def _luks(data: bytes, where: Stretch) -> Iterator[BlockFact]:
    version, size = struct.unpack_from(">HQ", data, 6)
    if version != 2 or not 4096 <= size <= 4 << 20:
        return
    for at in (0, size):
        yield from where.expect(at, size, "LUKS2 header", on(_is_luks2, size), must=False)


def _is_luks2(block: bytes, size: int) -> bool:
    if len(block) != size or block[:6] not in {LUKS, SECOND_LUKS} or block[72:78] != b"sha256":
        return False
    return hashlib.sha256(block[:448] + bytes(64) + block[512:]).digest() == block[448:480]
