"""Which devices may be taken for an array, and why one may not. What is refused here is never written to."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from raidtui.actions.contents import array_words, foreign_use, use_words, with_parts
from raidtui.model.geometry import losses_left
from raidtui.model.plan import Refusal
from raidtui.model.survey import Device, Superblock, Survey
from raidtui.model.units import binary_size

_LEAST_BYTES = 8 << 20
_TABLE_PATHS = ("/etc/fstab", "/etc/crypttab")
_TAGS = {"UUID": "by-uuid", "LABEL": "by-label", "PARTUUID": "by-partuuid", "PARTLABEL": "by-partlabel"}


def refuse_device(device: Device, survey: Survey, *, former_of: str | None = None) -> Refusal | None:
    """Return why a device cannot become a member, or None.

    Args:
        device: the device.
        survey: the host, with its partitions.
        former_of: the UUID of the array that it is meant for: to have been a member of it is no hindrance.
    """
    name = device.disk.name
    return (
        refuse_member(name, survey)
        or survey.refuse_unread(name, *(use.what for use in device.disk.uses if use.kind == "partition"))
        or _refuse_use(device, survey)
        or _refuse_unfit(device)
        or _refuse_named(device, survey)
        or _refuse_foreign(device, survey)
        or _refuse_former(device, survey, former_of)
    )


def refuse_member(name: str, survey: Survey) -> Refusal | None:
    """Return of which array a device is a member, or None."""
    for array in survey.snapshot.arrays:
        if any(member.name == name for member in array.members):
            return Refusal(why=f"{name} is a member of {array.title}", remedy="choose a free device")
    return None


def _refuse_use(device: Device, survey: Survey) -> Refusal | None:
    name = device.disk.name
    if device.disk.users:
        return Refusal(why=f"{name} is in use: {device.disk.users}", remedy="choose a free device")
    for use in device.disk.uses:
        if use.kind != "partition":
            continue
        if refusal := refuse_member(use.what, survey):
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
    return None


def _refuse_unfit(device: Device) -> Refusal | None:
    name = device.disk.name
    if device.read_only:
        return Refusal(why=f"{name} is read-only", remedy="choose a device that can be written to")
    if device.disk.size_bytes is None:
        return Refusal(why=f"the kernel does not say how large {name} is", remedy="choose another device")
    if device.disk.size_bytes < _LEAST_BYTES:
        size, least = binary_size(device.disk.size_bytes), binary_size(_LEAST_BYTES)
        return Refusal(why=f"{name} is too small: {size}", remedy=f"a member needs at least {least}")
    return None


def _refuse_named(device: Device, survey: Survey) -> Refusal | None:
    """A device that is to be mounted, swapped to or opened at the next boot is somebody's, mounted or not."""
    for each in with_parts(device, survey):
        names = {each.path, *(f"/dev/{link}" for link in each.links)}
        for path in _TABLE_PATHS:
            place = 1 if path == "/etc/crypttab" else 0
            for number, line in enumerate(survey.texts.get(path, "").split("\n"), 1):
                words = line.split("#", 1)[0].split()
                if len(words) > place and _node(words[place]) in names:
                    return Refusal(
                        why=f"{each.disk.name} is named in {path}, line {number}",
                        remedy="take that line out first, if the device is really free",
                    )
    return None


def _node(word: str) -> str:
    """Return the path that fstab's UUID=… or LABEL=… stands for."""
    tag, separator, value = word.partition("=")
    folder = _TAGS.get(tag)
    value = value.strip('"')
    return f"/dev/disk/{folder}/{value}" if separator and folder else word


def _refuse_foreign(device: Device, survey: Survey) -> Refusal | None:
    for each in with_parts(device, survey):
        use = foreign_use(each)
        if use is not None:
            return Refusal(
                why=f"{each.disk.name} holds {use_words(use)}",
                remedy=f"if nobody needs it any more: wipefs --all {each.path}",
            )
    return None


def _refuse_former(device: Device, survey: Survey, former_of: str | None) -> Refusal | None:
    """A member that left a running array is the way back to what it held: it is taken back, or wiped."""
    for each in with_parts(device, survey):
        old = each.superblock
        if old is None or not old.uuid or old.uuid == former_of:
            continue
        for array in survey.snapshot.arrays:
            if array.uuid == old.uuid:
                name = each.disk.name
                return Refusal(
                    why=f"{name} was a member of {array.title}, which is there as {array.name}",
                    remedy=f"re-add it there, or wipe it first: raidtui plan zero-superblock {name}",
                )
    return None


def old_arrays(devices: Sequence[Device], survey: Survey) -> dict[str, tuple[Superblock, tuple[str, ...]]]:
    """Return the arrays that do not run and have members among devices, and their partitions.

    Returns:
        By UUID (or label): a superblock, and the paths of the members.
    """
    running = {array.uuid for array in survey.snapshot.arrays}
    found: dict[str, tuple[Superblock, tuple[str, ...]]] = {}
    for device in devices:
        for each in with_parts(device, survey):
            block = each.superblock
            if block is not None and (block.uuid is None or block.uuid not in running):
                key = block.uuid or block.label
                first, paths = found.get(key, (block, ()))
                newer = block if (block.events or 0) > (first.events or 0) else first
                found[key] = (newer, (*paths, each.path))
    return found


def refuse_old_arrays(
    devices: Sequence[Device], survey: Survey, destroys: Collection[str] = ()
) -> Refusal | None:
    """Return which array would be destroyed without its name having been given, or None.

    Args:
        devices: the devices that would be wiped.
        survey: the host.
        destroys: names of arrays that may be destroyed, as somebody typed them.
    """
    for block, paths in old_arrays(devices, survey).values():
        if block.label in destroys:
            continue
        names = ", ".join(path.removeprefix("/dev/") for path in paths)
        be = "is a member" if len(paths) == 1 else "are members"
        others = " and its other members" if len(paths) < (block.raid_disks or 0) else ""
        return Refusal(
            why=f"{names} {be} of {array_words(block)}, which does not run",
            remedy=f"assemble it instead? raidtui plan assemble {' '.join(paths)}{others};"
            f" to destroy it for good, give its name: --destroy={block.label}",
        )
    return None


def refuse_needed(device: Device, survey: Survey) -> Refusal | None:
    """Return why a device is needed to start the array that it is a member of, or None.

    A member that is up to date is needed where the level does without no more of them than are gone.
    """
    block = device.superblock
    if block is None or block.uuid is None or block.slot is None or not block.raid_disks:
        return None
    known = [each.superblock for each in survey.devices.values() if each.superblock is not None]
    same = [each for each in known if each.uuid == block.uuid]
    newest = max((each.events or 0 for each in same), default=0)
    # A crash leaves members one event apart: mdadm takes both (Assemble.c).
    good = {each.slot for each in same if each.slot is not None and (each.events or 0) + 1 >= newest}
    if block.slot not in good:
        return None
    missing = set(range(block.raid_disks)) - good
    before = losses_left(block.level, block.layout, block.raid_disks, missing)
    after = losses_left(block.level, block.layout, block.raid_disks, missing | {block.slot})
    if before is not None and (before < 0 or (after is not None and after >= 0)):
        return None
    return Refusal(
        why=f"{device.disk.name} is needed to start {array_words(block)}",
        remedy=f"assemble it instead? to destroy it for good, give its name: --destroy={block.label}",
    )
