"""The firmware's boot entries, as efivarfs has them."""

from __future__ import annotations

import struct

from raidtui.host.boot.efi import VARIABLES, parse_entry, read_entries
from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.model.boot import EfiEntry

GLOBAL = "8be4df61-93ca-11d2-aa0d-00e098032b8c"
PART = "1d069851-9d85-44ff-adbb-c3d31fa921b2"
GUID = bytes.fromhex("5198061d859dff44adbbc3d31fa921b2")


def entry(label: str, path: str, *, active: bool = True) -> bytes:
    """A load option: attributes, label, and a path of a GPT partition and a file."""
    drive = struct.pack("<BBHIQQ", 4, 1, 42, 2, 4096, 81920) + GUID + bytes([2, 2])
    file = path.encode("utf-16-le") + b"\0\0"
    nodes = drive + struct.pack("<BBH", 4, 4, 4 + len(file)) + file + b"\x7f\xff\x04\0"
    return struct.pack("<IH", int(active), len(nodes)) + label.encode("utf-16-le") + b"\0\0" + nodes


def test_an_entry() -> None:
    assert parse_entry("0001", entry("debian", "\\EFI\\debian\\shimx64.efi")) == EfiEntry(
        number="0001", label="debian", part_uuid=PART, path="/EFI/DEBIAN/SHIMX64.EFI"
    )
    off = parse_entry("0002", entry("old", "\\x.efi", active=False))
    assert off is not None
    assert not off.active


def test_damaged_entries() -> None:
    whole = entry("debian", "\\EFI\\debian\\shimx64.efi")
    for end in range(len(whole)):
        found = parse_entry("0001", whole[:end])
        assert found is None or found.part_uuid in {"", PART}


def test_the_order_of_a_firmware() -> None:
    files: dict[str, bytes | str] = {
        f"{VARIABLES}/BootOrder-{GLOBAL}": b"\7\0\0\0" + struct.pack("<3H", 0xA, 7, 1),
        f"{VARIABLES}/Boot0001-{GLOBAL}": b"\7\0\0\0" + entry("one", "\\a.efi"),
        f"{VARIABLES}/Boot000A-{GLOBAL}": b"\7\0\0\0" + entry("ten", "\\b.efi"),
    }
    found = read_entries(MemoryReader(files))
    assert found is not None
    assert [each.label for each in found] == ["ten", "one"]


def test_no_variables() -> None:
    assert read_entries(MemoryReader({})) is None
    assert read_entries(MemoryReader({f"{VARIABLES}/Timeout-{GLOBAL}": b"\7\0\0\0\1\0"})) == ()
