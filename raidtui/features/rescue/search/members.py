"""Members as they are read: devices and image files, opened for reading only, with what was read counted."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Sequence
from typing import Protocol

from raidtui.features.rescue.search.galois import xor

_KEPT_BLOCKS = 2048
_LARGEST_KEPT = 16 << 10


class Source(Protocol):
    """Something that is read like a member."""

    @property
    def name(self) -> str:
        """What it is called in results."""

    def read(self, offset: int, length: int) -> bytes:
        """Return bytes; b"" where they cannot be read or do not exist."""


class OpenMember:
    """A device or an image file.

    Args:
        path: where it is.
        name: what it is called in results; the last part of the path otherwise.

    Raises:
        OSError: it cannot be opened.
    """

    def __init__(self, path: str, name: str = "") -> None:
        self.path = path
        self._name = name or path.rpartition("/")[2]
        self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        self.size_bytes = os.lseek(self._descriptor, 0, os.SEEK_END)
        self.bytes_read = 0
        self.unreadable: set[int] = set()
        self._kept: OrderedDict[tuple[int, int], bytes] = OrderedDict()

    @property
    def name(self) -> str:
        """What it is called in results."""
        return self._name

    def read(self, offset: int, length: int) -> bytes:
        """Return bytes of the device; b"" where they cannot be read or lie outside of it."""
        if offset < 0 or offset + length > self.size_bytes:
            return b""
        key = (offset, length)
        kept = self._kept.get(key)
        if kept is not None:
            return kept
        try:
            data = os.pread(self._descriptor, length, offset)
        except OSError:
            self.unreadable.add(offset)
            data = b""
        self.bytes_read += len(data)
        if len(data) != length:
            data = b""
        if length <= _LARGEST_KEPT:
            self._kept[key] = data
            if len(self._kept) > _KEPT_BLOCKS:
                self._kept.popitem(last=False)
        return data

    def close(self) -> None:
        """Close the device."""
        os.close(self._descriptor)


class Rebuilt:
    """The member that is missing from an array with one parity: the XOR of all others.

    Args:
        others: the members that are there.
        name: what it is called in results.
    """

    def __init__(self, others: Sequence[Source], name: str) -> None:
        self._others = others
        self._name = name

    @property
    def name(self) -> str:
        """What it is called in results."""
        return self._name

    def read(self, offset: int, length: int) -> bytes:
        """Return bytes that the member had; b"" where one of the others cannot be read."""
        return xor([source.read(offset, length) for source in self._others])
