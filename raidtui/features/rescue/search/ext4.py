"""ext2, ext3 and ext4: superblocks with their copies, group descriptors, bitmaps.

Source: fs/ext4/ext4.h, fs/ext4/super.c (ext4_group_desc_csum), fs/ext4/bitmap.c.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from raidtui.features.rescue.search.block_facts import BlockFact, Stretch, on
from raidtui.features.rescue.search.crc32c import SEED, crc16, crc32c
from raidtui.features.rescue.search.ext4_blocks import Ext4Inodes, Ext4Journal

MAGIC_AT = 56
SUPERBLOCK_BYTES = 1024
_MAGIC = 0xEF53
_COMPAT_SPARSE2 = 0x200
_INCOMPAT_RECOVER, _INCOMPAT_META_BG, _INCOMPAT_64, _INCOMPAT_SEED = 0x4, 0x10, 0x80, 0x2000
_RO_SPARSE, _RO_GDT_CSUM, _RO_BIGALLOC, _RO_METADATA_CSUM = 0x1, 0x10, 0x200, 0x400
_INODE_UNINIT, _BLOCK_UNINIT = 1, 2
_MOST_BACKUPS = 24
_MOST_DESCRIPTORS = 512
_GROUPS_OF_A_BLOCK = 16
_TABLES_OF_A_GROUP = 64
_OLD_TABLES = 8


def _valid(block: bytes) -> bool:
    """Whether bytes look like a superblock, and its checksum is right where it has one."""
    if len(block) < SUPERBLOCK_BYTES or struct.unpack_from("<H", block, MAGIC_AT)[0] != _MAGIC:
        return False
    inodes, blocks = struct.unpack_from("<II", block, 0)
    first, log_bytes = struct.unpack_from("<II", block, 20)
    per_group, _, inodes_per_group = struct.unpack_from("<III", block, 32)
    if log_bytes > 6 or not blocks or not inodes or first != (log_bytes == 0):
        return False
    if not 0 < per_group <= 8 << 10 + log_bytes or not inodes_per_group:
        return False
    if struct.unpack_from("<I", block, 100)[0] & _RO_METADATA_CSUM:
        stored: int = struct.unpack_from("<I", block, 0x3FC)[0]
        return stored == crc32c(SEED, block[:0x3FC])
    return True


class Ext4:
    """A file system by one of its superblocks.

    Args:
        block: 1,024 valid bytes.
    """

    def __init__(self, block: bytes) -> None:
        low = struct.unpack_from("<I", block, 4)[0]
        self.uuid = block[104:120]
        # What all copies have alike. A sum with other blocks, as parity is, has a part of it at most.
        self.identity = block[:8] + block[20:44] + block[88:90] + block[104:120]
        self.group: int = struct.unpack_from("<H", block, 90)[0]
        compat, incompat, ro = struct.unpack_from("<III", block, 92)
        self._first: int = struct.unpack_from("<I", block, 20)[0]
        self.block_bytes = 1024 << struct.unpack_from("<I", block, 24)[0]
        self._per_group: int = struct.unpack_from("<I", block, 32)[0]
        self._clusters: int = struct.unpack_from("<I", block, 36)[0]
        self._inodes_per_group: int = struct.unpack_from("<I", block, 40)[0]
        high = struct.unpack_from("<I", block, 0x150)[0] if incompat & _INCOMPAT_64 else 0
        self.blocks: int = low | high << 32
        self._groups = -(-(self.blocks - self._first) // self._per_group)
        self._desc_bytes = 32
        if incompat & _INCOMPAT_64:
            self._desc_bytes = max(32, struct.unpack_from("<H", block, 254)[0])
        self._sparse = bool(ro & _RO_SPARSE)
        self._backups = struct.unpack_from("<II", block, 0x24C) if compat & _COMPAT_SPARSE2 else None
        self._meta_first = struct.unpack_from("<I", block, 0x104)[0] if incompat & _INCOMPAT_META_BG else -1
        self._checksums = bool(ro & _RO_METADATA_CSUM)
        self._old_checksums = bool(ro & _RO_GDT_CSUM) and not self._checksums
        self._clustered = bool(ro & _RO_BIGALLOC)
        self.unclean = bool(incompat & _INCOMPAT_RECOVER)
        self.made_s: int = struct.unpack_from("<I", block, 0x108)[0]
        self.seed = SEED
        if self._checksums:
            stored = struct.unpack_from("<I", block, 0x270)[0]
            self.seed = stored if incompat & _INCOMPAT_SEED else crc32c(SEED, self.uuid)
        inode_bytes = (
            struct.unpack_from("<H", block, 88)[0] if struct.unpack_from("<I", block, 76)[0] else 128
        )
        self._inodes = Ext4Inodes(
            seed=self.seed if self._checksums else None,
            block_bytes=self.block_bytes,
            inode_bytes=inode_bytes,
            blocks=self.blocks,
            first_inode=max(11, struct.unpack_from("<I", block, 84)[0]),
            clustered=self._clustered,
        )
        self._inode_bytes = inode_bytes
        self._journal = block[0x10C : 0x10C + 60] if compat & 4 and block[0xFD] == 1 else b""
        self.kind = "ext4" if incompat & 0x40 else "ext3" if compat & 4 else "ext2"

    @classmethod
    def parse(cls, block: bytes) -> Ext4 | None:
        """Return the file system, or None where the bytes are no superblock."""
        return cls(block[:SUPERBLOCK_BYTES]) if _valid(block) else None

    @property
    def size_bytes(self) -> int:
        """How much of the volume it uses."""
        size: int = self.blocks * self.block_bytes
        return size

    @property
    def superblock_at(self) -> int:
        """The byte in the file system at which the superblock lies that it was made from."""
        return self._superblock_byte(self.group)

    def facts(self, where: Stretch) -> Iterator[BlockFact]:
        """Yield what must be where: superblocks and group descriptors."""
        backups = [group for group in self._with_superblock() if group < self._groups]
        yield from self._superblocks(where, backups[:_MOST_BACKUPS])
        yield from self._descriptor_blocks(where, backups[: _MOST_BACKUPS // 2])
        if self._journal:
            yield from Ext4Journal(self._journal, self.block_bytes, where).facts()

    def _with_superblock(self) -> list[int]:
        if self._backups is not None:
            return sorted({0, *self._backups})
        if not self._sparse:
            return list(range(min(self._groups, 200)))
        powers = {0, 1}
        for base in (3, 5, 7):
            group = base
            while group < self._groups:
                powers.add(group)
                group *= base
        return sorted(powers)

    def _superblock_byte(self, group: int) -> int:
        if group == 0:
            return SUPERBLOCK_BYTES
        start: int = (group * self._per_group + self._first) * self.block_bytes
        return start

    def _superblocks(self, where: Stretch, groups: list[int]) -> Iterator[BlockFact]:
        for group in groups:
            yield from where.expect(
                self._superblock_byte(group),
                SUPERBLOCK_BYTES,
                "ext4 superblock",
                on(self._is_superblock, group),
            )

    def _is_superblock(self, data: bytes, group: int) -> bool:
        return (
            _valid(data)
            and data[104:120] == self.uuid
            and struct.unpack_from("<H", data, 90)[0] == (group & 0xFFFF)
        )

    def _descriptor_blocks(self, where: Stretch, backups: list[int]) -> Iterator[BlockFact]:
        per_block = self.block_bytes // self._desc_bytes
        count = -(-self._groups // per_block)
        plain = count if self._meta_first < 0 else min(count, self._meta_first)
        step = max(1, count // _MOST_DESCRIPTORS)
        for index in range(0, count, step):
            if index < plain:
                starts = [group * self._per_group + self._first + 1 + index for group in backups]
                if self._first == 0 and self.block_bytes == 1024:
                    starts[0] += 1
            else:
                first = index * per_block
                starts = [first * self._per_group + self._first + (first in self._with_superblock())]
            for copy, start in enumerate(starts):
                yield from where.expect(
                    start * self.block_bytes,
                    self.block_bytes,
                    "ext4 group descriptors",
                    on(self._are_descriptors, index * per_block),
                    on(self._groups_of, index * per_block, where, copy=copy > 0),
                    checked=self._checksums or self._old_checksums,
                    loose=not (self._checksums or self._old_checksums),
                    must=not copy or index < plain,
                )

    def _descriptors(self, data: bytes, first: int) -> Iterator[tuple[int, bytes]]:
        for index in range(min(len(data) // self._desc_bytes, self._groups - first)):
            yield first + index, data[index * self._desc_bytes : (index + 1) * self._desc_bytes]

    def _are_descriptors(self, data: bytes, first: int) -> bool:
        if len(data) != self.block_bytes:
            return False
        return all(self._is_descriptor(one, group) for group, one in self._descriptors(data, first))

    def _is_descriptor(self, one: bytes, group: int) -> bool:
        stored: int = struct.unpack_from("<H", one, 0x1E)[0]
        number = struct.pack("<I", group)
        if self._checksums:
            crc = crc32c(crc32c(self.seed, number), one[:0x1E] + b"\0\0" + one[0x20:])
            if crc & 0xFFFF != stored:
                return False
        elif self._old_checksums:
            crc = crc16(crc16(crc16(0xFFFF, self.uuid), number), one[:0x1E])
            if crc16(crc, one[0x20:]) != stored:
                return False
        return all(0 < block < self.blocks for block in self._tables(one))

    def _tables(self, one: bytes) -> tuple[int, int, int]:
        low = struct.unpack_from("<III", one, 0)
        high = struct.unpack_from("<III", one, 32) if self._desc_bytes >= 64 else (0, 0, 0)
        return low[0] | high[0] << 32, low[1] | high[1] << 32, low[2] | high[2] << 32

    def _field(self, one: bytes, low: int, high: int) -> int:
        value: int = struct.unpack_from("<H", one, low)[0]
        if self._desc_bytes >= 64:
            value |= struct.unpack_from("<H", one, high)[0] << 16
        return value

    def _groups_of(self, data: bytes, first: int, where: Stretch, *, copy: bool) -> Iterator[BlockFact]:
        groups = list(self._descriptors(data, first))
        step = max(1, len(groups) // _GROUPS_OF_A_BLOCK) if self._groups > 1024 else 1
        for group, one in groups[::step]:
            yield from self._bitmaps(group, one, where, must=not copy and not self.unclean)
            if copy:  # its counts and checksums may be as old as the file system, its places are right
                yield from self._old_table(self._tables(one)[2], group, where)

    def _old_table(self, table: int, group: int, where: Stretch) -> Iterator[BlockFact]:
        per_block = self.block_bytes // self._inode_bytes
        count = self._inodes_per_group // per_block
        for index in sorted({*range(_OLD_TABLES), *range(0, count, max(1, count // _OLD_TABLES))}):
            first = group * self._inodes_per_group + index * per_block + 1
            numbers = tuple(range(first, first + per_block))
            fact = self._inodes.table_block(
                (table + index) * self.block_bytes, first, numbers, where, old=True
            )
            if fact is not None:
                yield fact

    def _bitmaps(self, group: int, one: bytes, where: Stretch, *, must: bool) -> Iterator[BlockFact]:
        blocks, inodes, table = self._tables(one)
        flags = struct.unpack_from("<H", one, 0x12)[0] if self._checksums or self._old_checksums else 0
        # What the last group lacks is marked as used, and not counted.
        free = self._field(one, 0x0C, 0x2C) if group < self._groups - 1 else None
        empty = not self._checksums and free == self._clusters  # it is all zero, as many blocks are
        if not flags & _BLOCK_UNINIT and not empty:
            yield from where.expect(
                blocks * self.block_bytes,
                self.block_bytes,
                "ext4 block bitmap" if must else "ext4 old block bitmap",
                on(self._is_bitmap, self._clusters // 8, self._field(one, 0x18, 0x38), free),
                must=must,
                checked=self._checksums,
            )
        length, free = self._inodes_per_group // 8, self._field(one, 0x0E, 0x2E)
        empty = not self._checksums and free == self._inodes_per_group
        if not flags & _INODE_UNINIT and not empty:
            yield from where.expect(
                inodes * self.block_bytes,
                self.block_bytes,
                "ext4 inode bitmap" if must else "ext4 old inode bitmap",
                on(self._is_bitmap, length, self._field(one, 0x1A, 0x3A), free),
                on(self._inode_blocks, group, table, self._field(one, 0x1C, 0x32), where),
                must=must,
                checked=self._checksums,
            )

    def _is_bitmap(self, data: bytes, length: int, stored: int, free: int | None) -> bool:
        if len(data) != self.block_bytes:
            return False
        used = int.from_bytes(data[:length], "little").bit_count()
        if free is not None and not self._clustered and length * 8 - used != free:
            return False
        if not self._checksums:  # its count is all that says it
            return used > 0
        crc = crc32c(self.seed, data[:length])
        return stored == (crc if self._desc_bytes >= 64 else crc & 0xFFFF)

    def _inode_blocks(
        self, bitmap: bytes, group: int, table: int, unused: int, where: Stretch
    ) -> Iterator[BlockFact]:
        per_block = self.block_bytes // self._inode_bytes
        bits = int.from_bytes(bitmap[: self._inodes_per_group // 8], "little")
        mask = (1 << per_block) - 1
        end = (self._inodes_per_group - unused) // per_block
        used = [index for index in range(end) if bits >> index * per_block & mask]
        step = max(1, len(used) // _TABLES_OF_A_GROUP)
        for index in used[::step]:
            first = group * self._inodes_per_group + index * per_block + 1
            marks = bits >> index * per_block & mask
            there = tuple(first + bit for bit in range(per_block) if marks >> bit & 1)
            fact = self._inodes.table_block((table + index) * self.block_bytes, first, there, where)
            if fact is not None:
                yield fact
