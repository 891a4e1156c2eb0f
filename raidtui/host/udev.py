"""udev's database of a device (/run/udev/data/bMAJOR:MINOR): readable by everybody, no process started."""

from __future__ import annotations

from msgspec import Struct, field

from raidtui.host.roots.root import Root

DATA = "/run/udev/data"


class UdevEntry(Struct, frozen=True, kw_only=True):
    """Properties (``E:KEY=value``) and links under /dev (``S:md/data``)."""

    properties: dict[str, str] = field(default_factory=dict)
    links: tuple[str, ...] = ()


def parse_udev_entry(text: str) -> UdevEntry:
    """Parse one database file; lines of other kinds are passed over."""
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
    """Return the entry of the block device with this "major:minor"; empty where udev has none."""
    text = root.text(f"{DATA}/b{dev}") if dev else None
    return parse_udev_entry(text) if text else UdevEntry()
