"""Entries of the timeline: a line that matters, a job, a change, or a benchmark."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from raidtui.features.history.catalogue import find_pattern
from raidtui.features.history.patterns import Weight, groups_of, patterns
from raidtui.model.log_line import LogLine, Writer
from raidtui.view.units import SECTOR_BYTES, binary_size

_PARTITION = re.compile(
    r"(?P<disk>(?:sd|vd|xvd|hd|ubd)[a-z]+|(?:nvme\d+n\d+|mmcblk\d+|nbd\d+|loop\d+)(?=p|$))p?\d*\Z"
)
_CONTROLLER = re.compile(r"(nvme\d+)(?:c\d+)?n\d+\Z")
_RELEASE = re.compile(r"(\d{1,3})\.(\d{1,4})")
_MOST_SECTORS = 1 << 42
"""2 PiB: what is more is no number of sectors of an array."""
_ACTIONS = {"data-check": "check", "requested-resync": "repair", "recovery": "recover"}
_CODES_OF_ACTIONS = frozenset(
    {"sync-started", "sync-done", "sync-interrupted", "sync-delayed", "sync-resumed"}
)
START_FAILED, START_REASON = "start-failed", "start-reason"
"""md's line that an array did not start, and the one before it where that has no pattern: it says why."""
_NAMED = re.compile(r"(?:md: |md/\w+:)?(?P<md>md\w+)\b")
_STARTED = frozenset({"mirrors-active", "raid10-active", "parity-active"})
"""With fewer members than slots, a warning."""
HEARSAY = "hearsay"
"""A line of a file that anyone can write: nothing is concluded from it, and it belongs to no incident."""
REFUSED, ATTENTION = "Illegal Request", "Unit Attention"
NO_FAULTS = frozenset({REFUSED, ATTENTION})
"""Sense keys of a command that is not supported, and of a disk that was reset or changed: warnings."""


class Origin(StrEnum):
    """Where an entry comes from, for programs."""

    KERNEL = "kernel"
    MDADM = "mdadm"
    SMARTD = "smartd"
    UDEV = "udev"
    JOURNAL = "journal"
    JOB = "job"
    CHANGE = "change"
    BENCH = "bench"
    RECORD = "record"


class Entry(Struct, frozen=True, kw_only=True, gc=False):
    """One entry.

    Args:
        at_s: epoch seconds.
        boot: the boot's id; "" where that is not known.
        since_boot_s: seconds since the kernel's start; None where that is not known.
        code: a pattern's, or one of those that docs/history.md lists for jobs, changes and benchmarks.
        text: the line as it was written; for jobs, changes and benchmarks a sentence of ours.
        array: the kernel's name of an array in that boot (md127), or its name ("data"); "" for none.
        device: of a disk or partition in that boot; "" for none.
        port: an ATA port (ata3), a SCSI address (2:0:0:0) or an NVMe controller (nvme0); "" for none.
        uuid: the array's, where the source has it.
        said_in: the file of a line that anyone can have written; "" for others.
        in_bytes: whether a change of size counts bytes (Linux before 5.11), or sectors; None: not known.
    """

    at_s: float
    boot: str
    since_boot_s: float | None = None
    origin: Origin
    code: str
    weight: Weight
    text: str
    array: str = ""
    device: str = ""
    port: str = ""
    uuid: str = ""
    said_in: str = ""
    in_bytes: bool | None = None


_ORIGINS = {writer: Origin(writer.value) for writer in Writer}


def entry_of(line: LogLine) -> Entry | None:
    """Return the entry of a line; None where it does not matter."""
    found = find_pattern(line.writer, line.text)
    if found is None:
        return None
    if line.said_in:
        return Entry(
            at_s=line.at_s,
            boot="",
            origin=_ORIGINS[line.writer],
            code=HEARSAY,
            weight=min(found.pattern.weight, Weight.NOTE),
            text=line.text,
            said_in=line.said_in,
        )
    array, device, weight = found.array, found.device, found.pattern.weight
    if found.pattern.code == "scsi-sense" and groups_of(found.pattern, line.text)["n"] in NO_FAULTS:
        weight = Weight.WARNING
    if found.pattern.code in _STARTED:
        groups = groups_of(found.pattern, line.text)
        weight = Weight.WARNING if groups["n"] != groups["m"] else weight
    return Entry(
        at_s=line.at_s,
        boot=line.boot,
        since_boot_s=line.since_boot_s,
        origin=_ORIGINS[line.writer],
        code=found.pattern.code,
        weight=weight,
        text=line.text,
        array=array.removeprefix("/dev/").removeprefix("md/") if array else "",
        device=device.removeprefix("/dev/") if device else "",
        port=found.port,
    )


def reason_of(line: LogLine) -> Entry:
    """Return the entry of the line before ``START_FAILED``, whatever it says."""
    named = _NAMED.match(line.text)
    return Entry(
        at_s=line.at_s,
        boot=line.boot,
        since_boot_s=line.since_boot_s,
        origin=Origin.KERNEL,
        code=START_REASON,
        weight=Weight.CRITICAL,
        text=line.text,
        array=named["md"] if named is not None else "",
    )


def with_unit(entry: Entry, kernel: str) -> Entry:
    """Return a change of size with its unit, by the kernel of its boot, or by what is not a possible size.

    "detected capacity change" counts bytes in check_disk_size_change (block/genhd.c, before Linux 5.11), and
    sectors in set_capacity_and_notify.

    Args:
        entry: a change of size.
        kernel: the release of the boot's kernel; "" where that is not known.
    """
    groups = groups_of(patterns()[entry.code], entry.text)
    sizes = [int(groups[name][:20]) for name in ("a", "b")]
    release = _RELEASE.match(kernel)
    in_bytes = (int(release[1]), int(release[2])) < (5, 11) if release is not None else None
    if any(size % SECTOR_BYTES for size in sizes):
        in_bytes = False
    elif max(sizes) > _MOST_SECTORS:
        in_bytes = True
    return replace(entry, in_bytes=in_bytes)


def _size_words(groups: Mapping[str, str], *, in_bytes: bool | None) -> str:
    if in_bytes is None:
        return f"size {groups['a']} → {groups['b']} (bytes before Linux 5.11, else sectors)"
    factor = 1 if in_bytes else SECTOR_BYTES
    before, after = (binary_size(int(groups[name][:20]) * factor) for name in ("a", "b"))
    return f"size {before} → {after}"


def words_of(entry: Entry) -> str:
    """Return what an entry means, in our words; it may hold anything that was in the line."""
    if entry.said_in:
        return f"said by {entry.origin} in {entry.said_in}, which anyone can write: {entry.text}"
    pattern = patterns().get(entry.code)
    if pattern is None:
        return entry.text
    groups = groups_of(pattern, entry.text)
    if entry.code in _CODES_OF_ACTIONS:
        groups["a"] = _ACTIONS.get(groups.get("a", ""), groups.get("a", ""))
    groups = {name: " ".join(value.split()).removeprefix("/dev/") for name, value in groups.items()}
    if entry.code == "size-changed":
        return _size_words(groups, in_bytes=entry.in_bytes)
    if entry.code == "io-error":
        groups["o"] = (groups.get("o") or "access").lower()
    if entry.code == "ata-exception":
        groups["f"] = ", no answer" if unanswered(entry) else ""
    return pattern.words.format_map(groups).strip()


def group_of(entry: Entry, name: str) -> str:
    """Return what a group of its pattern holds in an entry's line; "" for none."""
    pattern = patterns().get(entry.code)
    return groups_of(pattern, entry.text).get(name, "") if pattern is not None else ""


def unanswered(exception: Entry) -> bool:
    """Whether libata froze a port because a command had no answer.

    A time-out is bit 2 of the mask, which the line of the command has (AC_ERR_TIMEOUT); that of the port is
    0 then. Any other bit is an error that was answered, or one of the link, for which a port is frozen, too.
    """
    mask = int(group_of(exception, "e") or "0", 16)
    return bool(group_of(exception, "f")) and (not mask or bool(mask & 0x4))


@lru_cache(maxsize=4096)
def disk_of(device: str) -> str:
    """Return the disk that a device is, or is a partition of: sdb1 → sdb, nvme0n1p2 → nvme0n1."""
    match = _PARTITION.fullmatch(device)
    return match["disk"] if match is not None else device


def partition_of(device: str) -> str:
    """Return the number of a partition; "" for a whole disk."""
    return device.removeprefix(disk_of(device)).removeprefix("p")


def controller_of(disk: str) -> str:
    """Return the NVMe controller of a disk; "" for other disks."""
    match = _CONTROLLER.fullmatch(disk)
    return match[1] if match is not None else ""
