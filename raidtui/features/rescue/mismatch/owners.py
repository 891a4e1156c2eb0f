"""Who owns blocks of a file system: what all readers of file systems here return."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from raidtui.features.rescue.mismatch.mismatch_records import ContentKind
from raidtui.host.tools import ToolOutput
from raidtui.view.units import counted

MOST_BLOCKS = 4096
"""How many blocks are looked up for one file system."""
TOO_MANY = "not looked up: too much does not match"


class Owner(Struct, frozen=True, kw_only=True):
    """Who owns a block.

    Args:
        paths: from the root of the file system.
    """

    kind: ContentKind
    text: str
    inode: int | None = None
    paths: tuple[str, ...] = ()


def file_owner(inode: int | None, paths: Sequence[str]) -> Owner:
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


def blocks_of(spans: Sequence[tuple[int, int]], block_bytes: int) -> list[int]:
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
