"""An array's label and links: udev's database first, mdadm where udev does not tell."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from raidtui.host.mdadm import MdadmError, read_detail, read_examine
from raidtui.host.root import Root
from raidtui.host.udev import read_udev_entry
from raidtui.model.array import Array


class ArrayName(Struct, frozen=True, kw_only=True):
    """What the superblock calls an array, and the link under /dev/md."""

    label: str | None = None
    homehost: str | None = None
    link: str | None = None
    uuid: str | None = None
    level: str | None = None
    raid_disks: int | None = None


def read_array_name(root: Root, array: Array, *, use_mdadm: bool) -> ArrayName:
    """Return an array's name.

    Args:
        root: where to read.
        array: what mdstat and sysfs said of it.
        use_mdadm: whether mdadm may be started; it needs root and takes a few milliseconds.
    """
    entry = read_udev_entry(root, root.text(f"/sys/class/block/{array.name}/dev"))
    values: Mapping[str, str] = entry.properties
    link = next((f"/dev/{link}" for link in entry.links if link.startswith("md/")), None)
    if "MD_NAME" not in values and "MD_LEVEL" not in values and use_mdadm:  # udev's rule has not asked mdadm
        values = _ask_mdadm(root, array) or values
    # 0.90 and external metadata keep no name; what is left is the one under /dev/md.
    homehost, label = _split_name(values.get("MD_NAME") or values.get("MD_DEVNAME", ""))
    devices = values.get("MD_DEVICES", "")
    level = values.get("MD_LEVEL")
    return ArrayName(
        label=label,
        homehost=homehost,
        link=link or _link_under_dev_md(root, array.name),
        uuid=canonical_uuid(values.get("MD_UUID")),
        level=level if level != "container" else None,
        raid_disks=int(devices) if devices.isascii() and devices.isdigit() and len(devices) < 6 else None,
    )


def _ask_mdadm(root: Root, array: Array) -> Mapping[str, str]:
    try:
        if array.active:
            return read_detail(root, array.path)
        for member in array.members:
            return read_examine(root, f"/dev/{member.name}")
    except MdadmError:
        return {}  # the name stays unknown; the sampler says why mdadm cannot be asked
    return {}


def _split_name(name: str) -> tuple[str | None, str | None]:
    """Return (homehost, label) of ``host:name``, or (None, name)."""
    homehost, colon, label = name.partition(":")
    return (homehost, label) if colon and label else (None, name or None)


def canonical_uuid(text: str | None) -> str | None:
    """Return a UUID in mdadm's form 8:8:8:8, from sysfs's dashes or mdadm's own colons."""
    digits = (text or "").replace("-", "").replace(":", "").strip().lower()
    if len(digits) != 32 or not set(digits) <= set("0123456789abcdef") or not digits.strip("0"):
        return None
    return ":".join(digits[start : start + 8] for start in range(0, 32, 8))


def _link_under_dev_md(root: Root, name: str) -> str | None:
    for entry in root.names("/dev/md"):
        if (root.link(f"/dev/md/{entry}") or "").rpartition("/")[2] == name:
            return f"/dev/md/{entry}"
    return None


def usual_path(path: str) -> str:
    """Return a path below /sys/block as the one below /sys/class/block, which partitions have, too."""
    return f"/sys/class/block/{path.removeprefix('/sys/block/')}" if path.startswith("/sys/block/") else path
