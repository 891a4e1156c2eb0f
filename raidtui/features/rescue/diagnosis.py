"""What happened to arrays, by the superblocks of their members and what the host knows of the disks. Pure."""

from __future__ import annotations

from raidtui.features.rescue.causes import find_causes
from raidtui.features.rescue.groups import MemberGroup, group_members
from raidtui.features.rescue.loose_devices import (
    CONTAINERS,
    container_members,
    loose_devices,
    partitions_of,
    signature_of,
    signed_devices,
)
from raidtui.features.rescue.mdadm_words import EXTERNAL
from raidtui.features.rescue.records import (
    Cause,
    CauseCode,
    Presence,
    RescueArray,
    RescueFacts,
    RescueMember,
    WayBack,
    WayCode,
)
from raidtui.features.rescue.ways_back import find_ways, search_ways
from raidtui.model.survey import Device, MemberRole, Superblock
from raidtui.view.units import joined

_ROLES = {MemberRole.SPARE: Presence.SPARE, MemberRole.JOURNAL: Presence.JOURNAL}


def diagnose(facts: RescueFacts) -> tuple[RescueArray, ...]:
    """Return the arrays of which superblocks were found, running ones included.

    Devices without any superblock are an array without UUID where they were asked for, or where several
    of one size could have been one.
    """
    groups = group_members(facts)
    arrays = [_array(group, [other for other in groups if other is not group]) for group in groups]
    taken = {name for group in groups for name in group.lost}
    members = [name for name in container_members(facts) if name not in taken]
    kinds = dict.fromkeys(_kind_of(name, facts) for name in members)
    containers = (
        _unread_container(kind, [name for name in members if _kind_of(name, facts) == kind], facts)
        for kind in kinds
    )
    return (*arrays, *containers, *_without_superblocks(groups, facts))


def _kind_of(name: str, facts: RescueFacts) -> str:
    return CONTAINERS[signature_of(facts.survey.devices[name])]


def _unread_container(kind: str, names: list[str], facts: RescueFacts) -> RescueArray:
    """Return a container that mdadm does not read, such as Intel's of disks without serial numbers.

    Its disks are not raw ones: neither a search nor other superblocks are for them.
    """
    words = EXTERNAL[kind]
    own = " IMSM_DEVNAME_AS_SERIAL=1" if kind == "imsm" else ""
    read = f"IMSM_NO_PLATFORM=1{own} mdadm --examine" if kind == "imsm" else "mdadm --examine"
    why = (
        "mdadm knows their disks by serial numbers, which these do not report, or by the controller's"
        " firmware"
        if kind == "imsm"
        else "mdadm says no more about them"
    )
    text = (
        f"{joined(names)} {'is a member' if len(names) == 1 else 'are members'} of a container of {words}"
        f" metadata, as udev has found, which mdadm does not read here: {why}. Their contents are not raw:"
        " do not use mdadm --create on them."
    )
    by_hand = (
        f"mdadm does not read their metadata here; by hand: {read} {' '.join(f'/dev/{n}' for n in names)}"
    )
    way = WayBack(
        code=WayCode.START,
        text=f"Assemble the container of {joined(names)}, and start its volumes with mdadm --incremental, by"
        " hand.",
        writes="the metadata of the container",
        why_not=by_hand,
        devices=tuple(names),
    )
    return RescueArray(
        uuid=None,
        name=f"{words} container",
        level=None,
        members=tuple(_device(facts.survey.devices[name], Presence.UNUSABLE) for name in names),
        causes=(Cause(code=CauseCode.EXTERNAL, text=text, devices=tuple(names)),),
        ways=(way,),
    )


def _array(group: MemberGroup, others: list[MemberGroup]) -> RescueArray:
    newest = group.newest
    causes = find_causes(group, others)
    members = [
        _device(
            group.facts.survey.devices[name],
            _presence(group, name, block),
            superblock=block,
            start_sectors=group.starts.get(name, 0),
        )
        for name, block in group.blocks.items()
    ]
    members += [
        _device(group.facts.survey.devices[name], Presence.DUPLICATE, same_as=other)
        for name, other in group.same_as.items()
    ]
    members += [_without(name, group.facts) for name in group.lost]
    return RescueArray(
        uuid=group.uuid or None,
        name=newest.name or joined([each.name for each in newest.volumes if each.name]),
        level=newest.level,
        raid_disks=newest.raid_disks,
        members=tuple(sorted(members, key=_order)),
        missing=group.absent,
        running=group.array.name if group.array is not None and group.array.active else "",
        silent=tuple(sorted(group.facts.survey.silent)),
        causes=causes,
        ways=find_ways(group, causes),
    )


def _order(member: RescueMember) -> tuple[bool, int, str]:
    slot = member.superblock.slot if member.superblock is not None else None
    return slot is None, slot or 0, member.device


def _device(
    device: Device,
    presence: Presence,
    *,
    superblock: Superblock | None = None,
    start_sectors: int = 0,
    same_as: str = "",
) -> RescueMember:
    disk = device.disk
    return RescueMember(
        device=disk.name,
        superblock=superblock if superblock is not None else device.superblock,
        presence=presence,
        serial=disk.identity,
        model=disk.model or "",
        size_bytes=disk.size_bytes,
        start_sectors=start_sectors,
        same_as=same_as,
    )


def _without(name: str, facts: RescueFacts) -> RescueMember:
    lost = Presence.BLANK if facts.medium(name).blank else Presence.SUPERBLOCK_LOST
    return _device(facts.survey.devices[name], lost)


def _presence(group: MemberGroup, name: str, block: Superblock) -> Presence:
    if any(name in pair for pair in group.halves):
        return Presence.HALF
    if name in group.unusable:
        return Presence.UNUSABLE
    if group.external or name in group.standing.whole.values():
        return Presence.WHOLE
    if block.role is MemberRole.REPLACEMENT or any(each.name == name for each in group.rebuilding):
        return Presence.REBUILDING
    if block.role in _ROLES:
        return _ROLES[block.role]
    return Presence.STALE


def _without_superblocks(groups: tuple[MemberGroup, ...], facts: RescueFacts) -> list[RescueArray]:
    taken = {name for group in groups for name in group.lost}
    loose = [name for name in loose_devices(facts) if name not in taken]
    blank = [name for name in loose if facts.medium(name).blank]
    full = [name for name in loose if name not in blank]
    if not facts.named:
        sizes = [facts.survey.devices[name].disk.size_bytes for name in full]
        full = [name for name, size in zip(full, sizes, strict=True) if sizes.count(size) > 1]
        blank = []
    found = [_loose_array(full, blank, _loose_causes(full, blank), facts)] if full or blank else []
    if disks := [name for name in _disks_of(full, facts) if name not in taken]:
        text = (
            f"{joined(disks)} have partitions without known contents. If the"
            " whole disks were members, partitioning overwrote their superblocks."
        )
        cause = Cause(code=CauseCode.OVERWRITTEN, text=text, devices=tuple(disks))
        found.append(_loose_array(disks, [], [cause], facts))
    return found


def _disks_of(parts: list[str], facts: RescueFacts) -> list[str]:
    """Return the disks of one size that have none but these partitions."""
    devices = facts.survey.devices
    disks = [
        name
        for name in signed_devices(facts)
        if (own := partitions_of(devices[name])) and all(part in parts for part in own)
    ]
    sizes = [devices[name].disk.size_bytes for name in disks]
    return [name for name, size in zip(disks, sizes, strict=True) if sizes.count(size) > 1]


def _loose_array(full: list[str], blank: list[str], causes: list[Cause], facts: RescueFacts) -> RescueArray:
    return RescueArray(
        uuid=None,
        name="",
        level=None,
        members=tuple(_without(name, facts) for name in (*full, *blank)),
        causes=tuple(causes),
        ways=tuple(_loose_ways(full, facts)),
    )


def _loose_causes(full: list[str], blank: list[str]) -> list[Cause]:
    causes = []
    if full:
        text = (
            f"{joined(full)} {'has' if len(full) == 1 else 'have'} no superblock, but data. If they were"
            " members of an array, their superblocks are zeroed or overwritten."
        )
        causes.append(Cause(code=CauseCode.SUPERBLOCK_LOST, text=text, devices=tuple(full)))
    if blank:
        text = f"{joined(blank)}: blank wherever it was read; there is nothing to save."
        causes.append(Cause(code=CauseCode.BLANK, text=text, devices=tuple(blank)))
    return causes


def _loose_ways(full: list[str], facts: RescueFacts) -> list[WayBack]:
    if not full:
        return []
    failing = tuple(name for name in full if facts.medium(name).error or facts.medium(name).dying)
    ways = []
    if failing:
        ways.append(
            WayBack(
                code=WayCode.COPY,
                text=f"Copy {joined(failing)} with ddrescue first, and continue with the copy.",
                writes="another disk or a file; nothing on the members",
                devices=failing,
            )
        )
    return [*ways, *search_ways(tuple(full))]
