"""The boot loader of a new disk: where the former one, or the neighbour whose table it gets, had one."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from raidtui.features.pull.bays import partition_of_disk
from raidtui.features.pull.record import PullRecord
from raidtui.features.pull.tables import Table, TablePart
from raidtui.model.boot import BootFacts, Esp
from raidtui.model.fact import Fact, FactKind
from raidtui.model.plan import Step
from raidtui.model.survey import Device, Survey
from raidtui.plans.loader_plans import esp_steps, grub_step


def has_loader(facts: BootFacts, disk: str) -> bool:
    """Whether a disk has what a firmware starts: GRUB, or a loader in its EFI system partition."""
    if facts.firmware == "uefi":
        return any(esp.loaders for esp in facts.esps if esp.disk == disk)
    return any(sector.grub for sector in facts.sectors if sector.disk == disk)


def loader_steps(
    survey: Survey, record: PullRecord, facts: BootFacts, device: Device, *, table: Table, of: str
) -> tuple[Step, ...]:
    """Return the steps that give a new disk its boot loader; none where there was none that can be read.

    They come last, and each may fail: the arrays are complete by then, and a boot check says what is missing.

    Args:
        survey: the host.
        record: of the exchange.
        facts: the boot loaders of the disks that are there.
        device: the new disk.
        table: the partition table it gets.
        of: the disk whose table that is.
    """
    if not (record.booted or has_loader(facts, of)):
        return ()
    disk = device.disk
    same = (Fact(kind=FactKind.SERIAL, subject=disk.name, value=disk.identity),) if disk.identity else ()
    if facts.firmware == "bios":
        steps: tuple[Step, ...] = (grub_step(survey, disk.name, same),)
    elif facts.firmware == "uefi":
        members = {member.part for member in record.target.members}
        parts = [part for part in table.parts if part.is_esp and part.number not in members]
        esp = _esp(device, parts[0]) if parts and not survey.refuse_tool("mkfs.vfat") else None
        steps = () if esp is None else esp_steps(survey, facts, esp, same, of=_source(facts.esps, of))
    else:
        steps = ()
    return tuple(replace(step, may_fail=True) for step in steps)


def _esp(device: Device, part: TablePart) -> Esp:
    """Return the EFI system partition of a disk, as it will be: empty."""
    disk = device.disk.name
    return Esp(
        device=partition_of_disk(disk, part.number),
        disk=disk,
        number=part.number,
        has_fat=False,
        size_bytes=part.size * device.sector_bytes,
    )


def _source(esps: Sequence[Esp], of: str) -> Esp | None:
    """Return the EFI system partition that is copied: that of the neighbour, else any with boot loaders."""
    found = [esp for esp in esps if esp.loaders and not esp.array]
    return next((esp for esp in found if esp.disk == of), found[0] if found else None)
