"""Who owns blocks of ext2, ext3 and ext4, by debugfs(8), which opens the device for reading only.

A mounted file system is read through the page cache that ext4 has its own tables in, so what is seen is what
is; but a file that was just written may not have its blocks yet.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from raidtui.features.rescue.mismatch.mismatch_records import ContentKind
from raidtui.features.rescue.mismatch.owners import Owner, blocks_of, file_owner, runs, unknown, unreadable
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.tools import ToolOutput

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
_TABLE = Owner(
    kind=ContentKind.METADATA, text="a table of the file system: superblock, descriptors, bitmaps or inodes"
)
_FREE = Owner(kind=ContentKind.FREE, text="free space of the file system")


def ext_owners(
    root: HostReader, device: str, spans: Sequence[tuple[int, int]]
) -> tuple[int, Mapping[int, Owner] | str]:
    """Return the size of a block, and the owner of each block; or why they are not known.

    Args:
        root: the host.
        device: the kernel's name.
        spans: bytes of the device: first, and the one after the last.
    """
    path = f"/dev/{device}"
    output = root.ask("dumpe2fs", "-h", path, timeout_s=_TOOL_S)
    size = _FIELD.search(output.stdout)
    if size is None or output.status != 0:
        return 0, unreadable("dumpe2fs", output)
    block_bytes = int(size[1])
    blocks = blocks_of(spans, block_bytes)
    asked = " ".join(map(str, blocks))
    output = root.ask("debugfs", "-R", f"icheck {asked}", path, timeout_s=_ICHECK_S)
    if output.status != 0 or not output.stdout.startswith("Block"):
        return 0, unreadable("debugfs", output)
    inodes = _pairs(output.stdout)
    unread = _trouble(output, "icheck")
    names, unnamed = _names(root, path, {int(word) for word in inodes.values() if word.isdigit()})
    rest = [block for block in blocks if not inodes.get(block, "").isdigit()]
    used = _used(root, path, rest)
    found: dict[int, Owner] = {}
    for block in blocks:
        word = inodes.get(block, "")
        if word.isdigit() and int(word) in _RESERVED:
            found[block] = Owner(kind=ContentKind.METADATA, text=_RESERVED[int(word)], inode=int(word))
        elif word.isdigit():
            owner = file_owner(int(word), ["/"] if word == "2" else names.get(int(word), []))
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


def _names(root: HostReader, path: str, inodes: set[int]) -> tuple[dict[int, list[str]], str]:
    """Return the names of inodes, and why some may be missing."""
    wanted = sorted(inodes - {2, *_RESERVED})
    if not wanted:
        return {}, ""
    asked = " ".join(map(str, wanted))
    output = root.ask("debugfs", "-R", f"ncheck {asked}", path, timeout_s=_ICHECK_S)
    found: dict[int, list[str]] = {}
    for line in output.stdout.split("\n"):
        number, _, name = line.partition("\t")
        if number.isdigit() and int(number) in inodes and name:
            found.setdefault(int(number), []).append(name)
    return found, _trouble(output, "ncheck")


def _used(root: HostReader, path: str, blocks: Sequence[int]) -> dict[int, bool]:
    """Return whether blocks are in use, by the bitmaps."""
    if not blocks:
        return {}
    asked = "".join(f"testb {first} {count}\n" for first, count in runs(blocks))
    output = root.ask("debugfs", "-f", "-", path, timeout_s=_TOOL_S, stdin=asked)
    return {int(found[1]): found[2] == "marked" for found in _USE.finditer(output.stdout)}
