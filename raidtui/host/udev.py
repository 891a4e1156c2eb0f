"""udev's database of block devices: properties, and links under /dev. No privilege is needed.

A single device is read from its file, /run/udev/data/bMAJOR:MINOR, on a live host as in a capture: watching
imports nothing for it. For a form, all devices are read at once, and on a live host from libudev: its
interface is stable, while the files are an internal matter of systemd.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import Any

from msgspec import Struct, field

from raidtui.host.roots.root import Root

DATA = "/run/udev/data"


class UdevEntry(Struct, frozen=True, kw_only=True):
    """Properties (``E:KEY=value``) and links under /dev (``S:md/data``)."""

    properties: dict[str, str] = field(default_factory=dict)
    links: tuple[str, ...] = ()


def parse_udev_entry(text: str) -> UdevEntry:
    """Parse one file of the database; lines of other kinds are ignored."""
    properties: dict[str, str] = {}
    links: list[str] = []
    for line in text.split("\n"):
        if line.startswith("E:"):
            key, separator, value = line[2:].partition("=")
            if separator:
                properties[key] = value
        elif line.startswith("S:"):
            links.append(line[2:])
    return UdevEntry(properties=properties, links=tuple(links))


def read_udev_entry(root: Root, dev: str | None) -> UdevEntry:
    """Return the entry of the block device with this "major:minor"; an empty one where udev has none."""
    text = root.text(f"{DATA}/b{dev}") if dev else None
    return parse_udev_entry(text) if text else UdevEntry()


def read_udev_entries(root: Root, devs: Collection[str]) -> dict[str, UdevEntry]:
    """Return the entries of many block devices by "major:minor"; empty ones where udev has none.

    On a live host libudev is asked, where it is installed; loading pyudev takes some 15 ms.
    """
    context = _libudev() if root.live else None
    if context is None:
        return {dev: read_udev_entry(root, dev) for dev in devs}
    found = {dev: UdevEntry() for dev in devs}
    for device in context.list_devices(subsystem="block"):
        number = device.device_number
        dev = f"{os.major(number)}:{os.minor(number)}"
        if dev in found:
            links = tuple(sorted(link.removeprefix("/dev/") for link in device.device_links))
            found[dev] = UdevEntry(properties=dict(device.properties), links=links)
    return found


def _libudev() -> Any | None:  # noqa: ANN401  (pyudev has no types)
    """Return a new context: contexts of libudev must not be shared between threads."""
    try:
        import pyudev  # noqa: PLC0415  (a form alone needs it)

        return pyudev.Context()
    except (ImportError, OSError):
        return None
