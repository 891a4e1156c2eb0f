"""Members: replace, fail, remove, re-add, add, and the superblock that is wiped.

Replace copies while the old member still serves, so it is the verb for a disk that is to go; fail gives the
redundancy up first.
"""

from __future__ import annotations

from msgspec.structs import replace

from raidtui.actions.target import needs_root
from raidtui.model.array import Array, Member
from raidtui.model.geometry import loss_sentence, losses_left
from raidtui.model.levels import PARITY_LEVELS
from raidtui.model.plan import Fact, Harm, Kind, Plan, Refusal, Step
from raidtui.model.survey import Device, Survey
from raidtui.model.units import short_binary

_SUPERBLOCK_BYTES = 8 << 10
"""The least that any metadata takes of a member besides its data."""


def plan_fail(survey: Survey, array: Array, name: str) -> Plan | Refusal:
    """Return the plan that marks a member as failed."""
    member = _member(survey, array, name)
    if isinstance(member, Refusal):
        return member
    if member.has("faulty"):
        return Refusal(why=f"{name} has failed already", remedy="remove it")
    if refusal := _refuse_loss(array, member):
        return refusal
    serves = member.has("in_sync") and member.slot is not None
    step = _manage(array, ("--fail", f"/dev/{name}"), "take it out of service", _is(array, name, "faulty"))
    others = _others_in_sync(array, member) if serves else ()
    warning = "Its copy is given up before there is another one. Replace does it the other way round."
    return Plan(
        title=f"fail: {name}",
        subject=array.title,
        steps=(_bound(survey, replace(step, needs=(*step.needs, *others)), name),),
        harm=Harm.REDUCES,
        warning=warning if serves else "",
        notes=_after_loss(array, member) if serves else (),
        devices=(name,),
        arrays=(array.name,),
    )


def _after_loss(array: Array, member: Member) -> tuple[str, ...]:
    """Return what the next failure would do once this member is gone."""
    gone = {*(array.missing_slots or ()), *(() if member.slot is None else (member.slot,))}
    words = loss_sentence(array.level, array.layout, len(array.up or ()), gone)
    return (f"After this: {words}.",) if words else ()


def plan_remove(survey: Survey, array: Array, name: str) -> Plan | Refusal:
    """Return the plan that takes a failed member, or a spare, out of an array."""
    member = _member(survey, array, name)
    if isinstance(member, Refusal):
        return member
    if not array.redundant:
        return _no_redundancy(array, member)
    if not (member.has("faulty") or (member.has("spare") and member.slot is None)):
        return Refusal(why=f"{name} is in service", remedy="replace it, or fail it first")
    step = _manage(array, ("--remove", f"/dev/{name}"), "let go of it", _is(array, name, "absent"))
    return Plan(
        title=f"remove: {name}",
        subject=array.title,
        steps=(_bound(survey, step, name),),
        harm=Harm.REDUCES,
        devices=(name,),
        arrays=(array.name,),
    )


def plan_re_add(survey: Survey, array: Array, name: str) -> Plan | Refusal:
    """Return the plan that takes a former member back, so that only what changed is copied."""
    device = _candidate(survey, array, name)
    if isinstance(device, Refusal):
        return device
    if device.superblock is None or array.uuid is None or device.superblock.uuid != array.uuid:
        return Refusal(why=f"{name} was no member of {array.title}", remedy="add it")
    if array.bitmap is None:
        whole = f" ({short_binary(array.component_kib * 1024)})" if array.component_kib else ""
        return Refusal(
            why=f"{array.title} has no bitmap, so what changed is not known",
            remedy=f"add it: all is copied{whole}",
        )
    step = _manage(array, ("--re-add", f"/dev/{name}"), "take it back", _is(array, name, "present"))
    return Plan(
        title=f"re-add: {name}",
        subject=array.title,
        steps=(_bound(survey, step, name, device),),
        harm=Harm.REDUCES,
        notes=("Only what was written since it left is copied: the bitmap knows.",),
        devices=(name,),
        arrays=(array.name,),
    )


def plan_add(survey: Survey, array: Array, name: str) -> Plan | Refusal:
    """Return the plan that adds a device: as a member where one is missing, else as a spare."""
    device = _candidate(survey, array, name)
    if isinstance(device, Refusal):
        return device
    former = device.superblock is not None and device.superblock.uuid == array.uuid
    if former and array.bitmap is not None:
        return Refusal(why=f"{name} was a member, and the bitmap knows what changed", remedy="re-add it")
    wipes = _wipe_steps(device)
    fills = _empty_slots(array) > 0
    option = "--add" if fills else "--add-spare"
    step = _manage(array, (option, f"/dev/{name}"), "a new member", _is(array, name, "present"))
    copied = short_binary(array.component_kib * 1024) if fills and array.component_kib else ""
    return Plan(
        title=f"add: {name}",
        subject=array.title,
        steps=(*wipes, _bound(survey, step, name, device, untouched=not wipes)),
        harm=Harm.DESTROYS if wipes else Harm.REDUCES,
        loses=tuple(losses_of(device)),
        confirm=array.title if wipes else "",
        notes=(f"{copied} are written to {name}.",) if copied else ("It waits as a spare.",),
        devices=(name,),
        arrays=(array.name,),
    )


def plan_replace(survey: Survey, array: Array, old: str, new: str) -> Plan | Refusal:
    """Return the plan that copies a member to another device while it still serves."""
    member = _member(survey, array, old)
    if isinstance(member, Refusal):
        return member
    if not member.has("in_sync") or member.slot is None:
        return Refusal(
            why=f"{old} is {member.role}, so there is nothing to copy from it", remedy="add a disk"
        )
    if member.has("want_replacement"):
        return Refusal(why=f"{old} is being replaced already")
    if not array.redundant:
        return Refusal(why=f"{array.level} cannot replace a member while it serves")
    if array.degraded:
        return Refusal(
            why=f"{array.title} is degraded: a new device goes to the empty slot first",
            remedy="add a disk and wait for the recovery",
        )
    spare = next((each for each in array.members if each.name == new), None)
    wipes: tuple[Step, ...] = ()
    adding: tuple[Step, ...] = ()
    device: Device | None = None
    if spare is None:
        found = _candidate(survey, array, new)
        if isinstance(found, Refusal):
            return found
        device = found
        wipes = _wipe_steps(device)
        add = _manage(
            array, ("--add-spare", f"/dev/{new}"), "a place for the copy", _is(array, new, "present")
        )
        undo = _manage(array, ("--remove", f"/dev/{new}"), "give it back", _is(array, new, "absent"))
        adding = (replace(_bound(survey, add, new, device, untouched=not wipes), undo=(undo,)),)
    elif not spare.has("spare") or spare.slot is not None or spare.has("faulty"):
        return Refusal(why=f"{new} is {spare.role} of {array.title} already", remedy="choose a free device")
    step = _manage(
        array,
        ("--replace", f"/dev/{old}", "--with", f"/dev/{new}"),
        "copy the old one; it goes out of service when the copy is whole",
        _is(array, old, "want_replacement|faulty|absent"),
    )
    return Plan(
        title=f"replace: {old} → {new}",
        subject=array.title,
        steps=(*wipes, *adding, _bound(survey, step, old)),
        harm=Harm.DESTROYS if wipes else Harm.REDUCES,
        loses=tuple(losses_of(device)) if device is not None else (),
        confirm=array.title if wipes else "",
        notes=(f"{old} stays in service until the copy is whole; then remove it.",),
        rolls_back=True,
        devices=(old, new),
        arrays=(array.name,),
    )


def plan_zero_superblock(survey: Survey, name: str) -> Plan | Refusal:
    """Return the plan that wipes md's superblock from a device that no array uses."""
    if refusal := needs_root(survey.snapshot):
        return refusal
    device = survey.devices.get(name)
    if device is None:
        return Refusal(why=f"there is no device {name}")
    if device.superblock is None:
        return Refusal(why=f"{name} has no md superblock")
    for array in survey.snapshot.arrays:
        if any(member.name == name for member in array.members):
            return Refusal(why=f"{name} is a member of {array.title}", remedy="remove it from there first")
    if device.disk.users or device.busy:
        return Refusal(why=f"{name} is in use: {device.disk.users or device.busy}")
    label = device.superblock.label
    return Plan(
        title=f"zero superblock: {name}",
        subject=name,
        steps=(_zero(device),),
        harm=Harm.DESTROYS,
        loses=tuple(_memberships(device)),
        warning=f"Without it, {name} is no part of {label} any more.",
        confirm=label,
        devices=(name,),
    )


def losses_of(device: Device) -> list[str]:
    """Return what is on a device, a sentence each."""
    told = {"linux_raid_member"} if device.superblock is not None else set()
    return _memberships(device) + [
        f"{device.disk.name}: {use.words}"
        for use in device.disk.uses
        if use.kind == "partition" or (use.kind == "signature" and use.what not in told)
    ]


def _memberships(device: Device) -> list[str]:
    old = device.superblock
    if old is None:
        return []
    return [f"{device.disk.name}: membership in the array {old.label} ({old.uuid or 'no UUID'})"]


def device_facts(device: Device, *, free: bool = True, untouched: bool = True) -> tuple[Fact, ...]:
    """Return what must still hold of a device right before something is written to it."""
    name, disk = device.disk.name, device.disk
    facts = []
    if disk.identity:
        facts.append(Fact(kind=Kind.SERIAL, subject=name, value=disk.identity))
    if disk.size_bytes is not None:
        facts.append(Fact(kind=Kind.SIZE, subject=name, value=str(disk.size_bytes)))
    if free:
        facts.append(Fact(kind=Kind.FREE, subject=name))
    if untouched and device.digest:
        facts.append(Fact(kind=Kind.UNTOUCHED, subject=name, value=device.digest))
    return tuple(facts)


def _zero(device: Device) -> Step:
    return Step(
        argv=("mdadm", "--zero-superblock", device.path),
        why="it belongs to no array any more",
        needs=device_facts(device),
        proves=(Fact(kind=Kind.SUPERBLOCK, subject=device.disk.name),),
        destroys=True,
    )


def _wipe_steps(device: Device) -> tuple[Step, ...]:
    """Return what clears a device of what was on it; nothing for an empty one."""
    if not losses_of(device):
        return ()
    return (
        Step(
            argv=("wipefs", "--all", device.path),
            why="what is on it must not come back later",
            needs=device_facts(device),
            proves=(Fact(kind=Kind.CLEAN, subject=device.disk.name),),
            destroys=True,
        ),
    )


def _member(survey: Survey, array: Array, name: str) -> Member | Refusal:
    if refusal := _refuse_array(survey, array):
        return refusal
    member = next((each for each in array.members if each.name == name), None)
    return member or Refusal(why=f"{name} is no member of {array.title}")


def _candidate(survey: Survey, array: Array, name: str) -> Device | Refusal:
    """Return a device that can be added, or why it cannot."""
    if refusal := _refuse_array(survey, array):
        return refusal
    if not array.redundant:
        return Refusal(why=f"{array.level} has no redundancy: it takes neither spares nor new members")
    for other in survey.snapshot.arrays:
        for member in other.members:
            if member.name == name:
                first = other.key == array.key and member.has("faulty")
                remedy = "remove it first" if first else "choose a free device"
                return Refusal(why=f"{name} is a member of {other.title} already", remedy=remedy)
    device = survey.devices.get(name)
    if device is None:
        return Refusal(why=f"there is no device {name}")
    if device.disk.users:
        return Refusal(why=f"{name} is in use: {device.disk.users}", remedy="choose a free device")
    if device.busy:
        return Refusal(why=f"{name}: {device.busy}", remedy="choose a free device")
    if device.read_only:
        return Refusal(why=f"{name} is read-only")
    parts = [use.what for use in device.disk.uses if use.kind == "partition"]
    if parts:
        return Refusal(why=f"{name} has partitions ({', '.join(parts)})", remedy="give one of them")
    size, needed = device.disk.size_bytes, (array.component_kib or 0) * 1024 + _SUPERBLOCK_BYTES
    if size is not None and size < needed:
        return Refusal(why=f"{name} is too small: {size} bytes, {needed} are needed")
    return _refuse_sectors(survey, array, device) or device


def _refuse_sectors(survey: Survey, array: Array, device: Device) -> Refusal | None:
    """One member with larger sectors makes the array's larger, and what is on it may not be readable then."""
    for member in array.members:
        known = survey.devices.get(member.name)
        if known is not None and known.sector_bytes != device.sector_bytes:
            return Refusal(
                why=f"{device.disk.name} has sectors of {device.sector_bytes} bytes,"
                f" {member.name} of {known.sector_bytes}",
                remedy="choose a device of the same kind",
            )
    return None


def _refuse_array(survey: Survey, array: Array) -> Refusal | None:
    if refusal := needs_root(survey.snapshot):
        return refusal
    if survey.mdadm is None:
        return Refusal(why="mdadm is not installed", remedy="apt install mdadm")
    if not array.active:
        return Refusal(why=f"{array.title} is inactive", remedy="assemble it first")
    if array.read_only == "read-only":
        return Refusal(why=f"{array.title} is read-only", remedy=f"mdadm --readwrite {array.path}")
    if (array.metadata or "").startswith("external"):
        return Refusal(why=f"{array.title} is managed by its controller's metadata, which is only watched")
    return None


def _refuse_loss(array: Array, member: Member) -> Refusal | None:
    """The last good copy is never given up."""
    if not array.redundant:
        return _no_redundancy(array, member)
    if member.has("journal"):
        return Refusal(why=f"{member.name} is the journal of {array.title}, which is read-only without it")
    if member.slot is None or not member.has("in_sync"):
        return None
    missing = array.missing_slots
    if array.up is None or missing is None:
        return Refusal(why="which members are in sync is not known")
    left = losses_left(array.level, array.layout, len(array.up), tuple({*missing, member.slot}))
    if left is None or left < 0:
        return Refusal(
            why=f"{member.name} holds the last copy of a part of {array.title}",
            remedy="add a disk, or replace it",
        )
    unsynced = array.level in PARITY_LEVELS and array.resync_start not in {None, "none"}
    if array.parity_unfinished or unsynced:
        return Refusal(why=f"{array.title} is not yet in sync", remedy="wait for the resync")
    return None


def _no_redundancy(array: Array, member: Member) -> Refusal:
    return Refusal(why=f"{array.level} has no redundancy: without {member.name} all is gone")


def _others_in_sync(array: Array, member: Member) -> tuple[Fact, ...]:
    """Return that all serve that served when the plan was made: another loss since then changes the sum."""
    return tuple(
        _is(array, each.name, "in_sync")
        for each in array.members
        if each.name != member.name and each.slot is not None and each.has("in_sync")
    )


def _empty_slots(array: Array) -> int:
    """Return how many slots nothing fills, or is about to fill."""
    filling = [
        each
        for each in array.members
        if each.has("spare") and not each.has("faulty") and not each.has("replacement")
    ]
    return (array.degraded or 0) - len(filling)


def _manage(array: Array, options: tuple[str, ...], why: str, *proves: Fact) -> Step:
    identity = (Fact(kind=Kind.ARRAY, subject=array.name, value=array.uuid),) if array.uuid else ()
    return Step(argv=("mdadm", "--manage", array.path, *options), why=why, needs=identity, proves=proves)


def _bound(
    survey: Survey, step: Step, name: str, device: Device | None = None, *, untouched: bool = True
) -> Step:
    """Bind a step to the disk that was meant, whatever its name is by then."""
    if device is not None:
        own = device_facts(device, untouched=untouched)
    else:
        disk = survey.snapshot.disks.get(name) or (
            survey.devices[name].disk if name in survey.devices else None
        )
        own = (
            (Fact(kind=Kind.SERIAL, subject=name, value=disk.identity),)
            if disk is not None and disk.identity
            else ()
        )
    return replace(step, needs=(*step.needs, *own))


def _is(array: Array, name: str, words: str) -> Fact:
    return Fact(kind=Kind.MEMBER, subject=f"{array.name}/{name}", value=words)
