"""Sensors: the temperature of disks by hwmon, and the current frequency of processors.

Reading a temperature costs I/O: drivetemp sends the disk a SMART command (SCT status or the attributes),
which cannot be queued: the disk finishes all other commands first and gets no new ones meanwhile. An NVMe
disk reads its health log beside other I/O. Read temperatures every 2 s at most. A frequency costs next to
nothing, though kernels before 5.18 wake each processor for it.

Sources: Documentation/hwmon/sysfs-interface.rst and drivetemp.rst, drivers/hwmon/drivetemp.c,
drivers/nvme/host/hwmon.c, Documentation/admin-guide/pm/cpufreq.rst. Nothing here needs root.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

from raidtui.host.readers.host_reader import HostReader

_HWMON = "/sys/class/hwmon"
_CPUFREQ = "/sys/devices/system/cpu/cpufreq"
_CONTROLLER = re.compile(r"nvme[0-9]+")
_NAMESPACE = re.compile(r"(nvme[0-9]+)(?:c[0-9]+)?(n[0-9]+)")
_NOTHING = -273_000  # an NVMe disk without a sensor reports 0 kelvin


def find_thermometers(reader: HostReader, disks: Collection[str]) -> dict[str, str]:
    """Return the file with each disk's temperature, by kernel name, without reading it.

    Disks without hwmon are left out: SATA disks where drivetemp is not loaded, and SAS disks.
    """
    found: dict[str, str] = {}
    for chip in reader.names(_HWMON):
        folder = f"{_HWMON}/{chip}"
        driver = (reader.text(f"{folder}/name") or "").strip()
        if driver == "drivetemp":
            names: Collection[str] = reader.names(f"{folder}/device/block")
        elif driver == "nvme":
            names = tuple(_namespaces(reader, f"{folder}/device"))
        else:
            continue
        found |= dict.fromkeys(names, f"{folder}/temp1_input")
    return {disk: found[disk] for disk in disks if disk in found}


def _namespaces(reader: HostReader, device: str) -> Iterator[str]:
    """Yield the disks of a controller. hwmon belongs to it or, before Linux 5.12, to its PCI device."""
    controllers = [name for name in reader.names(f"{device}/nvme") if _CONTROLLER.fullmatch(name)]
    for folder in (device, *(f"{device}/nvme/{name}" for name in controllers)):
        for name in reader.names(folder):
            if found := _NAMESPACE.fullmatch(name):
                yield found[1] + found[2]  # nvme0c1n2 is a path to nvme0n2


def read_celsius(reader: HostReader, thermometers: Mapping[str, str]) -> dict[str, float]:
    """Return the temperature of disks, degrees Celsius; disks that report none are left out.

    Args:
        reader: the host.
        thermometers: as ``find_thermometers`` returns them.
    """
    found: dict[str, float] = {}
    for disk, path in thermometers.items():
        word = (reader.text(path) or "").strip()
        if word.removeprefix("-").isdecimal() and len(word) < 9 and (milli := int(word)) > _NOTHING:
            found[disk] = round(milli / 1000, 1)
    return found


def policy_words(reader: HostReader, name: str) -> tuple[str, ...]:
    """Return the content of a file, such as ``scaling_governor``, of each cpufreq policy; () without any."""
    policies = (each for each in reader.names(_CPUFREQ) if each.startswith("policy"))
    texts = (reader.text(f"{_CPUFREQ}/{policy}/{name}") for policy in policies)
    return tuple(text.strip() for text in texts if text)


def read_mhz(reader: HostReader) -> tuple[int, int] | None:
    """Return the lowest and highest current frequency of the processors, MHz; None where it is not known."""
    words = policy_words(reader, "scaling_cur_freq")
    found = [int(word) // 1000 for word in words if word.isdecimal() and len(word) < 12]
    return (min(found), max(found)) if found else None
