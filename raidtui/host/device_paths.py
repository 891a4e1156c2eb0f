"""Find the block device for a path, or for a tag as in fstab (libmount, libblkid).

Devices are compared by number, as in the kernel: a device has many names, and links change.
"""

from __future__ import annotations

import os
import posixpath
import stat
from collections.abc import Collection, Iterator
from pathlib import Path

from raidtui.host.block import BLOCK
from raidtui.host.readers.folder_reader import FolderReader
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.udev import read_udev_entry

_MOST_LINKS = 8
# The udev properties that a tag is compared with; the first is encoded as in links: my\x20data.
_TAGS = {
    "LABEL": ("ID_FS_LABEL_ENC", "ID_FS_LABEL"),
    "UUID": ("ID_FS_UUID_ENC", "ID_FS_UUID"),
    "PARTLABEL": ("ID_PART_ENTRY_NAME",),
    "PARTUUID": ("ID_PART_ENTRY_UUID",),
}


class DevicePaths:
    """The block devices of a host by their names and tags. They are read once, at the first query.

    Args:
        reader: the host.
        names: kernel names of the devices to look among, with their partitions; None for all.
    """

    def __init__(self, reader: HostReader, names: Collection[str] | None = None) -> None:
        self._reader = reader
        self._wanted = names
        self._live = isinstance(reader, FolderReader) and reader.live
        self._numbers: dict[str, str] = {}  # kernel's name -> major:minor
        self._names: dict[str, str] = {}
        self._links: dict[str, str] = {}  # below /dev -> major:minor
        self._tags: dict[tuple[str, str], list[str]] = {}
        self._is_read = False

    def find(self, text: str) -> tuple[str, ...]:
        """Return the kernel's names of the devices with a path or tag; copies of a device share tags."""
        self._read()
        tag, separator, value = text.partition("=")
        if separator and tag.upper() in {*_TAGS, "ID"}:
            numbers = self._tagged(tag.upper(), unquoted(value))
        else:
            number = self.number(unquoted(text))
            numbers = [number] if number else []
        return tuple(self._names[each] for each in numbers if each in self._names)

    def number(self, path: str) -> str | None:
        """Return "major:minor" of the block device at a path; None where there is none."""
        if not path.startswith("/") or "\0" in path:
            return None
        if self._live:
            try:
                found = Path(path).stat()
            except OSError:
                return None
            is_block = stat.S_ISBLK(found.st_mode)
            return f"{os.major(found.st_rdev)}:{os.minor(found.st_rdev)}" if is_block else None
        self._read()
        for _ in range(_MOST_LINKS):
            path = posixpath.normpath(path).replace("//", "/")
            below = path.removeprefix("/dev/")
            if number := self._numbers.get(below) or self._links.get(below):
                return number
            if path.startswith("/dev/block/"):
                return path.removeprefix("/dev/block/")
            target = self._reader.link(path)
            if target is None:
                return None
            path = posixpath.join(posixpath.dirname(path), target)
        return None

    def _tagged(self, tag: str, value: str) -> list[str]:
        if tag == "ID":
            number = self.number(f"/dev/disk/by-id/{value}")
            return [number] if number else []
        # UUIDs of FAT and NTFS are in upper case, others in lower case; fstab may have either.
        found = self._tags.get((tag, value.lower() if tag.endswith("UUID") else value))
        linked = self._links.get(f"disk/by-{tag.lower()}/{value}")
        return found or ([linked] if linked else [])

    def _read(self) -> None:
        if self._is_read:
            return
        self._is_read = True
        for node in self._nodes():
            number = self._reader.text(f"{BLOCK}/{node}/dev")
            if number is not None:
                name = node.replace("!", "/")
                self._numbers[name], self._names[number] = number, name
        for number in self._names:
            entry = read_udev_entry(self._reader, number)
            for link in entry.links:
                self._links.setdefault(link, number)
            for tag, keys in _TAGS.items():
                values = {decoded(entry.properties[key]) for key in keys if key in entry.properties}
                for value in values:
                    key = (tag, value.lower() if tag.endswith("UUID") else value)
                    self._tags.setdefault(key, []).append(number)

    def _nodes(self) -> Iterator[str]:
        if self._wanted is None:
            yield from self._reader.names(BLOCK)
            return
        for name in dict.fromkeys(self._wanted):
            node = name.replace("/", "!")
            yield node
            for child in self._reader.names(f"{BLOCK}/{node}"):
                if child.startswith(node) and child not in self._wanted:
                    yield child


def unquoted(text: str) -> str:
    """Return a word without its quotes, as libblkid reads it: "data" or 'data'."""
    if len(text) > 1 and text[0] in "\"'" and text[-1] == text[0]:
        return text[1:-1]
    return text


def decoded(text: str) -> str:
    r"""Undo udev's encoding: \x20 is a space, and characters beyond ASCII are encoded byte by byte."""
    if "\\x" not in text:
        return text
    parts = text.split("\\x")
    data = parts[0].encode()
    for part in parts[1:]:
        try:
            data += bytes([int(part[:2], 16)]) + part[2:].encode()
        except ValueError:
            data += b"\\x" + part.encode()
    return data.decode("utf-8", "replace")
