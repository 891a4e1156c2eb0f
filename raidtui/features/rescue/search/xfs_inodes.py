"""XFS's inodes, directories and extent trees, version 5: each block has its checksum and its own number.

Source: fs/xfs/libxfs/xfs_format.h (xfs_dinode, xfs_bmbt_rec), xfs_da_format.h.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from msgspec import Struct

from raidtui.features.rescue.search.block_facts import BlockFact, Stretch, on
from raidtui.features.rescue.search.crc32c import SEED, crc32c, inverted

_DIRECTORY = 0x4000
_MANY_EXTENTS = 0x10
_EXTENTS, _BTREE = 2, 3
_LEAF_BYTE = 32 << 30  # a directory's data end here
_MOST_OF_A_DIRECTORY = 64
_FORK_AT = 176  # where the extents begin in an inode
_RECORDS_AT = 72  # where they begin in a block of extents


def sums(data: bytes, at: int) -> bool:
    """Whether a structure's checksum is right.

    Args:
        data: the whole structure.
        at: where its checksum is.
    """
    stored: int = struct.unpack_from("<I", data, at)[0]
    return stored == inverted(crc32c(SEED, data[:at] + bytes(4) + data[at + 4 :]))


def _unpacked(records: bytes, count: int) -> Iterator[tuple[int, int, int]]:
    """Yield block in the file, block, and number of blocks, of each extent."""
    for index in range(min(count, len(records) // 16)):
        value = int.from_bytes(records[16 * index : 16 * index + 16], "big")
        offset, block = value >> 73 & (1 << 54) - 1, value >> 21 & (1 << 52) - 1
        yield offset, block, value & (1 << 21) - 1


class XfsInodes(Struct, frozen=True, kw_only=True):
    """What a file system says of its inodes.

    Args:
        uuid: in its metadata.
        block_bytes: the block size.
        group_blocks: blocks of each.
        inode_bytes: the size of an inode.
        inode_bits: log2 of inodes in a block.
        group_bits: log2 of a group's blocks, rounded up.
        dir_bytes: the size of a directory block.
    """

    uuid: bytes
    block_bytes: int
    group_blocks: int
    inode_bytes: int
    inode_bits: int
    group_bits: int
    dir_bytes: int

    def chunk(self, group: int, first: int, free: int, holes: int, where: Stretch) -> Iterator[BlockFact]:
        """Yield the blocks of 64 inodes.

        Args:
            group: the allocation group.
            first: the number of the first in the group.
            free: a bit for each that is free.
            holes: a bit for each four that have no blocks.
            where: the file system.
        """
        per_block = 1 << self.inode_bits
        for start in range(0, 64, per_block):
            there = [
                index
                for index in range(start, min(64, start + per_block))
                if not free >> index & 1 and not holes >> index // 4 & 1
            ]
            block = (first >> self.inode_bits) + start // per_block
            byte = (group * self.group_blocks + block) * self.block_bytes
            base = (group << self.group_bits + self.inode_bits) + first + start
            numbers = tuple(base + index - start for index in there)
            if numbers:
                verify, learn = on(self._are_inodes, base, numbers), on(self._learn, base, numbers, where)
                yield from where.expect(byte, self.block_bytes, "xfs inodes", verify, learn)

    def _one(self, data: bytes, base: int, number: int) -> bytes:
        start = (number - base) * self.inode_bytes
        return data[start : start + self.inode_bytes]

    def _are_inodes(self, data: bytes, base: int, numbers: tuple[int, ...]) -> bool:
        return len(data) == self.block_bytes and all(
            self._is_inode(self._one(data, base, number), number) for number in numbers
        )

    def _is_inode(self, inode: bytes, number: int) -> bool:
        """Whether bytes are an inode."""
        return (
            inode[:2] == b"IN"
            and struct.unpack_from(">Q", inode, 152)[0] == number
            and inode[160:176] == self.uuid
            and sums(inode, 100)
        )

    def _learn(self, data: bytes, base: int, numbers: tuple[int, ...], where: Stretch) -> Iterator[BlockFact]:
        for number in numbers:
            inode = self._one(data, base, number)
            mode = struct.unpack_from(">H", inode, 2)[0] & 0xF000
            directory = mode == _DIRECTORY
            fork = self._fork_of(inode)
            if inode[5] == _EXTENTS and directory:
                yield from self._directory(fork, self._extents_of(inode), number, where)
            elif inode[5] == _BTREE:
                yield from self._root(fork, number, where, directory=directory)

    def _extents_of(self, inode: bytes) -> int:
        """Return the number of extents of an inode's data."""
        many = struct.unpack_from(">Q", inode, 120)[0] & _MANY_EXTENTS
        at, form = (24, ">Q") if many else (76, ">I")
        count: int = struct.unpack_from(form, inode, at)[0]
        return count

    def _fork_of(self, inode: bytes) -> bytes:
        """Return the extents of an inode's data, or the root of their tree."""
        return inode[_FORK_AT : _FORK_AT + inode[82] * 8] if inode[82] else inode[_FORK_AT:]

    def _byte(self, block: int) -> int:
        group, within = block >> self.group_bits, block & (1 << self.group_bits) - 1
        return (group * self.group_blocks + within) * self.block_bytes

    def _directory(self, records: bytes, count: int, number: int, where: Stretch) -> Iterator[BlockFact]:
        for offset, block, length in _unpacked(records, count):
            step = self.dir_bytes // self.block_bytes
            if offset * self.block_bytes >= _LEAF_BYTE:
                continue
            for add in range(0, min(length, _MOST_OF_A_DIRECTORY * step), step):
                byte = self._byte(block + add)
                yield from where.expect(
                    byte, self.dir_bytes, "xfs directory", on(self._is_directory, byte, number)
                )

    def _is_directory(self, data: bytes, byte: int, number: int) -> bool:
        """Whether a block is one of a directory."""
        return (
            len(data) == self.dir_bytes
            and data[:4] in {b"XDB3", b"XDD3"}
            and struct.unpack_from(">Q", data, 8)[0] == byte >> 9
            and data[24:40] == self.uuid
            and struct.unpack_from(">Q", data, 40)[0] == number
            and sums(data, 4)
        )

    def _root(self, fork: bytes, number: int, where: Stretch, *, directory: bool) -> Iterator[BlockFact]:
        level, records = struct.unpack_from(">HH", fork, 0)
        most = (len(fork) - 4) // 16
        for index in range(min(records, most)):
            block = struct.unpack_from(">Q", fork, 4 + 8 * most + 8 * index)[0]
            yield from self._extent_block(block, level - 1, number, where, directory=directory)

    def _extent_block(
        self, block: int, level: int, number: int, where: Stretch, *, directory: bool
    ) -> Iterator[BlockFact]:
        byte = self._byte(block)
        if level >= 0:
            verify = on(self._is_extent_block, byte, level, number)
            learn = on(self._below, level, number, where, directory=directory)
            yield from where.expect(byte, self.block_bytes, "xfs extents", verify, learn)

    def _is_extent_block(self, data: bytes, byte: int, level: int, number: int) -> bool:
        """Whether a block is one of the extents of a file."""
        return (
            len(data) == self.block_bytes
            and data[:4] == b"BMA3"
            and struct.unpack_from(">H", data, 4)[0] == level
            and struct.unpack_from(">Q", data, 24)[0] == byte >> 9
            and data[40:56] == self.uuid
            and struct.unpack_from(">Q", data, 56)[0] == number
            and sums(data, 64)
        )

    def _below(
        self, data: bytes, level: int, number: int, where: Stretch, *, directory: bool
    ) -> Iterator[BlockFact]:
        records: int = struct.unpack_from(">H", data, 6)[0]
        if level == 0:
            if directory:
                yield from self._directory(data[_RECORDS_AT:], records, number, where)
            return
        most = (self.block_bytes - _RECORDS_AT) // 16
        for index in range(min(records, most)):
            block = struct.unpack_from(">Q", data, _RECORDS_AT + 8 * most + 8 * index)[0]
            yield from self._extent_block(block, level - 1, number, where, directory=directory)
