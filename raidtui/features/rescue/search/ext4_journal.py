"""ext4's journal: what was written last lies in it in a known sequence, each block with its checksum.

Source: include/linux/jbd2.h, fs/jbd2/commit.c (jbd2_block_tag_csum_set), fs/jbd2/journal.c.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from raidtui.features.rescue.search.block_facts import BlockFact, Stretch, on
from raidtui.features.rescue.search.crc32c import SEED, crc32c

_MAGIC = 0xC03B3998
_DESCRIPTOR, _COMMIT, _REVOKE = 1, 2, 5
_SUPERBLOCKS = (3, 4)
_CHECKSUMS_V3, _CHECKSUMS_V2, _BITS_64 = 0x10, 0x8, 0x2
_SAME_UUID, _LAST = 2, 8
_EXTENT_MAGIC = 0xF30A


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
        self._extents: list[tuple[int, int, int]] = []
        magic, entries, most, depth = struct.unpack_from("<HHHH", tree, 0)
        if magic == _EXTENT_MAGIC and depth == 0 and entries <= most <= 4:
            for index in range(entries):
                first, count, high, low = struct.unpack_from("<IHHI", tree, 12 + 12 * index)
                self._extents.append((first, count, low | high << 32))
        self._seed = SEED
        self._features = 0
        self._blocks = 0

    def facts(self) -> Iterator[BlockFact]:
        """Yield the journal's superblock, which says how the rest is read."""
        address = self._at(0)
        if address is not None:
            yield BlockFact(
                address=address,
                length=self._block_bytes,
                kind="ext4 journal superblock",
                verify=self._is_superblock,
                learn=self._begin,
                loose=True,
                checked=False,
            )

    def _at(self, block: int) -> int | None:
        for first, count, start in self._extents:
            if first <= block < first + count:
                return self._where.at((start + block - first) * self._block_bytes, self._block_bytes)
        return None

    def _is_superblock(self, data: bytes) -> bool:
        if len(data) != self._block_bytes:
            return False
        magic, kind, _, size = struct.unpack_from(">IIII", data, 0)
        return bool(magic == _MAGIC and kind in _SUPERBLOCKS and size == self._block_bytes)

    def _begin(self, data: bytes) -> Iterator[BlockFact]:
        self._blocks, first = struct.unpack_from(">II", data, 16)
        self._features = struct.unpack_from(">I", data, 40)[0]
        self._seed = crc32c(SEED, data[48:64])
        yield from self._header(first, None, frozenset())

    def _header(self, block: int, sequence: int | None, before: frozenset[bytes]) -> Iterator[BlockFact]:
        """Yield the next header; it is none of those before it, which may have the same sequence."""
        address = self._at(block)
        if address is not None and block < self._blocks:
            yield BlockFact(
                address=address,
                length=self._block_bytes,
                kind="ext4 journal",
                verify=on(self._is_header, sequence, before),
                learn=on(self._next, block, before),
                loose=True,
                must=False,  # the journal goes round: what is next may be of an older turn
                checked=False,
                age=_sequence,
            )

    def _is_header(self, data: bytes, sequence: int | None, before: frozenset[bytes]) -> bool:
        if len(data) != self._block_bytes or data in before:
            return False
        magic, kind, number = struct.unpack_from(">III", data, 0)
        return bool(
            magic == _MAGIC and kind in {_DESCRIPTOR, _COMMIT, _REVOKE} and sequence in {None, number}
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
                address = self._at(block + count)
                if crc is not None and address is not None:
                    yield BlockFact(
                        address=address,
                        length=self._block_bytes,
                        kind="ext4 journal block",
                        verify=on(self._is_logged, sequence, crc),
                        must=False,
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


def _sequence(data: bytes) -> int:
    return int.from_bytes(data[8:12], "big")
