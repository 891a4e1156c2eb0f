"""Devices as they are typed: any name under /dev."""

from __future__ import annotations

import argparse

from raidtui.host.readers.host_reader import HostReader
from raidtui.model.geometry import MISSING

_MANY = ("devices", "larger", "spare", "write_mostly", "pv")
_ONE = ("device", "other", "write_journal")


def kernel_name(reader: HostReader, word: str) -> str:
    """Return the kernel's name of a device: links under /dev are followed, as they are now."""
    path = _plain(word if word.startswith("/") else f"/dev/{word}")
    for _ in range(8):
        target = reader.link(path)
        if target is None:
            break
        path = _plain(target if target.startswith("/") else f"{path.rpartition('/')[0]}/{target}")
    return path.removeprefix("/dev/").removeprefix("/")


def _plain(path: str) -> str:
    """Return an absolute path without "..", "." and empty parts."""
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            parts = parts[:-1]
        elif part not in {"", "."}:
            parts.append(part)
    return "/" + "/".join(parts)


def kernel_names(reader: HostReader, arguments: argparse.Namespace) -> dict[str, str]:
    """Return the kernel's names of all typed devices, by the typed words."""
    words = [word for key in _MANY for word in getattr(arguments, key, ())]
    words += [word for key in _ONE if (word := getattr(arguments, key, None))]
    # An empty slot is not a device, and only an array that is yet to be has one.
    hole = MISSING if arguments.verb == "create" else ""
    return {word: word if word == hole else kernel_name(reader, word) for word in words}
