"""udev's database of block devices: properties, and links under /dev. No privilege is needed.

What udev has stored of a device is read from its file, /run/udev/data/bMAJOR:MINOR, on a live host as in a
capture: watching imports nothing for it, and it takes a tenth of what libudev takes (in the laboratory 0.8 ms
a device, which made a plan with 64 devices up to 1.8 times as long). Which devices udev still works on is
asked of libudev, for forms that offer all of them; events come from it, too (``raidtui.monitor``).
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from raidtui.host.readers.host_reader import HostReader

DATA = "/run/udev/data"
QUEUE = "/run/udev/queue"  # there while udev has events to handle
_CONTROL = Path("/run/udev/control")  # there while systemd-udevd runs
_PACE_S = 0.05


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


def read_udev_entry(reader: HostReader, dev: str | None) -> UdevEntry:
    """Return the entry of the block device with this "major:minor"; an empty one where udev has none."""
    text = reader.text(f"{DATA}/b{dev}") if dev else None
    return parse_udev_entry(text) if text else UdevEntry()


def has_udev_entry(reader: HostReader, dev: str) -> bool:
    """Whether udev has read the block device with this "major:minor"."""
    return reader.text(f"{DATA}/b{dev}") is not None


def unsettled_devices(reader: HostReader, *, patience_s: float = 1.0) -> frozenset[str]:
    """Return the block devices that udev has not finished with: their contents and links are not known yet.

    libudev enumerates the devices; loading pyudev takes some 15 ms, a device 0.1 ms.

    Args:
        reader: the host; there is none on one that is not live, or where libudev is not installed.
        patience_s: how long to wait for udev.
    """
    context = _libudev() if reader.live and _CONTROL.exists() else None
    if context is None:
        return frozenset()
    end_s = time.monotonic() + patience_s
    while True:
        devices = context.list_devices(subsystem="block")
        found = frozenset(each.sys_name for each in devices if not each.is_initialized)
        if not found or time.monotonic() >= end_s:
            return found
        time.sleep(_PACE_S)


def _libudev() -> Any | None:  # noqa: ANN401  (pyudev has no types)
    """Return a new context: contexts of libudev must not be shared between threads."""
    try:
        import pyudev  # noqa: PLC0415  (a form alone needs it)

        return pyudev.Context()
    except (ImportError, OSError):
        return None
