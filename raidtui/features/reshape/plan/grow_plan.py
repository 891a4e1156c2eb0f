"""More devices for an array that runs, or more of each (mdadm(8), GROW MODE).

Every block moves to its new place, except in RAID 1, where the new members are copied. Where there is room
before the data of every member, md begins to write there, and a crash at any moment loses nothing: no backup
file is needed, and none is given, because mdadm takes the slower way through the file if there is one
(Grow.c, reshape_array).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from msgspec import Struct
from msgspec.structs import replace

from raidtui.features.reshape.plan.backup_place import BackupPlace, refuse_backup
from raidtui.features.reshape.plan.grow_above import Above, geometry_above, larger_above
from raidtui.features.reshape.plan.grow_notes import reshape_notes, reshape_warning
from raidtui.features.reshape.plan.grow_shape import GrowShape, room_of, shape_of
from raidtui.features.reshape.plan.grow_stages import (
    GROW_S,
    GrowStage,
    needs_backup,
    new_devices,
    refuse_reshape,
    refuse_stages,
    stage_steps,
)
from raidtui.features.reshape.plan.journal_plan import around_policy
from raidtui.model.array import Array
from raidtui.model.fact import Fact, FactKind
from raidtui.model.levels import NO_REDUNDANCY, PARITY_LAST, PARITY_LEVELS, Raid10Layout
from raidtui.model.plan import Harm, Plan, Refusal, RefusalCode, RunTool, Step, WaitUntil
from raidtui.model.survey import Survey
from raidtui.plans.contents import losses_of, wipe_steps
from raidtui.plans.known_bugs import bug_notes
from raidtui.plans.locate import which_disk_notes
from raidtui.plans.manage import same_array
from raidtui.plans.member_partition import plan_with_tables, whole_among_parts
from raidtui.plans.persist import count_steps
from raidtui.plans.sync import at_least
from raidtui.view.units import KIB, SECTOR_BYTES, binary_change, binary_size, counted, joined

_RAID1_MOST = 64


class GrowOptions(Struct, frozen=True, kw_only=True):
    """What may be said of any reshape.

    Args:
        destroys: names of arrays that may be destroyed, as typed.
        backup: where a backup file may lie, if one is needed.
        unguarded: whether a reshape in place may be begun, of which a power cut loses data.
        above: whether what stands on the array takes the new room.
        volumes: of LVM, as group/volume, which take the free room of their group.
    """

    destroys: Collection[str] = ()
    backup: BackupPlace | None = None
    unguarded: bool = False
    above: bool = True
    volumes: tuple[str, ...] = ()


def plan_grow(
    survey: Survey,
    array: Array,
    names: Sequence[str],
    *,
    slots: int = 0,
    options: GrowOptions | None = None,
) -> Plan | Refusal:
    """Return the plan that gives an array more slots, and the devices for them.

    Args:
        survey: the host, with the array's members and the new devices.
        array: the array.
        names: kernel names of free devices that are added.
        slots: how many there will be; 0: one more for each device that is added. Spares fill what is left.
        options: what else is wanted.
    """
    options = options or GrowOptions()
    if whole_among_parts(survey, array, names):
        return plan_with_tables(
            survey,
            array,
            names,
            lambda later, parts: plan_grow(later, array, parts, slots=slots, options=options),
            destroys=options.destroys,
        )
    wanted = slots or (array.raid_disks or 0) + len(names)
    refusal = refuse_level(array) or refuse_reshape(survey, array) or _refuse_slots(array, names, wanted)
    if refusal:
        return refusal
    old = shape_of(array)
    stages = grow_stages(old, names, wanted)
    words = f"grow: {old.disks} → {wanted} devices"
    return reshape_plan(survey, array, stages, names, title=words, options=options)


def grow_stages(old: GrowShape, names: Sequence[str], wanted: int) -> tuple[GrowStage, ...]:
    """Return what gives an array more slots.

    Args:
        old: its shape.
        names: of the devices that are added.
        wanted: the number of slots.
    """
    new = replace(old, disks=wanted)
    if old.level != "raid0":
        copies = old.level == "raid1"
        return (
            GrowStage(
                options=(f"--raid-devices={wanted}",),
                old=old,
                new=new,
                why="more slots" if copies else "begins the reshape",
                moves="md copies to the new members" if copies else "md moves every block",
                adds=tuple(names),
            ),
        )
    # md reshapes a RAID 0 as a RAID 4 that lacks its parity; mdadm makes it a RAID 0 again at the end, if it
    # still runs then.
    shown = GrowShape(level="raid4", layout=PARITY_LAST, chunk_bytes=old.chunk_bytes, disks=wanted + 1)
    return (
        GrowStage(
            options=(f"--raid-devices={wanted}",),
            old=old,
            new=new,
            why="begins the reshape, as a RAID 4 without parity",
            moves="md moves every block",
            takes=tuple(names),
            shown=shown,
        ),
        GrowStage(
            options=("--level=0",),
            old=shown,
            new=new,
            why="it becomes a RAID 0 again, if mdadm has not done that itself",
            again=True,
        ),
    )


def reshape_plan(
    survey: Survey,
    array: Array,
    stages: Sequence[GrowStage],
    names: Sequence[str],
    *,
    title: str,
    options: GrowOptions,
    notes: Sequence[str] = (),
) -> Plan | Refusal:
    """Return the plan of some stages, with what goes before them and what stands on the array.

    Args:
        survey: the host.
        array: the array.
        stages: first to last.
        names: kernel names of the devices that are added.
        title: of the plan.
        options: what else is wanted.
        notes: what else there is to know.
    """
    devices = new_devices(survey, array, names, destroys=options.destroys)
    if isinstance(devices, Refusal):
        return devices
    room, backup = room_of(survey, array), options.backup
    refusal = refuse_backup(survey, array, backup) if backup is not None else None
    path = backup.path if backup is not None else ""
    refusal = refusal or refuse_stages(stages, room, backup=path, unguarded=options.unguarded)
    if refusal:
        return refusal
    old, new = shape_of(array), stages[-1].new
    around = around_policy(survey, array, level=new.level, names=names)
    if isinstance(around, Refusal):
        return around
    component = array.component_kib or 0
    larger = new.capacity_kib(component) > old.capacity_kib(component)
    above: Above | Refusal = Above()
    if larger and options.above:
        above = larger_above(survey, array, options.volumes)
    if isinstance(above, Refusal):
        return above
    geometry = geometry_above(survey, array, old, new) if options.above else Above()
    wipes = [step for name in names for step in wipe_steps(devices[name], survey)]
    file = path if path and needs_backup(stages, room) else ""
    unguarded = bool(file) and refuse_stages(stages, room, backup=file) is not None
    members = tuple(member.name for member in array.members)
    return Plan(
        title=title,
        subject=array.title,
        steps=(
            *wipes,
            *count_steps(survey, uuid=array.uuid or ""),
            *around.before,
            *stage_steps(survey, array, stages, devices, room=room, backup=file, larger=larger),
            *above.steps,
            *geometry.steps,
            *around.after,
        ),
        harm=Harm.DESTROYS if wipes else Harm.REDUCES,
        losses=losses_of(tuple(devices.values()), survey),
        confirm=array.title if wipes or unguarded else "",
        warning=reshape_warning(stages, file, unguarded=unguarded),
        notes=(
            *notes,
            *around.notes,
            *reshape_notes(survey, array, stages, names, file=file),
            *above.notes,
            *geometry.notes,
            *bug_notes(survey, array),
            *which_disk_notes(survey, *names),
        ),
        devices=(*members, *names),
        arrays=(array.name,),
    )


def refuse_level(array: Array) -> Refusal | None:
    """Return why arrays of a level cannot be given more or fewer slots, or None."""
    if array.level == "raid10":
        decoded = Raid10Layout.decode(array.layout) if array.layout is not None else None
        if decoded is None or (decoded.far > 1 and not decoded.offset):
            return Refusal(code=RefusalCode.UNSUPPORTED, why="a raid10 with far copies cannot be reshaped")
    elif array.level not in {"raid0", "raid1", *PARITY_LEVELS}:
        return Refusal(
            code=RefusalCode.UNSUPPORTED, why=f"raidtui cannot add slots to {array.level or 'this level'}"
        )
    return None


def _refuse_slots(array: Array, names: Sequence[str], wanted: int) -> Refusal | None:
    now = array.raid_disks or 0
    spares = [each.name for each in array.members if each.role == "spare"]
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
    if wanted - now < len(names):
        return Refusal(
            code=RefusalCode.INVALID,
            why=f"{counted(len(names), 'device')} do not fit into {counted(wanted - now, 'new slot')}",
            remedy="name fewer devices, or more slots",
        )
    return None


def plan_grow_size(survey: Survey, array: Array, options: GrowOptions | None = None) -> Plan | Refusal:
    """Return the plan that lets an array use all of its members, which were replaced by larger ones.

    Args:
        survey: the host, with the array's members.
        array: the array.
        options: what else is wanted.
    """
    options = options or GrowOptions()
    refusal = refuse_reshape(survey, array) or refuse_size_level(array)
    if refusal:
        return refusal
    before = array.component_kib or 0
    after, least = _most_kib(survey, array)
    if after is None:
        return Refusal(code=RefusalCode.UNKNOWN, why=f"how much room {least} has is not known")
    if after <= before:
        return Refusal(
            code=RefusalCode.TOO_SMALL,
            why=f"{least} has no room after its data: {binary_size(before * KIB)} are used",
            remedy="replace every member by a larger one first, one after the other",
        )
    above = larger_above(survey, array, options.volumes) if options.above else Above()
    if isinstance(above, Refusal):
        return above
    shape = shape_of(array)
    around = around_policy(survey, array, level=shape.level)
    if isinstance(around, Refusal):
        return around
    sizes = [shape.capacity_kib(kib) * KIB for kib in (before, after)]
    return Plan(
        title=f"grow: {binary_change(before * KIB, after * KIB)} of each member",
        subject=array.title,
        steps=(*around.before, *size_steps(array, above), *around.after),
        harm=Harm.REDUCES,
        notes=(
            *around.notes,
            f"Capacity {binary_change(*sizes)}, at once.",
            f"{least} has the least room. The new part is synced: {at_least(survey, after - before)}.",
            *above.notes,
        ),
        devices=tuple(member.name for member in array.members),
        arrays=(array.name,),
    )


def size_steps(array: Array, above: Above) -> tuple[Step, ...]:
    """Return the steps that let an array, and what stands on it, use all of each member."""
    same = same_array(array)
    more = Fact(kind=FactKind.LARGER, subject=array.name, value=str(array.size_bytes or 0))
    quiet = Fact(kind=FactKind.SYNCED, subject=array.name)
    step = RunTool(
        argv=("mdadm", "--grow", array.path, "--size=max"),
        why="uses all of each member",
        timeout_s=GROW_S,
        needs=same,
        awaits=(quiet,),
        proves=(more,),
        final=True,
    )
    wait = WaitUntil(why="md syncs the new part", until=(*same, quiet), as_long_as=(*same, more))
    return step, *above.steps, wait


def _most_kib(survey: Survey, array: Array) -> tuple[int | None, str]:
    """Return how much of each member can be used, and the member that limits it."""
    found: list[tuple[int, str]] = []
    for member in array.members:
        if member.slot is None:
            continue
        device = survey.devices.get(member.name)
        block = device.superblock if device is not None else None
        if block is None or block.tail_sectors is None or array.component_kib is None:
            return None, member.name
        found.append((block.tail_sectors, member.name))
    if not found:
        return None, array.title
    tail, name = min(found)
    step = max(1, (array.chunk_bytes or 0) // KIB)
    kib = (array.component_kib or 0) + tail * SECTOR_BYTES // KIB
    return kib - kib % step, name


def refuse_size_level(array: Array) -> Refusal | None:
    """Return why the members of a level cannot be used to another extent, or None."""
    if array.level in NO_REDUNDANCY or array.level not in {"raid1", "raid10", *PARITY_LEVELS}:
        return Refusal(
            code=RefusalCode.UNSUPPORTED,
            why=f"{array.level or 'this level'} always uses all of each member"
            if array.level in NO_REDUNDANCY
            else f"raidtui cannot change how much {array.level or 'this level'} uses of each member",
        )
    return refuse_level(array)
