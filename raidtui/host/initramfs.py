"""Files inside an initramfs: cpio archives one after the other, plain or compressed (buffer-format.rst).

It is read as the kernel unpacks it, and nothing is written.
"""

from __future__ import annotations

import bz2
import gzip
import importlib
import lzma
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import IO, cast

from raidtui.host.tools import piped_tool

_MOST_BYTES = 1 << 30
_MOST_FILE = 1 << 20
_MOST_NAME = 1 << 12
_BLOCK = 1 << 20
_HEAD = 110
_CPIO = frozenset({b"070701", b"070702"})
_END = "TRAILER!!!"
_TOOLS = {b"\x28\xb5\x2f\xfd": "zstd", b"\x02\x21\x4c\x18": "lz4", b"\x89LZO": "lzop"}
_NAMES = {b"\x28\xb5\x2f\xfd": "zstd", b"\x02\x21\x4c\x18": "lz4", b"\x89LZO": "lzo"}


class InitramfsError(Exception):
    """It cannot be read; the message says why, a clause."""


def walk_initramfs(stream: IO[bytes], wanted: Callable[[str], bool]) -> Iterator[tuple[str, bytes | None]]:
    """Yield the name of each entry, with the content of wanted files; a later one replaces an earlier one.

    What this Python does not decompress, zstd, lz4 or lzop does.

    Args:
        stream: the initramfs, an open file at its start.
        wanted: whether the content of a file with this name, without a leading slash, is wanted.

    Raises:
        InitramfsError: it is not a cpio archive, or compressed in a manner that nothing here reads.
    """
    try:
        while (start := _beyond_zeros(stream)) is not None:
            head = stream.read(6)
            stream.seek(start)
            if head in _CPIO:
                yield from _Archive(stream).walk(wanted)
                continue
            with ExitStack() as stack:
                yield from _Archive(_opened_anyhow(stack, stream, head, start)).walk(wanted)
            return
    except (OSError, EOFError, ValueError, lzma.LZMAError, zlib.error) as error:
        raise InitramfsError(f"it is damaged: {error}") from error


def _opened_anyhow(stack: ExitStack, stream: IO[bytes], head: bytes, start: int) -> IO[bytes]:
    try:
        return _opened(stream, head)
    except InitramfsError:
        tool = next((tool for magic, tool in _TOOLS.items() if head.startswith(magic)), "")
        if not tool or not hasattr(stream, "fileno"):
            raise
        try:
            descriptor = stream.fileno()
        except OSError:
            descriptor = -1  # it is in memory
        if descriptor < 0:
            raise
        os.lseek(descriptor, start, os.SEEK_SET)
        piped = stack.enter_context(piped_tool((tool, "-dc"), descriptor))
        if piped is None:
            raise
        return piped


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
    raise InitramfsError(f"it is compressed with {name}" if name else "it is not a cpio archive")


class _Archive:
    """One cpio archive (newc): heads, names and data, each at a multiple of four.

    Args:
        stream: where it begins.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._read = 0

    def walk(self, wanted: Callable[[str], bool]) -> Iterator[tuple[str, bytes | None]]:
        """Yield each entry's name, and the content of those that are wanted."""
        while True:
            head = self._take(_HEAD)
            if head[:6] not in _CPIO:
                raise InitramfsError("it is not a cpio archive")
            size, name_size = int(head[54:62], 16), int(head[94:102], 16)
            if name_size > _MOST_NAME:
                raise InitramfsError("it is not a cpio archive")
            name = self._take(name_size).rstrip(b"\0").decode("utf-8", "surrogateescape").removeprefix("./")
            self._align()
            if name == _END:
                return
            data = self._take(min(size, _MOST_FILE)) if size and wanted(name) else None
            yield name, data
            self._skip(size - len(data or b""))
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
