"""The first plan of an exchange: all members on a disk leave their arrays, the light of its bay goes on.

The disk is out of service before a hand is on it. It is refused wherever an array would be without
redundancy for another reason already, or has not finished syncing: then a wrong disk pulled is lost data.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from raidtui.features.pull.bays import BayDisk, part_number
from raidtui.features.pull.record import PullDisk, PullMember, PullRecord
from raidtui.host.block import STACKED
from raidtui.model.array import Array, Member
from raidtui.model.geometry import loss_sentence
from raidtui.model.plan import Harm, Plan, Refusal, RefusalCode, Step
from raidtui.model.survey import Survey
from raidtui.plans.leave import others_in_sync
from raidtui.plans.locate import plan_locate, which_disk_notes
from raidtui.plans.manage import (
    bound,
    fail_and_remove,
    good_elsewhere,
    manage,
    member_fact,
    no_redundancy,
    refuse_array,
    refuse_loss,
)
from raidtui.view.units import joined

On = tuple[Array, Member]


def members_on(survey: Survey, disk: str) -> list[On]:
    """Return the members of running arrays that a whole disk is, or holds."""
    return [
        (array, member)
        for array in survey.snapshot.arrays
        for member in array.members
        if whole_of(survey, member.name) == disk
    ]


def whole_of(survey: Survey, name: str) -> str:
    """Return the whole disk of a device; its own name where nothing is known of it."""
    device = survey.devices.get(name)
    found = device.disk if device is not None else survey.snapshot.disks.get(name)
    return found.disk if found is not None else name


def refuse_pulling(survey: Survey, name: str) -> Refusal | None:
    """Return why a disk cannot be pulled now, whatever else is plugged in; or None.

    Args:
        survey: the host.
        name: a member, or the whole disk.
    """
    disk = whole_of(survey, name)
    found = members_on(survey, disk)
    if disk.startswith(STACKED):
        return Refusal(
            code=RefusalCode.UNSUPPORTED,
            why=f"{disk} is not a disk: it is built on others",
            remedy="raidtui stack shows which; take it out by hand",
        )
    if not found and not _former(survey, disk):
        return Refusal(code=RefusalCode.NOT_FOUND, why=f"{disk} holds no member of an array that is there")
    for array, member in found:
        if refusal := _refuse_member(survey, array, member):
            return refusal
    return _refuse_uses(survey, disk, {member.name for _, member in found})


def _refuse_member(survey: Survey, array: Array, member: Member) -> Refusal | None:
    if refusal := refuse_array(survey, array):
        return refusal
    if not array.redundant:
        return no_redundancy(array, member)
    if array.sync is not None or array.work_waits:
        action = array.sync.action if array.sync is not None else "sync"
        return Refusal(
            code=RefusalCode.BUSY,
            why=f"a {action} of {array.title} is in progress",
            remedy="wait until it is done, or end it if it is a check",
        )
    others = [slot for slot in array.not_up if slot != member.slot]
    hole = 1 if member.slot is None and member.has("faulty") else 0  # a failed member has lost its slot
    if len(others) > hole:
        return Refusal(
            code=RefusalCode.WRONG_STATE,
            why=f"{array.title} misses another member already",
            remedy="add a disk and wait for the recovery first",
        )
    return None if member.has("faulty") else refuse_loss(array, member)


def _refuse_uses(survey: Survey, disk: str, members: set[str]) -> Refusal | None:
    """A disk that holds more than members is not out of use when these have left their arrays."""
    device = survey.devices.get(disk)
    if device is None:
        return survey.no_device(disk)
    parts = [use.what for use in device.disk.uses if use.kind == "partition"]
    for name in (disk, *parts):
        known = survey.devices.get(name)
        if name in members or known is None or not known.disk.users:
            continue
        return Refusal(
            code=RefusalCode.IN_USE,
            why=f"{name} is in use: {known.disk.users}",
            remedy="end that first: umount, or swapoff",
        )
    return None


def refuse_unnamed(disk: str, bays: Iterable[BayDisk]) -> Refusal | None:
    """Return why it cannot be said which disk has left, or None."""
    bays = tuple(bays)
    own = next((each for each in bays if each.name == disk), None)
    if own is None:
        return Refusal(code=RefusalCode.NOT_FOUND, why=f"{disk} is not there")
    if not own.identity:
        return Refusal(
            code=RefusalCode.UNKNOWN,
            why=f"{disk} has neither a serial number nor a WWN: raidtui could not tell which disk is pulled",
            remedy="fail, remove, add (F, M, A) do the same by the kernel's name",
        )
    twins = [each.name for each in bays if each.identity == own.identity and each.name != disk]
    if twins:
        return Refusal(
            code=RefusalCode.AMBIGUOUS,
            why=f"{joined([disk, *twins])} report one serial number, {own.identity}: an adapter's, or two"
            " paths to one disk",
            remedy="raidtui could not tell which disk is pulled: exchange it by hand",
        )
    return None


def plan_take_out(
    survey: Survey, name: str, bays: Sequence[BayDisk], *, light: bool = True
) -> Plan | Refusal:
    """Return the plan that takes a disk out of all its arrays, so that it can be pulled.

    Args:
        survey: the host, with the disk, its partitions, and all members of its arrays.
        name: a member, or the whole disk.
        bays: the disks that are there.
        light: whether the light of its bay is to be switched on, where ledctl is there.

    Returns:
        The plan, without steps where nothing is left to do but to pull it; or why not.
    """
    disk = whole_of(survey, name)
    if refusal := refuse_pulling(survey, name) or refuse_unnamed(disk, bays):
        return refusal
    found = members_on(survey, disk)
    lit = plan_locate(survey, disk) if light else None
    steps: list[Step] = []
    if isinstance(lit, Plan):
        steps.append(replace(lit.steps[0], may_fail=True, why="the light of its bay blinks"))
    for array, member in found:
        steps += _leave(survey, array, member)
    titles = list(dict.fromkeys(array.title for array, _ in found))
    number = next(each.number for each in bays if each.name == disk)
    return Plan(
        title=f"take out: {disk}, {number}",
        subject=joined(titles) or disk,
        steps=tuple(steps),
        harm=Harm.REDUCES,
        warning="Pull nothing before this is done.",
        notes=(
            *(_after(array, member) for array, member in found if member.has("in_sync")),
            (
                "If a disk of the right size is present already, replace (R) it first: it copies while"
                " this one still serves."
            ),
            *which_disk_notes(survey, *(member.name for _, member in found)),
        ),
        devices=tuple(member.name for _, member in found),
        arrays=tuple(dict.fromkeys(array.name for array, _ in found)),
    )


def _leave(survey: Survey, array: Array, member: Member) -> tuple[Step, ...]:
    name = member.name
    serves = member.has("in_sync") and member.slot is not None and not member.has("faulty")
    if not serves:
        remove = manage(array, ("--remove", f"/dev/{name}"), "remove it", member_fact(array, name, "absent"))
        return (replace(bound(survey, remove, name), proof_decides=True, patient=True),)
    fail, remove = fail_and_remove(array, name, f"{array.title} runs without it from now on")
    others = (*others_in_sync(array, member), *good_elsewhere(array, member))
    return bound(survey, replace(fail, needs=(*fail.needs, *others)), name), bound(survey, remove, name)


def _after(array: Array, member: Member) -> str:
    gone = {*array.not_up, *(() if member.slot is None else (member.slot,))}
    words = loss_sentence(array.level, array.layout, len(array.up or ()), gone)
    bitmap = "a bitmap: a disk that was pulled by mistake and pushed back copies only what has changed"
    none = "no bitmap: a disk that was pulled by mistake and pushed back is copied whole"
    has = bitmap if array.bitmap is not None else none
    return f"{array.title} after this: {words or 'not known'}. It has {has}."


def record_of(
    survey: Survey,
    name: str,
    bays: Sequence[BayDisk],
    *,
    light: bool,
    dark: str = "",
    who: str,
    now_s: float,
    booted: bool = False,
) -> PullRecord:
    """Return the record of an exchange that begins now.

    Args:
        survey: the host.
        name: a member of the disk, or the whole disk; ``plan_take_out`` does not refuse it.
        bays: the disks that are there.
        light: whether the light of its bay is switched on.
        dark: why not.
        who: the user.
        now_s: epoch seconds.
        booted: whether it has a boot loader.
    """
    disk = whole_of(survey, name)
    own = next(each for each in bays if each.name == disk)
    on = _by_disk(survey)
    target = _pull_disk(own, on, failed=True)
    return PullRecord(
        target=replace(target, members=(*target.members, *_former(survey, disk))),
        others=tuple(
            _pull_disk(each, on, failed=False)
            for each in bays
            if each.identity and each.identity != own.identity
        ),
        appearance=own.appearance,
        light=light,
        dark=dark,
        booted=booted,
        begun_s=now_s,
        who=who,
    )


def _former(survey: Survey, disk: str) -> tuple[PullMember, ...]:
    """Return what a disk holds of running arrays whose member it is no more, by its superblocks."""
    running = {array.uuid: array for array in survey.snapshot.arrays if array.uuid and array.active}
    present = {member.name for array in running.values() for member in array.members}
    found = []
    for name, device in survey.devices.items():
        block = device.superblock
        array = running.get(block.uuid or "") if block is not None else None
        if array is not None and array.uuid and device.disk.disk == disk and name not in present:
            found.append(PullMember(uuid=array.uuid, array=array.title, part=part_number(name, disk)))
    return tuple(found)


def _by_disk(survey: Survey) -> Mapping[str, list[On]]:
    found: dict[str, list[On]] = {}
    for array in survey.snapshot.arrays:
        for member in array.members:
            found.setdefault(whole_of(survey, member.name), []).append((array, member))
    return found


def _pull_disk(disk: BayDisk, on: Mapping[str, list[On]], *, failed: bool) -> PullDisk:
    """Return a disk with its members; ``failed``: with those that have failed, too."""
    return PullDisk(
        identity=disk.identity,
        name=disk.name,
        label=disk.label,
        model=disk.model,
        size_bytes=disk.size_bytes,
        bay=disk.bay,
        members=tuple(
            PullMember(
                uuid=array.uuid,
                array=array.title,
                part=part_number(member.name, disk.name),
                slot=member.slot,
            )
            for array, member in on.get(disk.name, [])
            if array.uuid and (failed or not member.has("faulty"))
        ),
    )
