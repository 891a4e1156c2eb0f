"""New members: add; and replace, which copies while the old member still serves."""

from __future__ import annotations

from collections.abc import Collection

from msgspec.structs import replace

from raidtui.model.array import Array
from raidtui.model.bad_blocks import bad_sectors, only_holders
from raidtui.model.plan import Harm, Plan, Refusal, RefusalCode, Step
from raidtui.model.survey import Device, Survey
from raidtui.plans.candidates import refuse_device, refuse_member, refuse_old_arrays
from raidtui.plans.contents import cleared_facts, device_facts, losses_of, wipe_steps
from raidtui.plans.locate import which_disk_notes
from raidtui.plans.manage import (
    await_filled,
    bad_block_notes,
    bound,
    manage,
    member_fact,
    member_of,
    refuse_array,
    refuse_detached,
    undo_add_spare,
    undo_replace,
)
from raidtui.plans.member_partition import plan_with_tables, whole_among_parts
from raidtui.plans.sync import at_least
from raidtui.view.units import KIB, SECTOR_BYTES, binary_size, joined, short_size

_SUPERBLOCK_BYTES = 8 << 10
"""The least that any metadata takes of a member besides its data."""


def plan_add(survey: Survey, array: Array, name: str, *, destroys: Collection[str] = ()) -> Plan | Refusal:
    """Return the plan that adds a device: as a member where one is missing, else as a spare.

    Args:
        survey: the host.
        array: the array.
        name: the device.
        destroys: names of arrays that may be destroyed, as typed.
    """
    if whole_among_parts(survey, array, (name,)):
        return plan_with_tables(
            survey,
            array,
            (name,),
            lambda later, parts: plan_add(later, array, parts[0], destroys=destroys),
            destroys=destroys,
        )
    device = candidate_for(survey, array, name, destroys=destroys)
    if isinstance(device, Refusal):
        return device
    former = device.superblock is not None and device.superblock.uuid == array.uuid
    if former and array.bitmap is not None:
        return Refusal(
            code=RefusalCode.WRONG_STATE,
            why=f"{name} was a member, and the bitmap records what has changed since",
            remedy="re-add it; where that fails, zero its superblock and add it",
        )
    wipes = wipe_steps(device, survey)
    fills = empty_slots(array) > 0
    option = "--add" if fills else "--add-spare"
    step = manage(array, (option, f"/dev/{name}"), "a new member", member_fact(array, name, "present"))
    copied = short_size(array.component_kib * KIB) if fills and array.component_kib else ""
    return Plan(
        title=f"add: {name}",
        subject=array.title,
        steps=(
            *wipes,
            cleared(survey, step, device),
            *((await_filled(array, name, f"md recovers {name}"),) if fills else ()),
        ),
        harm=Harm.DESTROYS if wipes else Harm.REDUCES,
        losses=losses_of((device,), survey),
        confirm=array.title if wipes else "",
        notes=(
            f"{copied} is written to {name}{share_of_life(survey, array, name)};"
            f" this takes {at_least(survey, array.component_kib or 0)}."
            if copied
            else "It becomes a spare.",
            *(bad_block_notes(array) if copied else ()),
            *which_disk_notes(survey, name),
        ),
        devices=(name,),
        arrays=(array.name,),
    )


def plan_replace(
    survey: Survey, array: Array, old: str, new: str, *, destroys: Collection[str] = ()
) -> Plan | Refusal:
    """Return the plan that copies a member to another device while it still serves.

    Args:
        survey: the host.
        array: the array.
        old: the member that is to go.
        new: a spare of the array, or a device that is free.
        destroys: names of arrays that may be destroyed, as typed.
    """
    if refusal := refuse_replacing(survey, array, old):
        return refusal
    spare = next((each for each in array.members if each.name == new), None)
    if whole_among_parts(survey, array, (new,)):
        return plan_with_tables(
            survey,
            array,
            (new,),
            lambda later, parts: plan_replace(later, array, old, parts[0], destroys=destroys),
            destroys=destroys,
        )
    before: tuple[Step, ...] = ()
    device: Device | None = None
    if spare is None:
        found = candidate_for(survey, array, new, destroys=destroys)
        if isinstance(found, Refusal):
            return found
        device = found
        before = (*wipe_steps(device, survey), _add_spare(survey, array, old, device))
    elif not spare.has("spare") or spare.slot is not None or spare.has("faulty"):
        return Refusal(
            code=RefusalCode.NOTHING_TO_DO,
            why=f"{new} is already a member of {array.title}: {spare.role}",
            remedy="choose a free device",
        )
    step = manage(
        array,
        ("--replace", f"/dev/{old}", "--with", f"/dev/{new}"),
        "copy the old member, which is marked faulty when the copy is complete",
        member_fact(array, old, "want_replacement|faulty|absent"),
    )
    step = bound(survey, bound(survey, step, old), new) if device is None else bound(survey, step, old)
    step = replace(step, undo=undo_replace(array, old, new, spare=device is None))
    losses = losses_of((device,), survey) if device is not None else ()
    return Plan(
        title=f"replace: {old} → {new}",
        subject=array.title,
        steps=(*before, step, await_filled(array, new, f"md copies {old} to {new}")),
        harm=Harm.DESTROYS if len(before) > 1 else Harm.REDUCES,
        losses=losses,
        confirm=array.title if len(before) > 1 else "",
        notes=(
            f"{old} stays in service until the copy is complete; then remove it.",
            *_bad_notes(array, old),
            *bad_block_notes(array),
            *_copy_time(survey, array, new),
            *which_disk_notes(survey, old, new),
        ),
        rolls_back=True,
        devices=(old, new),
        arrays=(array.name,),
    )


def _bad_notes(array: Array, old: str) -> tuple[str, ...]:
    """Return what bad blocks mean for a copy: what is bad on the old member comes from the others."""
    notes = []
    member = next((each for each in array.members if each.name == old), None)
    if member is not None and member.bad_blocks:
        size = binary_size(bad_sectors(member) * SECTOR_BYTES)
        notes.append(f"{old} has {size} of bad blocks: those are read from the other members.")
    held = next((held for each, held in only_holders(array) if each.name == old), None)
    if held is not None:
        notes.append(
            f"{old} alone holds {held.size}, because of bad blocks on {joined(held.names)}: do not fail it"
            " before the copy is complete."
        )
    return tuple(notes)


def _copy_time(survey: Survey, array: Array, new: str) -> tuple[str, ...]:
    if not array.component_kib:
        return ()
    size = short_size(array.component_kib * KIB)
    share = share_of_life(survey, array, new)
    return (f"The copy writes {size} to {new}{share} and takes {at_least(survey, array.component_kib)}.",)


def share_of_life(survey: Survey, array: Array, name: str) -> str:
    """Return what part of the disk's life writing a whole member is, " (2 % ...)"; "" where not known."""
    device = survey.devices.get(name)
    if device is None or not device.life_bytes or not array.component_kib:
        return ""
    percent = array.component_kib * KIB / device.life_bytes * 100
    return f" ({max(percent, 0.01):.2g} % of its life)"


def refuse_replacing(survey: Survey, array: Array, old: str) -> Refusal | None:
    """Return why a member cannot be replaced, whatever the new one is, or None."""
    member = member_of(survey, array, old)
    if isinstance(member, Refusal):
        return member
    if not member.has("in_sync") or member.slot is None:
        return Refusal(
            code=RefusalCode.UNSUPPORTED,
            why=f"{old} is {member.role}, so there is nothing to copy from it",
            remedy="add a disk",
        )
    if refusal := refuse_detached(array):
        return refusal
    if member.has("want_replacement"):
        return Refusal(code=RefusalCode.BUSY, why=f"{old} is already being replaced")
    if not array.redundant:
        return Refusal(
            code=RefusalCode.UNSUPPORTED,
            why=f"{array.why_not_redundant}: a member cannot be replaced while in service",
        )
    if array.degraded:
        return Refusal(
            code=RefusalCode.WRONG_STATE,
            why=f"{array.title} is degraded: a new device goes to the empty slot first",
            remedy="add a disk and wait for the recovery",
        )
    return None


def _add_spare(survey: Survey, array: Array, old: str, device: Device) -> Step:
    name = device.disk.name
    add = manage(
        array, ("--add-spare", f"/dev/{name}"), "takes the copy", member_fact(array, name, "present")
    )
    same = device_facts(device, free=False, untouched=False)
    return replace(cleared(survey, add, device), undo=undo_add_spare(array, old, name, same))


def cleared(survey: Survey, step: Step, device: Device) -> Step:
    """Bind a step that takes a device to the device as it is after it was wiped."""
    return replace(step, needs=(*step.needs, *cleared_facts(device, survey)))


def candidate_for(
    survey: Survey,
    array: Array,
    name: str,
    *,
    destroys: Collection[str] = (),
    wiped: bool = True,
    redundant: bool = True,
    sized: bool = True,
) -> Device | Refusal:
    """Return a device that can be added, or why it cannot.

    Args:
        survey: the host.
        array: the array.
        name: the device.
        destroys: names of arrays that may be destroyed, as typed.
        wiped: whether what is on it is cleared.
        redundant: whether the array needs redundancy to take it: for anything but a reshape.
        sized: whether it must be as large as a member: a journal need not.
    """
    if refusal := refuse_array(survey, array):
        return refusal
    if redundant and not array.redundant:
        return Refusal(
            code=RefusalCode.UNSUPPORTED,
            why=f"{array.why_not_redundant}: it takes neither spares nor new members",
        )
    own = next((member for member in array.members if member.name == name), None)
    if own is not None:
        remedy = "remove it first" if own.has("faulty") else "choose a free device"
        return Refusal(
            code=RefusalCode.NOTHING_TO_DO,
            why=f"{name} is already a member of {array.title}: {own.role}",
            remedy=remedy,
        )
    if refusal := refuse_member(name, survey):
        return refusal
    device = survey.devices.get(name)
    if device is None:
        return survey.no_device(name)
    if refusal := refuse_device(device, survey, former_of=array.uuid):
        return refusal
    parts = [use.what for use in device.disk.uses if use.kind == "partition"]
    if parts:
        return Refusal(
            code=RefusalCode.IN_USE,
            why=f"{name} has partitions ({', '.join(parts)})",
            remedy="name one of them",
        )
    return (
        (_refuse_size(survey, array, device) if sized else None)
        or _refuse_sectors(survey, array, device)
        or (refuse_old_arrays((device,), survey, destroys) if wiped else None)
        or device
    )


def _refuse_size(survey: Survey, array: Array, device: Device) -> Refusal | None:
    """A new member's data begin where those of the others do (mdadm's super1.c)."""
    blocks = [survey.devices[each.name].superblock for each in array.members if each.name in survey.devices]
    offsets = [block.offset_sectors for block in blocks if block is not None and block.offset_sectors]
    before = max(min(offsets, default=0) * SECTOR_BYTES, _SUPERBLOCK_BYTES)
    size, needed = device.disk.size_bytes, (array.component_kib or 0) * KIB + before
    if size is not None and size < needed:
        return Refusal(
            code=RefusalCode.TOO_SMALL,
            why=f"{device.disk.name} is too small: {size} bytes, {needed} are needed",
            remedy="choose a larger device",
        )
    return None


def _refuse_sectors(survey: Survey, array: Array, device: Device) -> Refusal | None:
    """One member with larger sectors makes the array's larger, and what is on it may not be readable then."""
    for member in array.members:
        known = survey.devices.get(member.name)
        if known is not None and known.sector_bytes != device.sector_bytes:
            return Refusal(
                code=RefusalCode.UNSUPPORTED,
                why=f"{device.disk.name} has sectors of {device.sector_bytes} bytes,"
                f" {member.name} of {known.sector_bytes}",
                remedy="choose a device of the same kind",
            )
    return None


def empty_slots(array: Array) -> int:
    """Return how many slots nothing fills, or is about to fill."""
    filling = [
        each
        for each in array.members
        if each.has("spare") and not (each.has("faulty") or each.has("replacement") or each.detached)
    ]
    return (array.degraded or 0) - len(filling)
