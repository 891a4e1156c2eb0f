"""Larger members for an array that runs: each copied while it serves, then all of the new ones is used.

``mdadm --replace`` keeps the redundancy while a member is copied (mdadm(8), MANAGE MODE). When all are
replaced, ``mdadm --grow --size=max`` lets the array use the room after the data of each, at once, and md
syncs the new part. The superblocks of the old devices are zeroed: they were replaced at different times, and
mdadm would first try to start an array of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from raidtui.features.reshape.plan.grow_above import Above, larger_above
from raidtui.features.reshape.plan.grow_plan import GrowOptions, refuse_size_level, size_steps
from raidtui.features.reshape.plan.grow_shape import shape_of
from raidtui.features.reshape.plan.grow_stages import new_devices, refuse_reshape
from raidtui.features.reshape.plan.journal_plan import around_policy
from raidtui.model.array import Array, Member
from raidtui.model.plan import Harm, Plan, Refusal, RefusalCode, Step
from raidtui.model.survey import Device, Survey
from raidtui.plans.contents import losses_of
from raidtui.plans.locate import which_disk_notes
from raidtui.plans.manage import bound, manage, member_fact, zero_released
from raidtui.plans.member_partition import plan_with_tables, whole_among_parts
from raidtui.plans.repair import plan_replace, share_of_life
from raidtui.plans.sync import at_least
from raidtui.view.units import KIB, SECTOR_BYTES, binary_change, binary_size, counted, joined


def plan_larger(
    survey: Survey, array: Array, names: Sequence[str], options: GrowOptions | None = None
) -> Plan | Refusal:
    """Return the plan that replaces members by larger devices, and lets the array use all of them.

    Args:
        survey: the host, with the array's members and the devices.
        array: the array.
        names: kernel names of free devices. Where there are fewer than members, those with the least room
            after their data are replaced.
        options: what else is wanted.
    """
    options = options or GrowOptions()
    if whole_among_parts(survey, array, names):
        return plan_with_tables(
            survey,
            array,
            names,
            lambda later, parts: plan_larger(later, array, parts, options),
            destroys=options.destroys,
        )
    refusal = refuse_reshape(survey, array) or refuse_size_level(array)
    if refusal:
        return refusal
    devices = new_devices(survey, array, names, destroys=options.destroys)
    if isinstance(devices, Refusal):
        return devices
    pairs = _pairs(survey, array, names)
    if isinstance(pairs, Refusal):
        return pairs
    before = array.component_kib or 0
    after = _after_kib(survey, array, devices, pairs)
    if isinstance(after, Refusal):
        return after
    above = larger_above(survey, array, options.volumes) if options.above else Above()
    if isinstance(above, Refusal):
        return above
    around = around_policy(survey, array, level=array.level or "", names=names)
    if isinstance(around, Refusal):
        return around
    steps: list[Step] = []
    for old, new in pairs.items():
        found = _replaced(survey, array, old, new, options)
        if isinstance(found, Refusal):
            return found
        steps += found
    harm = Harm.DESTROYS if losses_of(tuple(devices.values()), survey) else Harm.REDUCES
    shape = shape_of(array)
    sizes = [shape.capacity_kib(kib) * KIB for kib in (before, after)]
    copies = at_least(survey, before * len(names))
    shares = joined([f"{name}{share_of_life(survey, array, name)}" for name in names])
    return Plan(
        title=f"grow: {counted(len(names), 'larger member')}",
        subject=array.title,
        steps=(*around.before, *steps, *size_steps(array, above), *around.after),
        harm=harm,
        losses=losses_of(tuple(devices.values()), survey),
        confirm=array.title if harm is Harm.DESTROYS else "",
        notes=(
            f"Capacity {binary_change(*sizes)}, when all are copied.",
            f"Each old member serves until its copy is complete: {array.title} is as redundant as now.",
            f"{binary_size(before * KIB)} are written to {'each of ' if len(pairs) > 1 else ''}{shares}.",
            f"The copies take {copies}; syncing the new part then takes {at_least(survey, after - before)}.",
            f"{joined(list(pairs))} {'are' if len(pairs) > 1 else 'is'} free then, without a superblock.",
            *around.notes,
            *above.notes,
            *which_disk_notes(survey, *(name for pair in pairs.items() for name in pair)),
        ),
        devices=(*(member.name for member in array.members), *names),
        arrays=(array.name,),
    )


def _pairs(survey: Survey, array: Array, names: Sequence[str]) -> dict[str, str] | Refusal:
    """Return which device takes the place of which member, by slot."""
    serving = [each for each in array.members if each.slot is not None]
    if not names:
        return Refusal(code=RefusalCode.INVALID, why="no device is named", remedy="name one for each member")
    if len(names) > len(serving):
        return Refusal(
            code=RefusalCode.INVALID,
            why=f"{array.title} has {counted(len(serving), 'member')}: {len(names)} devices are too many",
            remedy="name one for each member",
        )
    least = sorted(serving, key=lambda each: (_tail(survey, each) or 0, each.slot or 0))[: len(names)]
    by_slot = sorted(least, key=lambda each: each.slot or 0)
    return dict(zip((each.name for each in by_slot), names, strict=True))


def _tail(survey: Survey, member: Member) -> int | None:
    """Return how many sectors are free after the data of a member."""
    device = survey.devices.get(member.name)
    block = device.superblock if device is not None else None
    return block.tail_sectors if block is not None else None


def _after_kib(
    survey: Survey, array: Array, devices: Mapping[str, Device], pairs: Mapping[str, str]
) -> int | Refusal:
    """Return how much of each member can be used afterwards, or why that is no more than now."""
    before = array.component_kib or 0
    stay = [each for each in array.members if each.slot is not None and each.name not in pairs]
    small = [each.name for each in stay if not _tail(survey, each)]
    if small:
        return Refusal(
            code=RefusalCode.TOO_SMALL,
            why=f"{joined(small)} would stay, without room after the data",
            remedy=f"name {len(pairs) + len(small)} larger devices",
        )
    room = {each.name: before + (_tail(survey, each) or 0) * SECTOR_BYTES // KIB for each in stay}
    blocks = [survey.devices[name].superblock for name in pairs if name in survey.devices]
    offsets = [block.offset_sectors for block in blocks if block is not None and block.offset_sectors]
    start = max(offsets, default=0) * SECTOR_BYTES
    for name, device in devices.items():
        room[name] = ((device.disk.size_bytes or 0) - start) // KIB
    chunk = max(1, (array.chunk_bytes or 0) // KIB)
    name, kib = min(room.items(), key=lambda item: item[1])
    kib -= kib % chunk
    if kib > before:
        return kib
    return Refusal(
        code=RefusalCode.TOO_SMALL,
        why=f"{name} is not larger: {binary_size(kib * KIB)} could be used, as much as now",
        remedy="name larger devices",
    )


def _replaced(
    survey: Survey, array: Array, old: str, new: str, options: GrowOptions
) -> tuple[Step, ...] | Refusal:
    """Return the steps that copy one member to its new device, and remove it."""
    found = plan_replace(survey, array, old, new, destroys=options.destroys)
    if isinstance(found, Refusal):
        return found
    steps = [
        replace(step, needs=(*step.needs, member_fact(array, old, "in_sync")))
        if "--replace" in step.argv
        else step
        for step in found.steps
    ]
    absent = member_fact(array, old, "absent")
    remove = manage(array, ("--remove", f"/dev/{old}"), f"{new} has taken its place", absent)
    remove = replace(remove, needs=(*remove.needs, member_fact(array, new, "in_sync")), final=True)
    return (*steps, bound(survey, remove, old), zero_released(survey, array, old))
