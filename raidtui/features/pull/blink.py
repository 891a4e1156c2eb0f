"""A read blink: short bursts of direct reads make the activity light of a disk blink in a rhythm.

Nothing is written. Each burst reads a few MiB past the page cache, spread over the disk, and ends within its
half of the second; a disk that hangs is read by one thread alone, which no one waits for.
"""

from __future__ import annotations

import mmap
import os
import time

BURST_S = 0.4
_BLOCK_BYTES = 1 << 16
_MOST_READS = 200
_STRIDE = 0.381966


def burst(path: str) -> str:
    """Read here and there for ``BURST_S`` seconds; return why that is not possible, or "".

    Args:
        path: the device.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECT)
    except OSError as error:
        return f"{path} cannot be read: {error.strerror}"
    try:
        size = os.lseek(descriptor, 0, os.SEEK_END)
        blocks = size // _BLOCK_BYTES
        if not blocks:
            return f"{path} is empty"
        with mmap.mmap(-1, _BLOCK_BYTES) as memory:
            end_s = time.monotonic() + BURST_S
            for number in range(_MOST_READS):
                at = int(number * _STRIDE % 1 * blocks)
                os.preadv(descriptor, [memory], at * _BLOCK_BYTES)
                if time.monotonic() >= end_s:
                    break
    except OSError as error:
        return f"{path} cannot be read: {error.strerror}"
    finally:
        os.close(descriptor)
    return ""
