"""XFS's inodes, directories and extents before version 5: without checksums, and without their own numbers.

An inode names as many blocks as it counts; the first block of a directory has the directory's number.
Source: fs/xfs/libxfs/xfs_format.h (xfs_dinode), xfs_da_format.h (xfs_dir2_data_hdr).
"""

from __future__ import annotations

import struct
from typing import ClassVar

from raidtui.rescue.search.xfs_inodes import XfsInodes, unpacked

_VERSIONS = frozenset({1, 2})
_EXTENTS, _BTREE = 2, 3
_FORMATS = frozenset({0, 1, _EXTENTS, _BTREE})
"""A device's number, contents in the inode itself, extents, a tree of extents."""
_TYPES = frozenset({0x1000, 0x2000, 0x4000, 0x6000, 0x8000, 0xA000, 0xC000})
_EMPTY = 0xFFFFFFFFFFFFFFFF
_DIRECTORY_HEADER = 16


class OldXfsInodes(XfsInodes):
    """What a file system of version 4 says of its inodes."""

    checked: ClassVar[bool] = False
    fork_at: ClassVar[int] = 100
    records_at: ClassVar[int] = 24

    def is_inode(self, inode: bytes, number: int) -> bool:
        """Whether bytes are an inode whose blocks are of the file system, and as many as it says."""
        del number
        if inode[:2] != b"IN" or inode[4] not in _VERSIONS or inode[5] not in _FORMATS:
            return False
        if struct.unpack_from(">H", inode, 2)[0] & 0xF000 not in _TYPES:
            return False
        blocks: int = struct.unpack_from(">Q", inode, 64)[0]
        if inode[5] != _EXTENTS:
            return inode[5] == _BTREE or not blocks or bool(inode[82])
        count, fork = self.extents_of(inode), self.fork_of(inode)
        if 16 * count > len(fork):
            return False
        named, free = 0, 0
        for offset, block, length, _ in unpacked(fork, count):
            if not length or offset < free or not self.has(block, length):
                return False
            free = offset + length
            named += length
        return blocks == named if not inode[82] else blocks >= named

    def extents_of(self, inode: bytes) -> int:
        """Return the number of extents of an inode's data."""
        count: int = struct.unpack_from(">I", inode, 76)[0]
        return count

    def is_directory(self, data: bytes, byte: int, number: int) -> bool:
        """Whether a block is the first one of a directory: its entry "." names the directory."""
        del byte
        if len(data) != self._dir_bytes or data[:4] not in {b"XD2B", b"XD2D"}:
            return False
        own: int = struct.unpack_from(">Q", data, _DIRECTORY_HEADER)[0]
        return own == number and data[_DIRECTORY_HEADER + 8 : _DIRECTORY_HEADER + 10] == b"\x01."

    def is_extent_block(self, data: bytes, byte: int, level: int, number: int) -> bool:
        """Whether a block is one of extents."""
        del byte, number
        if len(data) != self._block_bytes or data[:4] != b"BMAP":
            return False
        depth, records = struct.unpack_from(">HH", data, 4)
        siblings = struct.unpack_from(">QQ", data, 8)
        most = (self._block_bytes - self.records_at) // 16
        return (
            depth == level
            and 0 < records <= most
            and all(each == _EMPTY or self.has(each, 1) for each in siblings)
        )
