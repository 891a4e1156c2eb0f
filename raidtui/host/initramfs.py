"""Files inside an initramfs: cpio archives one after the other, plain or compressed (buffer-format.rst).

It is read as it is unpacked by the kernel, no further than the wanted file, and nothing is written.
"""

from __future__ import annotations

import bz2
import gzip
import importlib
import lzma
import zlib
from collections.abc import Collection
from typing import IO, cast

_MOST_BYTES = 1 << 30
_MOST_FILE = 1 << 20
_MOST_NAME = 1 << 12
_BLOCK = 1 << 20
_HEAD = 110
_CPIO = frozenset({b"070701", b"070702"})
_END = "TRAILER!!!"
_NAMES = {b"\x28\xb5\x2f\xfd": "zstd", b"\x02\x21\x4c\x18": "lz4", b"\x89LZO": "lzo"}


class InitramfsError(Exception):
    """It cannot be read; the message says why, a clause."""


def file_in_initramfs(stream: IO[bytes], wanted: Collection[str]) -> bytes | None:
    """Return the first of these files; None where there is none of them.

    Args:
        stream: the initramfs, from its start; it can be sought.
        wanted: paths without a leading slash.

    Raises:
        InitramfsError: it is no cpio archive, or compressed in a manner that this Python does not read.
    """
    try:
        while True:
            start = _beyond_zeros(stream)
            if start is None:
                return None
            head = stream.read(6)
            stream.seek(start)
            if head not in _CPIO:
                return _Archive(_opened(stream, head)).find(wanted)
            found = _Archive(stream).find(wanted)
            if found is not None:
                return found
    except (OSError, EOFError, ValueError, lzma.LZMAError, zlib.error) as error:
        raise InitramfsError(f"it is damaged: {error}") from error


def _beyond_zeros(stream: IO[bytes]) -> int | None:
    """Seek to the next archive; return where that is, None at the end."""
    at = stream.tell()
    while block := stream.read(_BLOCK):
        rest = block.lstrip(b"\0")
        if rest:
            at += len(block) - len(rest)
            stream.seek(at)
            return at
        at += len(block)
    return None


def _opened(stream: IO[bytes], head: bytes) -> IO[bytes]:
    """Return what is compressed, as it was."""
    if head.startswith(b"\x1f\x8b"):
        return cast("IO[bytes]", gzip.GzipFile(fileobj=stream))
    if head.startswith((b"\xfd7zXZ", b"\x5d\0\0")):
        return cast("IO[bytes]", lzma.LZMAFile(stream))
    if head.startswith(b"BZh"):
        return cast("IO[bytes]", bz2.BZ2File(stream))
    name = next((name for magic, name in _NAMES.items() if head.startswith(magic)), "")
    if name == "zstd":
        try:
            return cast("IO[bytes]", importlib.import_module("compression.zstd").ZstdFile(stream))
        except ImportError as error:
            raise InitramfsError("it is compressed with zstd, which Python reads from 3.14 on") from error
    raise InitramfsError(f"it is compressed with {name}" if name else "it is no cpio archive")


class _Archive:
    """One cpio archive (newc): heads, names and data, each at a multiple of four.

    Args:
        stream: where it begins.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._read = 0

    def find(self, wanted: Collection[str]) -> bytes | None:
        """Return the first of these files; None after the end of the archive."""
        while True:
            head = self._take(_HEAD)
            if head[:6] not in _CPIO:
                raise InitramfsError("it is no cpio archive")
            size, name_size = int(head[54:62], 16), int(head[94:102], 16)
            if name_size > _MOST_NAME:
                raise InitramfsError("it is no cpio archive")
            name = self._take(name_size).rstrip(b"\0").decode("utf-8", "surrogateescape")
            self._align()
            if name == _END:
                return None
            if name.removeprefix("./") in wanted and size:
                return self._take(min(size, _MOST_FILE))
            self._skip(size)
            self._align()

    def _take(self, count: int) -> bytes:
        data = self._stream.read(count)
        self._read += len(data)
        if len(data) < count:
            raise InitramfsError("it ends in the middle")
        if self._read > _MOST_BYTES:
            raise InitramfsError("it is too large")
        return data

    def _skip(self, count: int) -> None:
        while count:
            count -= len(self._take(min(count, _BLOCK)))

    def _align(self) -> None:
        self._skip(-self._read % 4)
