"""The disks that are read for SMART data: those of array members, and all other SATA, SAS and NVMe disks."""

from __future__ import annotations

import re

from raidtui.host.block import BLOCK
from raidtui.host.readers.host_reader import HostReader
from raidtui.model.snapshot import Snapshot

_ANSWERS = re.compile(r"(sd[a-z]+|hd[a-z]|nvme[0-9]+n[0-9]+)")
_NEVER = re.compile(r"(loop|ram|zram|md|dm-|bcache|nbd|ubd|rbd|drbd|mmcblk|mtdblock).*")
_KINDS = ("sd", "hd", "nvme")
_PARTS = re.compile(r"([0-9]+)")


def smart_names(reader: HostReader, snapshot: Snapshot) -> tuple[str, ...]:
    """Return the kernel's names of whole disks, in the order in which people count them.

    Members' disks are named whatever they are, but for those that have no SMART data by their nature: loop,
    RAM and network devices, arrays. Of others SATA, SAS and NVMe disks are, unless they can be pulled out
    like a stick of memory.
    """
    members = {
        disk.disk
        for array in snapshot.arrays
        for member in array.members
        if (disk := snapshot.disks.get(member.name)) is not None
    }
    found = {name for name in members if has_smart(name)}
    found |= {
        name
        for name in reader.names(BLOCK)
        if _ANSWERS.fullmatch(name)
        and _says(reader, name, "size") != "0"
        and _says(reader, name, "removable") != "1"
    }
    return tuple(sorted(found, key=_order))


def has_smart(name: str) -> bool:
    """Whether a disk of this kind could have SMART data at all."""
    return _NEVER.fullmatch(name) is None


def _says(reader: HostReader, name: str, attribute: str) -> str:
    return (reader.text(f"{BLOCK}/{name}/{attribute}") or "").strip()


def _order(name: str) -> tuple[int, int, list[tuple[int, str]]]:
    """Order sda to sdz before sdaa, nvme2n1 before nvme10n1, and the kinds as they are in ``_KINDS``."""
    kind = next((number for number, start in enumerate(_KINDS) if name.startswith(start)), len(_KINDS))
    length = 0 if kind else len(name)
    return kind, length, [(int(part), "") if part.isdigit() else (0, part) for part in _PARTS.split(name)]
