"""Devices that show no superblock of their own and may have been members of an array. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from raidtui.features.rescue.records import RescueFacts
from raidtui.host.md.superblock import NO_MEMBERS
from raidtui.model.survey import Device, Superblock

SECTOR_BYTES = 512
CONTAINERS = {"isw_raid_member": "imsm", "ddf_raid_member": "ddf"}
"""What udev calls the members of a container of external metadata, and mdadm its metadata."""
_IN_USE = frozenset({"mount", "swap", "holder"})
_USED = _IN_USE | {"partition"}


def hidden_superblock(name: str, facts: RescueFacts) -> Superblock | None:
    """Return the superblock of a partition that is no longer there, found on its disk.

    It is none where a partition, or a map, still has it, or where the disk has been put to another use. A
    partition that begins with the data of the member is none: it shows half of what it seems to be.
    """
    devices, medium = facts.survey.devices, facts.medium(name)
    hidden = medium.hidden
    if hidden is None or hidden.device_uuid is None:
        return None
    data_bytes = (medium.hidden_sectors + (hidden.offset_sectors or 0)) * SECTOR_BYTES
    for part in (devices[each] for each in partitions_of(devices[name]) if each in devices):
        begins = part.start_bytes == data_bytes
        if part.superblock is not None or part.disk.users or (signature_of(part) and not begins):
            return None
    own = {each.superblock.device_uuid for each in devices.values() if each.superblock is not None}
    return None if hidden.device_uuid in own else hidden


def partitions_of(device: Device) -> tuple[str, ...]:
    """Return the kernel names of the partitions of a disk."""
    return tuple(use.what for use in device.disk.uses if use.kind == "partition")


def loose_devices(facts: RescueFacts) -> tuple[str, ...]:
    """Return the devices without a superblock that nothing uses and that no other system has signed."""
    return tuple(
        name
        for name, device in facts.survey.devices.items()
        if _may_be_member(name, facts)
        and signature_of(device) not in CONTAINERS
        and (name in facts.named or not _is_taken(device))
        and (name in facts.named or not signature_of(device) or _has_kin(device, facts))
    )


def container_members(facts: RescueFacts) -> tuple[str, ...]:
    """Return the devices that nothing uses, signed as a container's, which mdadm does not read."""
    return tuple(
        name
        for name, device in facts.survey.devices.items()
        if device.superblock is None
        and signature_of(device) in CONTAINERS
        and not device.disk.users
        and not _is_taken(device, _IN_USE)
    )


def _may_be_member(name: str, facts: RescueFacts) -> bool:
    device = facts.survey.devices[name]
    return (
        device.superblock is None
        and hidden_superblock(name, facts) is None
        and hidden_superblock(device.disk.disk, facts) is None
        and name not in facts.survey.silent
        and name not in facts.copied
        and bool(facts.medium(name).blank is not None or facts.medium(name).error)
        and not device.disk.users
    )


def signed_devices(facts: RescueFacts) -> Iterator[str]:
    """Yield the devices that another system has signed and that nothing uses, their partitions neither.

    Where an array lacks a disk, this may be the one: mkfs, mkswap, an installer, or firmware that writes a
    partition table overwrite the superblock.
    """
    for name, device in facts.survey.devices.items():
        parts = [each for each in facts.survey.devices.values() if each.disk.disk == name != each.disk.name]
        if (
            _may_be_member(name, facts)
            and signature_of(device)
            and not _is_taken(device, _IN_USE)
            and not any(each.superblock is not None or _is_taken(each, _IN_USE) for each in parts)
        ):
            yield name


def _is_taken(device: Device, used: frozenset[str] = _USED) -> bool:
    uses = {use.kind for use in device.disk.uses}
    return (
        bool(uses & used)
        or bool(device.busy)
        or device.disk.name.startswith(NO_MEMBERS)
        or not device.disk.size_bytes
    )


def signature_of(device: Device) -> str:
    """Return what udev found on a device: ext4, swap, LVM2_member, gpt; "" for nothing."""
    return next((use.what for use in device.disk.uses if use.kind == "signature"), "")


def _has_kin(device: Device, facts: RescueFacts) -> bool:
    """Whether a device with a signature may be a member of an array of which the data begin at its start.

    The first member then shows the array's own signature, and parity may repeat it: there is another device
    of the same size that has the same one, or none.
    """
    return any(
        other is not device
        and other.superblock is None
        and other.disk.size_bytes == device.disk.size_bytes
        and not _is_taken(other)
        and not facts.medium(other.disk.name).blank
        and facts.medium(other.disk.name).blank is not None
        and signature_of(other) in {"", signature_of(device)}
        for other in facts.survey.devices.values()
    )
