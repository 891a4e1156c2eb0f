"""GRUB's boot sector and core image, as grub-mkimage puts them together; the real ones are in boot-proof."""

from __future__ import annotations

import lzma
import struct

import pytest

from raidtui.host.boot.device_bytes import DeviceBytes
from raidtui.host.boot.grub_image import core_in, read_boot_sector
from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.model.boot import BootSector, GrubCore, SectorState

PREFIX = "(mduuid/11111111222222223333333344444444)/boot/grub"
MODULES = ("part_gpt", "mdraid1x", "ext2")
CORE = GrubCore(prefix=PREFIX, modules=MODULES)
FIRST = 34


def module(name: str, *, wide: bool) -> bytes:
    """A module: an ELF file with the sections .modname and .shstrtab."""
    names, body = b"\0.modname\0.shstrtab\0", name.encode() + b"\0"
    head, entry = (64, 64) if wide else (52, 40)
    at, table = head + len(names), head + len(names) + len(body)
    identity = b"\x7fELF" + bytes([2 if wide else 1, 1, 1]) + bytes(9)
    words = "<HHIQQQIHHHHHH" if wide else "<HHIIIIIHHHHHH"
    file = identity + struct.pack(words, 1, 3, 1, 0, 0, table, 0, head, 0, 0, entry, 3, 2)
    form = "<IIQQQQIIQQ" if wide else "<IIIIIIIIII"
    places = ((0, 0, 0), (1, at, len(body)), (10, head, len(names)))
    sections = (struct.pack(form, name, 1, 0, 0, offset, size, 0, 0, 1, 0) for name, offset, size in places)
    return file + names + body + b"".join(sections)


def objects(*, wide: bool, config: str = "", modules: tuple[str, ...] = MODULES) -> bytes:
    parts = [(0, module(name, wide=wide)) for name in modules]
    parts += [(2, config.encode() + b"\0")] if config else []
    parts += [(3, PREFIX.encode() + b"\0")]
    body = b"".join(struct.pack("<II", kind, 8 + len(data)) + data for kind, data in parts)
    if wide:
        return b"mimg" + bytes(4) + struct.pack("<QQ", 24, 24 + len(body)) + body
    return b"mimg" + struct.pack("<II", 12, 12 + len(body)) + body


def core_of_a_pc(plain: bytes) -> bytes:
    """A core image without its first sector: the decompressor, then LZMA without an end mark."""
    filters = [{"id": lzma.FILTER_LZMA1, "dict_size": 1 << 16, "lc": 3, "lp": 0, "pb": 2}]
    packed = lzma.compress(plain, lzma.FORMAT_RAW, filters=filters)
    decompressor = bytearray(b"\xea" * 0xB20)
    struct.pack_into("<II", decompressor, 8, len(packed), len(plain))
    return bytes(decompressor) + packed


def disk(core: bytes) -> bytes:
    """A GPT disk whose core image is in two parts."""
    sector, code = bytearray(512), b"GRUB \0Geom\0Hard Disk\0Read\0 Error"
    sector[0x180 : 0x180 + len(code)] = code
    struct.pack_into("<Q", sector, 0x5C, FIRST)
    sector[0x1BE + 4], sector[0x1FE:] = 0xEE, b"\x55\xaa"
    count = -(-len(core) // 512)
    first = bytearray(512)
    struct.pack_into("<QHH", first, 0x1F4, FIRST + 1, 4, 0x820)
    struct.pack_into("<QHH", first, 0x1F4 - 12, FIRST + 10, count - 4, 0x8A0)
    return (
        bytes(sector) + bytes(512 * (FIRST - 1)) + bytes(first) + core[:2048] + bytes(512 * 5) + core[2048:]
    )


def read(data: bytes) -> BootSector:
    return read_boot_sector(DeviceBytes(MemoryReader({"/dev/sda": data}), "sda"), "sda")


PLAIN = b"mimg is also in the kernel\0" + bytes(300) + objects(wide=False)


def test_a_disk_that_boots() -> None:
    assert read(disk(core_of_a_pc(PLAIN))) == BootSector(
        disk="sda",
        table="gpt",
        marked=True,
        grub=True,
        core=CORE,
        state=SectorState.WHOLE,
        core_sector=FIRST,
    )


def test_commands_that_are_built_in() -> None:
    plain = objects(wide=False, config="search.fs_uuid aaaa-bbbb root\n")
    found = read(disk(core_of_a_pc(plain))).core
    assert found is not None
    assert found.config == "search.fs_uuid aaaa-bbbb root\n"


def test_disks_that_do_not() -> None:
    good = disk(core_of_a_pc(PLAIN))
    assert read(bytes(4096)).state is SectorState.NO_CODE
    assert read(b"").state is SectorState.TOO_SMALL
    assert read(bytes(440) + good[440:]).state is SectorState.NO_CODE
    assert read(b"LILO" + bytes(436) + good[440:]).state is SectorState.OTHER_CODE
    gone = good[: FIRST * 512] + bytes(len(good) - FIRST * 512)
    assert (read(gone).state, read(gone).core_sector) == (SectorState.NO_CORE, FIRST)
    for at in ((FIRST + 1) * 512 + 8, (FIRST + 11) * 512 + 300):
        hurt = good[:at] + b"\xff" * 64 + good[at + 64 :]
        assert read(hurt).state is SectorState.DAMAGED_CORE


def test_any_damage_is_survived() -> None:
    good = bytearray(disk(core_of_a_pc(PLAIN)))
    for at in range(0, len(good), 97):
        hurt = bytes(good[:at]) + bytes([good[at] ^ 0xFF]) + bytes(good[at + 1 :])
        assert read(hurt).disk == "sda"
        assert read(bytes(good[:at])).disk == "sda"


@pytest.mark.parametrize("wide", [True, False])
def test_an_image_as_it_runs(*, wide: bool) -> None:
    assert core_in(b"MZ" + bytes(333) + objects(wide=wide), wide=wide) == CORE
    assert core_in(b"MZ mimg" + bytes(333), wide=wide) is None
    assert core_in(b"mimg", wide=wide) is None
