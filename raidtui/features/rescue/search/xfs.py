"""XFS version 5: superblocks, headers of allocation groups, B-trees, and the log.

Each block has a checksum, the file system's UUID and its own number. Source: fs/xfs/libxfs/xfs_format.h,
xfs_btree.h, xfs_da_format.h, xfs_log_format.h (xlog_rec_header).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from msgspec import Struct

from raidtui.features.rescue.search.block_facts import BlockFact, Stretch, on
from raidtui.features.rescue.search.crc32c import SEED, crc32c, inverted
from raidtui.features.rescue.search.xfs_inodes import XfsInodes, sums

_LOG_MAGIC = 0xFEEDBABE
_SECTOR = 512
_HEADER_COVERS = 32 << 10
MAGIC = b"XFSB"
SUPERBLOCK_BYTES = 512
_META_UUID, _SPARSE_INODES = 4, 2
_MOST_GROUPS = 64
_MOST_LEVELS = 8
_TREE_HEADER = 56
_TREES = ((16, 28, b"AB3B"), (20, 32, b"AB3C"), (24, 36, b"RMB3"))  # root and levels in the AGF


class XfsLog(Struct, frozen=True):
    """A log within the file system.

    Args:
        uuid: the file system's.
        start: the log's first byte in the file system.
        size_bytes: its size.
        where: the file system.
    """

    uuid: bytes
    start: int
    size_bytes: int
    where: Stretch

    def facts(self) -> Iterator[BlockFact]:
        """Yield the first record; each says where the next one is."""
        yield from self._record(0)

    def _record(self, number: int) -> Iterator[BlockFact]:
        if (number + 1) * _SECTOR <= self.size_bytes:
            yield from self.where.expect(
                self.start + number * _SECTOR,
                _SECTOR,
                "xfs log record",
                on(self._is_record, number),
                on(self._next, number),
                must=False,  # the log goes round: what is next may be in the middle of an older record
                checked=False,
            )

    def _is_record(self, data: bytes, number: int) -> bool:
        return (
            len(data) == _SECTOR
            and struct.unpack_from(">I", data, 0)[0] == _LOG_MAGIC
            and struct.unpack_from(">Q", data, 16)[0] & 0xFFFFFFFF == number
            and data[304:320] == self.uuid
        )

    def _next(self, data: bytes, number: int) -> Iterator[BlockFact]:
        version, length = struct.unpack_from(">II", data, 8)
        size = struct.unpack_from(">I", data, 320)[0]
        headers = -(-size // _HEADER_COVERS) if version & 2 and size > _HEADER_COVERS else 1
        yield from self._record(number + headers + -(-length // _SECTOR))


class Xfs:
    """A file system by its superblock.

    Args:
        block: at least 512 valid bytes.
    """

    kind = "xfs"

    def __init__(self, block: bytes) -> None:
        self.block_bytes: int = struct.unpack_from(">I", block, 4)[0]
        self.blocks: int = struct.unpack_from(">Q", block, 8)[0]
        self.uuid = block[32:48]
        self._group_blocks: int = struct.unpack_from(">I", block, 84)[0]
        self._groups: int = struct.unpack_from(">I", block, 88)[0]
        self._sector: int = struct.unpack_from(">H", block, 102)[0]
        incompat = struct.unpack_from(">I", block, 216)[0]
        self._own = block[248:264] if incompat & _META_UUID else self.uuid
        self._sparse = bool(incompat & _SPARSE_INODES)
        self._log = struct.unpack_from(">Q", block, 48)[0], struct.unpack_from(">I", block, 96)[0]
        self._group_bits = block[124]
        self._inodes = XfsInodes(
            uuid=self._own,
            block_bytes=self.block_bytes,
            group_blocks=self._group_blocks,
            inode_bytes=struct.unpack_from(">H", block, 104)[0],
            inode_bits=block[123],
            group_bits=block[124],
            dir_bytes=self.block_bytes << block[192],
        )
        self.made_s = 0
        self.unclean = False

    @classmethod
    def parse(cls, block: bytes) -> Xfs | None:
        """Return the file system, or None where the bytes are no superblock."""
        if len(block) < SUPERBLOCK_BYTES or block[:4] != MAGIC:
            return None
        size, group = struct.unpack_from(">I", block, 4)[0], struct.unpack_from(">I", block, 84)[0]
        sector, inode = struct.unpack_from(">HH", block, 102)
        version: int = struct.unpack_from(">H", block, 100)[0] & 0xF
        if size not in {1 << bits for bits in range(9, 17)} or version != 5 or not group:
            return None
        if sector not in {512, 1024, 2048, 4096} or inode not in {256, 512, 1024, 2048}:
            return None
        if not 0 < block[124] < 32 or block[123] > 8 or not struct.unpack_from(">I", block, 88)[0]:
            return None
        if sector <= len(block) and not sums(block[:sector], 224):
            return None
        return cls(block)

    @property
    def size_bytes(self) -> int:
        """How much of the volume it uses."""
        return self.blocks * self.block_bytes

    @property
    def superblock_at(self) -> int:
        """The byte in the file system at which the superblock lies that it was made from."""
        return 0

    @property
    def sector_bytes(self) -> int:
        """The sector size: each header of a group has a sector."""
        return self._sector

    def group_of_header(self, header: bytes) -> int | None:
        """Return the number in the header of an allocation group (XAGF, XAGI), or None where it is none."""
        if header[:4] not in {b"XAGF", b"XAGI"} or len(header) < self._sector:
            return None
        number: int = struct.unpack_from(">I", header, 8)[0]
        return number if number < self._groups else None

    def header_at(self, number: int, magic: bytes) -> int:
        """Return the byte in the file system of a group's header."""
        sector = {b"XAGF": 1, b"XAGI": 2}[magic]
        return number * self._group_blocks * self.block_bytes + sector * self._sector

    def facts(self, where: Stretch) -> Iterator[BlockFact]:
        """Yield what must be where: the superblocks and headers of the allocation groups."""
        start, blocks = self._log
        if start:  # 0: on a device of its own
            group, within = start >> self._group_bits, start & (1 << self._group_bits) - 1
            byte = (group * self._group_blocks + within) * self.block_bytes
            yield from XfsLog(self.uuid, byte, blocks * self.block_bytes, where).facts()
        step = max(1, self._groups // _MOST_GROUPS)
        for number in range(0, self._groups, step):
            start = number * self._group_blocks * self.block_bytes
            yield from self._header(where, number, start, 0, MAGIC)
            yield from self._header(where, number, start, 1, b"XAGF")
            yield from self._header(where, number, start, 2, b"XAGI")
            yield from self._header(where, number, start, 3, b"XAFL")

    def _header(
        self, where: Stretch, number: int, start: int, sector: int, magic: bytes
    ) -> Iterator[BlockFact]:
        learn = {b"XAGF": self._free_space, b"XAGI": self._inode_trees}.get(magic)
        yield from where.expect(
            start + sector * self._sector,
            self._sector,
            f"xfs {magic.decode()}",
            on(self._is_header, number, magic),
            None if learn is None else on(learn, number, where),
        )

    def _is_header(self, data: bytes, number: int, magic: bytes) -> bool:
        if len(data) != self._sector or data[:4] != magic:
            return False
        if magic == MAGIC:
            return data[32:48] == self.uuid and sums(data, 224)
        if struct.unpack_from(">I", data, 4 if magic == b"XAFL" else 8)[0] != number:
            return False
        uuid_at, crc_at = {b"XAGF": (64, 216), b"XAGI": (296, 312), b"XAFL": (8, 32)}[magic]
        return data[uuid_at : uuid_at + 16] == self._own and sums(data, crc_at)

    def _free_space(self, data: bytes, number: int, where: Stretch) -> Iterator[BlockFact]:
        for root_at, levels_at, magic in _TREES:
            root, levels = (
                struct.unpack_from(">I", data, root_at)[0],
                struct.unpack_from(">I", data, levels_at),
            )
            if root and 0 < levels[0] < _MOST_LEVELS:
                yield from self._tree(where, number, root, levels[0] - 1, magic)

    def _inode_trees(self, data: bytes, number: int, where: Stretch) -> Iterator[BlockFact]:
        for at, magic in ((20, b"IAB3"), (328, b"FIB3")):
            root, levels = struct.unpack_from(">II", data, at)
            if root and 0 < levels < _MOST_LEVELS:
                yield from self._tree(where, number, root, levels - 1, magic)

    def _tree(self, where: Stretch, number: int, block: int, level: int, magic: bytes) -> Iterator[BlockFact]:
        byte = (number * self._group_blocks + block) * self.block_bytes
        if block < self._group_blocks:
            verify = on(self._is_node, byte, level, number, magic)
            learn = on(self._below, number, level, magic, where)
            yield from where.expect(byte, self.block_bytes, f"xfs {magic.decode()}", verify, learn)

    def _is_node(self, data: bytes, byte: int, level: int, number: int, magic: bytes) -> bool:
        return (
            len(data) == self.block_bytes
            and data[:4] == magic
            and struct.unpack_from(">H", data, 4)[0] == level
            and struct.unpack_from(">Q", data, 16)[0] == byte >> 9
            and data[32:48] == self._own
            and struct.unpack_from(">I", data, 48)[0] == number
            and struct.unpack_from("<I", data, 52)[0]
            == inverted(crc32c(SEED, data[:52] + bytes(4) + data[56:]))
        )

    def _below(
        self, data: bytes, number: int, level: int, magic: bytes, where: Stretch
    ) -> Iterator[BlockFact]:
        records: int = struct.unpack_from(">H", data, 6)[0]
        if level:
            key = {b"AB3B": 8, b"AB3C": 8, b"RMB3": 40}.get(magic, 4)
            most = (self.block_bytes - _TREE_HEADER) // (key + 4)
            for index in range(min(records, most)):
                child = struct.unpack_from(">I", data, _TREE_HEADER + most * key + 4 * index)[0]
                yield from self._tree(where, number, child, level - 1, magic)
        elif magic == b"IAB3":
            start = _TREE_HEADER
            for index in range(min(records, (self.block_bytes - start) // 16)):
                first, _, free = struct.unpack_from(">IIQ", data, start + 16 * index)
                holes = struct.unpack_from(">H", data, start + 4 + 16 * index)[0] if self._sparse else 0
                yield from self._inodes.chunk(number, first, free, holes, where)
