"""Members that leave: fail, remove, and zero-superblock of former members."""

from __future__ import annotations

from collections.abc import Collection

from msgspec.structs import replace

from raidtui.model.array import Array, Member
from raidtui.model.bad_blocks import lost
from raidtui.model.fact import Fact, FactKind
from raidtui.model.geometry import loss_sentence
from raidtui.model.plan import Harm, Loss, NothingToDo, Plan, Refusal, RefusalCode, RunTool
from raidtui.model.survey import Survey
from raidtui.plans.candidates import is_given_up, refuse_needed, word_of
from raidtui.plans.contents import array_words, device_facts
from raidtui.plans.locate import which_disk, which_disk_notes
from raidtui.plans.manage import (
    bound,
    good_elsewhere,
    manage,
    member_fact,
    member_of,
    no_redundancy,
    refuse_loss,
    word_for,
)
from raidtui.plans.target import needs_root
from raidtui.view.units import joined


def plan_fail(survey: Survey, array: Array, name: str) -> Plan | Refusal:
    """Return the plan that marks a member as failed."""
    member = member_of(survey, array, name)
    if isinstance(member, Refusal):
        return member
    if member.has("faulty"):
        return NothingToDo(why=f"{name} has already failed", remedy="remove it")
    if refusal := refuse_loss(array, member):
        return refusal
    serves = member.has("in_sync") and member.slot is not None
    faulty = member_fact(array, name, "faulty")
    why = "it left the machine; md has not noticed yet" if member.detached else "take it out of service"
    step = manage(array, ("--fail", word_for(member)), why, faulty)
    others = (*others_in_sync(array, member), *good_elsewhere(array, member)) if serves else ()
    others += (member_fact(array, name, "detached"),) if member.detached else ()
    warning = "Failing it drops redundancy at once. Use replace to copy it first."
    return Plan(
        title=f"fail: {name}",
        subject=array.title,
        steps=(bound(survey, replace(step, needs=(*step.needs, *others)), name),),
        harm=Harm.REDUCES,
        warning=warning if serves and not member.detached else "",
        notes=(*(_after_loss(array, member) if serves else ()), *which_disk_notes(survey, name)),
        devices=(name,),
        arrays=(array.name,),
    )


def _after_loss(array: Array, member: Member) -> tuple[str, ...]:
    """Return what the next failure would do once this member is gone."""
    gone = {*array.not_up, *(() if member.slot is None else (member.slot,))}
    words = loss_sentence(array.level, array.layout, len(array.up or ()), gone)
    return (f"After this: {words}.",) if words else ()


def others_in_sync(array: Array, member: Member) -> tuple[Fact, ...]:
    """Return that all serve that served when the plan was made: another loss since then changes the sum."""
    return tuple(
        member_fact(array, each.name, "in_sync")
        for each in array.members
        if each.name != member.name and each.slot is not None and each.has("in_sync")
    )


def plan_remove(survey: Survey, array: Array, name: str) -> Plan | Refusal:
    """Return the plan that takes a failed member, or a spare, out of an array."""
    member = member_of(survey, array, name)
    if isinstance(member, Refusal):
        return member
    if not array.redundant:
        return no_redundancy(array, member)
    if not (member.has("faulty") or (member.has("spare") and member.slot is None)):
        if member.detached:
            why = f"{name} left the machine, and md has not noticed yet"
            return Refusal(code=RefusalCode.IN_USE, why=why, remedy="fail it first")
        return Refusal(
            code=RefusalCode.IN_USE, why=f"{name} is in service", remedy="replace it, or fail it first"
        )
    absent = member_fact(array, name, "absent")
    step = manage(array, ("--remove", word_for(member)), "remove it", absent)
    if member.present is False:
        step = replace(step, needs=(*step.needs, member_fact(array, name, "detached")))
    return Plan(
        title=f"remove: {name}",
        subject=array.title,
        steps=(bound(survey, step, name),),
        harm=Harm.REDUCES,
        warning=_still_needed(array, name),
        notes=which_disk_notes(survey, name),
        devices=(name,),
        arrays=(array.name,),
    )


def _still_needed(array: Array, name: str) -> str:
    """Return what a member that leaves may still hold, and no other."""
    gone = lost(array)
    if not gone.sectors:
        return ""
    return (
        f"{gone.size} of {array.title} cannot be read because of bad blocks on {joined(gone.names)}."
        f" {name} may still hold that data: leave it unchanged."
    )


def plan_zero_superblock(survey: Survey, name: str, *, destroys: Collection[str] = ()) -> Plan | Refusal:
    """Return the plan that wipes md's superblock from a device that no array uses.

    Args:
        survey: the host, with all devices: the others show whether this one is needed.
        name: the device.
        destroys: names of arrays that may be destroyed, as typed.
    """
    if refusal := needs_root(survey.snapshot):
        return refusal
    device = survey.devices.get(name)
    if device is None:
        return survey.no_device(name)
    if refusal := survey.refuse_unread(name) or survey.refuse_pending():
        return refusal  # any of those left may make it needed
    block = device.superblock
    if block is None:
        return Refusal(code=RefusalCode.NOT_FOUND, why=f"{name} has no md superblock")
    for array in survey.snapshot.arrays:
        if any(member.name == name for member in array.members):
            return Refusal(
                code=RefusalCode.IN_USE,
                why=f"{name} is a member of {array.title}",
                remedy="remove it from the array first",
            )
    if device.disk.users or device.busy:
        return Refusal(code=RefusalCode.IN_USE, why=f"{name} is in use: {device.disk.users or device.busy}")
    running = next((each for each in survey.snapshot.arrays if each.uuid == block.uuid and each.active), None)
    if (
        running is None
        and not is_given_up(block, survey, destroys)
        and (refusal := refuse_needed(device, survey))
    ):
        return refusal
    step = RunTool(
        argv=("mdadm", "--zero-superblock", device.path),
        why="it no longer belongs to an array",
        needs=device_facts(device),
        proves=(Fact(kind=FactKind.SUPERBLOCK, subject=name),),
        destroys=True,
    )
    return Plan(
        title=f"zero superblock: {name}",
        subject=name,
        steps=(step,),
        harm=Harm.DESTROYS,
        losses=(Loss(device=name, what=f"a member of {array_words(block)}"),),
        warning=" ".join(
            text
            for text in (
                _still_needed(running, name) if running is not None else "",
                f"After this, {name} no longer belongs to {block.label}.",
            )
            if text
        ),
        notes=(which_disk(device),),
        confirm=word_of(block, survey),
        devices=(name,),
    )
