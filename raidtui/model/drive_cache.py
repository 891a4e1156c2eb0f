"""Whether a disk caches writes, and whether the kernel makes it write them down."""

from __future__ import annotations

from msgspec import Struct


class DriveCache(Struct, frozen=True, kw_only=True):
    """The write cache of one disk; None where nothing says it.

    Args:
        name: the disk.
        flushed: whether the kernel sends it flushes: ``queue/write_cache`` is "write back".
        caches: whether the disk itself reports a volatile cache: ``cache_type`` of SCSI and SATA disks.
    """

    name: str
    flushed: bool | None = None
    caches: bool | None = None

    @property
    def loses_writes(self) -> bool:
        """Whether it caches, and is never told to write down what it has."""
        return self.caches is True and self.flushed is False
