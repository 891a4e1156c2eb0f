"""ext4's inode tables, directories, extent trees and attribute blocks: each has its own checksum.

Source: fs/ext4/inode.c (ext4_inode_csum), fs/ext4/namei.c (ext4_dirblock_csum, ext4_dx_csum),
fs/ext4/extents.c (ext4_extent_block_csum), fs/ext4/xattr.c (ext4_xattr_block_csum).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from msgspec import Struct

from raidtui.features.rescue.search.block_facts import BlockFact, Stretch, on
from raidtui.features.rescue.search.crc32c import crc32c

_ROOT = 2
_TYPES = frozenset({0x1000, 0x2000, 0x4000, 0x6000, 0x8000, 0xA000, 0xC000})
_DIRECTORY, _REGULAR = 0x4000, 0x8000
_LINK = 0xA000
_WITH_BLOCKS = frozenset({_DIRECTORY, _REGULAR, _LINK})
_HUGE, _EXTENTS, _INLINE = 0x40000, 0x80000, 0x10000000
_WRITTEN = 0x8000  # an extent of more blocks than this has room, but nothing is written in it
_EXTENT_MAGIC = 0xF30A
_SECTOR = 512
_DEEPEST = 5
_DIRECT = 12
_MOST_OF_A_DIRECTORY = 64
_TAIL = b"\0\0\0\0\x0c\0\0\xde"


class _File(Struct, frozen=True, kw_only=True):
    """What is known of an inode when its blocks are looked at.

    Args:
        number: of the inode.
        seed: of the checksums of its blocks.
        directory: whether it is one.
    """

    number: int
    seed: int
    directory: bool


class Ext4Inodes(Struct, frozen=True, kw_only=True):
    """What a file system says of its inodes.

    Args:
        seed: of the checksums; None without metadata_csum.
        block_bytes: the block size.
        inode_bytes: the size of an inode.
        blocks: the size of the file system in blocks.
        first_inode: the first that is not reserved.
        clustered: whether inodes count clusters of blocks (bigalloc).
    """

    seed: int | None
    block_bytes: int
    inode_bytes: int
    blocks: int
    first_inode: int
    clustered: bool

    def table_block(
        self, byte: int, first: int, used: tuple[int, ...], where: Stretch, *, old: bool = False
    ) -> BlockFact | None:
        """Return the fact of a block of the inode table; None where it is not in one piece.

        Args:
            byte: where it is in the file system.
            first: the number of its first inode.
            used: the numbers of its inodes that are in use, by the bitmap.
            where: the file system.
            old: whether that is not known: any of them may be in use, or none.
        """
        address = where.at(byte, self.block_bytes)
        expected = tuple(number for number in used if number == _ROOT or number >= self.first_inode)
        if address is None or not expected:
            return None
        return BlockFact(
            address=address,
            length=self.block_bytes,
            kind="ext4 old inode table" if old else "ext4 inode table",
            verify=on(self._is_any_table if old else self._is_table, first, expected),
            learn=on(self._inodes_of, first, expected, where),
            must=not old,
            checked=self.seed is not None,
            loose=self.seed is None,
            soft=self.seed is None,
        )

    def _one(self, data: bytes, first: int, number: int) -> bytes:
        start = (number - first) * self.inode_bytes
        return data[start : start + self.inode_bytes]

    def _is_table(self, data: bytes, first: int, expected: tuple[int, ...]) -> bool:
        return len(data) == self.block_bytes and all(
            self._is_inode(self._one(data, first, number), number) for number in expected
        )

    def _is_any_table(self, data: bytes, first: int, expected: tuple[int, ...]) -> bool:
        if len(data) != self.block_bytes:
            return False
        inodes = [(number, self._one(data, first, number)) for number in expected]
        written = [(number, inode) for number, inode in inodes if any(inode)]
        return bool(written) and all(self._is_inode(inode, number) for number, inode in written)

    def _is_inode(self, inode: bytes, number: int) -> bool:
        mode, links = struct.unpack_from("<H", inode, 0)[0], struct.unpack_from("<H", inode, 26)[0]
        if self.seed is None:
            deleted = struct.unpack_from("<I", inode, 20)[0]
            return mode & 0xF000 in _TYPES and links > 0 and not deleted and self._counts_its_blocks(inode)
        if mode & 0xF000 not in _TYPES:
            return False
        crc = crc32c(self._inode_seed(inode, number), inode[:0x7C] + b"\0\0" + inode[0x7E:128])
        low = struct.unpack_from("<H", inode, 0x7C)[0]
        if self.inode_bytes <= 128:
            return bool(crc & 0xFFFF == low)
        extra: int = struct.unpack_from("<H", inode, 128)[0]
        if extra < 4:
            return bool(crc32c(crc, inode[128:]) & 0xFFFF == low)
        crc = crc32c(crc, inode[128:130] + b"\0\0" + inode[132:])
        return bool(crc == low | struct.unpack_from("<H", inode, 130)[0] << 16)

    def _counts_its_blocks(self, inode: bytes) -> bool:
        """Whether the blocks that an inode names are of the file system, and as many as it says.

        Without a checksum it is this that tells an inode from parity, which has a type and links, too.
        """
        mode, flags = struct.unpack_from("<H", inode, 0)[0] & 0xF000, struct.unpack_from("<I", inode, 32)[0]
        counted = struct.unpack_from("<I", inode, 28)[0] | struct.unpack_from("<H", inode, 116)[0] << 32
        unit = 1 if flags & _HUGE else self.block_bytes // _SECTOR
        attributes = unit * bool(struct.unpack_from("<I", inode, 104)[0])
        if mode not in _WITH_BLOCKS or flags & _INLINE or (mode == _LINK and counted == attributes):
            return True
        named = self._extents_named(inode[40:100]) if flags & _EXTENTS else self._named(inode[40:100])
        if named is None:
            return False
        blocks, whole = named
        expected = unit * blocks + attributes
        return bool(counted == expected if whole and not self.clustered else counted >= expected)

    def _named(self, pointers: bytes) -> tuple[int, bool] | None:
        """Return how many blocks the pointers name, and whether there are no more; None for a wrong one."""
        blocks = struct.unpack("<15I", pointers)
        if any(block >= self.blocks for block in blocks):
            return None
        return sum(map(bool, blocks)), not any(blocks[_DIRECT:])

    def _extents_named(self, node: bytes) -> tuple[int, bool] | None:
        """Return the same of the root of an extent tree."""
        magic, entries, most, depth = struct.unpack_from("<HHHH", node, 0)
        if magic != _EXTENT_MAGIC or entries > most or 12 + 12 * entries > len(node) or depth > _DEEPEST:
            return None
        count, free = 0, 0
        for index in range(entries):
            first, length, high, low = struct.unpack_from("<IHHI", node, 12 + 12 * index)
            if depth:
                length, low, high = 1, *struct.unpack_from("<IH", node, 16 + 12 * index)
            elif length > _WRITTEN:
                length -= _WRITTEN
            if first < free or not 0 < low | high << 32 < self.blocks:
                return None
            free = first + length
            count += length
        return count, not depth

    def _inode_seed(self, inode: bytes, number: int) -> int:
        seed = 0 if self.seed is None else self.seed
        return crc32c(crc32c(seed, struct.pack("<I", number)), inode[100:104])

    def _inodes_of(
        self, data: bytes, first: int, expected: tuple[int, ...], where: Stretch
    ) -> Iterator[BlockFact]:
        for number in expected:
            inode = self._one(data, first, number)
            if not struct.unpack_from("<H", inode, 26)[0]:  # no links: it was deleted
                continue
            yield from self._attributes(inode, where)
            flags: int = struct.unpack_from("<I", inode, 32)[0]
            mode = struct.unpack_from("<H", inode, 0)[0] & 0xF000
            file = _File(
                number=number,
                seed=self._inode_seed(inode, number),
                directory=mode == _DIRECTORY,
            )
            if flags & _INLINE:
                continue
            if flags & _EXTENTS:
                yield from self._extents(inode[40:100], file, where)
            elif file.directory:
                yield from self._direct(struct.unpack_from(f"<{_DIRECT}I", inode, 40), file, where)

    def _direct(self, blocks: tuple[int, ...], file: _File, where: Stretch) -> Iterator[BlockFact]:
        for index, block in enumerate(blocks):
            if block:
                yield from self._directory(block, index, file, where)

    def _attributes(self, inode: bytes, where: Stretch) -> Iterator[BlockFact]:
        block = struct.unpack_from("<I", inode, 104)[0] | struct.unpack_from("<H", inode, 118)[0] << 32
        if block and self.seed is not None:
            yield from where.expect(
                block * self.block_bytes,
                self.block_bytes,
                "ext4 attributes",
                on(self._are_attributes, block),
            )

    def _are_attributes(self, data: bytes, block: int) -> bool:
        if len(data) != self.block_bytes or data[:4] != b"\0\0\x02\xea" or self.seed is None:
            return False
        crc = crc32c(crc32c(self.seed, struct.pack("<Q", block)), data[:16] + bytes(4) + data[20:])
        return bool(struct.unpack_from("<I", data, 16)[0] == crc)

    def _extents(self, node: bytes, file: _File, where: Stretch) -> Iterator[BlockFact]:
        magic, entries, _, depth = struct.unpack_from("<HHHH", node, 0)
        if magic != _EXTENT_MAGIC or 12 + 12 * entries > len(node):
            return
        for index in range(entries):
            first, count, high, low = struct.unpack_from("<IHHI", node, 12 + 12 * index)
            if depth:
                low, high = struct.unpack_from("<IH", node, 16 + 12 * index)
                yield from self._extent_block(low | high << 32, file, where)
            elif count <= _WRITTEN and file.directory:
                for step in range(min(count, _MOST_OF_A_DIRECTORY)):
                    yield from self._directory((low | high << 32) + step, first + step, file, where)

    def _extent_block(self, block: int, file: _File, where: Stretch) -> Iterator[BlockFact]:
        if block < self.blocks:
            yield from where.expect(
                block * self.block_bytes,
                self.block_bytes,
                "ext4 extent tree",
                on(self._is_extent_block, file.seed),
                on(self._extents, file, where),
                checked=self.seed is not None,
            )

    def _is_extent_block(self, data: bytes, seed: int) -> bool:
        if len(data) != self.block_bytes:
            return False
        magic, entries, most, depth = struct.unpack_from("<HHHH", data, 0)
        end = 12 + 12 * most
        if magic != _EXTENT_MAGIC or entries > most or depth > _DEEPEST or end + 4 > len(data):
            return False
        return self.seed is None or crc32c(seed, data[:end]) == struct.unpack_from("<I", data, end)[0]

    def _directory(self, block: int, index: int, file: _File, where: Stretch) -> Iterator[BlockFact]:
        if 0 < block < self.blocks and (self.seed is not None or index == 0):
            yield from where.expect(
                block * self.block_bytes,
                self.block_bytes,
                "ext4 directory",
                on(self._is_directory, index, file.number, file.seed),
                checked=self.seed is not None,
            )

    def _is_directory(self, data: bytes, index: int, number: int, seed: int) -> bool:
        size = self.block_bytes
        if len(data) != size:
            return False
        if index == 0 and (struct.unpack_from("<I", data, 0)[0] != number or data[6:9] != b"\x01\x02."):
            return False
        if self.seed is None:
            return True
        return self._is_leaf(data, seed) or self._is_index(data, seed)

    def _is_leaf(self, data: bytes, seed: int) -> bool:
        """Whether a block of a directory is a leaf; a node of the index may keep the tail of one."""
        crc: int = struct.unpack_from("<I", data, len(data) - 4)[0]
        return data[-12:-4] == _TAIL and crc32c(seed, data[:-12]) == crc

    def _is_index(self, data: bytes, seed: int) -> bool:
        at = 32 if struct.unpack_from("<H", data, 4)[0] == 12 else 8
        limit, count = struct.unpack_from("<HH", data, at)
        tail = at + limit * 8
        if count > limit or tail + 8 > len(data):
            return False
        crc = crc32c(seed, data[: at + count * 8] + data[tail : tail + 4] + bytes(4))
        return bool(crc == struct.unpack_from("<I", data, tail + 4)[0])
