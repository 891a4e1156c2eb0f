"""The part of a superblock that mdadm prints for people only: slot, layout, where data begin, the bitmap."""

from __future__ import annotations

import pytest

from raidtui.host.md.superblock import read_superblock
from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.host.tools import output_path

EXPORT = "exit 0\nMD_LEVEL=raid10\nMD_DEVICES=4\nMD_UUID=010c7d3a:e15ddc6f:2260233f:e1a29168\nMD_EVENTS=17\n"
WORDS = """exit 0
/dev/sdb:
          Magic : a92b4efc
        Version : 1.2
    Feature Map : 0x1
     Array UUID : 010c7d3a:e15ddc6f:2260233f:e1a29168
           Name : nas:127  (local to host nas)
     Raid Level : raid10
   Raid Devices : 4

 Avail Dev Size : 4188160 sectors (2045.00 MiB 2144.34 MB)
    Data Offset : 6144 sectors
   Super Offset : 8 sectors
   Unused Space : before=6064 sectors, after=3368960 sectors

Internal Bitmap : 8 sectors from superblock
         Events : 17

         Layout : near=2
     Chunk Size : 32K

   Device Role : Active device 3
   Array State : AAAA ('A' == active, '.' == missing, 'R' == replacing)
"""
BITMAP = """exit 0
        Filename : /dev/sdb
           Magic : 6d746962
       Chunksize : 64 MB
          Bitmap : 13 bits (chunks), 3 dirty (23.1%)
"""


def root(words: str = WORDS, bitmap: str = BITMAP) -> MemoryReader:
    files = {
        output_path(("mdadm", "--examine", "--export", "/dev/sdb")): EXPORT,
        output_path(("mdadm", "--examine", "/dev/sdb")): words,
        output_path(("mdadm", "--examine-bitmap", "/dev/sdb")): bitmap,
    }
    return MemoryReader({path: text for path, text in files.items() if text})


def test_what_only_people_read() -> None:
    found = read_superblock(root(), "sdb")
    assert found is not None
    assert (found.slot, found.layout, found.offset_sectors, found.spare_sectors) == (3, 0x102, 6144, 6064)
    assert (found.metadata, found.dirty_bytes) == ("1.2", 3 * 64 << 20)


def test_the_short_form() -> None:
    found = read_superblock(root(), "sdb", whole=False)
    assert found is not None
    assert (found.events, found.slot, found.offset_sectors, found.dirty_bytes) == (17, None, None, None)


@pytest.mark.parametrize(
    ("old", "new", "slot", "layout"),
    [
        ("Active device 3", "spare", None, 0x102),
        ("near=2", "far=2", 3, 0x201),
        ("near=2", "offset=2", 3, 0x10201),
        ("near=2", "left-symmetric", 3, None),
        ("near=2", "near=2, far=1", 3, 0x102),
        ("near=2", "-unknown-", 3, None),
        ("Active device 3", "Active device ²", None, 0x102),
    ],
)
def test_slots_and_layouts(old: str, new: str, slot: int | None, layout: int | None) -> None:
    found = read_superblock(root(WORDS.replace(old, new)), "sdb")
    assert found is not None
    assert (found.slot, found.layout) == (slot, layout)


def test_a_member_that_was_being_rebuilt() -> None:
    words = WORDS.replace("   Unused", "Recovery Offset : 5632 sectors\n   Unused").replace("AAAA", "A.RA")
    found = read_superblock(root(words + "          State : active\n"), "sdb")
    assert found is not None
    assert (found.slot, found.recovery_sectors, found.roles, found.dirty) == (3, 5632, "A.RA", True)
    whole = read_superblock(root(WORDS + "          State : clean\n"), "sdb")
    assert whole is not None
    assert (whole.recovery_sectors, whole.roles, whole.dirty) == (None, "AAAA", False)


@pytest.mark.parametrize(
    ("row", "slot", "recovered"),
    [
        ("this     1      98       16        1      active sync   /dev/ubdb", 1, None),
        ("this     2      98       16        1      active   /dev/ubdb", 1, 0),
        ("this     2      98       16        2      spare   /dev/ubdb", None, 0),
    ],
)
def test_the_slot_in_metadata_0_90(row: str, slot: int | None, recovered: int | None) -> None:
    words = (
        f"exit 0\n/dev/sdb:\n        Version : 0.90.00\n\n      Number   Major   Minor\n{row}\n\n   0     0\n"
    )
    found = read_superblock(root(words), "sdb")
    assert found is not None
    assert (found.metadata, found.slot, found.recovery_sectors) == ("0.90.00", slot, recovered)


@pytest.mark.parametrize(
    ("words", "bitmap", "dirty"),
    [
        (WORDS, BITMAP.replace("64 MB", "512 KB"), 3 << 19),
        (WORDS, BITMAP.replace("64 MB", "1 GB"), 3 << 30),
        (WORDS, BITMAP.replace("64 MB", "much"), None),
        (WORDS, BITMAP.replace("3 dirty", "dirty"), None),
        (WORDS, "", None),
        (WORDS, "exit 1\n", None),
        (WORDS.replace("Internal Bitmap : 8 sectors from superblock\n", ""), BITMAP, None),
        ("", BITMAP, None),
    ],
)
def test_the_bitmap(words: str, bitmap: str, dirty: int | None) -> None:
    found = read_superblock(root(words, bitmap), "sdb")
    assert found is not None
    assert found.dirty_bytes == dirty
