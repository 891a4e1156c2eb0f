"""Whole disks as members: a GPT with one Linux RAID partition, aligned, with room left free at the end.

Firmware and other systems take a disk without a table for an empty one. What is left free is room for an
SSD's own work (published advice: 7 to 12 %), and lets a slightly smaller disk replace a member later.
"""

from __future__ import annotations

from msgspec.structs import replace

from raidtui.model.answer import known
from raidtui.model.disk import Disk
from raidtui.model.plan import Fact, FactKind, Plan, Refusal, RefusalCode, Step
from raidtui.model.survey import Device, Survey
from raidtui.plans.contents import device_facts, losses_of, wipe_steps
from raidtui.plans.create.create_plan import chosen, plan_create
from raidtui.plans.create.create_request import CreateRequest
from raidtui.view.units import binary_size

RAID_TYPE = "A19D880F-05FC-4D3B-A006-743F0F84911E"
MOST_RESERVED = 50
_MIB = 1 << 20


def partition_name(disk: str) -> str:
    """Return the kernel's name of a disk's first partition: sda1, nvme0n1p1."""
    return f"{disk}p1" if disk[-1].isdigit() else f"{disk}1"


def partition_of(device: Device, reserve_percent: int) -> Device:
    """Return the partition that is made on a disk, as it will be."""
    size, start = device.disk.size_bytes or 0, _start(device)
    used = size * (100 - reserve_percent) // 100 // _MIB * _MIB
    end = min(used, (size - _MIB) // _MIB * _MIB)  # the backup table is in the last MiB
    disk = Disk(
        name=partition_name(device.disk.name),
        disk=device.disk.name,
        size_bytes=max(0, end - start),
        model=device.disk.model,
        serial=device.disk.serial,
        wwn=device.disk.wwn,
        rotational=device.disk.rotational,
    )
    return Device(
        disk=disk,
        probed=known(()),
        sector_bytes=device.sector_bytes,
        start_bytes=start,
        optimal_bytes=device.optimal_bytes,
        discards=device.discards,
    )


def plan_on_disks(request: CreateRequest, survey: Survey, *, reserve_percent: int) -> Plan | Refusal:
    """Return the plan that partitions the whole disks of a request, and creates the array on the partitions.

    Args:
        request: the array; whole disks and partitions.
        survey: the host.
        reserve_percent: part left free at the end of each disk.
    """
    if not 0 <= reserve_percent <= MOST_RESERVED:
        return Refusal(
            code=RefusalCode.INVALID,
            why=f"{reserve_percent} % cannot be left free",
            remedy=f"choose 0 to {MOST_RESERVED}",
        )
    if refusal := survey.refuse_tool("sfdisk", "wipefs"):
        return refusal
    found = chosen(request, survey)
    if isinstance(found, Refusal):
        return found
    whole = {device.disk.name: device for device in found if device.disk.disk == device.disk.name}
    parts = {name: partition_of(device, reserve_percent) for name, device in whole.items()}
    names = {name: part.disk.name for name, part in parts.items()}
    on_parts = replace(
        request,
        devices=tuple(names.get(name, name) for name in request.devices),
        spares=tuple(names.get(name, name) for name in request.spares),
        write_mostly=tuple(names.get(name, name) for name in request.write_mostly),
        journal=names.get(request.journal, request.journal),
    )
    devices = {**survey.devices, **{part.disk.name: part for part in parts.values()}}
    plan = plan_create(on_parts, replace(survey, devices=devices))
    if isinstance(plan, Refusal) or not whole:
        return plan
    before = [step for device in whole.values() for step in _steps(device, parts[device.disk.name], survey)]
    losses = losses_of(whole.values(), survey)
    left = binary_size(sum((d.disk.size_bytes or 0) for d in whole.values()) * reserve_percent // 100)
    note = (
        f"{reserve_percent} % at the end of each disk stays unused ({left} in total), as spare area for the"
        " SSD."
    )
    return replace(
        plan,
        steps=(*before, *plan.steps),
        losses=(*losses, *plan.losses),
        warning="What is on the devices is lost, and undo does not restore it." if losses else plan.warning,
        notes=(*plan.notes, note) if reserve_percent else plan.notes,
        devices=(*request.named, *request.on_top.others),
    )


def _start(device: Device) -> int:
    step = max(_MIB, device.optimal_bytes)
    return -(-_MIB // step) * step


def _steps(device: Device, part: Device, survey: Survey) -> list[Step]:
    sector = device.sector_bytes
    table = (
        f"label: gpt\nstart={part.start_bytes // sector}, size={(part.disk.size_bytes or 0) // sector},"
        f" type={RAID_TYPE}\n"
    )
    wipes = wipe_steps(device, survey)
    there = (
        Fact(kind=FactKind.NODE, subject=part.path),
        Fact(kind=FactKind.SIZE, subject=part.disk.name, value=str(part.disk.size_bytes)),
    )
    return [
        *wipes,
        Step(
            argv=("sfdisk", "--quiet", "--wipe", "always", "--wipe-partitions", "always", device.path),
            stdin=table,
            why=f"one Linux RAID partition, starting at {part.start_bytes // _MIB} MiB",
            needs=device_facts(device, untouched=not wipes),
            proves=there,
            destroys=True,
        ),
        Step(argv=("udevadm", "settle"), why=f"waits for {part.path}", proves=there),
    ]
