"""What is mounted and what is swapped to: /proc/self/mountinfo (proc_pid_mountinfo(5)) and /proc/swaps."""

from __future__ import annotations

from msgspec import Struct

from raidtui.host.readers.host_reader import HostReader

MOUNTINFO, SWAPS = "/proc/self/mountinfo", "/proc/swaps"


class Mount(Struct, frozen=True):
    """One mount.

    Args:
        dev: "major:minor"; "0:n" for file systems with a device number of their own, such as btrfs.
        where: the mount point.
        kind: the file system's type.
        source: what is mounted, as given to mount(8): a device's path, or a name.
        top: the folder of the file system that is seen at the mount point: "/", but for bind mounts.
    """

    dev: str
    where: str
    kind: str
    source: str
    top: str = "/"


def parse_mounts(text: str) -> tuple[Mount, ...]:
    """Parse mountinfo; other lines are passed over. A later mount at a place hides an earlier one."""
    found: list[Mount] = []
    for line in text.split("\n"):
        before, separator, after = line.partition(" - ")
        words, rest = before.split(), after.split()
        if separator and len(words) >= 5 and len(rest) >= 2:
            found.append(Mount(words[2], unescape(words[4]), rest[0], unescape(rest[1]), unescape(words[3])))
    return tuple(found)


def parse_swaps(text: str) -> frozenset[str]:
    """Return the paths in /proc/swaps: block devices and files."""
    return frozenset(unescape(line.split()[0]) for line in text.split("\n")[1:] if line.split())


def read_mounts(reader: HostReader) -> tuple[Mount, ...]:
    """Return the mounts that this process sees, in the order in which they were made."""
    return parse_mounts(reader.text(MOUNTINFO) or "")


def mount_of(reader: HostReader, folder: str) -> Mount | None:
    """Return the mount that a folder is on; None where that is not known.

    Args:
        reader: the host.
        folder: an absolute path without links.
    """
    on = [each for each in read_mounts(reader) if f"{folder}/".startswith(f"{each.where.rstrip('/')}/")]
    return max(reversed(on), key=lambda each: len(each.where)) if on else None


def mount_options(reader: HostReader, where: str) -> str:
    """Return the options of the mount at a place, as proc_pid_mounts(5) prints them; "" where none is."""
    for line in (reader.text("/proc/self/mounts") or "").split("\n"):
        words = line.split()
        if len(words) > 3 and unescape(words[1]) == where:
            return words[3]
    return ""


def unescape(text: str) -> str:
    r"""Undo the octal escapes (\040 for a space) of mountinfo, swaps and fstab."""
    if "\\" not in text:
        return text
    parts = text.split("\\")
    out = parts[0]
    for part in parts[1:]:
        octal = part[:3]
        if len(octal) == 3 and all(digit in "01234567" for digit in octal) and int(octal, 8) < 256:
            out += chr(int(octal, 8)) + part[3:]
        else:
            out += "\\" + part
    return out
