"""What happened to arrays, by the superblocks of their members and what the host knows of the disks. Pure."""

from __future__ import annotations

from raidtui.model.survey import Device, Survey
from raidtui.plans.whole import Standing, standing
from raidtui.rescue.records import Cause, CauseCode, Presence, RescueArray, RescueMember, WayBack, WayCode
from raidtui.view.units import counted


def diagnose(survey: Survey) -> tuple[RescueArray, ...]:
    """Return the arrays of which superblocks were found, running ones included.

    Args:
        survey: the host with the devices that were read.
    """
    groups: dict[str, list[Device]] = {}
    for device in survey.devices.values():
        if device.superblock is not None and device.superblock.uuid is not None:
            groups.setdefault(device.superblock.uuid, []).append(device)
    return tuple(_array(uuid, devices) for uuid, devices in groups.items())


def _array(uuid: str, devices: list[Device]) -> RescueArray:
    blocks = {device.disk.name: block for device in devices if (block := device.superblock) is not None}
    found = standing(blocks)
    members = tuple(
        RescueMember(
            device=device.disk.name,
            superblock=blocks[device.disk.name],
            presence=_presence(device.disk.name, found),
            serial=device.disk.identity,
            size_bytes=device.disk.size_bytes,
        )
        for device in devices
    )
    return RescueArray(
        uuid=uuid,
        name=found.newest.name or "",
        level=found.newest.level,
        members=members,
        causes=tuple(_causes(found)),
        ways=tuple(_ways(found)),
    )


def _presence(name: str, found: Standing) -> Presence:
    if name in found.whole.values():
        return Presence.WHOLE
    other = next((each for each in found.not_whole if each.name == name), None)
    if other is None:
        return Presence.SPARE
    return Presence.REBUILDING if other.rebuilding else Presence.STALE


def _causes(found: Standing) -> list[Cause]:
    causes = []
    if found.enough is False:
        text = f"{counted(len(found.whole), 'member')} of {found.newest.raid_disks} hold whole data: too few"
        causes.append(Cause(code=CauseCode.NOT_ENOUGH, text=text))
    causes += [
        Cause(code=CauseCode.STALE, text=each.words, devices=(each.name,))
        for each in found.not_whole
        if not each.rebuilding
    ]
    if found.absent:
        text = f"nothing was found of {counted(len(found.absent), 'slot')}"
        causes.append(Cause(code=CauseCode.MISSING, text=text))
    return causes or [Cause(code=CauseCode.COMPLETE, text="all members are there and agree")]


def _ways(found: Standing) -> list[WayBack]:
    ways = [WayBack(code=WayCode.START, text="start it as it is", possible=found.complete)]
    if found.absent:
        ways.append(WayBack(code=WayCode.BRING_BACK, text="reconnect the missing disks"))
    ways.append(
        WayBack(
            code=WayCode.START_DEGRADED,
            text="start it with the members that are there",
            writes="the superblocks of these members",
            possible=found.enough is True,
            why_not="" if found.enough else "too few members hold whole data",
        )
    )
    return ways
