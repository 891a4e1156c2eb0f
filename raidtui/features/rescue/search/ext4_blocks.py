"""Blocks that ext4's inode tables and its journal lead to: each has its own checksum.

What was written last lies in the journal in a known sequence. Sources: include/linux/jbd2.h, fs/jbd2/commit.c
(jbd2_block_tag_csum_set), fs/jbd2/journal.c; fs/ext4/inode.c (ext4_inode_csum), fs/ext4/namei.c
(ext4_dirblock_csum, ext4_dx_csum), fs/ext4/extents.c (ext4_extent_block_csum), fs/ext4/xattr.c
(ext4_xattr_block_csum).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from msgspec import Struct

from raidtui.features.rescue.search.block_facts import BlockFact, Stretch, on
from raidtui.features.rescue.search.crc32c import SEED, crc32c

_ROOT = 2
_TYPES = frozenset({0x1000, 0x2000, 0x4000, 0x6000, 0x8000, 0xA000, 0xC000})
_DIRECTORY, _REGULAR, _LINK = 0x4000, 0x8000, 0xA000
_WITH_BLOCKS = frozenset({_DIRECTORY, _REGULAR, _LINK})
_HUGE, _EXTENTS, _INLINE = 0x40000, 0x80000, 0x10000000
_WRITTEN = 0x8000  # an extent of more blocks than this has room, but nothing is written in it
_EXTENT_MAGIC = 0xF30A
_SECTOR = 512
_DEEPEST = 5
_DIRECT = 12
_MOST_OF_A_DIRECTORY = 64
_TAIL = b"\0\0\0\0\x0c\0\0\xde"
_JOURNAL_MAGIC = 0xC03B3998
_DESCRIPTOR, _COMMIT, _REVOKE = 1, 2, 5
_SUPERBLOCKS = (3, 4)
_CHECKSUMS_V3, _CHECKSUMS_V2, _BITS_64 = 0x10, 0x8, 0x2
_SAME_UUID, _LAST = 2, 8


def _unpack_extents(node: bytes, entries: int, depth: int) -> Iterator[tuple[int, int, int]]:
    """Yield block in the file, number of blocks, and block, of each extent; of an index, its node."""
    for index in range(entries):
        first, count, high, low = struct.unpack_from("<IHHI", node, 12 + 12 * index)
        if depth:
            low, high = struct.unpack_from("<IH", node, 16 + 12 * index)
        yield first, count, low | high << 32


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
        for first, length, block in _unpack_extents(node, entries, depth):
            if first < free or not 0 < block < self.blocks:
                return None
            blocks = 1 if depth else length - _WRITTEN if length > _WRITTEN else length
            free = first + blocks
            count += blocks
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
                for index, block in enumerate(struct.unpack_from(f"<{_DIRECT}I", inode, 40)):
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
        for first, count, block in _unpack_extents(node, entries, depth):
            if depth:
                yield from self._extent_block(block, file, where)
            elif count <= _WRITTEN and file.directory:
                for step in range(min(count, _MOST_OF_A_DIRECTORY)):
                    yield from self._directory(block + step, first + step, file, where)

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
        # A node of the index may keep the tail of a leaf.
        leaf = data[-12:-4] == _TAIL and crc32c(seed, data[:-12]) == struct.unpack("<I", data[-4:])[0]
        return leaf or self._is_index(data, seed)

    def _is_index(self, data: bytes, seed: int) -> bool:
        at = 32 if struct.unpack_from("<H", data, 4)[0] == 12 else 8
        limit, count = struct.unpack_from("<HH", data, at)
        tail = at + limit * 8
        if count > limit or tail + 8 > len(data):
            return False
        crc = crc32c(seed, data[: at + count * 8] + data[tail : tail + 4] + bytes(4))
        return bool(crc == struct.unpack_from("<I", data, tail + 4)[0])


class Ext4Journal:
    """A journal within the file system.

    Args:
        tree: the 60 bytes of the journal inode's extents, as the superblock keeps a copy of them.
        block_bytes: the block size.
        where: the file system.
    """

    def __init__(self, tree: bytes, block_bytes: int, where: Stretch) -> None:
        self._block_bytes = block_bytes
        self._where = where
        magic, entries, most, depth = struct.unpack_from("<HHHH", tree, 0)
        whole = magic == _EXTENT_MAGIC and depth == 0 and entries <= most <= 4
        self._extents = list(_unpack_extents(tree, entries, depth)) if whole else []
        self._seed = SEED
        self._features = 0
        self._blocks = 0

    def facts(self) -> Iterator[BlockFact]:
        """Yield the journal's superblock, which says how the rest is read."""
        for byte in self._places(0):
            yield from self._where.expect(
                byte,
                self._block_bytes,
                "ext4 journal superblock",
                self._is_superblock,
                self._begin,
                loose=True,
                checked=False,
            )

    def _places(self, block: int) -> Iterator[int]:
        """Yield the byte in the file system of a block of the journal; nothing where there is none."""
        for first, count, start in self._extents:
            if first <= block < first + count:
                yield (start + block - first) * self._block_bytes
                return

    def _is_superblock(self, data: bytes) -> bool:
        if len(data) != self._block_bytes:
            return False
        magic, kind, _, size = struct.unpack_from(">IIII", data, 0)
        return bool(magic == _JOURNAL_MAGIC and kind in _SUPERBLOCKS and size == self._block_bytes)

    def _begin(self, data: bytes) -> Iterator[BlockFact]:
        self._blocks, first = struct.unpack_from(">II", data, 16)
        self._features = struct.unpack_from(">I", data, 40)[0]
        self._seed = crc32c(SEED, data[48:64])
        yield from self._header(first, None, frozenset())

    def _header(self, block: int, sequence: int | None, before: frozenset[bytes]) -> Iterator[BlockFact]:
        """Yield the next header; it is none of those before it, which may have the same sequence."""
        for byte in self._places(block) if block < self._blocks else ():
            yield from self._where.expect(
                byte,
                self._block_bytes,
                "ext4 journal",
                on(self._is_header, sequence, before),
                on(self._next, block, before),
                loose=True,
                must=False,  # the journal goes round: what is next may be of an older turn
                checked=False,
                age=lambda data: int.from_bytes(data[8:12], "big"),
            )

    def _is_header(self, data: bytes, sequence: int | None, before: frozenset[bytes]) -> bool:
        if len(data) != self._block_bytes or data in before:
            return False
        magic, kind, number = struct.unpack_from(">III", data, 0)
        return bool(
            magic == _JOURNAL_MAGIC and kind in {_DESCRIPTOR, _COMMIT, _REVOKE} and sequence in {None, number}
        )

    def _next(self, data: bytes, block: int, before: frozenset[bytes]) -> Iterator[BlockFact]:
        kind, sequence = struct.unpack_from(">II", data, 4)
        if kind == _COMMIT:
            yield from self._header(block + 1, sequence + 1, frozenset())
        elif kind == _REVOKE:
            yield from self._header(block + 1, sequence, before | {data})
        else:
            count = 0
            for count, crc in enumerate(self._tags(data), 1):
                if crc is None:
                    continue
                for byte in self._places(block + count):
                    check = on(self._is_logged, sequence, crc)
                    yield from self._where.expect(
                        byte, self._block_bytes, "ext4 journal block", check, must=False
                    )
            yield from self._header(block + count + 1, sequence, before | {data})

    def _tags(self, data: bytes) -> Iterator[int | None]:
        """Yield the checksum of each block that follows a descriptor; None where the journal has none."""
        at = 12
        third = bool(self._features & _CHECKSUMS_V3)
        size = 16 if third else 8 + 2 * bool(self._features & _CHECKSUMS_V2)
        if not third and self._features & _BITS_64:
            size += 4
        while at + size <= len(data):
            if third:
                flags, _, crc = struct.unpack_from(">III", data, at + 4)
                yield crc
            else:
                flags = struct.unpack_from(">H", data, at + 6)[0]
                yield None
            at += size + (0 if flags & _SAME_UUID else 16)
            if flags & _LAST:
                return

    def _is_logged(self, data: bytes, sequence: int, crc: int) -> bool:
        if len(data) != self._block_bytes:
            return False
        return crc32c(crc32c(self._seed, struct.pack(">I", sequence)), data) == crc
