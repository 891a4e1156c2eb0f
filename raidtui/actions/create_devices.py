"""The devices of a new array: which can be taken, what is lost with them, and how they are cleared."""

from __future__ import annotations

from datetime import UTC, datetime

from raidtui.actions.create_request import CreateRequest
from raidtui.actions.create_shape import Shape
from raidtui.actions.repair import device_facts
from raidtui.model.capacity import usable_kib
from raidtui.model.disk import Use
from raidtui.model.plan import Fact, Kind, Refusal, Step
from raidtui.model.survey import Device, Survey
from raidtui.model.units import binary_size

_LEAST_BYTES = 8 << 20
_TABLES = {"gpt": "GPT", "dos": "MBR"}
_CONTENTS = {
    "crypto_LUKS": "encrypted data (LUKS)",
    "LVM2_member": "an LVM physical volume",
    "linux_raid_member": "an md superblock",
    "swap": "swap space",
    "zfs_member": "a part of a ZFS pool",
}


def chosen(request: CreateRequest, survey: Survey) -> tuple[Device, ...] | Refusal:
    """Return the devices and spares in order, or why they cannot be taken."""
    names = request.named
    if twice := [name for name in names if names.count(name) > 1]:
        return Refusal(why=f"{twice[0]} is named twice", remedy="name each device once")
    found = []
    for name in names:
        device = survey.devices.get(name)
        if device is None:
            return Refusal(why=f"there is no device {name}")
        if device.disk.disk != name and device.disk.disk in names:
            return Refusal(
                why=f"{name} is a part of {device.disk.disk}, and both are named", remedy="name one of them"
            )
        found.append(device)
    for device in found:
        if refusal := refuse_device(device, survey):
            return refusal
    first = found[0]
    for device in found:
        if device.sector_bytes != first.sector_bytes:
            return Refusal(
                why=f"{first.disk.name} has sectors of {first.sector_bytes} bytes and {device.disk.name} of"
                f" {device.sector_bytes}: what is made on one kind may not be readable on the other",
                remedy="use devices of one kind",
            )
    return tuple(found)


def refuse_sizes(request: CreateRequest, shape: Shape, devices: tuple[Device, ...]) -> Refusal | None:
    """Return why the devices are too small for what is asked, or None."""
    usable = component_sizes(request, shape, devices)
    for device, kib in zip(devices, usable, strict=True):
        if kib <= 0:
            return Refusal(
                why=f"{device.disk.name} has no room for a chunk of {shape.chunk_kib} KiB",
                remedy="choose smaller chunks, or a larger device",
            )
        if request.size_kib > kib:
            return Refusal(
                why=f"{device.disk.name} has {kib} KiB for data, {request.size_kib} KiB are asked for",
                remedy="choose a smaller size",
            )
    if 0 < request.size_kib < (shape.chunk_kib or 64):
        return Refusal(
            why=f"{request.size_kib} KiB of each member are less than a chunk", remedy="choose a larger size"
        )
    return None


def component_sizes(request: CreateRequest, shape: Shape, devices: tuple[Device, ...]) -> tuple[int, ...]:
    """Return what of each device can hold data, KiB."""
    return usable_kib(
        [device.disk.size_bytes or 0 for device in devices],
        metadata=request.metadata,
        chunk_kib=shape.chunk_kib,
        ppl=shape.ppl,
    )


def loss_of(device: Device, survey: Survey) -> str:
    """Return what is on a device in one sentence; "" for an empty one."""
    parts = [_array_words(device)] if device.superblock is not None else []
    parts += [_use_words(use) for use in signatures(device)]
    for use in device.disk.uses:
        if use.kind == "partition":
            part = survey.devices.get(use.what)
            inside = [] if part is None else [_use_words(each) for each in signatures(part)]
            if part is not None and part.superblock is not None:
                inside.insert(0, _array_words(part))
            parts.append(f"the partition {use.what}" + (f" with {' and '.join(inside)}" if inside else ""))
    return f"{device.disk.name}: {', '.join(parts)}" if parts else ""


def signatures(device: Device) -> tuple[Use, ...]:
    """Return what udev found on a device itself.

    udev gives partitions the properties of their disk along: its partition table is none of theirs. What md
    says of its superblock is more than its signature says.
    """
    return tuple(
        use
        for use in device.disk.uses
        if use.kind == "signature"
        and not (use.what in _TABLES and device.disk.disk != device.disk.name)
        and not (use.what == "linux_raid_member" and device.superblock is not None)
    )


def wipe_steps(device: Device) -> tuple[Step, ...]:
    """Return what clears a device, so that nothing of it comes back later; nothing for an empty one."""
    name, old = device.disk.name, device.superblock
    steps = []
    needs = device_facts(device)
    if old is not None:
        none = Fact(kind=Kind.SUPERBLOCK, subject=name)
        was = (Fact(kind=Kind.SUPERBLOCK, subject=name, value=old.uuid),) if old.uuid else ()
        zero = Step(
            argv=("mdadm", "--zero-superblock", device.path),
            why=f"{name} is no part of {old.label} any more",
            needs=(*needs, *was),
            proves=(none,),
            destroys=True,
        )
        steps.append(zero)
        # It was written to, by us: what holds now is that it has no superblock.
        needs = (*device_facts(device, untouched=False), none)
    if old is not None or signatures(device) or _has_parts(device):
        wipe = Step(
            argv=("wipefs", "--all", device.path),
            why=f"what is on {name} must not come back later",
            needs=needs,
            proves=(Fact(kind=Kind.CLEAN, subject=name),),
            destroys=True,
        )
        steps.append(wipe)
    return tuple(steps)


def create_facts(device: Device) -> tuple[Fact, ...]:
    """Return what must hold of a device right before it becomes a member, after its wipe."""
    facts = device_facts(device, untouched=not wipe_steps(device))
    if device.superblock is not None:
        return (*facts, Fact(kind=Kind.SUPERBLOCK, subject=device.disk.name))
    return facts


def refuse_device(device: Device, survey: Survey) -> Refusal | None:
    """Return why a device cannot become a member of a new array, or None."""
    name, old = device.disk.name, device.superblock
    if refusal := _refuse_member(name, survey):
        return refusal
    if device.disk.users:
        return Refusal(why=f"{name} is in use: {device.disk.users}", remedy="choose a free device")
    for use in device.disk.uses:
        if use.kind != "partition":
            continue
        if refusal := _refuse_member(use.what, survey):
            return refusal
        part = survey.devices[use.what].disk if use.what in survey.devices else None
        part = part or survey.snapshot.disks.get(use.what)
        if part is not None and part.users:
            return Refusal(
                why=f"{name} has a partition in use: {use.what}, {part.users}", remedy="choose a free device"
            )
    if device.busy:
        return Refusal(
            why=f"{name}: {device.busy}", remedy=f"see who: lsblk {device.path}; fuser -v {device.path}"
        )
    if device.read_only:
        return Refusal(why=f"{name} is read-only", remedy="choose a device that can be written to")
    if device.disk.size_bytes is None:
        return Refusal(why=f"the kernel does not say how large {name} is", remedy="choose another device")
    if device.disk.size_bytes < _LEAST_BYTES:
        size, least = binary_size(device.disk.size_bytes), binary_size(_LEAST_BYTES)
        return Refusal(why=f"{name} is too small: {size}", remedy=f"a member needs at least {least}")
    if old is not None and old.uuid:
        for array in survey.snapshot.arrays:
            if array.uuid == old.uuid:
                return Refusal(
                    why=f"{name} was a member of {array.title}, which is there as {array.name}",
                    remedy=f"re-add it there, or wipe it first: raidtui plan zero-superblock {name}",
                )
    return None


def _refuse_member(name: str, survey: Survey) -> Refusal | None:
    for array in survey.snapshot.arrays:
        if any(member.name == name for member in array.members):
            return Refusal(why=f"{name} is a member of {array.title}", remedy="choose a free device")
    return None


def _has_parts(device: Device) -> bool:
    return any(use.kind == "partition" for use in device.disk.uses)


def _array_words(device: Device) -> str:
    old = device.superblock
    if old is None:
        return ""
    known = [old.level or "", f"{old.raid_disks} members" if old.raid_disks else "", old.uuid or "no UUID"]
    when = ""
    if old.updated_s is not None:
        when = f", last changed {datetime.fromtimestamp(old.updated_s, UTC):%Y-%m-%d %H:%M} UTC"
    return f'a member of the array "{old.label}" ({", ".join(word for word in known if word)}){when}'


def _use_words(use: Use) -> str:
    if use.what in _TABLES:
        return f"the {_TABLES[use.what]} partition table"
    label = f' "{use.detail}"' if use.detail else ""
    return (_CONTENTS.get(use.what) or f"the {use.what} file system") + label
