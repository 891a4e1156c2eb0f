"""The start and the end of a device: where superblocks are."""

from __future__ import annotations

import contextlib
import os

from raidtui.host.readers.host_reader import HostReader

EDGE_BYTES = 1 << 20
LOOKED_AT_BYTES = 192 << 10
_MAGICS = (
    *(b"\xfc\x4e\x2b\xa9", b"\xa9\x2b\x4e\xfc"),  # md's own, 0xa92b4efc, in either order of bytes
    *(b"\xde\x11\xde\x11", b"\x11\xde\x11\xde"),  # DDF
    b"Intel Raid ISM Cfg Sig",
)


def read_edges(reader: HostReader, name: str, edge_bytes: int = EDGE_BYTES) -> tuple[bytes, bytes] | None:
    """Return the first and last bytes of a device; None where it cannot be read."""
    if not reader.live:
        return None
    with contextlib.suppress(OSError):
        descriptor = os.open(f"/dev/{name}", os.O_RDONLY | os.O_CLOEXEC)
        try:
            size = os.lseek(descriptor, 0, os.SEEK_END)
            first = os.pread(descriptor, edge_bytes, 0)
            last = os.pread(descriptor, edge_bytes, max(0, size - edge_bytes))
        finally:
            os.close(descriptor)
        return first, last
    return None


def may_have_superblock(edges: tuple[bytes, bytes] | None) -> bool:
    """Whether mdadm might find a superblock: one of its magic numbers is there, or nothing could be read.

    mdadm looks in the first 8 KiB and the last 128 KiB (super0.c, super1.c, super-ddf.c, super-intel.c).

    Args:
        edges: the start and the end of the device, ``LOOKED_AT_BYTES`` or more of each; None where they
            cannot be read.
    """
    if edges is None:
        return True
    first, last = edges[0][:LOOKED_AT_BYTES], edges[1][-LOOKED_AT_BYTES:]
    return any(magic in first or magic in last for magic in _MAGICS)
