"""Free space and tables of a mounted XFS file system, by the map that the kernel keeps (xfs_io fsmap)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from raidtui.features.rescue.mismatch.mismatch_records import ContentKind
from raidtui.features.rescue.mismatch.owners import Owner, unknown
from raidtui.host.readers.host_reader import HostReader
from raidtui.view.units import SECTOR_BYTES

_TOOL_S = 300.0
_ROW = re.compile(r"^\s*[0-9]+: [0-9]+:[0-9]+ \[([0-9]+)\.\.([0-9]+)\]: (.+?)(?: +[0-9]+| \([0-9].*)?$")
_FREE = Owner(kind=ContentKind.FREE, text="free space of the file system")


def space_at(root: HostReader, where: str, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int, Owner]]:
    """Return what the map says of stretches: first byte, end, owner; files are not distinguished.

    Args:
        root: the host.
        where: where the file system is mounted.
        spans: bytes of its device: first, and the one after the last.
    """
    output = root.ask("xfs_io", "-r", "-c", "fsmap", where, timeout_s=_TOOL_S)
    found = []
    for line in output.stdout.split("\n"):
        row = _ROW.match(line)
        if row is None:
            continue
        first, end = int(row[1]) * SECTOR_BYTES, (int(row[2]) + 1) * SECTOR_BYTES
        owner = _owner(row[3])
        found += [
            (max(first, begin), min(end, last), owner)
            for begin, last in spans
            if first < last and begin < end
        ]
    return found


def _owner(label: str) -> Owner:
    if label.startswith("free space"):
        return _FREE
    if label.startswith("journal"):
        return Owner(kind=ContentKind.METADATA, text="the journal")
    if label.startswith(("inode ", "unknown")) and not label.startswith(("inode btree", "inode chunk")):
        return unknown("in use, but by no file that has a name here")
    return Owner(kind=ContentKind.METADATA, text=f"a table of the file system ({label})")
