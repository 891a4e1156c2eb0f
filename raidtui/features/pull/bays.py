"""The disks that are plugged in now, by what does not change: serial number or WWN, and bay."""

from __future__ import annotations

import time
from collections.abc import Mapping

from msgspec import Struct

from raidtui.host.block import BLOCK, NO_DISKS, read_appearance, read_identity
from raidtui.host.readers.host_reader import HostReader, whole_number
from raidtui.host.udev import DATA, has_udev_entry, read_udev_entry
from raidtui.model.disk import disk_number
from raidtui.plans.locate import bay_of

_PATIENCE_S, _PACE_S = 1.0, 0.05


class BayDisk(Struct, frozen=True, kw_only=True):
    """A whole disk that is there.

    Args:
        identity: its serial number, or WWN; "" where it has none, or udev has not read it yet.
        label: the serial number on its label; "" where that is not known.
        bay: where it is plugged in, as udev names it; "" where that is not known.
        appearance: its boot ID and ``diskseq``, see ``Device.appearance``.
        sector_bytes: the logical sector size; None where the kernel does not say.
    """

    name: str
    identity: str
    label: str = ""
    model: str = ""
    size_bytes: int | None = None
    sector_bytes: int | None = None
    rotational: bool | None = None
    bay: str = ""
    appearance: str = ""

    @property
    def number(self) -> str:
        """The number that it is found by, with its kind: "serial S2R5NX0H812345"."""
        return disk_number(self.label, self.identity)


def read_bays(reader: HostReader) -> tuple[BayDisk, ...]:
    """Return the disks that are there, by name. No disk is opened."""
    names = (name.replace("!", "/") for name in reader.names(BLOCK) if not name.startswith(NO_DISKS))
    return tuple(_read(reader, name) for name in sorted(names) if not _is_partition(reader, name))


def _is_partition(reader: HostReader, name: str) -> bool:
    node = f"{BLOCK}/{name.replace('/', '!')}"
    return reader.text(f"{node}/partition") is not None or reader.text(f"{node}/dev") is None


def _read(reader: HostReader, name: str) -> BayDisk:
    disk = read_identity(reader, name)
    node = f"{BLOCK}/{name.replace('/', '!')}"
    sectors = whole_number(reader.text(f"{node}/size"))
    rotational = whole_number(reader.text(f"{node}/queue/rotational"))
    entry = read_udev_entry(reader, disk.dev)
    return BayDisk(
        name=name,
        identity=disk.identity,
        label=disk.serial or "",
        model=disk.model or "",
        size_bytes=None if sectors is None else sectors * 512,
        sector_bytes=whole_number(reader.text(f"{node}/queue/logical_block_size")),
        rotational=None if rotational is None else rotational == 1,
        bay=bay_of(entry.links),
        appearance=read_appearance(reader, name),
    )


def read_settled_bays(
    reader: HostReader, *, patience_s: float = _PATIENCE_S
) -> tuple[tuple[BayDisk, ...], bool]:
    """Return the disks that are there, and whether udev has read all of them.

    A disk that has just been plugged in, or a host that has just booted, is waited for: until udev has read a
    disk its serial number is not known, and the disk would seem to be missing.

    Args:
        reader: the host; one that is not live, or has no udev, is not waited for.
        patience_s: how long.
    """
    end_s = time.monotonic() + (patience_s if reader.live and reader.names(DATA) else 0.0)
    while True:
        bays = read_bays(reader)
        numbers = (
            reader.text(f"{BLOCK}/{disk.name.replace('/', '!')}/dev") for disk in bays if not disk.identity
        )
        unread = [number for number in numbers if number and not has_udev_entry(reader, number)]
        if not unread or time.monotonic() >= end_s:
            return bays, not unread or not reader.names(DATA)
        time.sleep(_PACE_S)


def by_identity(disks: tuple[BayDisk, ...]) -> Mapping[str, BayDisk]:
    """Return the disks by identity; those without one are left out."""
    return {disk.identity: disk for disk in disks if disk.identity}


def partition_of_disk(disk: str, part: int) -> str:
    """Return the kernel's name of a partition, or of the disk itself for 0: sda2, nvme0n1p2."""
    return f"{disk}p{part}" if part and disk[-1:].isdigit() else f"{disk}{part or ''}"


def part_number(name: str, disk: str) -> int:
    """Return the number of a partition by its name; 0 for the whole disk."""
    return whole_number(name.removeprefix(disk).lstrip("p")) or 0
