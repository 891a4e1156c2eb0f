"""Finds the pattern of a line, quickly: most lines of a kernel do not matter.

The texts of the kernel are those of drivers/md, drivers/ata, drivers/scsi, drivers/nvme, block and fs/ext4 of
Linux 5.10 to 6.12; of mdadm, Monitor.c of 4.2 to 4.4; of smartd, smartd.cpp of 7.3. The tests have a line for
each pattern, which no other pattern matches; those of md and of failing SATA disks come from real kernels.
"""

from __future__ import annotations

import re
from functools import cache

from msgspec import Struct

from raidtui.features.history.patterns import Pattern, compiled, patterns
from raidtui.model.log_line import Writer

_GROUP = re.compile(r"\(\?P<\w+>")
_HEADS = {"md": "md", "at": "ata", "nv": "nvme", "pc": "nvme", "sd": "scsi", "sc": "scsi",
          "mp": "scsi", "us": "usb", "ra": "md"}  # fmt: skip
_BLOCK = frozenset(
    ("bl", "en", "I/", "cr", "ti", "pr", "Bu", "EX", "Ab", "IN", "ta", "Li", "bu", "r5", "r1", "XF")
)
_SUPPRESSED = "callbacks suppressed"


class Found(Struct, frozen=True, gc=False):
    """The pattern of a line, and what its groups say the line is about; "" for what it does not name.

    Args:
        pattern: the kind of line.
        array: an array's name.
        device: a disk's or partition's.
        port: an ATA port, an NVMe controller or a SCSI address.
    """

    pattern: Pattern
    array: str
    device: str
    port: str


class Family:
    """Patterns that are tried together: one expression finds which of them it is, and what it names.

    Args:
        found: in the order in which they are tried.
    """

    def __init__(self, *found: Pattern) -> None:
        parts: list[str] = []
        self._places: dict[int, tuple[Pattern, int, int, int]] = {}
        number = 1
        for each in found:
            own = compiled(each.regex)
            at = {name: number + place for name, place in own.groupindex.items()}
            port = next((at[name] for name in ("p", "c", "h") if name in at), 0)
            self._places[number] = (each, at.get("md", 0), at.get("d", 0), port)
            parts.append(f"({_GROUP.sub('(', each.regex)})")
            number += 1 + own.groups
        self._all = re.compile("|".join(parts))

    def find(self, text: str) -> Found | None:
        """Return the pattern that a line matches from its start."""
        match = self._all.match(text)
        if match is None:
            return None
        pattern, array, device, port = self._places[match.lastindex or 0]
        return Found(
            pattern,
            (match[array] or "") if array else "",
            (match[device] or "") if device else "",
            (match[port] or "") if port else "",
        )


@cache
def family(*names: str) -> Family:
    """Return the patterns of families."""
    return Family(*(each for each in patterns().values() if each.family in names))


def find_pattern(writer: Writer, text: str) -> Found | None:
    """Return the pattern of a line; None where it does not matter.

    Args:
        writer: who wrote it.
        text: the line.
    """
    if writer is not Writer.KERNEL:
        return family(writer.value).find(text)
    head = text[:2]
    name = _HEADS.get(head)
    if name is not None:
        found = family(name).find(text)
        if found is not None or _SUPPRESSED not in text:
            return found
    elif head not in _BLOCK:
        return None
    return family("block", "boot").find(text)


def matters(writer: Writer, text: str) -> bool:
    """Whether a line has a pattern."""
    return find_pattern(writer, text) is not None
