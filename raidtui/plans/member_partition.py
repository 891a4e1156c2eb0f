"""A whole disk that is to be a member: a GPT with one Linux RAID partition, aligned.

Firmware and other systems take a disk without a table for an empty one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from msgspec.structs import replace

from raidtui.model.answer import known
from raidtui.model.array import Array
from raidtui.model.disk import Disk
from raidtui.model.fact import Fact, FactKind
from raidtui.model.plan import Harm, Plan, Refusal, RunTool, Step
from raidtui.model.survey import Device, Survey
from raidtui.plans.candidates import refuse_device, refuse_old_arrays
from raidtui.plans.contents import device_facts, losses_of, wipe_steps
from raidtui.view.units import joined

RAID_TYPE = "A19D880F-05FC-4D3B-A006-743F0F84911E"
_MIB = 1 << 20
_SLACK_BYTES = 100 * _MIB
_NO_DISKS = ("md", "dm-", "loop", "ram", "zram", "bcache")
"""How the names of devices begin that get no table."""


def partition_name(disk: str) -> str:
    """Return the kernel's name of a disk's first partition: sda1, nvme0n1p1."""
    return f"{disk}p1" if disk[-1].isdigit() else f"{disk}1"


def partition_of(device: Device, reserve_percent: int = 0, *, slack: bool = False) -> Device:
    """Return the partition that is made on a disk, as it will be.

    Args:
        device: the disk.
        reserve_percent: part left free at its end.
        slack: whether 100 MiB, at most a hundredth, are left free: a spare may be a little smaller.
    """
    size, start = device.disk.size_bytes or 0, _start(device)
    free = max(-(-size * reserve_percent // 100), min(_SLACK_BYTES, size // 100) if slack else 0)
    used = (size - free) // _MIB * _MIB
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
        life_bytes=device.life_bytes,
        trouble=device.trouble,
    )


def _start(device: Device) -> int:
    step = max(_MIB, device.optimal_bytes)
    return -(-_MIB // step) * step


def table_steps(device: Device, part: Device, survey: Survey) -> list[Step]:
    """Return the steps that clear a disk and give it a table with this partition."""
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
        RunTool(
            argv=("sfdisk", "--quiet", "--wipe", "always", "--wipe-partitions", "always", device.path),
            stdin=table,
            why=f"one Linux RAID partition, starting at {part.start_bytes // _MIB} MiB",
            needs=device_facts(device, untouched=not wipes),
            proves=there,
            destroys=True,
        ),
        RunTool(argv=("udevadm", "settle"), why=f"waits for {part.path}", proves=there),
    ]


def whole_among_parts(survey: Survey, array: Array, names: Sequence[str]) -> tuple[Device, ...]:
    """Return those devices that are whole disks, where all members of the array are partitions."""
    members = [member.name for member in array.members if member.slot is not None]
    disks = (survey.snapshot.disks.get(name) for name in members)
    if not members or not all(disk is not None and disk.disk != disk.name for disk in disks):
        return ()
    found = (survey.devices[name] for name in names if name in survey.devices)
    return tuple(each for each in found if _may_get_table(each, array))


def _may_get_table(device: Device, array: Array) -> bool:
    disk, block = device.disk, device.superblock
    own = block is not None and block.uuid == array.uuid  # it was a member as it is
    own = own or any(member.name == disk.name for member in array.members)
    parts = any(use.kind == "partition" for use in disk.uses)
    return disk.disk == disk.name and not own and not parts and not disk.name.startswith(_NO_DISKS)


def plan_with_tables(
    survey: Survey,
    array: Array,
    names: Sequence[str],
    make: Callable[[Survey, tuple[str, ...]], Plan | Refusal],
    *,
    destroys: Collection[str] = (),
) -> Plan | Refusal:
    """Return a plan that takes partitions, where the members are such, in place of whole disks.

    Args:
        survey: the host.
        array: the array.
        names: kernel names of the devices that it takes.
        make: makes the plan, with the partitions as they will be and the names of what it takes then.
        destroys: names of stopped arrays that may be destroyed, as typed.
    """
    disks = whole_among_parts(survey, array, names)
    parts = {device.disk.name: partition_of(device) for device in disks}
    own = {part.disk.name: name for name, part in parts.items()}
    later = replace(survey, devices={**survey.devices, **{part.disk.name: part for part in parts.values()}})
    made = make(later, tuple(parts[name].disk.name if name in parts else name for name in names))
    if isinstance(made, Refusal):
        return made
    refusal = next(filter(None, (refuse_device(each, survey) for each in disks)), None)
    refusal = refusal or refuse_old_arrays(disks, survey, destroys) or survey.refuse_tool("sfdisk", "wipefs")
    if refusal is not None:
        return refusal
    losses = losses_of(disks, survey)
    be = "is a whole disk, and gets" if len(disks) == 1 else "are whole disks, and get"
    note = (
        f"{joined(list(parts))} {be} a table with one partition: the members of {array.title} are partitions."
    )
    return replace(
        made,
        steps=(
            *(step for each in disks for step in table_steps(each, parts[each.disk.name], survey)),
            *made.steps,
        ),
        harm=Harm.DESTROYS if losses else made.harm,
        losses=(*losses, *made.losses),
        confirm=array.title if losses else made.confirm,
        notes=(note, *made.notes),
        devices=tuple(own.get(name, name) for name in made.devices),
    )
