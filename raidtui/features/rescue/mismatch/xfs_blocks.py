"""Who owns blocks of an XFS file system that is not mounted, by xfs_db(8), which only reads (-r)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from raidtui.features.rescue.mismatch.mismatch_records import ContentKind
from raidtui.features.rescue.mismatch.owners import Owner, blocks_of, file_owner, runs, unknown, unreadable
from raidtui.host.readers.host_reader import HostReader
from raidtui.view.units import SECTOR_BYTES

_TOOL_S = 60.0
_SCAN_S = 900.0
_SIZE = re.compile(r"^blocksize = ([0-9]{1,6})$", re.MULTILINE)
_USE = re.compile(r"^block [0-9]+ \([0-9]+/[0-9]+\) type (\S+)(?: inode ([0-9]+)(?: (.+))?)?$")
_OF_FILES = frozenset({"data", "dir", "attr", "symlink", "btbmapd", "btbmapa"})
_WORDS = {"log": "the journal", "inode": "inodes"}


def xfs_owners(
    root: HostReader, device: str, spans: Sequence[tuple[int, int]]
) -> tuple[int, Mapping[int, Owner] | str]:
    """Return the size of a block, and the owner of each block; or why they are not known.

    Args:
        root: the host.
        device: the kernel's name.
        spans: bytes of the device: first, and the one after the last.
    """
    path = f"/dev/{device}"
    output = root.ask("xfs_db", "-r", "-c", "sb 0", "-c", "p blocksize", path, timeout_s=_TOOL_S)
    size = _SIZE.search(output.stdout)
    if size is None:
        return 0, unreadable("xfs_db", output)
    block_bytes = int(size[1])
    blocks = blocks_of(spans, block_bytes)
    asked = ["-c", "blockget -n"]
    for first, count in runs(blocks):
        asked += ["-c", f"daddr {first * block_bytes // SECTOR_BYTES}", "-c", f"blockuse -n -c {count}"]
    output = root.ask("xfs_db", "-r", *asked, path, timeout_s=_SCAN_S)
    lines = [found for line in output.stdout.split("\n") if (found := _USE.match(line))]
    if len(lines) != len(blocks):
        said = output.why_not or output.stderr.strip().split("\n")[0] or "it printed something else"
        return 0, f"xfs_db does not say who owns the blocks: {said}"
    return block_bytes, {
        block: _owner(*found.groups()) for block, found in zip(sorted(blocks), lines, strict=True)
    }


def _owner(kind: str, inode: str | None, name: str | None) -> Owner:
    if kind.startswith("free"):
        return Owner(kind=ContentKind.FREE, text="free space of the file system")
    if kind in _OF_FILES and inode is not None:
        return file_owner(int(inode), [name] if name else [])
    if kind in {"unknown", "missing"}:
        return unknown(f"xfs_db says: {kind}")
    text = _WORDS.get(kind, f"a table of the file system ({kind})")
    return Owner(kind=ContentKind.METADATA, text=text)
