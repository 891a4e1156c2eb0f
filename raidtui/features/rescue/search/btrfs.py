"""btrfs: superblocks and tree blocks of one device; each has a checksum and its own address.

Source: include/uapi/linux/btrfs_tree.h, fs/btrfs/volumes.c (btrfs_read_sys_array).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from raidtui.features.rescue.search.block_facts import BlockFact, Stretch, on
from raidtui.features.rescue.search.crc32c import SEED, crc32c, inverted

MAGIC = b"_BHRfS_M"
MAGIC_AT = 64
SUPERBLOCK_BYTES = 4096
_COPIES = (64 << 10, 64 << 20, 256 << 30)
_CHUNK_ITEM, _ROOT_ITEM, _CHECKSUM_ITEM = 228, 132, 128
_ROOT_TREE, _CHUNK_TREE, _OTHER = 0, 1, 2
_DATA_OF_AN_ITEM = 16
_HEADER = 101
_KINDS = {0: "root", 1: "chunk"}


class Btrfs:
    """A file system by one of its superblocks.

    Args:
        block: 4,096 valid bytes.
    """

    kind = "btrfs"
    made_s = 0
    unclean = False

    def __init__(self, block: bytes) -> None:
        self.uuid = block[32:48]
        self._at: int = struct.unpack_from("<Q", block, 48)[0]
        self._root, self._chunks = struct.unpack_from("<QQ", block, 80)
        self.size_bytes: int = struct.unpack_from("<Q", block, 201 + 8)[0]
        self._sector_bytes, self.node_bytes = struct.unpack_from("<II", block, 144)
        self._levels = block[198], block[199]
        self._maps: dict[int, tuple[int, tuple[int, ...]]] = {}
        size = struct.unpack_from("<I", block, 160)[0]
        self._system(block[811 : 811 + min(size, 2048)])

    @classmethod
    def parse(cls, block: bytes) -> Btrfs | None:
        """Return the file system, or None where the bytes are no superblock with CRC-32C."""
        if len(block) < SUPERBLOCK_BYTES or block[MAGIC_AT : MAGIC_AT + 8] != MAGIC:
            return None
        if not _sums(block) or struct.unpack_from("<H", block, 196)[0]:
            return None
        return cls(block)

    @property
    def superblock_at(self) -> int:
        """The byte in the file system at which the superblock lies that it was made from."""
        return self._at

    def facts(self, where: Stretch) -> Iterator[BlockFact]:
        """Yield what must be where: the superblocks and the blocks of the trees."""
        for byte in _COPIES:
            if byte + SUPERBLOCK_BYTES <= self.size_bytes:
                yield from where.expect(
                    byte, SUPERBLOCK_BYTES, "btrfs superblock", on(self._is_superblock, byte)
                )
        yield from self._tree(self._chunks, self._levels[1], _CHUNK_TREE, where)

    def _is_superblock(self, data: bytes, byte: int) -> bool:
        found = Btrfs.parse(data)
        return found is not None and found.uuid == self.uuid and found.superblock_at == byte

    def _system(self, array: bytes) -> None:
        at = 0
        while at + 17 + 48 <= len(array):
            logical = struct.unpack_from("<Q", array, at + 9)[0]
            stripes = self._chunk(logical, array[at + 17 :])
            at += 17 + 48 + 32 * stripes

    def _chunk(self, logical: int, item: bytes) -> int:
        """Note where a chunk lies; return the number of its stripes. Only single and DUP are mapped."""
        length = struct.unpack_from("<Q", item, 0)[0]
        kind = struct.unpack_from("<Q", item, 24)[0]
        stripes: int = struct.unpack_from("<H", item, 44)[0]
        if not kind & (0x8 | 0x10 | 0x40 | 0x80 | 0x100 | 0x200 | 0x400) and 48 + 32 * stripes <= len(item):
            starts = tuple(struct.unpack_from("<Q", item, 48 + 32 * index + 8)[0] for index in range(stripes))
            self._maps[logical] = (length, starts)
        return stripes

    def _tree(self, logical: int, level: int, owner: int, where: Stretch) -> Iterator[BlockFact]:
        for byte in self._places(logical):
            yield from where.expect(
                byte,
                self.node_bytes,
                f"btrfs {_KINDS.get(owner, 'tree')} block",
                on(self._is_node, logical, level),
                on(self._below, level, owner, where),
            )

    def _places(self, logical: int) -> list[int]:
        """Return where a logical address lies on the device: twice for DUP."""
        return [
            start + logical - first
            for first, (length, starts) in self._maps.items()
            if first <= logical < first + length
            for start in starts
        ]

    def _data(self, logical: int, sums: bytes, where: Stretch) -> Iterator[BlockFact]:
        """Yield some of the sectors of files whose checksums an item has."""
        count = len(sums) // 4
        for index in range(0, count, max(1, count // _DATA_OF_AN_ITEM)):
            for byte in self._places(logical + index * self._sector_bytes):
                yield from where.expect(
                    byte,
                    self._sector_bytes,
                    "btrfs data",
                    on(_is_data, self._sector_bytes, struct.unpack_from("<I", sums, 4 * index)[0]),
                )

    def _is_node(self, data: bytes, logical: int, level: int) -> bool:
        return (
            len(data) == self.node_bytes
            and data[32:48] == self.uuid
            and struct.unpack_from("<Q", data, 48)[0] == logical
            and data[100] == level
            and _sums(data)
        )

    def _below(self, data: bytes, level: int, owner: int, where: Stretch) -> Iterator[BlockFact]:
        items: int = struct.unpack_from("<I", data, 96)[0]
        if level:
            for index in range(min(items, (len(data) - _HEADER) // 33)):
                child = struct.unpack_from("<Q", data, _HEADER + 33 * index + 17)[0]
                yield from self._tree(child, level - 1, owner, where)
            return
        for index in range(min(items, (len(data) - _HEADER) // 25)):
            at = _HEADER + 25 * index
            _, kind, offset, start, size = struct.unpack_from("<QBQII", data, at)
            item = data[_HEADER + start : _HEADER + start + size]
            if owner == _CHUNK_TREE and kind == _CHUNK_ITEM and size >= 48:
                self._chunk(offset, item)
            elif owner == _ROOT_TREE and kind == _ROOT_ITEM and size >= 239:
                yield from self._tree(struct.unpack_from("<Q", item, 176)[0], item[238], _OTHER, where)
            elif owner == _OTHER and kind == _CHECKSUM_ITEM:
                yield from self._data(offset, item, where)
        if owner == _CHUNK_TREE:
            yield from self._tree(self._root, self._levels[0], _ROOT_TREE, where)


def _is_data(data: bytes, length: int, crc: int) -> bool:
    return len(data) == length and inverted(crc32c(SEED, data)) == crc


def _sums(data: bytes) -> bool:
    stored: int = struct.unpack_from("<I", data, 0)[0]
    return stored == inverted(crc32c(SEED, data[32:]))
