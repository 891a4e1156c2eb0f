"""Which files of a mounted file system lie at given places: each is asked where it lies (FIEMAP).

Linux, Documentation/filesystems/fiemap.rst. Nothing is written out for it: FIEMAP_FLAG_SYNC is not given.
"""

from __future__ import annotations

import fcntl
import os
import stat
import struct
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

_FIEMAP = 0xC020660B
_HEAD = struct.Struct("=QQIIII")
_EXTENT = struct.Struct("=QQQQQIIII")
_MOST = 128
_LAST, _NOT_PLACED = 1, 2 | 4 | 8  # unknown, delayed allocation, encoded


def files_at(
    top: str, spans: Sequence[tuple[int, int]], cancelled: Callable[[], bool] = lambda: False
) -> list[tuple[int, int, int, str]]:
    """Return what of files and folders lies in stretches of the device: first byte, end, inode, path.

    Args:
        top: where the file system is mounted; other file systems below are left out.
        spans: bytes of its device: first, and the one after the last.
        cancelled: whether to end.

    Raises:
        OSError: the mount point cannot be read.
    """
    low, high = min(first for first, _ in spans), max(end for _, end in spans)
    found = []
    device = Path(top).stat().st_dev
    for path in _all_files(top, device):
        if cancelled():
            break
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            continue
        try:
            opened = os.fstat(descriptor)
            if opened.st_dev != device or not (stat.S_ISREG(opened.st_mode) or stat.S_ISDIR(opened.st_mode)):
                continue  # another one has its name by now
            inode = opened.st_ino
            for start, length in extents(descriptor):
                if start >= high or start + length <= low:
                    continue
                for first, end in spans:
                    if start < end and first < start + length:
                        cut = max(first, start), min(end, start + length)
                        found.append((*cut, inode, "/" + os.path.relpath(path, top).removeprefix(".")))
        except OSError:
            continue
        finally:
            os.close(descriptor)
    return sorted(found)


def extents(descriptor: int) -> Iterator[tuple[int, int]]:
    """Return where an open file lies: first byte on its device, and length.

    Raises:
        OSError: the file system does not say.
    """
    start = 0
    while True:
        buffer = bytearray(_HEAD.pack(start, (1 << 64) - 1 - start, 0, 0, _MOST, 0))
        buffer += bytes(_EXTENT.size * _MOST)
        fcntl.ioctl(descriptor, _FIEMAP, buffer)
        count = _HEAD.unpack_from(buffer)[3]
        if not count:
            return
        for number in range(count):
            fields = _EXTENT.unpack_from(buffer, _HEAD.size + number * _EXTENT.size)
            logical, physical, length, flags = fields[0], fields[1], fields[2], fields[5]
            if not flags & _NOT_PLACED:
                yield physical, length
            if flags & _LAST:
                return
            start = logical + length


def _all_files(top: str, device: int) -> Iterator[str]:
    """Return all folders and regular files of one file system."""
    waiting = [top]
    while waiting:
        folder = waiting.pop()
        yield folder
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        if entry.stat(follow_symlinks=False).st_dev == device:
                            waiting.append(entry.path)
                    elif entry.is_file(follow_symlinks=False):
                        yield entry.path
        except OSError:
            continue
