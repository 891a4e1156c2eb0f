"""What files say of where they lie: their last blocks end where their sizes say, and text is text throughout.

A file system writes zeros behind the end of a file. No checksum says it, and where all other members have
zeros in a row, parity looks the same: such a block counts for less than one with a checksum.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from raidtui.rescue.search.block_facts import BlockFact, Stretch, on

_LEAST_ZEROS = 16
_LEAST_TEXT = 64
_MOST_OF_A_TEXT = 24
_CONTROLS = bytes(byte for byte in (*range(32), 127) if byte not in b"\t\n\r\x0c\x1b")


class FileContent:
    """A file as far as its content may be recognised.

    Args:
        kind: the file system, in words.
        size: of the file in bytes.
        extents: first block in the file, number of blocks, byte in the file system; only those with data.
        block_bytes: the block size.
        where: the file system.
    """

    def __init__(
        self,
        *,
        kind: str,
        size: int,
        extents: Sequence[tuple[int, int, int]],
        block_bytes: int,
        where: Stretch,
    ) -> None:
        self._kind = kind
        self._last, self._used = divmod(size, block_bytes)
        self._extents = tuple(extents)
        self._block_bytes = block_bytes
        self._where = where

    def facts(self) -> Iterator[BlockFact]:
        """Yield how the last block looks, if it is not full."""
        address = self._address(self._last)
        if address is not None and 0 < self._used <= self._block_bytes - _LEAST_ZEROS:
            yield BlockFact(
                address=address,
                length=self._block_bytes,
                kind=f"{self._kind} file end",
                verify=self._is_end,
                learn=self._text,
                must=False,
                checked=False,
                soft=True,
            )

    def _address(self, block: int) -> int | None:
        for first, count, start in self._extents:
            if first <= block < first + count:
                return self._where.at(start + (block - first) * self._block_bytes, self._block_bytes)
        return None

    def _is_end(self, data: bytes) -> bool:
        used = self._used
        return len(data) == self._block_bytes and data[used - 1] != 0 and not any(data[used:])

    def _text(self, data: bytes) -> Iterator[BlockFact]:
        """Yield that the blocks before the last are text, if the last is."""
        if self._used < _LEAST_TEXT or not is_text(data[: self._used]):
            return
        for block in range(0, self._last, max(1, self._last // _MOST_OF_A_TEXT)):
            address = self._address(block)
            if address is not None:
                yield BlockFact(
                    address=address,
                    length=self._block_bytes,
                    kind=f"{self._kind} text",
                    verify=on(_is_block_of_text, self._block_bytes),
                    must=False,
                    checked=False,
                    soft=True,
                )


def _is_block_of_text(data: bytes, length: int) -> bool:
    return len(data) == length and is_text(data)


def is_text(data: bytes) -> bool:
    """Whether bytes are a piece of a text in ASCII or UTF-8; its ends may cut a character."""
    if len(data.translate(None, _CONTROLS)) != len(data):
        return False
    head = next((at for at, byte in enumerate(data[:4]) if byte & 0xC0 != 0x80), 4)
    try:
        data[head:].decode()
    except UnicodeDecodeError as error:
        return head + error.start >= len(data) - 3
    return head < 4
