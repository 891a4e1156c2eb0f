"""Which arrays and disks of today an incident is about: names of the kernel change from boot to boot.

In the present boot, they are what they are called. Of an earlier one, a disk is known by the serial number
that smartd wrote then, and an array by its members: partitions of disks that are known so, which all belong
to one array today. What is known by neither is not guessed.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from raidtui.features.history.entries import disk_of, partition_of
from raidtui.features.history.incidents import Incident


class ArrayToday(Struct, frozen=True, kw_only=True):
    """An array as it is now.

    Args:
        key: its UUID, or its name without one.
        title: its name for people.
        members: its devices.
    """

    name: str
    key: str
    title: str
    members: tuple[str, ...] = ()


class Today(Struct, frozen=True, kw_only=True):
    """The host as it is now.

    Args:
        boot: the boot's id.
        arrays: by the kernel's names.
        serials: of disks, by the kernel's names.
        ports: disks by the port that they are at.
    """

    boot: str = ""
    arrays: Mapping[str, ArrayToday] = {}
    serials: Mapping[str, str] = {}
    ports: Mapping[str, str] = {}


class SubjectToday(Struct, frozen=True, kw_only=True):
    """What an incident is about, as it is now.

    Args:
        arrays: those that are known.
        disks: their present names.
        unknown: names of that boot which cannot be matched with anything of today.
    """

    arrays: tuple[ArrayToday, ...] = ()
    disks: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


def subject_of(incident: Incident, today: Today) -> SubjectToday:
    """Return what an incident is about, as it is now."""
    now = bool(today.boot) and incident.boot == today.boot
    by_key = {array.key: array for array in today.arrays.values()}
    arrays: dict[str, ArrayToday] = {
        entry.uuid: by_key[entry.uuid] for entry in incident.entries if entry.uuid in by_key
    }
    disks: list[str] = []
    unknown: list[str] = []
    for name in incident.arrays:
        found = _array_now(name, today) if now else _array_then(name, incident, today)
        if found is not None:
            arrays[found.key] = found
        elif not arrays:
            unknown.append(name)
    for name in incident.disks:
        disk = _disk_now(name, today) if now else _disk_then(name, incident, today)
        (disks if disk else unknown).append(disk or name)
    return SubjectToday(arrays=tuple(arrays.values()), disks=tuple(disks), unknown=tuple(unknown))


def _array_now(name: str, today: Today) -> ArrayToday | None:
    if name in today.arrays:
        return today.arrays[name]
    titled = [array for array in today.arrays.values() if array.title == name]
    return titled[0] if len(titled) == 1 else None


def _disk_now(name: str, today: Today) -> str:
    if name in today.serials:
        return name
    return next((disk for disk in today.serials if disk.startswith(f"{name}n")), "")


def _disk_then(name: str, incident: Incident, today: Today) -> str:
    serial = incident.serials.get(name)
    found = [disk for disk, now in today.serials.items() if serial and now == serial]
    return found[0] if len(found) == 1 else ""


def _array_then(name: str, incident: Incident, today: Today) -> ArrayToday | None:
    """Return the array that all members of then belong to whose disks are known."""
    found: dict[str, ArrayToday] = {}
    for device in incident.members.get(name, ()):
        disk = _disk_then(disk_of(device), incident, today)
        if not disk:
            continue
        number = partition_of(device)
        device_now = f"{disk}{'p' if number and disk[-1:].isdigit() else ''}{number}"
        holders = [array for array in today.arrays.values() if device_now in array.members]
        if len(holders) != 1:
            return None
        found[holders[0].key] = holders[0]
    return next(iter(found.values())) if len(found) == 1 else None
