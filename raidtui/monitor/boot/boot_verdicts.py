"""Whether a machine comes up without any one of its disks. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from raidtui.host.md.configured import ConfiguredArray
from raidtui.model.array import Array
from raidtui.model.boot import BootFacts
from raidtui.model.stack import Stack
from raidtui.monitor.boot.boot_host import BootHost
from raidtui.monitor.boot.boot_reasons import DiskVerdict, Reason
from raidtui.monitor.boot.kernel_stage import kernel_reasons
from raidtui.monitor.boot.loader_stage import loader_reasons
from raidtui.monitor.boot.table_stage import table_reasons, waits

_ORDER = {False: 0, None: 1, True: 2}


def judge_boot(
    facts: BootFacts,
    stack: Stack,
    arrays: Mapping[str, Array],
    *,
    configured: tuple[ConfiguredArray, ...] = (),
    serials: Mapping[str, str] | None = None,
) -> tuple[DiskVerdict, ...]:
    """Return the verdict for each disk that the boot needs anything of.

    Args:
        facts: of the boot.
        stack: the layers.
        arrays: md's, by kernel name.
        configured: the arrays in mdadm.conf.
        serials: of disks, by kernel name.
    """
    host = BootHost(facts, stack, arrays)
    known = serials or {}
    return tuple(
        DiskVerdict(name=disk, serial=known.get(disk, ""), reasons=_reasons(host, disk, configured))
        for disk in needed_disks(host)
    )


def needed_disks(host: BootHost) -> tuple[str, ...]:
    """Return the disks below root, /boot, ESPs, and what fstab wants, in the order of their names."""
    facts = host.facts
    devices = [*host.early, facts.boot.device, *(each.device for each in facts.esps)]
    devices += [device for line in facts.lines if waits(line) for device in line.devices]
    return tuple(sorted({*host.disks(*dict.fromkeys(filter(None, devices)))}, key=_length_first))


def _length_first(name: str) -> tuple[int, str]:
    return len(name), name


def _reasons(host: BootHost, disk: str, configured: tuple[ConfiguredArray, ...]) -> tuple[Reason, ...]:
    found = dict.fromkeys(
        (*loader_reasons(host, disk), *kernel_reasons(host, disk), *table_reasons(host, disk, configured))
    )
    return tuple(sorted(found, key=lambda reason: _ORDER[reason.boots]))
