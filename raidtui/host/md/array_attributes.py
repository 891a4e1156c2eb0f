"""Decode md's files in sysfs and /proc/sys/dev/raid, with the values in mdstat where there is no sysfs.

Sources: Documentation/admin-guide/md.rst, drivers/md/md.c, drivers/md/md-bitmap.c, block/badblocks.c.
"""

from __future__ import annotations

from raidtui.host.block import BLOCK
from raidtui.host.md.mdstat import MdstatArray
from raidtui.host.readers.host_reader import HostReader
from raidtui.model.array import Bitmap, Member
from raidtui.model.array_sync import SpeedLimit
from raidtui.model.levels import disk_count, printed_layout
from raidtui.model.snapshot import SystemLimits

RAID_SYSCTL = "/proc/sys/dev/raid"
_PAGE_BYTES = 4096
# md/level of an array that has not been started: the number in its superblock (level_show).
_LEVEL_NUMBERS = {
    "-5": "faulty", "-4": "multipath", "-1": "linear", "0": "raid0", "1": "raid1", "4": "raid4", "5": "raid5",
    "6": "raid6", "10": "raid10",
}  # fmt: skip


def sync_percent(text: str) -> float | None:
    """Return the percentage of "done / total" (sectors); None of "none" and "delayed"."""
    done, slash, total = (word.strip() for word in text.partition("/"))
    known = slash and done.isdecimal() and total.isdecimal() and max(len(done), len(total)) < 20
    return round(100 * int(done) / int(total), 1) if known and int(total) else None


def read_limits(reader: HostReader) -> SystemLimits:
    """Return the system's speed limits, KiB/s; None where md is not loaded. The kernel takes any integer."""
    return SystemLimits(
        min_kib_s=integer(reader.text(f"{RAID_SYSCTL}/speed_limit_min", keep=True)),
        max_kib_s=integer(reader.text(f"{RAID_SYSCTL}/speed_limit_max", keep=True)),
    )


def level_of(sysfs: str | None, entry: MdstatArray) -> str | None:
    """Return the level by sysfs, else by mdstat."""
    if sysfs and sysfs not in {"none", "container"}:
        return _LEVEL_NUMBERS.get(sysfs, sysfs)
    return entry.level


def layout_of(sysfs: int | None, entry: MdstatArray) -> int | None:
    """Return md's layout number, by sysfs or else by what mdstat prints of it; None where neither does."""
    return sysfs if sysfs is not None else printed_layout(entry.level, entry.layout)


def metadata_of(sysfs: str | None, entry: MdstatArray) -> str | None:
    """Return the metadata version, "1.2" or "external:imsm"; None where it is not known."""
    if sysfs:
        return sysfs
    if entry.super == "non-persistent":
        return "none"
    if entry.super:
        return entry.super
    return "0.90" if entry.blocks_kib is not None else None  # mdstat prints nothing for 0.90 alone


def is_active(entry: MdstatArray, state: str | None) -> bool:
    """Whether an array runs, by mdstat, or by sysfs where mdstat is not understood."""
    if entry.state:
        return entry.state != "inactive"
    return state not in {"inactive", "clear"}


def degraded_of(sysfs: str | None, entry: MdstatArray) -> int | None:
    """Return how many slots have no in-sync member; None where it is not known."""
    number = integer(sysfs)
    if number is None and entry.raid_disks is not None and entry.working is not None:
        return entry.raid_disks - entry.working
    return number


def bitmap_of(reader: HostReader, entry: MdstatArray) -> Bitmap | None:
    """Return the write-intent bitmap of an array, by sysfs alone where mdstat is silent; None without one."""
    line, base = entry.bitmap, f"{BLOCK}/{entry.name}/md/bitmap"
    if line is None and not entry.silent:
        return None
    location = reader.text(f"{base}/location")
    place = "internal" if not location or location[0] in "+-" else location
    if line is None:
        chunk = integer(reader.text(f"{base}/chunksize"))
        return Bitmap(location=place, chunk_bytes=chunk) if location and location != "none" else None
    place = line.file or place
    return Bitmap(
        location=place,
        chunk_bytes=line.chunk_bytes,
        used_pages=line.used_pages,
        pages=line.pages,
        used_bytes=line.used_bytes,
    )


def speed_limit_of(low: str | None, high: str | None) -> SpeedLimit | None:
    """Return the limits in force for an array; None where sysfs has none."""
    if low is None and high is None:
        return None
    low_kib_s, low_scope = _limit(low)
    high_kib_s, high_scope = _limit(high)
    return SpeedLimit(min_kib_s=low_kib_s, max_kib_s=high_kib_s, min_scope=low_scope, max_scope=high_scope)


def _limit(text: str | None) -> tuple[int | None, str | None]:
    number, _, scope = (text or "").partition(" ")
    word = scope.strip("()")
    return integer(number), word if word in {"local", "system"} else None


def raid_disks_of(text: str | None) -> tuple[int | None, int | None]:
    """Return (old, new) of ``4 (3)`` during a reshape, else (None, n)."""
    new, _, old = (text or "").partition(" ")
    return disk_count(integer(old.strip("()"))), disk_count(integer(new))


def pair_of(text: str | None) -> tuple[int | None, int | None]:
    """Return (before, afterwards) of ``2 (5)`` during a reshape, else (n, None)."""
    new, _, old = (text or "").partition(" ")
    return (integer(old.strip("()")), integer(new)) if old else (integer(new), None)


def states_of_flags(flags: str, *, active: bool) -> tuple[str, ...] | None:
    """Return a member's state words by mdstat's flags; None where they are not enough.

    Args:
        flags: letters, "F".
        active: whether the array runs and all members without a flag are in sync.
    """
    if set(flags) - set("FJSRW"):
        return None  # letters of another kernel, such as Synology's E
    words = []
    if "F" in flags:
        words.append("faulty")
    if "J" in flags:
        words.append("journal")
    elif "F" in flags:
        pass  # mdstat prints no other state
    elif "S" in flags:
        words.append("spare")
    elif "R" in flags:
        words.append("replacement")
    elif active:
        words.append("in_sync")
    if "W" in flags:
        words.append("write_mostly")
    return tuple(words) or None


def bad_spans(
    text: str | None, offset_sectors: int | None, size_kib: int | None
) -> tuple[tuple[int, int], ...] | None:
    """Return ``bad_blocks`` as (first sector, sectors) from the start of the data; None where not known.

    The kernel counts from the start of the device (is_badblock adds data_offset) and prints one page at most
    (badblocks_show): an incomplete last line is ignored.
    """
    if text is None or offset_sectors is None:
        return None
    lines = text.split("\n")
    if len(text) >= _PAGE_BYTES - 1:
        lines.pop()
    end = offset_sectors + 2 * size_kib if size_kib else None
    found = []
    for line in lines:
        first, _, count = line.partition(" ")
        start, length = integer(first), integer(count)
        if start is None or length is None:
            continue
        low = max(start, offset_sectors)
        high = start + length if end is None else min(start + length, end)
        if low < high:
            found.append((low - offset_sectors, high - low))
    return tuple(sorted(found))


def member_order(member: Member) -> tuple[bool, int, bool, str]:
    """Return the sort key of members: by slot, then those without one; a replacement after its original."""
    return (
        member.slot is None,
        member.slot if member.slot is not None else member.number or 0,
        member.has("replacement"),
        member.name,
    )


def integer(text: str | None) -> int | None:
    """Return an integer as sysfs prints it; None for anything else."""
    if not text or len(text) > 24:
        return None
    digits = text[1:] if text[0] == "-" else text
    return int(text) if digits.isascii() and digits.isdigit() else None
