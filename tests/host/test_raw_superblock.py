"""Superblocks where mdadm does not look for them, and looks at what a device holds."""

from __future__ import annotations

import errno
import os
import struct
from pathlib import Path

import pytest

from raidtui.host.md.raw_superblock import find_superblocks
from raidtui.host.readers.folder_reader import FolderReader
from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.host.surface import Surface, read_surface
from raidtui.model.survey import MemberRole

UUID = "027a10cb:2a96cbb4:f41c4985:7e12f04b"
MIB = 1 << 20


def superblock(
    *, place: int = 8, number: int = 1, roles: tuple[int, ...] = (0, 1, 0xFFFF, 3), level: int = 5
) -> bytes:
    """A superblock as drivers/md/md.c writes it."""
    block = bytearray(1024)
    uuid, created = bytes.fromhex(UUID.replace(":", "")), 7 << 40 | 1795378175
    head = (0xA92B4EFC, 1, 0, uuid, b"x:t", created, level, 2, 129024)
    struct.pack_into("<III4x16s32sQiIQ", block, 0, *head)
    struct.pack_into("<II", block, 88, 128, 4)
    struct.pack_into("<QQQQI4x16s", block, 128, 2048, 129024, place, 0, number, bytes(range(16)))
    struct.pack_into("<QQ", block, 192, 1795378176, 5)
    struct.pack_into("<I", block, 220, len(roles))
    struct.pack_into(f"<{len(roles)}H", block, 256, *roles)
    return bytes(block)


def test_it_tells_where_its_device_began() -> None:
    data = bytes(4096) + superblock() + bytes(8192)
    ((start, found),) = find_superblocks(data, 2048)
    assert (start, found.uuid, found.name, found.level, found.raid_disks) == (2048, UUID, "x:t", "raid5", 4)
    assert (found.slot, found.role, found.roles, found.events) == (1, MemberRole.ACTIVE, "AA.A", 5)
    assert (found.created_s, found.updated_s) == (1795378175.0, 1795378176.0)
    assert (found.metadata, found.chunk_bytes, found.layout_name) == ("1.2", 65536, "left-symmetric")
    assert (found.offset_sectors, found.used_sectors, found.device_uuid) == (
        2048, 129024, "00010203:04050607:08090a0b:0c0d0e0f"
    )  # fmt: skip


@pytest.mark.parametrize(
    "data",
    [
        superblock(place=4096),  # its device would begin before this one
        superblock(level=77),
        superblock(number=9),
        bytes(100) + superblock(),  # not at a sector
        superblock()[:600],
        b"",
    ],
)
def test_what_is_none(data: bytes) -> None:
    assert list(find_superblocks(data, 16)) == []


def test_a_spare_is_in_no_slot() -> None:
    ((_, found),) = find_superblocks(superblock(number=2), 8)
    assert (found.slot, found.role) == (None, MemberRole.SPARE)


def looked(path: Path) -> Surface | None:
    return read_surface(FolderReader("/"), f"..{path}", 60.0)


def test_a_blank_device_and_one_that_is_not(tmp_path: Path) -> None:
    file = tmp_path / "disk"
    file.write_bytes(bytes(20 * MIB))
    found = looked(file)
    assert found is not None
    assert (found.blank, found.error, found.hidden) == (True, "", None)
    with file.open("r+b") as stream:
        stream.seek(11 * MIB + 4097)
        stream.write(b"x")
    found = looked(file)
    assert found is not None
    assert found.blank is False


def test_the_superblock_of_a_partition_that_is_gone(tmp_path: Path) -> None:
    file = tmp_path / "disk"
    file.write_bytes(bytes(MIB) + bytes(4096) + superblock() + bytes(19 * MIB))
    found = looked(file)
    assert found is not None
    assert found.hidden is not None
    assert (found.hidden.uuid, found.hidden_sectors) == (UUID, 2048)
    file.write_bytes(bytes(4096) + superblock() + bytes(19 * MIB))  # where mdadm finds it
    found = looked(file)
    assert found is not None
    assert found.hidden is None


def test_the_first_read_error_ends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "disk"
    file.write_bytes(b"x" * MIB + bytes(31 * MIB))
    real, read_at = os.preadv, list[int]()

    def preadv(descriptor: int, buffers: list[memoryview], at: int) -> int:
        read_at.append(at)
        if at == 20 * MIB:
            raise OSError(errno.EIO, "Input/output error")
        return real(descriptor, buffers, at)

    monkeypatch.setattr(os, "preadv", preadv)
    found = looked(file)
    assert found is not None
    assert (found.error, found.error_bytes, found.blank) == ("Input/output error", 20 * MIB, False)
    assert read_at[-1] == 20 * MIB


def test_what_cannot_be_opened_and_what_is_no_live_host(tmp_path: Path) -> None:
    assert looked(tmp_path / "none") is None
    assert read_surface(MemoryReader({}), "sda", 1.0) is None


def test_when_a_file_system_was_made_where_data_may_begin(tmp_path: Path) -> None:
    file = tmp_path / "disk"
    block = bytearray(1024)
    block[0x38:0x3A] = b"\x53\xef"
    struct.pack_into("<I", block, 0x108, 1795378000)
    file.write_bytes(bytes(4096 * 512 + 1024) + bytes(block) + bytes(8 * MIB))
    found = read_surface(FolderReader("/"), f"..{file}", 60.0, 2048 * 512)
    assert found is not None
    assert found.filesystem_s == 1795378000.0
    found = read_surface(FolderReader("/"), f"..{file}", 60.0)
    assert found is not None
    assert found.filesystem_s is None
