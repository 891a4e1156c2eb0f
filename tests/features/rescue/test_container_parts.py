"""What the headers of LUKS, LVM, GPT and btrfs say, of images that are made here, and of damaged ones.

The laboratory has them from the tools themselves (tests/lab/test_rescue_proofs.py).
"""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from raidtui.features.rescue.search.volumes import LUKS, LVM_AREA, SECOND_LUKS, lvm_crc
from raidtui.features.rescue.trial.container_parts import check_headers

Damage = Callable[[bytearray], None]
TEXT = b"pv0 {\ndev_size = 1\n}\npv1 {\ndev_size = 1\n}\n"
AREA, AREA_BYTES = 4096, 4096


def gpt(unit: int = 512) -> bytearray:
    """A GPT of 64 blocks with both headers and tables."""
    image = bytearray(64 * unit)
    table = bytes(range(128)) * 4
    for block, table_block in ((1, 2), (63, 40)):
        image[table_block * unit : table_block * unit + len(table)] = table
        head = struct.pack("<8sIIIIQQQQ16sQIII", b"EFI PART", 1 << 16, 92, 0, 0, block, 64 - block, 6, 39,
                           bytes(16), table_block, 4, 128, zlib.crc32(table))  # fmt: skip
        whole = head[:16] + struct.pack("<I", zlib.crc32(head)) + head[20:]
        image[block * unit : block * unit + len(whole)] = whole
    return image


def lvm(*, label: int = 1, header: int = 32, begins: int = 512, areas: int = 1) -> bytearray:
    """A physical volume of a group of two, whose text begins somewhere in its area."""
    image = bytearray(16384)
    body = struct.pack("<I8s", header, b"LVM2 001").ljust(header - 20, b"\0")
    body += bytes(40) + struct.pack("<QQQQ", 8192, 0, 0, 0)
    if areas:
        body += struct.pack("<QQQQ", AREA, AREA_BYTES, 0, 0)
    body = body[: 512 - 20].ljust(512 - 20, b"\0")
    image[label * 512 : label * 512 + 512] = struct.pack("<8sQI", b"LABELONE", label, lvm_crc(body)) + body
    head = struct.pack("<16sIQQ", LVM_AREA, 1, AREA, AREA_BYTES)
    head += struct.pack("<QQII", begins, len(TEXT), lvm_crc(TEXT), 0)
    head = head.ljust(508, b"\0")
    image[AREA : AREA + 512] = struct.pack("<I", lvm_crc(head)) + head
    for number, byte in enumerate(TEXT):  # the area is a ring
        at = begins + number
        image[AREA + (at if at < AREA_BYTES else 512 + at - AREA_BYTES)] = byte
    return image


def luks2(name: bytes = b"sha256", length: int = 16384) -> bytearray:
    """Both headers of LUKS 2, one after the other."""
    image = bytearray()
    for magic in (LUKS, SECOND_LUKS):
        head = struct.pack(">6sHQQ48s32s", magic, 2, length, 1, b"", name).ljust(length, b"\0")
        digest = hashlib.sha256(head).digest()
        image += head[:448] + digest + head[448 + len(digest) :]
    return image


def luks1() -> bytearray:
    return bytearray(struct.pack(">6sH", LUKS, 1).ljust(4096, b"\0"))


def btrfs() -> bytearray:
    image = bytearray(1 << 17)
    image[65536 + 64 : 65536 + 72] = b"_BHRfS_M"
    image[65536 + 136 : 65536 + 144] = struct.pack("<Q", 3)
    return image


def flip(*places: int) -> Damage:
    """Change a bit of each of these bytes."""

    def damage(image: bytearray) -> None:
        for place in places:
            image[place] ^= 1

    return damage


def zero(image: bytearray) -> None:
    image[:] = bytes(len(image))


def longer(image: bytearray) -> None:
    """The array has another size than the one that the table was made for."""
    image += bytes(512)


BOTH = "both headers and tables of the GPT have the right checksum"
NO_BACKUP = "the backup of the GPT is not at the end: the array had another size, or it is damaged"
FIRST = "the first header or table of the GPT is damaged"
LABEL, TEXT_WRONG = "the checksum of LVM's label is wrong", "the checksum of LVM's metadata is wrong"
ALL_OF_LVM = "LVM's label, metadata header and metadata text have the right checksums"
NO_METADATA = "LVM's label has the right checksum, but there are no metadata here"
HEAD = "the first header of LUKS is damaged"
OF_BOTH = "both headers of LUKS 2 are damaged, or not at the right place"
OF_LUKS = "of LUKS 2 is damaged, or not at the right place"


@pytest.mark.parametrize(
    ("kind", "image", "damage", "says"),
    [
        ("gpt", gpt(), None, (True, BOTH, 1)),
        ("gpt", gpt(4096), None, (True, BOTH, 1)),
        ("gpt", gpt(), longer, (False, NO_BACKUP, 1)),
        ("gpt", gpt(), flip(40 * 512), (False, NO_BACKUP, 1)),
        ("gpt", gpt(), flip(2 * 512), (False, FIRST, 1)),
        ("gpt", gpt(), flip(512 + 24), (False, FIRST, 1)),
        ("gpt", gpt(), flip(512 + 24, 40 * 512), (False, "no header of the GPT has the right checksum", 1)),
        ("gpt", gpt(), zero, (False, "no header of the GPT has the right checksum", 1)),
        ("LVM2_member", lvm(), None, (True, ALL_OF_LVM, 2)),
        ("LVM2_member", lvm(label=3), None, (True, ALL_OF_LVM, 2)),
        ("LVM2_member", lvm(begins=4080), None, (True, ALL_OF_LVM, 2)),
        ("LVM2_member", lvm(header=472), None, (None, NO_METADATA, 1)),
        ("LVM2_member", lvm(header=473), None, (False, LABEL, 1)),
        ("LVM2_member", lvm(areas=0), None, (None, NO_METADATA, 1)),
        ("LVM2_member", lvm(), flip(512 + 8), (False, LABEL, 1)),
        ("LVM2_member", lvm(), flip(512 + 100), (False, LABEL, 1)),
        ("LVM2_member", lvm(), flip(AREA + 30), (False, TEXT_WRONG, 1)),
        ("LVM2_member", lvm(), flip(AREA + 512), (False, TEXT_WRONG, 1)),
        ("LVM2_member", lvm(begins=511), None, (False, TEXT_WRONG, 1)),
        ("LVM2_member", lvm(begins=AREA_BYTES), None, (False, TEXT_WRONG, 1)),
        ("LVM2_member", lvm(), zero, (False, "the label of LVM is not there", 1)),
        ("crypto_LUKS", luks2(), None, (True, "both headers of LUKS 2 have the right checksum", 1)),
        ("crypto_LUKS", luks2(), flip(16384 + 600), (False, f"the second header {OF_LUKS}", 1)),
        ("crypto_LUKS", luks2(), flip(600), (False, f"the first header {OF_LUKS}", 1)),
        ("crypto_LUKS", luks2(), flip(600, 16384 + 600), (False, OF_BOTH, 1)),
        ("crypto_LUKS", luks2(b"no hash"), None, (False, OF_BOTH, 1)),
        ("crypto_LUKS", luks2(b"shake_256"), None, (False, OF_BOTH, 1)),
        ("crypto_LUKS", luks2(), flip(7), (False, HEAD, 1)),
        ("crypto_LUKS", luks2(length=2048) + bytes(4096), None, (False, HEAD, 1)),
        ("crypto_LUKS", luks1(), None, (None, "LUKS 1 has one header, without a checksum", 1)),
        ("crypto_LUKS", luks1()[:4095], None, (False, "the first header of LUKS is not there", 1)),
        ("crypto_LUKS", luks1(), zero, (False, "the first header of LUKS is not there", 1)),
        ("btrfs", btrfs(), None, (None, "a btrfs of 3 devices", 3)),
    ],
)  # fmt: skip
def test_headers(
    tmp_path: Path, kind: str, image: bytearray, damage: Damage | None, says: tuple[bool | None, str, int]
) -> None:
    image = bytearray(image)
    if damage is not None:
        damage(image)
    (tmp_path / "image").write_bytes(image)
    found = check_headers(str(tmp_path / "image"), kind)
    assert found is not None
    assert (found.right, found.words, found.devices) == says


def test_where_there_is_nothing_to_read(tmp_path: Path) -> None:
    (tmp_path / "image").write_bytes(bytes(1 << 17))
    assert check_headers(str(tmp_path / "image"), "btrfs") is None
    assert check_headers(str(tmp_path / "image"), "ext4") is None
    gone = check_headers(str(tmp_path / "gone"), "gpt")
    assert gone is not None
    assert (gone.right, gone.words) == (None, "its headers cannot be read: No such file or directory")
