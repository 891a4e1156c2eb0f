"""Which devices may be taken for an array, and why not. A device refused here is never written to."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from msgspec.structs import replace

from raidtui.host.md.array_names import canonical_uuid
from raidtui.model.geometry import losses_left
from raidtui.model.plan import Refusal, RefusalCode
from raidtui.model.refuse_silence import refuse_silence
from raidtui.model.survey import Device, Superblock, Survey
from raidtui.plans.contents import array_words, foreign_use, use_words, with_parts
from raidtui.plans.whole import standing
from raidtui.view.units import binary_size

_TABLES = frozenset({"dos", "gpt", "PMBR", "bsd", "sun", "mac", "sgi"})
"""Partition tables: of one inside a partition, udev says nothing."""
_LEAST_BYTES = 8 << 20


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
        or _refuse_unprobed(device, survey)
        or _refuse_former(device, survey, former_of)
    )


def refuse_member(name: str, survey: Survey) -> Refusal | None:
    """Return of which array a device is a member, or None."""
    for array in survey.snapshot.arrays:
        if any(member.name == name for member in array.members):
            return Refusal(
                code=RefusalCode.IN_USE,
                why=f"{name} is a member of {array.title}",
                remedy="choose a free device",
            )
    return None


def has_member(device: Device, survey: Survey) -> bool:
    """Whether a device, or a partition of it, is a member of an array that is there."""
    names = (device.disk.name, *(use.what for use in device.disk.uses if use.kind == "partition"))
    return any(refuse_member(name, survey) is not None for name in names)


def _refuse_use(device: Device, survey: Survey) -> Refusal | None:
    name = device.disk.name
    if device.disk.users:
        return Refusal(
            code=RefusalCode.IN_USE,
            why=f"{name} is in use: {device.disk.users}",
            remedy="choose a free device",
        )
    for use in device.disk.uses:
        if use.kind != "partition":
            continue
        if refusal := refuse_member(use.what, survey):
            return refusal
        part = survey.devices[use.what].disk if use.what in survey.devices else None
        part = part or survey.snapshot.disks.get(use.what)
        if part is not None and part.users:
            return Refusal(
                code=RefusalCode.IN_USE,
                why=f"{name} has a partition in use: {use.what}, {part.users}",
                remedy="choose a free device",
            )
    if device.busy:
        return Refusal(
            code=RefusalCode.IN_USE,
            why=f"{name}: {device.busy}",
            remedy=f"find out by what: lsblk {device.path}; fuser -v {device.path}",
        )
    return None


def _refuse_unfit(device: Device) -> Refusal | None:
    name = device.disk.name
    if device.read_only:
        return Refusal(
            code=RefusalCode.WRONG_STATE,
            why=f"{name} is read-only",
            remedy="choose a writable device",
        )
    if device.disk.size_bytes is None:
        return Refusal(
            code=RefusalCode.UNKNOWN,
            why=f"the size of {name} is not known",
            remedy="choose another device",
        )
    if device.disk.size_bytes < _LEAST_BYTES:
        size, least = binary_size(device.disk.size_bytes), binary_size(_LEAST_BYTES)
        return Refusal(
            code=RefusalCode.TOO_SMALL,
            why=f"{name} is too small: {size}",
            remedy=f"a member needs at least {least}",
        )
    return None


def _refuse_named(device: Device, survey: Survey) -> Refusal | None:
    """A device that is to be mounted, swapped to or opened at the next boot is in use, mounted or not."""
    parts = [use.what for use in device.disk.uses if use.kind == "partition"]
    for name in (*parts, device.disk.name):
        for place in survey.named:
            if name in place.devices:
                return Refusal(
                    code=RefusalCode.IN_USE,
                    why=f"{name} is named in {place.path}, line {place.line}",
                    remedy="remove that line first if the device is no longer used",
                )
    return None


def _refuse_foreign(device: Device, survey: Survey) -> Refusal | None:
    for each in with_parts(device, survey):
        use = foreign_use(each)
        if use is not None:
            return Refusal(
                code=RefusalCode.IN_USE,
                why=f"{each.disk.name} holds {use_words(use)}",
                remedy=f"if it is no longer needed: wipefs --all {each.path}",
            )
    return None


def _refuse_unprobed(device: Device, survey: Survey) -> Refusal | None:
    """What udev says is a hint: a device is empty where it was looked at, and nothing was found."""
    for each in with_parts(device, survey):
        name, found = each.disk.name, each.probed
        if refusal := refuse_silence(found):
            return replace(refusal, why=f"what {name} holds is not known: {found.why}")
        known = set() if each.superblock is None else {"linux_raid_member"}  # mdadm has read it, too
        said = {use.what for use in each.disk.uses if use.kind == "signature"} - known
        there = {use.what for use in found.value or ()} - known
        there -= set() if name == each.disk.disk else _TABLES
        if there != said:
            words = (" and ".join(sorted(types)) or "nothing" for types in (there, said))
            return Refusal(
                code=RefusalCode.UNKNOWN,
                why="{} holds {}, and udev says {}".format(name, *words),
                remedy=f"let udev look again, then plan again: udevadm trigger --settle {each.path}",
            )
        if "linux_raid_member" in there and each.superblock is None:
            return Refusal(
                code=RefusalCode.UNKNOWN,
                why=f"{name} has an md superblock which mdadm does not read: its array is not known",
                remedy=f"see mdadm --examine {each.path}; if no longer needed: wipefs --all {each.path}",
            )
    return None


def _refuse_former(device: Device, survey: Survey, former_of: str | None) -> Refusal | None:
    """A former member of a running array may still hold data: it is re-added there, or wiped first."""
    for each in with_parts(device, survey):
        old = each.superblock
        if old is None or not old.uuid or old.uuid == former_of:
            continue
        for array in survey.snapshot.arrays:
            if array.uuid == old.uuid:
                name = each.disk.name
                return Refusal(
                    code=RefusalCode.IN_USE,
                    why=f"{name} was a member of {array.title}, which exists as {array.name}",
                    remedy="re-add it to that array, or zero its superblock first:"
                    f" raidtui plan zero-superblock {name}",
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


def word_of(block: Superblock, survey: Survey) -> str:
    """Return the word that confirms the destruction of a stopped array: its name, if no other has it.

    Of two stopped arrays with one name, each is confirmed by its UUID.
    """
    running = {array.uuid for array in survey.snapshot.arrays if array.active}
    found = {
        each.superblock.uuid
        for each in survey.devices.values()
        if each.superblock is not None
        and each.superblock.uuid not in running
        and each.superblock.label == block.label
    }
    return block.uuid if block.uuid and found - {block.uuid} else block.label


def is_given_up(block: Superblock, survey: Survey, destroys: Collection[str]) -> bool:
    """Whether the confirmed words include a stopped array: by its name, if no other has it, or its UUID."""
    by_uuid = block.uuid is not None and block.uuid in map(canonical_uuid, destroys)
    return by_uuid or word_of(block, survey) in destroys


def _give_words(block: Superblock, survey: Survey) -> str:
    word = word_of(block, survey)
    what = "its name"
    if word != block.label:
        what = f"its UUID, because another array that is not running is also named {block.label}"
    return f"to destroy it for good, give {what}: --destroy={word}"


def refuse_old_arrays(
    devices: Sequence[Device], survey: Survey, destroys: Collection[str] = ()
) -> Refusal | None:
    """Return which array would be destroyed without its name having been given, or None.

    Args:
        devices: the devices that would be wiped.
        survey: the host.
        destroys: names or UUIDs of arrays that may be destroyed, as typed.
    """
    for block, paths in old_arrays(devices, survey).values():
        if is_given_up(block, survey, destroys):
            continue
        names = ", ".join(path.removeprefix("/dev/") for path in paths)
        be = "is a member" if len(paths) == 1 else "are members"
        others = " and its other members" if len(paths) < (block.raid_disks or 0) else ""
        return Refusal(
            code=RefusalCode.NEEDS_CONFIRMATION,
            why=f"{names} {be} of {array_words(block)}, which is not running",
            remedy=f"assemble it instead? raidtui plan assemble {' '.join(paths)}{others};"
            f" {_give_words(block, survey)}",
        )
    return None


def refuse_needed(device: Device, survey: Survey) -> Refusal | None:
    """Return why a device is needed to start the array that it is a member of, or None.

    A member that is up to date is needed where the level does without no more of them than are gone.
    """
    block = device.superblock
    if block is None or block.uuid is None or block.slot is None or not block.raid_disks:
        return None
    same = {
        name: each.superblock
        for name, each in survey.devices.items()
        if each.superblock is not None and each.superblock.uuid == block.uuid
    }
    good = standing(same).whole.keys()
    if block.slot not in good:
        return None
    missing = set(range(block.raid_disks)) - good
    before = losses_left(block.level, block.layout, block.raid_disks, missing)
    after = losses_left(block.level, block.layout, block.raid_disks, missing | {block.slot})
    if before is not None and (before < 0 or (after is not None and after >= 0)):
        return None
    return Refusal(
        code=RefusalCode.NEEDS_CONFIRMATION,
        why=f"{device.disk.name} is needed to start {array_words(block)}",
        remedy=f"assemble it instead? {_give_words(block, survey)}",
    )
