"""Read files of unknown origin without blocking and without filling the memory.

A FIFO, a device or an endless file may have any name in a folder that is read. Standard library only: the
first frame reads files with this, too.
"""

from __future__ import annotations

import errno
import os
import stat

LARGEST_FILE = 8 << 20
"""No file that is read here is larger: /proc/mdstat of 1000 arrays has 1 MiB."""
_CHUNK = 1 << 20
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY


def read_regular(path: str, most_bytes: int = LARGEST_FILE) -> bytes:
    """Return the bytes of a regular file.

    Raises:
        OSError: as the kernel gave it; EISDIR or EINVAL for other kinds of file, EFBIG for a larger one.
    """
    descriptor = open_regular(path)
    try:
        return read_all(descriptor, path, most_bytes)
    finally:
        os.close(descriptor)


def open_regular(path: str) -> int:
    """Return a descriptor of a regular file.

    Raises:
        OSError: as the kernel gave it; EISDIR or EINVAL for other kinds of file.
    """
    descriptor = os.open(path, _FLAGS)
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return descriptor
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    raise OSError(errno.EINVAL, "not a regular file", path)


def read_all(descriptor: int, path: str, most_bytes: int = LARGEST_FILE, first: bytes = b"") -> bytes:
    """Return a file's bytes; ``first`` has been read already.

    Raises:
        OSError: as the kernel gave it; EFBIG for a larger file.
    """
    parts, total = [first], len(first)
    while data := os.pread(descriptor, _CHUNK, total):
        parts.append(data)
        total += len(data)
        if total > most_bytes:
            raise OSError(errno.EFBIG, f"larger than {most_bytes >> 20} MiB", path)
    return b"".join(parts)
