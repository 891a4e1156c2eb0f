"""More slots for an array that runs: ``mdadm --grow --raid-devices`` (mdadm(8), GROW MODE).

Every block moves to its new place, except in RAID 1, where the new members are copied. Where there is room
before the data of every member, md begins to write there, and a crash at any moment loses nothing: no backup
file is needed, and none is given, because mdadm takes the slower way through the file if there is one
(Grow.c, reshape_array). Without that room raidtui refuses.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from msgspec.structs import replace

from raidtui.model.array import Array, Member
from raidtui.model.geometry import capacity_kib, data_disks, losses_left
from raidtui.model.levels import PARITY_LEVELS, Raid10Layout
from raidtui.model.plan import Fact, FactKind, Harm, Plan, Refusal, RefusalCode, Step
from raidtui.model.survey import Device, Survey
from raidtui.plans.contents import device_facts, losses_of, wipe_steps
from raidtui.plans.locate import which_disk_notes
from raidtui.plans.manage import manage, member_fact, refuse_array
from raidtui.plans.persist import count_steps
from raidtui.plans.repair import candidate_for, cleared, share_of_life
from raidtui.plans.reshape import members_in_sync, refuse_now, refuse_room
from raidtui.plans.sync import at_least
from raidtui.view.units import KIB, SECTOR_BYTES, binary_size, counted, joined

_RAID1_MOST = 64
_GROW_S = 300.0


def least_move(level: str, layout: int | None, chunk_bytes: int, slots: tuple[int, int]) -> int:
    """Return by how many sectors the data of each member have to move for a reshape without a backup file.

    Args:
        level: raid4, raid5, raid6 or raid10.
        layout: md's number; only RAID-10 needs it.
        chunk_bytes: the chunk, which stays.
        slots: how many there are, and how many there will be.

    Returns:
        0 for RAID 1, of which nothing moves. Source: mdadm's Grow.c, analyse_change.
    """
    if level == "raid1":
        return 0
    chunk = chunk_bytes // SECTOR_BYTES
    if level == "raid10":
        decoded = Raid10Layout.decode(layout) if layout is not None else None
        return chunk * (decoded.far if decoded is not None and decoded.offset else 1)
    old, new = (data_disks(level, layout, count) for count in slots)
    return math.lcm(chunk * old, chunk * new) // old


def plan_grow(
    survey: Survey,
    array: Array,
    names: Sequence[str],
    *,
    slots: int = 0,
    destroys: Collection[str] = (),
) -> Plan | Refusal:
    """Return the plan that gives an array more slots, and the devices for them.

    Args:
        survey: the host, with the array's members and the new devices.
        array: the array.
        names: kernel names of free devices that are added.
        slots: how many there will be; 0: one more for each device that is added. Spares fill what is left.
        destroys: names of arrays that may be destroyed, as typed.
    """
    wanted = slots or (array.raid_disks or 0) + len(names)
    refusal = refuse_array(survey, array) or _refuse_level(array) or refuse_now(array)
    refusal = refusal or _refuse_state(array) or _refuse_slots(array, names, wanted)
    if refusal:
        return refusal
    devices = [candidate_for(survey, array, name, destroys=destroys) for name in names]
    found = [device for device in devices if not isinstance(device, Refusal)]
    if len(found) < len(devices):
        return next(device for device in devices if isinstance(device, Refusal))
    move = least_move(
        array.level or "", array.layout, array.chunk_bytes or 0, (array.raid_disks or 0, wanted)
    )
    room = refuse_room(survey, array, move, remedy="make a new array and copy") if move else None
    return room or _plan(survey, array, found, wanted)


def _plan(survey: Survey, array: Array, devices: Sequence[Device], wanted: int) -> Plan:
    names = tuple(device.disk.name for device in devices)
    wipes = [step for device in devices for step in wipe_steps(device, survey)]
    same = Fact(kind=FactKind.ARRAY, subject=array.name, value=array.uuid or "")
    members = tuple(member.name for member in array.members)
    grow = Step(
        argv=("mdadm", "--grow", array.path, f"--raid-devices={wanted}"),
        why="md copies to the new members" if array.level == "raid1" else "md moves every block",
        timeout_s=_GROW_S,
        needs=(same, *members_in_sync(array), *(member_fact(array, name, "spare") for name in names)),
        proves=(Fact(kind=FactKind.SLOTS, subject=array.name, value=str(wanted)),),
    )
    reshaped = Fact(kind=FactKind.RESHAPED, subject=array.name)
    filled = tuple(member_fact(array, name, "in_sync") for name in names)
    return Plan(
        title=f"grow: {array.raid_disks} → {wanted} devices",
        subject=array.title,
        steps=(
            *wipes,
            *(_add(survey, array, device) for device in devices),
            grow,
            *count_steps(survey, uuid=array.uuid or "", raid_disks=wanted),
        ),
        harm=Harm.DESTROYS if wipes else Harm.REDUCES,
        losses=losses_of(tuple(devices), survey),
        confirm=array.title if wipes else "",
        warning=""
        if array.level == "raid1"
        else "A reshape cannot be cancelled: it continues after a reboot. It can be paused and slowed.",
        notes=(*_notes(survey, array, names, wanted), *which_disk_notes(survey, *names)),
        devices=(*members, *names),
        arrays=(array.name,),
        goes_on=grow.why,
        ends=(same, *grow.proves, reshaped, *filled),
        lasts=(same, *grow.proves),
    )


def _add(survey: Survey, array: Array, device: Device) -> Step:
    name = device.disk.name
    add = manage(array, ("--add-spare", f"/dev/{name}"), "a new member", member_fact(array, name, "spare"))
    loose = Fact(kind=FactKind.LOOSE, subject=f"{array.name}/{name}")
    remove = manage(array, ("--remove", f"/dev/{name}"), "release it", member_fact(array, name, "absent"))
    zero = Step(
        argv=("mdadm", "--zero-superblock", f"/dev/{name}"),
        why="with its superblock, udev would add it as a spare again",
        needs=(
            *device_facts(device, free=False, untouched=False),
            Fact(kind=FactKind.FREE, subject=name),
            Fact(kind=FactKind.SUPERBLOCK, subject=name, value=array.uuid or ""),
        ),
        proves=(Fact(kind=FactKind.SUPERBLOCK, subject=name),),
    )
    back = (replace(remove, needs=(*remove.needs, loose)), zero)
    return replace(cleared(survey, add, device), undo=back)


def _notes(survey: Survey, array: Array, names: Sequence[str], wanted: int) -> tuple[str, ...]:
    level, layout, now = array.level or "", array.layout, array.raid_disks or 0
    kib = array.component_kib or 0
    before, after = (capacity_kib(level, layout, kib, count) * KIB for count in (now, wanted))
    notes = []
    if after > before:
        notes.append(
            f"Capacity {binary_size(before)} → {binary_size(after)}, when the reshape has ended."
            f" What is on the array is not larger by itself{_above(survey, array)}."
        )
    left = losses_left(level, layout, now, ())
    if left is not None and level != "raid1":
        notes.append(
            f"Meanwhile the array survives the loss of {counted(left, 'member')}, as now"
            f" ({wanted} devices instead of {now} can fail)."
        )
    if kib:
        written = [*names] if level == "raid1" else [*(m.name for m in array.members if _holds(m)), *names]
        shares = joined([f"{name}{share_of_life(survey, array, name)}" for name in written])
        notes.append(f"{binary_size(kib * KIB)} are written to each of {shares}.")
        notes.append(f"It takes {at_least(survey, kib)}.")
    if level != "raid1":
        notes.append("No backup file is needed: there is room before the data.")
    return tuple(notes)


def _above(survey: Survey, array: Array) -> str:
    """Return what makes the thing on the array larger afterwards, as a clause; "" where it is not known."""
    disk = survey.above.get(array.name) or survey.snapshot.disks.get(array.name)
    for use in disk.uses if disk is not None else ():
        if use.kind == "mount" and use.detail.startswith("ext"):
            return f": resize2fs {array.path}"
        if use.kind == "mount" and use.detail == "xfs":
            return f": xfs_growfs {use.what}"
        if use.kind == "mount" and use.detail == "btrfs":
            return f": btrfs filesystem resize max {use.what}"
    return ""


def _holds(member: Member) -> bool:
    return member.slot is not None


def _refuse_level(array: Array) -> Refusal | None:
    if array.level == "raid10":
        decoded = Raid10Layout.decode(array.layout) if array.layout is not None else None
        if decoded is None or (decoded.far > 1 and not decoded.offset):
            return Refusal(code=RefusalCode.UNSUPPORTED, why="a raid10 with far copies cannot be reshaped")
    elif array.level != "raid1" and array.level not in PARITY_LEVELS:
        return Refusal(
            code=RefusalCode.UNSUPPORTED, why=f"raidtui cannot add slots to {array.level or 'this level'}"
        )
    if not array.uuid:
        return Refusal(code=RefusalCode.UNKNOWN, why=f"{array.title} has no UUID to identify it")
    if array.consistency_policy in {"ppl", "journal"}:
        return Refusal(
            code=RefusalCode.UNSUPPORTED,
            why=f"{array.title} has consistency policy {array.consistency_policy}: the kernel refuses to"
            " reshape it",
        )
    return None


def _refuse_state(array: Array) -> Refusal | None:
    if array.read_only:
        return Refusal(
            code=RefusalCode.WRONG_STATE,
            why=f"{array.title} is {array.read_only}",
            remedy="make it read-write first",
        )
    bad = [member.name for member in array.members if member.bad_blocks]
    if bad:
        return Refusal(
            code=RefusalCode.WRONG_STATE,
            why=f"bad blocks are recorded on {joined(bad)}: they would move with the data",
            remedy=f"replace {joined(bad)} first",
        )
    if broken := next((each.name for each in array.members if each.has("faulty")), None):
        return Refusal(
            code=RefusalCode.WRONG_STATE, why=f"{broken} is marked as failed", remedy="remove it first"
        )
    return None


def _refuse_slots(array: Array, names: Sequence[str], wanted: int) -> Refusal | None:
    now = array.raid_disks or 0
    spares = [each.name for each in array.members if each.role == "spare"]
    if len(set(names)) < len(names):
        return Refusal(code=RefusalCode.INVALID, why="a device is named twice", remedy="name each once")
    if wanted <= now:
        return Refusal(
            code=RefusalCode.INVALID,
            why=f"{array.title} has {now} slots already",
            remedy="name the devices that are added, or a larger number of slots",
        )
    if array.level == "raid1" and wanted > _RAID1_MOST:
        return Refusal(code=RefusalCode.INVALID, why=f"{wanted} mirrors are too many")
    short = wanted - now - len(names) - len(spares)
    if short > 0:
        return Refusal(
            code=RefusalCode.TOO_SMALL,
            why=f"{counted(short, 'device')} more would be needed for {wanted} slots: it would be degraded",
            remedy="name free devices, or fewer slots",
        )
    if spares and wanted - now < len(names) + len(spares):
        return Refusal(
            code=RefusalCode.UNSUPPORTED,
            why=f"{array.title} has spares ({joined(spares)}): which of them md would take cannot be chosen",
            remedy=f"grow to {now + len(names) + len(spares)} slots, or remove the spares first",
        )
    return None
