"""Which disk is behind which port, as the lines of one boot say: numbers of ports change from boot to boot.

libata starts a SCSI host for each of its ports, in the same order: the first ``ata1`` of a boot belongs to
the first host of a driver of libata. Where there are not as many ports as hosts, nothing is said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy

from raidtui.features.history.entries import Entry, controller_of, disk_of, group_of
from raidtui.features.history.patterns import groups_of, patterns

_LIBATA = ("ahci", "ata_", "sata_", "pata_", "pdc_", "acard-ahci")
_TEACH = frozenset({"scsi-host", "ata-port", "smart-disk", "ata-detached", "disk-attached"})
_NO_MEMBERS = frozenset({"same-disk", "mdadm-sync"})


class Wiring:
    """What the lines of a boot have said so far.

    Args:
        known: ports and their disks, where the host itself says so; only for the boot that it is in.
    """

    def __init__(self, known: Mapping[str, str] | None = None) -> None:
        self.known = dict(known or {})
        """Disks by their ports, before what lines say."""
        self._hosts: list[str] = []
        self._ports: list[str] = []
        self._disks: dict[str, str] = {}
        self._left: dict[str, str] = {}
        """ATA ports whose disk was removed, by the SCSI address that it had."""
        self.serials: dict[str, str] = {}
        """By the disk's name; smartd writes them."""
        self.models: dict[str, str] = {}
        self.members: dict[str, set[str]] = {}
        """The devices that md has named of each array."""
        self._said: dict[tuple[str, str, str], tuple[str, ...]] = {}

    def take(self, entry: Entry) -> None:
        """Learn from a line."""
        code, device = entry.code, entry.device
        if entry.array and device and code not in _NO_MEMBERS:
            self.members.setdefault(entry.array, set()).add(device)
        if entry.port and device and self._disks.get(entry.port) != device:
            self._disks[entry.port] = device
            self._said.clear()
        if code not in _TEACH:
            return
        self._said.clear()
        if code == "scsi-host":
            groups = groups_of(patterns()[code], entry.text)
            if groups["a"].startswith(_LIBATA):
                self._hosts.append(groups["n"])
        elif code == "ata-detached":
            self._left[group_of(entry, "h")] = entry.port
        elif code == "disk-attached":
            self._left.pop(entry.port, None)
        elif code == "ata-port":
            self._ports.append(entry.port)
        elif code == "smart-disk":
            groups = groups_of(patterns()[code], entry.text)
            self.serials[device] = groups["s"].strip()
            self.models[device] = groups["n"].strip()

    def disk(self, port: str) -> str:
        """Return the name of the disk behind a port or address; "" where that is not known."""
        if port in self.known:
            return self.known[port]
        if port.startswith("ata"):
            if len(self._hosts) != len(self._ports) or port not in self._ports:
                return ""
            return self._disks.get(f"{self._hosts[self._ports.index(port)]}:0:0:0", "")
        if port.startswith("nvme"):
            return port
        return self._disks.get(port, "")

    def within(self, entries: Sequence[Entry]) -> Wiring:
        """Return what these entries say of ports, before what the host or others of the boot say."""
        own = {entry.port: disk_of(entry.device) for entry in reversed(entries) if entry.device}
        for entry in entries:
            if entry.code == "ata-detached" and (disk := own.get(group_of(entry, "h"))):
                own[entry.port] = disk
        found = copy(self)
        found.known = {**self.known, **own}
        return found

    def subjects(self, entry: Entry) -> tuple[str, ...]:
        """Return what an entry is about: its array, its disk, or a port whose disk is not known."""
        key = (entry.array, entry.device, entry.port)
        said = self._said.get(key)
        if said is None:
            said = self._said[key] = self._subjects(entry)
        return said

    def _subjects(self, entry: Entry) -> tuple[str, ...]:
        found = [f"array {entry.array}"] if entry.array else []
        name = disk_of(entry.device)
        if name.startswith("md"):
            found.append(f"array {name}")
        elif name:
            found.append(f"disk {controller_of(name) or name}")
            if entry.port in self._left:
                found.append(f"port {self._left[entry.port]}")
        elif entry.port:
            disk = self.disk(entry.port)
            found.append(f"disk {controller_of(disk) or disk}" if disk else f"port {entry.port}")
        return tuple(found)
