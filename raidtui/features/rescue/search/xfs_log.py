"""XFS's log: each record says at which block of the log it begins.

Source: fs/xfs/libxfs/xfs_log_format.h (xlog_rec_header).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from raidtui.features.rescue.search.block_facts import BlockFact, Stretch, on

_MAGIC = 0xFEEDBABE
_SECTOR = 512
_HEADER_COVERS = 32 << 10


class XfsLog:
    """A log within the file system.

    Args:
        uuid: the file system's.
        start: the log's first byte in the file system.
        size_bytes: its size.
        where: the file system.
    """

    def __init__(self, uuid: bytes, start: int, size_bytes: int, where: Stretch) -> None:
        self._uuid = uuid
        self._start = start
        self._size_bytes = size_bytes
        self._where = where

    def facts(self) -> Iterator[BlockFact]:
        """Yield the first record; each says where the next one is."""
        yield from self._record(0)

    def _record(self, number: int) -> Iterator[BlockFact]:
        address = self._where.at(self._start + number * _SECTOR, _SECTOR)
        if address is not None and (number + 1) * _SECTOR <= self._size_bytes:
            yield BlockFact(
                address=address,
                length=_SECTOR,
                kind="xfs log record",
                verify=on(self._is_record, number),
                learn=on(self._next, number),
                must=False,  # the log goes round: what is next may be in the middle of an older record
                checked=False,
            )

    def _is_record(self, data: bytes, number: int) -> bool:
        return (
            len(data) == _SECTOR
            and struct.unpack_from(">I", data, 0)[0] == _MAGIC
            and struct.unpack_from(">Q", data, 16)[0] & 0xFFFFFFFF == number
            and data[304:320] == self._uuid
        )

    def _next(self, data: bytes, number: int) -> Iterator[BlockFact]:
        version, length = struct.unpack_from(">II", data, 8)
        size = struct.unpack_from(">I", data, 320)[0]
        headers = -(-size // _HEADER_COVERS) if version & 2 and size > _HEADER_COVERS else 1
        yield from self._record(number + headers + -(-length // _SECTOR))
