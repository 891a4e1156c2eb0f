"""The boot check of a host: what it reads, and the verdicts."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from raidtui.host.boot.boot_reader import BootReader
from raidtui.host.md.configured import read_configured
from raidtui.host.readers.host_reader import HostReader
from raidtui.model.boot import BootFacts
from raidtui.model.snapshot import Snapshot
from raidtui.model.stack import Stack
from raidtui.monitor.boot.boot_reasons import DiskVerdict
from raidtui.monitor.boot.boot_verdicts import judge_boot
from raidtui.monitor.sampler import Sampler
from raidtui.monitor.stack.stack_reader import StackReader


class BootLook(Struct, frozen=True, kw_only=True):
    """What a boot check has found.

    Args:
        facts: of the boot.
        verdicts: one for each disk that the boot needs anything of.
        unread: what could not be read, a sentence each.
    """

    facts: BootFacts
    verdicts: tuple[DiskVerdict, ...] = ()
    unread: tuple[str, ...] = ()


def check_boot(reader: HostReader) -> BootLook:
    """Read what a boot needs, and judge it."""
    snapshot = Sampler(reader).sample()
    look = StackReader(reader).look({array.name: array for array in snapshot.arrays}, wait=True)
    return look_at_boot(reader, snapshot, look.meter.now)


def read_boot_loaders(reader: HostReader, snapshot: Snapshot, disks: frozenset[str]) -> BootFacts:
    """Return what boot loaders are on these disks; the rest of a boot is not read, nor any other disk."""
    arrays = {array.name: array for array in snapshot.arrays}
    stack = StackReader(reader).look(arrays, wait=True).meter.now
    return BootReader(reader, stack, arrays).read_loaders(disks)


def look_at_boot(reader: HostReader, snapshot: Snapshot, stack: Stack) -> BootLook:
    """Judge a boot by arrays and layers that were read already."""
    arrays = {array.name: array for array in snapshot.arrays}
    facts = BootReader(reader, stack, arrays).read()
    configured = tuple(
        each for each in read_configured(reader) if each.file not in {"/etc/fstab", "/etc/crypttab"}
    )
    serials = {name: disk.identity for name, disk in snapshot.disks.items()}
    verdicts = judge_boot(facts, stack, arrays, configured=configured, serials=serials)
    unread = () if snapshot.readable else ("/proc/mdstat could not be read",)
    return BootLook(facts=facts, verdicts=verdicts, unread=(*unread, *stack.unknown))


def look_at_boot_dict(look: BootLook) -> dict[str, Any]:
    """Return the form for programs (docs/boot-check.md)."""
    return {"disks": [_verdict_dict(each) for each in look.verdicts], "unknown": list(look.unread)}


def _verdict_dict(verdict: DiskVerdict) -> dict[str, Any]:
    return {
        "name": verdict.name,
        "serial": verdict.serial or None,
        "boots_without": verdict.boots_without,
        "reasons": [
            {"code": str(each.code), "text": each.text, "boots": each.boots} for each in verdict.reasons
        ],
    }
