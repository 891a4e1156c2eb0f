"""Reads what disks and the kernel say of write caches.

Source: ``queue/write_cache`` of Documentation/ABI/stable/sysfs-block, ``cache_type`` of drivers/scsi/sd.c.
The first is the kernel's belief alone and can be written; that changes nothing in the disk.
"""

from __future__ import annotations

from collections.abc import Iterable

from raidtui.host.block import BLOCK
from raidtui.host.readers.host_reader import HostReader
from raidtui.model.drive_cache import DriveCache

_WORDS = {"write back": True, "write through": False}
_TYPES = {**_WORDS, "none": False, "write back, no read (daft)": True}


def read_drive_caches(reader: HostReader, disks: Iterable[str]) -> tuple[DriveCache, ...]:
    """Return what is known of the write caches of whole disks."""
    return tuple(_read(reader, name) for name in disks)


def _read(reader: HostReader, name: str) -> DriveCache:
    folder = f"{BLOCK}/{name}/device/scsi_disk"
    kinds = [(reader.text(f"{folder}/{each}/cache_type") or "").strip() for each in reader.names(folder)]
    return DriveCache(
        name=name,
        flushed=_WORDS.get((reader.text(f"{BLOCK}/{name}/queue/write_cache") or "").strip()),
        caches=_TYPES.get(kinds[0]) if kinds else None,
    )
