"""Blocks of ext4's directories: the root of an index may keep the tail of the leaf that it was."""

import struct

import pytest

from raidtui.features.rescue.search.crc32c import crc32c
from raidtui.features.rescue.search.ext4_inodes import Ext4Inodes

SIZE, SEED, NUMBER = 1024, 7, 12
LIMIT, COUNT = (SIZE - 32 - 24) // 8, 2
LEAF_TAIL = b"\0\0\0\0\x0c\0\0\xde" + struct.pack("<I", 99)
INODES = Ext4Inodes(seed=1, block_bytes=SIZE, inode_bytes=256, blocks=1000, first_inode=11, clustered=False)


def index_root(end: bytes) -> bytearray:
    """A directory's first block once it has an index; its last bytes are in no use."""
    head = struct.pack("<IHBB4s", NUMBER, 12, 1, 2, b".") + struct.pack("<IHBB4s", 2, SIZE - 12, 2, 2, b"..")
    head += struct.pack("<IBBBB", 0, 1, 8, 0, 0) + struct.pack("<HH", LIMIT, COUNT)
    block = bytearray(head.ljust(SIZE, b"\0"))
    block[SIZE - len(end) :] = end
    tail = 32 + LIMIT * 8
    crc = crc32c(SEED, bytes(block[: 32 + COUNT * 8] + block[tail : tail + 4] + bytes(4)))
    struct.pack_into("<I", block, tail + 4, crc)
    return block


@pytest.mark.parametrize("end", [b"", LEAF_TAIL], ids=["new", "once-a-leaf"])
def test_the_root_of_an_index(end: bytes) -> None:
    block = index_root(end)
    assert INODES._is_directory(bytes(block), 0, NUMBER, SEED)
    block[40] ^= 1
    assert not INODES._is_directory(bytes(block), 0, NUMBER, SEED)
