"""The plans that fix a part of the boot, from the boot check of the host."""

from __future__ import annotations

from raidtui.features.boot.boot_plans import plan_fstab, plan_initramfs, plan_menu
from raidtui.host.block import read_identity
from raidtui.host.examine import read_host
from raidtui.host.readers.host_reader import HostReader, whole_number
from raidtui.model.plan import Plan, Refusal, RefusalCode
from raidtui.monitor.boot.boot_check import look_at_boot
from raidtui.monitor.boot.boot_host import BootHost
from raidtui.monitor.boot.loader_stage import good_esps
from raidtui.monitor.sampler import Sampler
from raidtui.monitor.stack.stack_reader import StackReader
from raidtui.plans.loader_plans import plan_loader


def boot_plan(reader: HostReader, kind: str, word: str) -> Plan | Refusal:
    """Return the plan that fixes a part of the boot.

    Args:
        reader: the host.
        kind: loader, initramfs, menu or fstab.
        word: what it is about: a disk, a kernel's release, a line of fstab; nothing of a menu.
    """
    if kind != "menu" and not word:
        what = {"loader": "a disk", "initramfs": "a kernel's release", "fstab": "the number of a line"}[kind]
        return Refusal(code=RefusalCode.INVALID, why=f"{what} is needed: raidtui plan boot {kind} ...")
    snapshot = Sampler(reader).sample()
    look = StackReader(reader).look({array.name: array for array in snapshot.arrays}, wait=True)
    stack = look.meter.now
    facts = look_at_boot(reader, snapshot, stack).facts
    survey = read_host(reader, snapshot, mdadm=False)
    if kind == "loader":
        disk = snapshot.disks.get(word)
        serial = read_identity(reader, word).identity if disk is None else disk.identity
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
