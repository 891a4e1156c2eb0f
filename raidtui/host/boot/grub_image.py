"""GRUB's boot sector and core image, as it is on disks of a PC and in ESPs.

Sources: GRUB 2.06, grub-core/boot/i386/pc/{boot,diskboot,startup_raw}.S, include/grub/kernel.h,
util/mkimage.c.
"""

from __future__ import annotations

import lzma
import struct
from collections.abc import Iterator

from raidtui.host.boot.device_bytes import DeviceBytes
from raidtui.model.boot import BootSector, GrubCore, SectorState

SECTOR = 512
_SECTOR_AT = 0x5C  # of the core image, in the boot sector
_LAST_LIST, _LIST_BYTES = 0x1F4, 12  # of places of the core image, in its own first sector, downwards
_MOST_SECTORS = 4096
_TABLE = 0x1BE
_PROTECTIVE = 0xEE
_SIZES_AT = 8  # in the decompressor: compressed, uncompressed
_MOST_DECOMPRESSOR = 0x2000
_MOST_CORE = 8 << 20
_LZMA = ({"id": lzma.FILTER_LZMA1, "dict_size": 1 << 16, "lc": 3, "lp": 0, "pb": 2},)
_MAGIC = b"mimg"
_ELF, _CONFIG, _PREFIX = 0, 2, 3
_MODNAME = b".modname"


def read_boot_sector(device: DeviceBytes, disk: str) -> BootSector:
    """Return what the firmware of a PC finds on a disk.

    Raises:
        DeviceBytesError: it cannot be read.
    """
    sector = device.read(0, SECTOR)
    if len(sector) < SECTOR:
        return BootSector(disk=disk, state=SectorState.TOO_SMALL)
    table = _table(sector)
    marked = sector[0x1FE:] == b"\x55\xaa"
    if b"GRUB \0Geom\0" not in sector[:_TABLE]:
        state = SectorState.OTHER_CODE if any(sector[: _TABLE - 6]) else SectorState.NO_CODE
        return BootSector(disk=disk, table=table, marked=marked, state=state)
    first: int = struct.unpack_from("<Q", sector, _SECTOR_AT)[0]
    core, state = _core_of(device, first)
    return BootSector(
        disk=disk, table=table, marked=marked, grub=True, core=core, state=state, core_sector=first
    )


def _table(sector: bytes) -> str:
    kinds = [sector[_TABLE + 16 * number + 4] for number in range(4)]
    if sector[0x1FE:] != b"\x55\xaa" or not any(kinds):
        return ""
    return "gpt" if _PROTECTIVE in kinds else "dos"


def _core_of(device: DeviceBytes, first: int) -> tuple[GrubCore | None, SectorState]:
    head = device.read(first * SECTOR, SECTOR)
    places = list(_places(head))
    if not places or sum(count for _, count in places) > _MOST_SECTORS:
        return None, SectorState.NO_CORE
    image = b"".join(device.read(start * SECTOR, count * SECTOR) for start, count in places)
    core = core_of_pc(image)
    return core, SectorState.WHOLE if core is not None else SectorState.DAMAGED_CORE


def _places(head: bytes) -> Iterator[tuple[int, int]]:
    """Yield first sector and number of sectors of each part of the core image."""
    at = _LAST_LIST
    while len(head) == SECTOR and at > 0:
        start, count, _ = struct.unpack_from("<QHH", head, at)
        if not count:
            return
        yield start, count
        at -= _LIST_BYTES


def core_of_pc(image: bytes) -> GrubCore | None:
    """Return what is in a core image for a PC, without its first sector; None where it is damaged.

    Where the compressed part begins depends on the decompressor; its length says whether it was found.
    """
    if len(image) < _SIZES_AT + 8:
        return None
    packed, plain = struct.unpack_from("<II", image, _SIZES_AT)
    if not 0 < packed <= len(image) or not 0 < plain <= _MOST_CORE:
        return None
    for at in range(_SIZES_AT, min(_MOST_DECOMPRESSOR, len(image))):
        if image[at]:  # an LZMA stream begins with a zero
            continue
        try:
            data = lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=_LZMA).decompress(
                image[at : at + packed], plain
            )
        except lzma.LZMAError:
            continue
        if len(data) == plain and (core := core_in(data, wide=False)) is not None:
            return core
    return None


def core_in(data: bytes, *, wide: bool) -> GrubCore | None:
    """Return the modules, the prefix and the commands in a core image as it runs; None where there are none.

    Args:
        data: the image.
        wide: whether it is for a 64-bit machine, as in an ESP.
    """
    at = data.find(_MAGIC)
    while at >= 0:
        offset, size = _head(data, at, wide=wide)
        if offset <= 64 and offset < size <= len(data) - at:
            return _parsed(data[at : at + size], offset)
        at = data.find(_MAGIC, at + 1)
    return None


def _head(data: bytes, at: int, *, wide: bool) -> tuple[int, int]:
    """Return struct grub_module_info's offset of the first object, and the size of all."""
    form, skip = ("<QQ", 8) if wide else ("<II", 4)
    if at + skip + struct.calcsize(form) > len(data):
        return 0, 0
    offset, size = struct.unpack_from(form, data, at + skip)
    return offset, size


def _parsed(data: bytes, at: int) -> GrubCore:
    prefix, config, modules = "", "", dict[str, None]()
    while at + 8 <= len(data):
        kind, size = struct.unpack_from("<II", data, at)
        if size < 8 or at + size > len(data):
            break
        body = data[at + 8 : at + size]
        if kind == _ELF and (name := _module_name(body)):
            modules[name] = None
        elif kind == _PREFIX:
            prefix = _text(body)
        elif kind == _CONFIG:
            config = _text(body)
        at += size
    return GrubCore(prefix=prefix, config=config, modules=tuple(modules))


def _text(body: bytes) -> str:
    return body.partition(b"\0")[0].decode("utf-8", "replace")


def _module_name(module: bytes) -> str:
    """Return a module's name: what its ELF section .modname holds."""
    try:
        if module[:4] != b"\x7fELF":
            return ""
        wide = module[4] == 2
        table = struct.unpack_from("<Q" if wide else "<I", module, 0x28 if wide else 0x20)[0]
        entry, count, names = struct.unpack_from("<HHH", module, 0x3A if wide else 0x2E)
        sections = [_section(module, table + entry * number, wide=wide) for number in range(count)]
        words = module[sections[names][1] :]
        for name, offset, size in sections:
            if words[name:].partition(b"\0")[0] == _MODNAME:
                return _text(module[offset : offset + size])
    except (struct.error, IndexError):
        return ""
    return ""


def _section(module: bytes, at: int, *, wide: bool) -> tuple[int, int, int]:
    """Return an ELF section's name, offset and size."""
    name = struct.unpack_from("<I", module, at)[0]
    offset, size = struct.unpack_from("<QQ" if wide else "<II", module, at + (0x18 if wide else 0x10))
    return name, offset, size
