"""An array's label and links: from udev's database, or from mdadm where udev has none."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from msgspec import Struct

from raidtui.host.md.mdadm import MdadmError, read_detail, read_examine
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.udev import read_udev_entry
from raidtui.model.array import Array
from raidtui.model.levels import disk_count


class ArrayName(Struct, frozen=True, kw_only=True):
    """The name of an array in its superblock, and its link under /dev/md."""

    label: str | None = None
    homehost: str | None = None
    link: str | None = None
    uuid: str | None = None
    level: str | None = None
    raid_disks: int | None = None


def read_array_name(reader: HostReader, array: Array, *, use_mdadm: bool) -> ArrayName:
    """Return an array's name.

    Args:
        reader: the host.
        array: the array by mdstat and sysfs.
        use_mdadm: whether mdadm may be run; it needs root and takes a few milliseconds.
    """
    entry = read_udev_entry(reader, reader.text(f"/sys/class/block/{array.name}/dev"))
    values: Mapping[str, str] = entry.properties
    link = next((f"/dev/{link}" for link in entry.links if link.startswith("md/")), None)
    unread = "MD_NAME" not in values and "MD_LEVEL" not in values  # udev's rule has not run mdadm
    # Intel's container gets its UUID with its first volume, and udev keeps the zeros of before.
    unread |= array.is_container and canonical_uuid(values.get("MD_UUID")) is None
    if unread and use_mdadm:
        values = {**values, **_ask_mdadm(reader, array)}
    link = link or _link_under_dev_md(reader, array.name)
    # Metadata 0.90 and external metadata have no name; use the one under /dev/md.
    homehost, label = _split_name(values.get("MD_NAME") or values.get("MD_DEVNAME", ""))
    if label is None and not entry.properties:
        label = (link or "").rpartition("/")[2] or None
    devices = values.get("MD_DEVICES", "")
    level = values.get("MD_LEVEL")
    return ArrayName(
        label=label,
        homehost=homehost,
        link=link,
        uuid=canonical_uuid(values.get("MD_UUID")),
        level=level if level != "container" else None,
        raid_disks=disk_count(int(devices))
        if devices.isascii() and devices.isdigit() and len(devices) < 6
        else None,
    )


def _ask_mdadm(reader: HostReader, array: Array) -> Mapping[str, str]:
    """Return what a member's superblock says; the array itself is never opened.

    While it is open, mdadm can neither stop it nor make it read-only. udev may not know it because it has
    just been created, and its creator may be about to do that.
    """
    try:
        if array.active and not reader.live:
            return read_detail(reader, array.path)  # a capture has the output
        if array.container:
            return {}  # a member's metadata describe the container, not the volume
        for member in array.members:
            if not (member.has("faulty") or member.detached):
                values = read_examine(reader, f"/dev/{member.name}")
                if not array.is_container or (values.get("MD_UUID") or "0").strip("0f:"):
                    return values  # a spare of a container has zeros or ones (super-intel.c, uuid_match_any)
    except MdadmError:
        return {}  # the name stays unknown; the sampler reports why mdadm cannot be run
    return {}


def _split_name(name: str) -> tuple[str | None, str | None]:
    """Return (homehost, label) of ``host:name``, or (None, name)."""
    homehost, colon, label = name.partition(":")
    return (homehost, label) if colon and label else (None, name or None)


def canonical_uuid(text: str | None) -> str | None:
    """Return a UUID in mdadm's form 8:8:8:8, or None for other text. For ``md/uuid``, see ``sysfs_uuid``."""
    digits = (text or "").replace("-", "").replace(":", "").strip().lower()
    if len(digits) != 32 or not set(digits) <= set("0123456789abcdef") or not digits.strip("0"):
        return None
    return ":".join(digits[start : start + 8] for start in range(0, 32, 8))


def sysfs_uuid(text: str | None, metadata: str | None) -> str | None:
    """Return the UUID in ``md/uuid``, in mdadm's form.

    Metadata 0.90 stores four numbers of 32 bits in the host's byte order (super_90_validate). The kernel
    prints their bytes one by one, mdadm the numbers: on a little-endian host, the bytes of each are reversed.

    Args:
        text: ``md/uuid``.
        metadata: ``md/metadata_version``.
    """
    uuid = canonical_uuid(text)
    if uuid is None or metadata is None or not metadata.startswith("0.9") or sys.byteorder == "big":
        return uuid
    return ":".join(bytes.fromhex(word)[::-1].hex() for word in uuid.split(":"))


def read_uuid(reader: HostReader, folder: str) -> str | None:
    """Return the UUID of an array, in mdadm's form, by its ``md`` folder in sysfs; None without one.

    The kernel knows none for external metadata; udev has mdadm's.
    """
    metadata = reader.text(f"{folder}/metadata_version")
    uuid = sysfs_uuid(reader.text(f"{folder}/uuid"), metadata)
    if uuid is None and metadata is not None and metadata.startswith("external:"):
        entry = read_udev_entry(reader, reader.text(f"{folder.removesuffix('/md')}/dev"))
        return canonical_uuid(entry.properties.get("MD_UUID"))
    return uuid


def _link_under_dev_md(reader: HostReader, name: str) -> str | None:
    for entry in reader.names("/dev/md"):
        if (reader.link(f"/dev/md/{entry}") or "").rpartition("/")[2] == name:
            return f"/dev/md/{entry}"
    return None


def usual_path(path: str) -> str:
    """Return a path below /sys/block as the path below /sys/class/block, where partitions are, too."""
    return f"/sys/class/block/{path.removeprefix('/sys/block/')}" if path.startswith("/sys/block/") else path
