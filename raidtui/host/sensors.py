"""What the host feels while it works: the temperature of disks by hwmon, and how fast the processors run now.

A temperature has its price. drivetemp asks the disk at each reading, by a SMART command (SCT status, or the
attributes): that one cannot be queued, so the disk ends all it was given before it answers, and meanwhile
gets nothing else. An NVMe is asked for its health log, beside its I/O. So these are read seldom: 2 s are
plenty. A frequency costs next to nothing, though kernels before 5.18 wake each processor that is asked for.

Sources: Documentation/hwmon/sysfs-interface.rst and drivetemp.rst, drivers/hwmon/drivetemp.c,
drivers/nvme/host/hwmon.c, Documentation/admin-guide/pm/cpufreq.rst. Nothing here needs root.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

from raidtui.host.roots.root import Root

_HWMON = "/sys/class/hwmon"
_CPUFREQ = "/sys/devices/system/cpu/cpufreq"
_CONTROLLER = re.compile(r"nvme[0-9]+")
_NAMESPACE = re.compile(r"(nvme[0-9]+)(?:c[0-9]+)?(n[0-9]+)")
_NOTHING = -273_000  # an NVMe that does not measure says 0 kelvin


def find_thermometers(root: Root, disks: Collection[str]) -> dict[str, str]:
    """Return the file of each disk's temperature, by kernel name; no disk is asked for it here.

    Disks that hwmon does not know are left out: SATA ones where drivetemp is not loaded, and SAS.
    """
    found: dict[str, str] = {}
    for chip in root.names(_HWMON):
        folder = f"{_HWMON}/{chip}"
        driver = (root.text(f"{folder}/name") or "").strip()
        if driver == "drivetemp":
            names: Collection[str] = root.names(f"{folder}/device/block")
        elif driver == "nvme":
            names = tuple(_namespaces(root, f"{folder}/device"))
        else:
            continue
        found |= dict.fromkeys(names, f"{folder}/temp1_input")
    return {disk: found[disk] for disk in disks if disk in found}


def _namespaces(root: Root, device: str) -> Iterator[str]:
    """Yield the disks of a controller. hwmon is the controller's or, before Linux 5.12, its PCI device's."""
    controllers = [name for name in root.names(f"{device}/nvme") if _CONTROLLER.fullmatch(name)]
    for folder in (device, *(f"{device}/nvme/{name}" for name in controllers)):
        for name in root.names(folder):
            if found := _NAMESPACE.fullmatch(name):
                yield found[1] + found[2]  # nvme0c1n2 is one of the ways to nvme0n2


def read_celsius(root: Root, thermometers: Mapping[str, str]) -> dict[str, float]:
    """Ask disks for their temperature, degrees Celsius; those that do not tell are left out.

    Args:
        root: the host.
        thermometers: as ``find_thermometers`` returns them.
    """
    found: dict[str, float] = {}
    for disk, path in thermometers.items():
        word = (root.text(path) or "").strip()
        if word.removeprefix("-").isdecimal() and len(word) < 9 and (milli := int(word)) > _NOTHING:
            found[disk] = round(milli / 1000, 1)
    return found


def policy_words(root: Root, name: str) -> tuple[str, ...]:
    """Return what each of cpufreq's policies has in a file, ``scaling_governor``; () without cpufreq."""
    policies = (each for each in root.names(_CPUFREQ) if each.startswith("policy"))
    texts = (root.text(f"{_CPUFREQ}/{policy}/{name}") for policy in policies)
    return tuple(text.strip() for text in texts if text)


def read_mhz(root: Root) -> tuple[int, int] | None:
    """Return the lowest and the highest frequency at which processors run now; None where none is told."""
    words = policy_words(root, "scaling_cur_freq")
    found = [int(word) // 1000 for word in words if word.isdecimal() and len(word) < 12]
    return (min(found), max(found)) if found else None
