"""Which storage controllers hide disks, or serve them in a legacy mode: what PCI devices say in sysfs."""

from __future__ import annotations

import re
from collections.abc import Iterable

from raidtui.host.block import BLOCK
from raidtui.host.readers.host_reader import HostReader, whole_number

_AHCI = "/sys/bus/pci/drivers/ahci"
_PCI = "/sys/bus/pci/devices"
_BEHIND = re.compile(r"/([0-9a-f]{4,}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])/ata[0-9]+/")
_IDE_CLASS = "0x0101"


def read_hidden_nvme(reader: HostReader) -> dict[str, int]:
    """Return how many NVMe devices each AHCI controller hides, by its PCI address: those that hide any.

    Source: ``remapped_nvme`` of drivers/ata/ahci.c.
    """
    counts = {
        name: whole_number(reader.text(f"{_AHCI}/{name}/remapped_nvme")) for name in reader.names(_AHCI)
    }
    return {name: count for name, count in counts.items() if count}


def has_lights(reader: HostReader) -> bool:
    """Whether ledctl(8) may find an enclosure whose lights it controls; True where it does not say.

    Version 0.95 ends with status 0 and prints nothing where it finds none. It writes its own log nowhere.
    """
    listed = reader.ask("ledctl", "--log=/dev/null", "--list-controllers")
    return listed.status != 0 or bool(listed.stdout.strip())


def read_ide_disks(reader: HostReader, disks: Iterable[str]) -> tuple[str, ...]:
    """Return the SATA disks whose controller is in IDE mode, by its PCI class (0101)."""
    found = []
    for disk in disks:
        behind = _BEHIND.search(reader.link(f"{BLOCK}/{disk}") or "")
        if behind and (reader.text(f"{_PCI}/{behind[1]}/class") or "").startswith(_IDE_CLASS):
            found.append(disk)
    return tuple(found)
