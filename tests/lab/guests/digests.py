"""Digests of a guest's disks, from their files on this machine: the guest has nothing to read for them."""

import contextlib
import hashlib
import os
from collections.abc import Sequence

from tests.lab.guests.guest import Guest

_BLOCK = 1 << 16


def digests(guest: Guest, disks: Sequence[str] | None = None) -> dict[str, str]:
    """A digest of each disk, or of these, as the host sees it, below the guest's kernel and its caches.

    Blocks of zeros count as holes, so that a sparse file is read where there is something in it.
    """
    guest.flush()
    files = dict(zip(guest.disks, guest.disk_files, strict=True))
    return {name: _digest(str(files[name])) for name in (guest.disks if disks is None else disks)}


def _digest(path: str) -> str:
    found, at = hashlib.sha256(), 0
    descriptor = os.open(path, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # ENXIO: from here on there is nothing but a hole
            while True:
                data = os.lseek(descriptor, at, os.SEEK_DATA)
                for at in range(data // _BLOCK * _BLOCK, os.lseek(descriptor, data, os.SEEK_HOLE), _BLOCK):
                    block = os.pread(descriptor, _BLOCK, at)
                    if block.count(0) != len(block):
                        found.update(at.to_bytes(8, "little") + block)
                at += _BLOCK
    finally:
        os.close(descriptor)
    return found.hexdigest()
