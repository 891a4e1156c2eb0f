"""FAT file systems that mkfs.vfat and mtools have made, and what is in their EFI folders."""

from __future__ import annotations

import lzma

import pytest

from raidtui.host.boot.device_bytes import DeviceBytes, DeviceBytesError
from raidtui.host.boot.efi import read_loaders
from raidtui.host.boot.fat import Fat, FatError
from raidtui.host.readers.memory_reader import MemoryReader
from tests.places import FIXTURES

BOOT_FIXTURES = FIXTURES / "boot"
UUID = "55555555-6666-4777-8888-999999999999"


def image(bits: int) -> bytes:
    return lzma.decompress((BOOT_FIXTURES / f"esp-fat{bits}.xz").read_bytes())


def device(data: bytes) -> DeviceBytes:
    return DeviceBytes(MemoryReader({"/dev/sda1": data}), "sda1")


@pytest.mark.parametrize("bits", [12, 16, 32])
def test_folders_and_files(bits: int) -> None:
    fat = Fat(device(image(bits)))
    assert [(each.name, each.folder) for each in fat.names("/")] == [("EFI", True)]
    assert [each.name for each in fat.names("/efi/debian")] == ["SHIMX64.EFI", "GRUBX64.EFI", "GRUB.CFG"]
    assert fat.read("/EFI/BOOT/A LONG NAME OF A FILE.BIN", 1 << 20) == b"\xaa" * 70000
    assert fat.read("/EFI/BOOT/A LONG NAME OF A FILE.BIN", 4) == b"\xaa" * 4
    assert fat.read("/EFI/none", 4) is None
    assert fat.read("/EFI", 4) is None
    assert fat.names("/EFI/BOOT/BOOTX64.EFI") == ()


@pytest.mark.parametrize("bits", [12, 16, 32])
def test_programs_for_efi(bits: int) -> None:
    found = {each.path: each for each in read_loaders(device(image(bits)))}
    assert {path: each.kind for path, each in found.items()} == {
        "/EFI/BOOT/BOOTX64.EFI": "shim",
        "/EFI/BOOT/GRUBX64.EFI": "grub",
        "/EFI/DEBIAN/SHIMX64.EFI": "shim",
        "/EFI/DEBIAN/GRUBX64.EFI": "grub",
    }
    grub = found["/EFI/BOOT/GRUBX64.EFI"]  # its prefix is /EFI/debian: it reads the grub.cfg there
    assert grub.core is not None
    assert (grub.core.prefix, grub.core.modules) == ("/EFI/debian", ("ext2", "part_gpt"))
    assert (grub.config or "").startswith(f"search.fs_uuid {UUID} root\n")


def test_what_is_no_fat() -> None:
    for data in (b"", bytes(4096), bytes(510) + b"\x55\xaa", b"\xeb\x58\x90" + b"\xff" * 507 + b"\x55\xaa"):
        with pytest.raises(FatError, match=r"^it has no FAT file system$"):
            Fat(device(data))


def test_a_damaged_table_ends_a_file() -> None:
    """A chain that runs in a circle, or out of the table, neither hangs nor raises anything else."""
    data = bytearray(image(16))
    data[4 * 512 : 12 * 512] = b"\x02\0" * (8 * 256)
    Fat(device(bytes(data))).read("/EFI/BOOT/GRUBX64.EFI", 1 << 20)
    data[4 * 512 : 12 * 512] = b"\xf0\xef" * (8 * 256)
    with pytest.raises(FatError, match=r"^its allocation table is damaged$"):
        Fat(device(bytes(data))).read("/EFI/BOOT/A LONG NAME OF A FILE.BIN", 1 << 20)


def test_a_device_that_is_not_there() -> None:
    with pytest.raises(DeviceBytesError, match=r"^sdz is not part of this capture$"):
        DeviceBytes(MemoryReader({}), "sdz").read(0, 512)
    with pytest.raises(DeviceBytesError, match=r"impossible place$"):
        device(b"").read(-1, 512)
