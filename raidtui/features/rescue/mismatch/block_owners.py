"""Who owns blocks of a file system, by its own tools, which only read.

ext2, ext3 and ext4 by debugfs(8): a mounted file system is read through the page cache that ext4 has its own
tables in, so what is seen is what is; but a file that was just written may not have its blocks yet. XFS by
xfs_db(8) where it is not mounted, else its free space and tables by the map that the kernel keeps (xfs_io
fsmap).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from raidtui.features.rescue.mismatch.mismatch_records import ContentKind
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.tools import ToolOutput
from raidtui.view.units import SECTOR_BYTES, counted

MOST_BLOCKS = 4096
"""How many blocks are looked up for one file system."""
TOO_MANY = "not looked up: too many mismatches"
_ICHECK_S = 900.0
_TOOL_S = 60.0
_FIELD = re.compile(r"^Block size: +([0-9]{1,6})$", re.MULTILINE)
_USE = re.compile(r"^Block ([0-9]{1,19}) (marked|not) in use$", re.MULTILINE)
_RESERVED = {
    1: "the list of bad blocks",
    3: "the quota of users",
    4: "the quota of groups",
    7: "descriptors reserved for growing",
    8: "the journal",
}
_SCAN_S = 900.0
_SIZE = re.compile(r"^blocksize = ([0-9]{1,6})$", re.MULTILINE)
_XFS_USE = re.compile(r"^block [0-9]+ \([0-9]+/[0-9]+\) type (\S+)(?: inode ([0-9]+)(?: (.+))?)?$")
_OF_FILES = frozenset({"data", "dir", "attr", "symlink", "btbmapd", "btbmapa"})
_WORDS = {"log": "the journal", "inode": "inodes"}
_FSMAP_S = 300.0
_ROW = re.compile(r"^\s*[0-9]+: [0-9]+:[0-9]+ \[([0-9]+)\.\.([0-9]+)\]: (.+?)(?: +[0-9]+| \([0-9].*)?$")


class Owner(Struct, frozen=True, kw_only=True):
    """Who owns a block.

    Args:
        paths: from the root of the file system.
    """

    kind: ContentKind
    text: str
    inode: int | None = None
    paths: tuple[str, ...] = ()


def make_file_owner(inode: int | None, paths: Sequence[str]) -> Owner:
    """Return a file as the owner of a block."""
    names = tuple("/" + path.lstrip("/") for path in paths)
    more = f" (and {counted(len(names) - 1, 'other name')})" if len(names) > 1 else ""
    text = f"{names[0]}{more}" if names else f"inode {inode}, which has no name"
    return Owner(kind=ContentKind.FILE, text=text, inode=inode, paths=names)


def unreadable(tool: str, output: ToolOutput) -> str:
    """Return why a tool has not read a file system, a clause."""
    said = output.why_not or output.stderr.strip().split("\n")[-1] or f"exit status {output.status}"
    return f"{tool} does not read the file system: {said}"


def unknown(why: str) -> Owner:
    """Return that the owner is not known."""
    return Owner(kind=ContentKind.NOT_KNOWN, text=why)


def list_blocks(spans: Sequence[tuple[int, int]], block_bytes: int) -> list[int]:
    """Return the blocks of stretches, each once, at most ``MOST_BLOCKS``.

    Args:
        spans: first byte and the one after the last.
        block_bytes: the size of a block.
    """
    found: dict[int, None] = {}
    for first, end in spans:
        for block in range(first // block_bytes, -(-end // block_bytes)):
            if len(found) >= MOST_BLOCKS:
                return list(found)
            found[block] = None
    return list(found)


def runs(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Return numbers that follow each other as (first, how many)."""
    ordered = sorted(numbers)
    start = 0
    for at in range(1, len(ordered) + 1):
        if at == len(ordered) or ordered[at] != ordered[at - 1] + 1:
            yield ordered[start], at - start
            start = at


_TABLE = Owner(
    kind=ContentKind.METADATA, text="a table of the file system: superblock, descriptors, bitmaps or inodes"
)
_FREE = Owner(kind=ContentKind.FREE, text="free space of the file system")


def find_ext_owners(
    reader: HostReader, device: str, spans: Sequence[tuple[int, int]]
) -> tuple[int, Mapping[int, Owner] | str]:
    """Return the size of a block, and the owner of each block; or why they are not known.

    Args:
        reader: the host.
        device: the kernel's name.
        spans: bytes of the device: first, and the one after the last.
    """
    path = f"/dev/{device}"
    output = reader.ask("dumpe2fs", "-h", path, timeout_s=_TOOL_S)
    size = _FIELD.search(output.stdout)
    if size is None or output.status != 0:
        return 0, unreadable("dumpe2fs", output)
    block_bytes = int(size[1])
    blocks = list_blocks(spans, block_bytes)
    asked = " ".join(map(str, blocks))
    output = reader.ask("debugfs", "-R", f"icheck {asked}", path, timeout_s=_ICHECK_S)
    if output.status != 0 or not output.stdout.startswith("Block"):
        return 0, unreadable("debugfs", output)
    inodes = _pairs(output.stdout)
    unread = _trouble(output, "icheck")
    names, unnamed = _names(reader, path, {int(word) for word in inodes.values() if word.isdigit()})
    rest = [block for block in blocks if not inodes.get(block, "").isdigit()]
    used = _used(reader, path, rest)
    found: dict[int, Owner] = {}
    for block in blocks:
        word = inodes.get(block, "")
        if word.isdigit() and int(word) in _RESERVED:
            found[block] = Owner(kind=ContentKind.METADATA, text=_RESERVED[int(word)], inode=int(word))
        elif word.isdigit():
            owner = make_file_owner(int(word), ["/"] if word == "2" else names.get(int(word), []))
            text = f"{owner.text}; debugfs could not read all folders: {unnamed}" if unnamed else owner.text
            found[block] = replace(owner, text=text)
        elif unread and used.get(block) is not False:
            found[block] = unknown(f"in use; debugfs could not read all inodes: {unread}")
        elif block in used:
            found[block] = _TABLE if used[block] else _FREE
        else:
            found[block] = unknown("debugfs does not say")
    return block_bytes, found


def _pairs(text: str) -> dict[int, str]:
    """Return icheck's table: block, inode or "<block not found>"."""
    rows = (line.partition("\t") for line in text.split("\n"))
    return {int(block): word for block, _, word in rows if block.isdigit()}


def _trouble(output: ToolOutput, command: str) -> str:
    """Return why a command of debugfs did not see everything, which then ends with 0, too; else ""."""
    lines = (line for line in output.stderr.split("\n") if line.startswith(f"{command}: "))
    return next(lines, "").removeprefix(f"{command}: ")


def _names(reader: HostReader, path: str, inodes: set[int]) -> tuple[dict[int, list[str]], str]:
    """Return the names of inodes, and why some may be missing."""
    wanted = sorted(inodes - {2, *_RESERVED})
    if not wanted:
        return {}, ""
    asked = " ".join(map(str, wanted))
    output = reader.ask("debugfs", "-R", f"ncheck {asked}", path, timeout_s=_ICHECK_S)
    found: dict[int, list[str]] = {}
    for line in output.stdout.split("\n"):
        number, _, name = line.partition("\t")
        if number.isdigit() and int(number) in inodes and name:
            found.setdefault(int(number), []).append(name)
    return found, _trouble(output, "ncheck")


def _used(reader: HostReader, path: str, blocks: Sequence[int]) -> dict[int, bool]:
    """Return whether blocks are in use, by the bitmaps."""
    if not blocks:
        return {}
    asked = "".join(f"testb {first} {count}\n" for first, count in runs(blocks))
    output = reader.ask("debugfs", "-f", "-", path, timeout_s=_TOOL_S, stdin=asked)
    return {int(found[1]): found[2] == "marked" for found in _USE.finditer(output.stdout)}


def find_xfs_owners(
    reader: HostReader, device: str, spans: Sequence[tuple[int, int]]
) -> tuple[int, Mapping[int, Owner] | str]:
    """Return the size of a block, and the owner of each block; or why they are not known.

    Args:
        reader: the host.
        device: the kernel's name.
        spans: bytes of the device: first, and the one after the last.
    """
    path = f"/dev/{device}"
    output = reader.ask("xfs_db", "-r", "-c", "sb 0", "-c", "p blocksize", path, timeout_s=_TOOL_S)
    size = _SIZE.search(output.stdout)
    if size is None:
        return 0, unreadable("xfs_db", output)
    block_bytes = int(size[1])
    blocks = list_blocks(spans, block_bytes)
    asked = ["-c", "blockget -n"]
    for first, count in runs(blocks):
        asked += ["-c", f"daddr {first * block_bytes // SECTOR_BYTES}", "-c", f"blockuse -n -c {count}"]
    output = reader.ask("xfs_db", "-r", *asked, path, timeout_s=_SCAN_S)
    lines = [found for line in output.stdout.split("\n") if (found := _XFS_USE.match(line))]
    if len(lines) != len(blocks):
        said = output.why_not or output.stderr.strip().split("\n")[0] or "it printed something else"
        return 0, f"xfs_db does not report who owns the blocks: {said}"
    return block_bytes, {
        block: _xfs_owner(*found.groups()) for block, found in zip(sorted(blocks), lines, strict=True)
    }


def _xfs_owner(kind: str, inode: str | None, name: str | None) -> Owner:
    if kind.startswith("free"):
        return _FREE
    if kind in _OF_FILES and inode is not None:
        return make_file_owner(int(inode), [name] if name else [])
    if kind in {"unknown", "missing"}:
        return unknown(f"xfs_db says: {kind}")
    text = _WORDS.get(kind, f"a table of the file system ({kind})")
    return Owner(kind=ContentKind.METADATA, text=text)


def find_space_at(
    reader: HostReader, where: str, spans: Sequence[tuple[int, int]]
) -> list[tuple[int, int, Owner]]:
    """Return what the map says of stretches: first byte, end, owner; files are not distinguished.

    Args:
        reader: the host.
        where: where the file system is mounted.
        spans: bytes of its device: first, and the one after the last.
    """
    output = reader.ask("xfs_io", "-r", "-c", "fsmap", where, timeout_s=_FSMAP_S)
    found = []
    for line in output.stdout.split("\n"):
        row = _ROW.match(line)
        if row is None:
            continue
        first, end = int(row[1]) * SECTOR_BYTES, (int(row[2]) + 1) * SECTOR_BYTES
        owner = _mapped_owner(row[3])
        found += [
            (max(first, begin), min(end, last), owner)
            for begin, last in spans
            if first < last and begin < end
        ]
    return found


def _mapped_owner(label: str) -> Owner:
    if label.startswith("free space"):
        return _FREE
    if label.startswith("journal"):
        return Owner(kind=ContentKind.METADATA, text="the journal")
    if label.startswith(("inode ", "unknown")) and not label.startswith(("inode btree", "inode chunk")):
        return unknown("in use, but not by a file that has a name here")
    return Owner(kind=ContentKind.METADATA, text=f"a table of the file system ({label})")
