"""A look at what a device holds besides its superblock: whether it can be read, whether it is blank.

Only as many places are read as a time allows, spread evenly; the first error ends it: a disk that fails is to
be copied, not read for curiosity.
"""

from __future__ import annotations

import errno
import mmap
import os
import struct
import time
from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from raidtui.host.md.raw_superblock import find_superblocks
from raidtui.host.readers.host_reader import HostReader
from raidtui.model.survey import Superblock

SURFACES = "/.raidtui/surfaces.json"
"""In a capture, the looks at its devices."""
_EDGE_BYTES = 8 << 20
_PIECE_BYTES = 1 << 20
_BLANK_PIECES = 32
"""After so many pieces of zeros, a device counts as blank, and nothing more of it is read."""
_MOST_PIECES = 4096
_EXT_BYTES = 4096
_ALIGNED_BYTES = 4096
_DATA_SECTORS = (0, 16, 272, 2048, 4096, 6144, 10240, 18432, 34816, 67584, 133120, 262144, 264192)
"""Where mdadm's versions begin the data (validate_geometry of super0.c and super1.c)."""
_ZEROS = bytes(_PIECE_BYTES)


class Surface(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a look at a device has found.

    Args:
        device: the kernel's name.
        error: why a place could not be read; "" where all places that were looked at could be.
        error_bytes: where that is, bytes from the start.
        blank: whether all of them hold zeros; None where none could be read.
        silent: whether the device did not answer in time.
        filesystem_s: when the oldest ext file system was made that begins where a member's data may, epoch
            seconds.
        hidden: the first superblock 1.x that is not where mdadm looks for it.
        hidden_sectors: where the device began that it was on.
    """

    device: str
    error: str = ""
    error_bytes: int | None = None
    blank: bool | None = None
    silent: bool = False
    filesystem_s: float | None = None
    hidden: Superblock | None = None
    hidden_sectors: int = 0


def read_surface(
    reader: HostReader, name: str, limit_s: float, data_bytes: int | None = None
) -> Surface | None:
    """Look at a device; return None where it cannot be opened, or is not of the live host.

    Args:
        reader: the host.
        name: the kernel's name.
        limit_s: how long to read.
        data_bytes: where a member's data begin, if that is known.
    """
    if not reader.live:
        return None
    try:
        descriptor = _open(f"/dev/{name}")
    except OSError:
        return None
    try:
        found = _look(descriptor, name, time.monotonic() + limit_s)
        if data_bytes is None or found.error:
            return found
        starts = {data_bytes, *(sector * 512 for sector in _DATA_SECTORS)}
        made_s = [at_s for start in sorted(starts) if (at_s := _filesystem_s(descriptor, start)) is not None]
        return replace(found, filesystem_s=min(made_s, default=None))
    finally:
        os.close(descriptor)


def _open(path: str) -> int:
    """Open past the page cache, where that can be: what is in it says nothing of the disk."""
    try:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECT)
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)


def _filesystem_s(descriptor: int, at: int) -> float | None:
    """Return when an ext2, ext3 or ext4 was made (struct ext4_super_block: s_magic, s_mkfs_time)."""
    with mmap.mmap(-1, _EXT_BYTES) as memory:
        try:
            read = os.preadv(descriptor, [memory], at)
        except OSError:
            return None
        if read < _EXT_BYTES or memory[1024 + 0x38 : 1024 + 0x3A] != b"\x53\xef":
            return None
        made_s: int = struct.unpack_from("<I", memory, 1024 + 0x108)[0]
        return float(made_s) or None


def _look(descriptor: int, name: str, end_s: float) -> Surface:
    size = os.lseek(descriptor, 0, os.SEEK_END)
    blank: bool | None = None
    hidden: tuple[int, Superblock] | None = None
    with mmap.mmap(-1, _PIECE_BYTES) as memory:  # aligned, as O_DIRECT wants it
        for number, at in enumerate(_places(size)):
            if time.monotonic() >= end_s or (blank and number >= _BLANK_PIECES):
                break
            try:
                read = os.preadv(descriptor, [memory], at)
            except OSError as error:
                return Surface(
                    device=name,
                    error=os.strerror(error.errno or errno.EIO),
                    error_bytes=at,
                    blank=blank,
                    hidden=hidden[1] if hidden else None,
                    hidden_sectors=hidden[0] if hidden else 0,
                )
            edge = at < _EDGE_BYTES or at >= size - _EDGE_BYTES
            if blank is False and (hidden is not None or not edge):
                continue  # that it can be read is all there is to know
            piece = memory[:read]
            blank = (blank is not False) and piece == (_ZEROS if read == _PIECE_BYTES else bytes(read))
            if hidden is None and not blank and edge:
                hidden = next((found for found in find_superblocks(piece, at // 512) if found[0] > 0), None)
    return Surface(
        device=name,
        blank=blank,
        hidden=hidden[1] if hidden else None,
        hidden_sectors=hidden[0] if hidden else 0,
    )


def _places(size: int) -> Iterator[int]:
    """Yield where to read: both ends, then everything between by halves, quarters, eighths."""
    pieces = size // _PIECE_BYTES
    edge = min(_EDGE_BYTES // _PIECE_BYTES, pieces)
    ends = dict.fromkeys((*range(edge), *range(pieces - edge, pieces)))
    yield from (piece * _PIECE_BYTES for piece in ends)
    if size % _PIECE_BYTES:
        yield max(0, size - _PIECE_BYTES) // _ALIGNED_BYTES * _ALIGNED_BYTES
    step = max(1, pieces // _MOST_PIECES)
    count = pieces // step
    bits = max(1, (count - 1).bit_length())
    for number in range(1 << bits):
        spread = int(f"{number:0{bits}b}"[::-1], 2)
        if spread < count and spread * step not in ends:
            yield spread * step * _PIECE_BYTES
