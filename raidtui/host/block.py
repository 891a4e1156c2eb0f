"""Block devices: their identity from udev's database and sysfs, and what uses them."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import TypeGuard

from raidtui.host.mounts import MOUNTINFO, SWAPS, parse_mounts, parse_swaps
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.serials import label_serial, serial_word
from raidtui.host.trial_traces import PREFIX
from raidtui.host.udev import UdevEntry, read_udev_entry
from raidtui.model.disk import Disk, Use

BLOCK = "/sys/class/block"
STACKED = ("md", "dm-", "bcache")
"""Devices that stand on others, by the beginning of their names: they are no disks."""
NO_DISKS = ("loop", "ram", "zram", "sr", "fd", "nbd", "mtdblock", *STACKED)
"""How the names of block devices begin that nobody can pull."""
_ATA = re.compile(r"/ata[0-9]+/")


class DiskReader:
    """Reads devices, and keeps them until an event names them or the mounts or swaps change."""

    def __init__(self, reader: HostReader) -> None:
        self._reader = reader
        self._known: dict[str, Disk] = {}
        self._tables: UsageTables | None = None
        self._answer: tuple[frozenset[str], dict[str, Disk]] | None = None

    def forget(self, name: str | None = None) -> None:
        """Read a device, or all, again next time."""
        self._answer = None
        if name is None:
            self._known.clear()
        else:
            self._known.pop(name, None)

    def read(self, names: Collection[str]) -> dict[str, Disk]:
        """Return the named devices and their whole disks; devices that do not exist are left out."""
        tables = self._usage()
        wanted = frozenset(names)
        if self._answer is not None and self._answer[0] == wanted and len(self._answer[1]) >= len(wanted):
            return self._answer[1]
        found: dict[str, Disk] = {}
        for name in names:
            disk = self._one(name, tables)
            if disk is not None:
                found[name] = disk
                if disk.disk != name and (whole := self._one(disk.disk, tables)) is not None:
                    found[disk.disk] = whole
        for name in [name for name in self._known if name not in found]:
            del self._known[name]
        self._answer = (wanted, found)
        return found

    def _usage(self) -> UsageTables:
        """Return the tables of mounts and swaps. If they have changed, all devices are read again."""
        texts = (self._reader.text(MOUNTINFO, keep=True) or "", self._reader.text(SWAPS, keep=True) or "")
        if self._tables is None or self._tables.texts != texts:
            self._tables = UsageTables(*texts)
            self.forget()
        return self._tables

    def _one(self, name: str, tables: UsageTables) -> Disk | None:
        if name not in self._known:
            disk = _read_disk(self._reader, name, tables)
            if disk is None:
                return None
            self._known[name] = disk
        return self._known[name]


def _read_disk(reader: HostReader, name: str, tables: UsageTables) -> Disk | None:
    node = f"{BLOCK}/{name.replace('/', '!')}"
    dev = reader.text(f"{node}/dev")
    size = reader.text(f"{node}/size")
    if dev is None and size is None:
        return None
    entry = read_udev_entry(reader, dev)
    whole = whole_disk(reader, name) if reader.text(f"{node}/partition") is not None else name
    of_whole = entry if whole == name else read_udev_entry(reader, reader.text(f"{BLOCK}/{whole}/dev"))
    whole_node = f"{BLOCK}/{whole.replace('/', '!')}"
    rotational = reader.text(f"{whole_node}/queue/rotational")
    return Disk(
        name=name,
        disk=whole,
        dev=dev,
        size_bytes=int(size) * 512 if _is_size(size) else None,
        model=_model(reader, whole_node, of_whole),
        serial=label_serial(reader, whole_node, of_whole.properties),
        wwn=of_whole.properties.get("ID_WWN") or serial_word(reader.text(f"{whole_node}/wwid")),
        identifier=serial_word(of_whole.properties.get("ID_SERIAL")),
        rotational=None if rotational is None else rotational.strip() == "1",
        uses=read_uses(reader, name, dev, entry, tables),
    )


def read_identity(reader: HostReader, name: str) -> Disk:
    """Return the identity of a whole disk by udev and sysfs. No file is kept open: any thread may call it."""
    node = f"{BLOCK}/{name.replace('/', '!')}"
    dev = reader.text(f"{node}/dev")
    entry = read_udev_entry(reader, dev)
    return Disk(
        name=name,
        disk=name,
        dev=dev,
        model=_model(reader, node, entry),
        serial=label_serial(reader, node, entry.properties),
        wwn=entry.properties.get("ID_WWN") or serial_word(reader.text(f"{node}/wwid")),
        identifier=serial_word(entry.properties.get("ID_SERIAL")),
    )


def read_appearance(reader: HostReader, disk: str) -> str:
    """Return the boot ID and the ``diskseq`` of a whole disk; see ``Device.appearance``."""
    number = serial_word(reader.text(f"{BLOCK}/{disk.replace('/', '!')}/diskseq"))
    boot = serial_word(reader.text("/proc/sys/kernel/random/boot_id"))
    return f"{boot}/{number}" if number and boot else ""


def _is_size(text: str | None) -> TypeGuard[str]:
    return text is not None and text.isascii() and text.isdigit() and len(text) <= 20


def whole_disk(reader: HostReader, partition: str) -> str:
    """Return the disk that a partition is on; its own name where that is not known."""
    link = reader.link(f"{BLOCK}/{partition}")
    if link is not None and link.count("/") > 1:
        return link.split("/")[-2]
    for name in reader.names(BLOCK):
        if partition.startswith(name) and reader.text(f"{BLOCK}/{name}/{partition}/partition") is not None:
            return name
    return partition


def _model(reader: HostReader, node: str, entry: UdevEntry) -> str | None:
    return serial_word(reader.text(f"{node}/device/model")) or serial_word(entry.properties.get("ID_MODEL"))


def kind_of(name: str, link: str) -> str:
    """Return how a disk is connected.

    Args:
        name: the kernel's.
        link: the target of its link in /sys/class/block.
    """
    if name.startswith("nvme"):
        return "nvme"
    if name.startswith("vd"):
        return "virtio"
    if not name.startswith("sd"):
        return "other"
    if _ATA.search(link) is not None:
        return "sata"
    return "usb" if "/usb" in link else "scsi"


class UsageTables:
    """Mounts and swaps by device.

    Args:
        mountinfo: /proc/self/mountinfo.
        swaps: /proc/swaps.
    """

    def __init__(self, mountinfo: str, swaps: str) -> None:
        self.texts = (mountinfo, swaps)
        self._swaps = parse_swaps(swaps)
        self._mounts: dict[str, list[Use]] = {}
        for mount in parse_mounts(mountinfo):
            use = Use(kind="mount", what=mount.where, detail=mount.kind)
            self._mounts.setdefault(mount.dev, []).append(use)
            if mount.dev.startswith("0:"):  # btrfs and others have a device number of their own
                self._mounts.setdefault(mount.source, []).append(use)

    def mounts(self, dev: str | None, paths: tuple[str, ...]) -> list[Use]:
        """Return the mounts of the device with this "major:minor" or one of these paths."""
        found = [use for key in (dev, *paths) if key for use in self._mounts.get(key, ())]
        return list(dict.fromkeys(found))

    def is_swap(self, paths: tuple[str, ...]) -> bool:
        """Whether one of these paths is swapped to."""
        return not self._swaps.isdisjoint(paths)


def read_uses(
    reader: HostReader, name: str, dev: str | None, entry: UdevEntry, tables: UsageTables
) -> tuple[Use, ...]:
    """Return all uses of a block device that can be seen without opening it."""
    paths = (f"/dev/{name}", *(f"/dev/{link}" for link in entry.links))
    uses = tables.mounts(dev, paths)
    if tables.is_swap(paths):
        uses.append(Use(kind="swap", what=name))
    for holder in reader.names(f"{BLOCK}/{name}/holders"):
        detail = (reader.text(f"{BLOCK}/{holder}/dm/name") or "") if holder.startswith("dm-") else ""
        uses.append(Use(kind="holder", what=holder.replace("!", "/"), detail=detail))
    uses += [
        Use(kind="partition", what=child)
        for child in reader.names(f"{BLOCK}/{name}")
        if child.startswith(name) and reader.text(f"{BLOCK}/{name}/{child}/partition") is not None
    ]
    # The udev entry of a partition also has the partition table of its disk.
    is_partition = reader.text(f"{BLOCK}/{name}/partition") is not None
    for key in ("ID_FS_TYPE",) if is_partition else ("ID_FS_TYPE", "ID_PART_TABLE_TYPE"):
        if signature := entry.properties.get(key):
            label = entry.properties.get("ID_FS_LABEL", "") if key == "ID_FS_TYPE" else ""
            uses.append(Use(kind="signature", what=signature, detail=label))
    return tuple(uses)


def candidate_names(reader: HostReader) -> tuple[str, ...]:
    """Return the kernel's names of all disks and partitions that could hold a member, sorted."""
    return tuple(
        name.replace("!", "/")
        for name in reader.names(BLOCK)
        if not name.startswith(NO_DISKS) and (reader.text(f"{BLOCK}/{name}/size") or "0").strip() != "0"
    )


def map_candidates(reader: HostReader) -> tuple[str, ...]:
    """Return the kernel's names of maps of the device mapper that could be members of an array, sorted.

    Left out are those of rescue trials, those that another map stands on, and what the device mapper keeps to
    itself, where udev says so.
    """
    found = []
    for name in reader.names(BLOCK):
        if not name.startswith("dm-") or (reader.text(f"{BLOCK}/{name}/size") or "0").strip() == "0":
            continue
        known = read_udev_entry(reader, reader.text(f"{BLOCK}/{name}/dev")).properties
        below = any(not holder.startswith("md") for holder in reader.names(f"{BLOCK}/{name}/holders"))
        own = known.get("DM_UDEV_DISABLE_OTHER_RULES_FLAG", "0") not in {"", "0"}
        if not below and not own and not (reader.text(f"{BLOCK}/{name}/dm/name") or "").startswith(PREFIX):
            found.append(name)
    return tuple(found)
