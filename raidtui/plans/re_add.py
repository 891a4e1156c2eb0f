"""A former member is taken back: by the bitmap, only what was written since it left is copied."""

from __future__ import annotations

from msgspec.structs import replace

from raidtui.model.array import Array, Member
from raidtui.model.plan import Harm, Plan, Refusal, RefusalCode, Step
from raidtui.model.survey import Device, Superblock, Survey
from raidtui.plans.locate import which_disk_notes
from raidtui.plans.manage import await_filled, bound, manage, member_fact, refuse_loss, word_for
from raidtui.plans.repair import candidate_for, empty_slots
from raidtui.view.units import KIB, binary_size, duration, short_size


def plan_re_add(survey: Survey, array: Array, name: str) -> Plan | Refusal:
    """Return the plan that takes a former member back, so that only what changed is copied."""
    device = candidate_for(survey, array, name, wiped=False)
    if isinstance(device, Refusal):
        return device
    if device.superblock is None or array.uuid is None or device.superblock.uuid != array.uuid:
        return Refusal(
            code=RefusalCode.NOT_FOUND, why=f"{name} was not a member of {array.title}", remedy="add it"
        )
    if array.bitmap is None:
        whole = f" ({short_size(array.component_kib * KIB)})" if array.component_kib else ""
        return Refusal(
            code=RefusalCode.UNKNOWN,
            why=f"{array.title} has no bitmap, so what changed is not known",
            remedy=f"add it: the whole disk is copied{whole}",
        )
    if refusal := _refuse_cleared(survey, array, device):
        return refusal
    step = manage(
        array, ("--re-add", f"/dev/{name}"), "it was a member before", member_fact(array, name, "present")
    )
    left = _left(array, device.superblock)
    let_go = _let_go(array, left) if left is not None else ()
    if isinstance(let_go, Refusal):
        return let_go
    fills = bool(let_go) or empty_slots(array) > 0
    return Plan(
        title=f"re-add: {name}",
        subject=array.title,
        steps=(
            *let_go,
            bound(survey, replace(step, patient=True), name, device),
            *((await_filled(array, name, f"md recovers {name}"),) if fills else ()),
        ),
        harm=Harm.REDUCES,
        notes=(*_behind(survey, array, device), *which_disk_notes(survey, name)),
        devices=(name,),
        arrays=(array.name,),
    )


def _let_go(array: Array, member: Member) -> tuple[Step, ...] | Refusal:
    """Return the steps that remove a member whose device left the machine.

    md keeps the number of such a member until it is removed, and takes no disk back that has the same one
    (EBUSY): so it is with a disk that was pulled and pushed back, where udev has not had it removed.
    """
    word, absent = word_for(member), member_fact(array, member.name, "absent")
    steps = [replace(manage(array, ("--remove", word), "md lets go of what left", absent), patient=True)]
    if not member.has("faulty"):
        if refusal := refuse_loss(array, member):
            return refusal
        failed = member_fact(array, member.name, "faulty|absent")
        steps.insert(0, manage(array, ("--fail", word), "it left the machine", failed))
    here = member_fact(array, member.name, "detached")
    return tuple(replace(each, needs=(*each.needs, here), proof_decides=True) for each in steps)


def _left(array: Array, block: Superblock) -> Member | None:
    """Return the member whose device left, and which this superblock is of, as far as that is known.

    One that has failed has lost its slot, and nothing is lost with it. One that md has not noticed has it.
    """
    gone = [each for each in array.members if each.present is False]
    same = [each for each in gone if each.slot is not None and each.slot == block.slot]
    return next(iter((*same, *(each for each in gone if each.has("faulty")))), None)


def _blocks(survey: Survey, array: Array) -> list[Superblock]:
    """Return the superblocks of the members that could be read."""
    members = [survey.devices[each.name].superblock for each in array.members if each.name in survey.devices]
    return [block for block in members if block is not None and block.uuid == array.uuid]


def _refuse_cleared(survey: Survey, array: Array, device: Device) -> Refusal | None:
    """Refuse a member that left before the bitmap was cleared last: md takes it back only as a new one.

    Source: drivers/md/md.c, super_1_validate and md_add_new_disk (events_cleared).
    """
    cleared = max((block.cleared_events or 0 for block in _blocks(survey, array)), default=0)
    then = device.superblock.events if device.superblock is not None else None
    if then is None or then >= cleared:
        return None
    name = device.disk.name
    return Refusal(
        code=RefusalCode.WRONG_STATE,
        why=f"{name} left {array.title} at event {then}, and its bitmap was cleared at event {cleared}:"
        " what changed before that is not known",
        remedy="zero its superblock and add it: the whole disk is copied",
    )


def _behind(survey: Survey, array: Array, device: Device) -> tuple[str, ...]:
    """Return how far a former member is behind, and how much is copied."""
    blocks = _blocks(survey, array)
    now = max((block.events or 0 for block in blocks), default=0)
    then = device.superblock.events if device.superblock is not None else None
    dirty = max((block.dirty_bytes for block in blocks if block.dirty_bytes is not None), default=None)
    notes = []
    if now and then is not None:
        at_s = device.superblock.updated_s if device.superblock is not None else None
        ago = f", {duration(max(0.0, survey.snapshot.taken_s - at_s))} ago" if at_s is not None else ""
        notes.append(
            f"{device.disk.name} left the array at event {then}{ago}; {array.title} is at event {now}."
        )
    if dirty is None or not array.component_kib:
        why = "mdadm --examine-bitmap counts no marked chunks" if dirty is None else "its size is not known"
        notes.append(
            f"The bitmap limits the copy to what was written since it left; how much is not known: {why}."
        )
    else:
        most = min(dirty, array.component_kib * KIB)
        notes.append(
            f"At most {binary_size(most)} of {binary_size(array.component_kib * KIB)} are copied:"
            " the bitmap knows what was written since it left."
        )
    return tuple(notes)
