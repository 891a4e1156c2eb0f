"""The boot check of a host: what it reads, and the verdicts."""

from __future__ import annotations

from msgspec import Struct

from raidtui.boot.boot_host import BootHost
from raidtui.boot.boot_reasons import DiskVerdict
from raidtui.boot.boot_verdicts import judge_boot
from raidtui.boot.loader_stage import good_esps
from raidtui.host.block import read_identity
from raidtui.host.boot.boot_reader import BootReader
from raidtui.host.examine import read_host
from raidtui.host.md.configured import read_configured
from raidtui.host.readers.host_reader import HostReader, whole_number
from raidtui.model.boot import BootFacts
from raidtui.model.plan import Plan, Refusal, RefusalCode
from raidtui.model.snapshot import Snapshot
from raidtui.model.stack import Stack
from raidtui.monitor.sampler import Sampler
from raidtui.plans.boot_plans import plan_fstab, plan_initramfs, plan_menu
from raidtui.plans.loader_plans import plan_loader
from raidtui.session.stack import StackReader


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


def check_boot(root: HostReader) -> BootLook:
    """Read what a boot needs, and judge it."""
    snapshot = Sampler(root).sample()
    look = StackReader(root).look({array.name: array for array in snapshot.arrays}, wait=True)
    return look_at_boot(root, snapshot, look.meter.now)


def read_boot_loaders(root: HostReader, snapshot: Snapshot, disks: frozenset[str]) -> BootFacts:
    """Return what boot loaders are on these disks; the rest of a boot is not read, nor any other disk."""
    arrays = {array.name: array for array in snapshot.arrays}
    stack = StackReader(root).look(arrays, wait=True).meter.now
    return BootReader(root, stack, arrays).read_loaders(disks)


def boot_plan(root: HostReader, kind: str, word: str) -> Plan | Refusal:
    """Return the plan that mends a part of the boot.

    Args:
        root: the host.
        kind: loader, initramfs, menu or fstab.
        word: what it is about: a disk, a kernel's release, a line of fstab; nothing of a menu.
    """
    if kind != "menu" and not word:
        what = {"loader": "a disk", "initramfs": "a kernel's release", "fstab": "the number of a line"}[kind]
        return Refusal(code=RefusalCode.INVALID, why=f"{what} is needed: raidtui plan boot {kind} ...")
    snapshot = Sampler(root).sample()
    look = StackReader(root).look({array.name: array for array in snapshot.arrays}, wait=True)
    stack = look.meter.now
    facts = look_at_boot(root, snapshot, stack).facts
    survey = read_host(root, snapshot, mdadm=False)
    if kind == "loader":
        disk = snapshot.disks.get(word)
        serial = read_identity(root, word).identity if disk is None else disk.identity
        host = BootHost(facts, stack, {array.name: array for array in snapshot.arrays})
        of = next((esp for esp in good_esps(host) if esp.disk != word), None)
        return plan_loader(survey, facts, word, serial=serial, of=of)
    if kind == "initramfs":
        below = {facts.root.device, *stack.below(facts.root.device)}
        arrays = tuple(array for array in snapshot.arrays if array.name in below)
        return plan_initramfs(survey, facts, word, arrays)
    if kind == "menu":
        return plan_menu(survey, facts.menu)
    line = whole_number(word)
    if line is None:
        return Refusal(
            code=RefusalCode.INVALID, why=f"{word!r} is not a line of fstab", remedy="give its number"
        )
    return plan_fstab(survey, line)


def look_at_boot(root: HostReader, snapshot: Snapshot, stack: Stack) -> BootLook:
    """Judge a boot by arrays and layers that were read already."""
    arrays = {array.name: array for array in snapshot.arrays}
    facts = BootReader(root, stack, arrays).read()
    configured = tuple(
        each for each in read_configured(root) if each.file not in {"/etc/fstab", "/etc/crypttab"}
    )
    serials = {name: disk.identity for name, disk in snapshot.disks.items()}
    verdicts = judge_boot(facts, stack, arrays, configured=configured, serials=serials)
    unread = () if snapshot.readable else ("/proc/mdstat could not be read",)
    return BootLook(facts=facts, verdicts=verdicts, unread=(*unread, *stack.unknown))
