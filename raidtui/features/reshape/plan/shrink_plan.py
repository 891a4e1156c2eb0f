"""Fewer devices for an array that runs, or less of each; what stands on the array is made smaller first.

md moves the data of each member towards its end then. mdadm 4.2 asks for a backup file, or fails, because it
does not say to the kernel that this reshape goes backwards; where that is set before, and there is room after
the data of each member, it needs none (measured on Linux 6.1). Using a little less of each makes that room.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from raidtui.features.reshape.plan.grow_above import geometry_above, signature_of
from raidtui.features.reshape.plan.grow_notes import reshape_notes, reshape_warning
from raidtui.features.reshape.plan.grow_plan import refuse_level
from raidtui.features.reshape.plan.grow_shape import GrowShape, Room, least_move, room_of, shape_of
from raidtui.features.reshape.plan.grow_stages import GrowStage, refuse_reshape, stage_steps
from raidtui.features.reshape.plan.journal_plan import around_policy
from raidtui.model.array import Array
from raidtui.model.fact import Fact, FactKind
from raidtui.model.levels import PARITY_LEVELS
from raidtui.model.plan import Harm, Plan, Refusal, RefusalCode, RunTool, Step
from raidtui.model.survey import Survey
from raidtui.plans.known_bugs import bug_notes
from raidtui.plans.locate import which_disk_notes
from raidtui.plans.manage import bound, fail_and_remove, manage, member_fact, same_array, zero_released
from raidtui.plans.persist import count_steps
from raidtui.plans.target import array_step
from raidtui.view.units import KIB, SECTOR_BYTES, binary_change, counted, joined

_CHECK_S = 6 * 3600.0
_LEAST = {"raid1": 2, "raid4": 3, "raid5": 3, "raid6": 4, "raid10": 2}
_EXT = frozenset({"ext2", "ext3", "ext4"})


def plan_shrink(survey: Survey, array: Array, slots: int) -> Plan | Refusal:
    """Return the plan that gives an array fewer slots; the devices of the last ones become spares.

    Args:
        survey: the host, with the array's members.
        array: the array.
        slots: how many there will be.
    """
    refusal = refuse_level(array) or refuse_reshape(survey, array) or _refuse_slots(array, slots)
    if refusal:
        return refusal
    if array.level == "raid1":
        return _fewer_mirrors(survey, array, slots)
    old = shape_of(array)
    new = replace(old, disks=slots)
    room = room_of(survey, array)
    if room.before is None or room.after is None:
        return Refusal(code=RefusalCode.UNKNOWN, why=f"how much room {room.name} has is not known")
    component = _component_kib(array, room, old, new)
    size_kib = new.capacity_kib(component)
    above = _smaller_above(survey, array, size_kib)
    if isinstance(above, Refusal):
        return above
    around = around_policy(survey, array, level=new.level)
    if isinstance(around, Refusal):
        return around
    geometry = geometry_above(survey, array, old, new)
    gone = [each.name for each in array.members if each.slot is not None and each.slot >= slots]
    stage = GrowStage(
        options=(f"--raid-devices={slots}",),
        old=old,
        new=new,
        why="begins the reshape",
        moves="md moves every block",
        drops=tuple(gone),
    )
    parity = old.level in PARITY_LEVELS
    sizes = _size_steps(array, old, component) if parity and component < (array.component_kib or 0) else ()
    enough = Room(before=room.before, after=max(room.after, least_move(old, new)), name=room.name)
    before = array.size_bytes or 0
    return Plan(
        title=f"shrink: {old.disks} → {slots} devices",
        subject=array.title,
        steps=(
            *above,
            *around.before,
            *sizes,
            *count_steps(survey, uuid=array.uuid or ""),
            _array_size(array, f"{size_kib}", size_kib),
            *((_backwards(array),) if parity else ()),
            *stage_steps(survey, array, (stage,), {}, room=enough),
            _array_size(array, "max", None),
            *geometry.steps,
            *around.after,
        ),
        harm=Harm.REDUCES,
        warning=reshape_warning((stage,), ""),
        notes=(
            f"Capacity {binary_change(before, size_kib * KIB)}, at once.",
            *around.notes,
            *reshape_notes(survey, array, (stage,), (), file="")[1:],
            f"{joined(gone)} {'become spares' if len(gone) > 1 else 'becomes a spare'}.",
            *geometry.notes,
            *bug_notes(survey, array),
        ),
        devices=tuple(member.name for member in array.members),
        arrays=(array.name,),
    )


def _fewer_mirrors(survey: Survey, array: Array, slots: int) -> Plan:
    """Return the plan of a RAID 1: md takes only slots that nothing fills any more."""
    old = shape_of(array)
    stay = tuple(
        member_fact(array, each.name, "in_sync")
        for each in array.members
        if each.slot is not None and each.slot < slots
    )
    gone = [each.name for each in array.members if each.slot is not None and each.slot >= slots]
    steps = [step for name in gone for step in _without_mirror(survey, array, name, stay)]
    argv = ("mdadm", "--grow", array.path)
    back = RunTool(argv=(*argv, f"--raid-devices={old.disks}"), why="as it was", proves=(old.fact(array),))
    fewer = RunTool(
        argv=(*argv, f"--raid-devices={slots}"),
        why="fewer slots",
        needs=(*same_array(array), *stay, *(member_fact(array, name, "absent") for name in gone)),
        proves=(replace(old, disks=slots).fact(array),),
        undo=(back,),
    )
    return Plan(
        title=f"shrink: {old.disks} → {slots} mirrors",
        subject=array.title,
        steps=(*count_steps(survey, uuid=array.uuid or ""), *steps, fewer),
        harm=Harm.REDUCES,
        warning=f"{joined(gone)} {'leave' if len(gone) > 1 else 'leaves'} {array.title} at once.",
        notes=(
            (
                f"It then survives {counted(slots - 1, 'failure')} instead of {old.disks - 1}; its capacity"
                " stays."
            ),
            *which_disk_notes(survey, *gone),
        ),
        devices=tuple(member.name for member in array.members),
        arrays=(array.name,),
    )


def _without_mirror(survey: Survey, array: Array, name: str, stay: Sequence[Fact]) -> tuple[Step, Step, Step]:
    """Return the steps that take a mirror out of service, as long as those that stay serve."""
    fail, remove = fail_and_remove(array, name, "it is no longer written")
    add = manage(array, ("--add", f"/dev/{name}"), "a mirror again", member_fact(array, name, "present"))
    return (
        bound(survey, replace(fail, needs=(*fail.needs, *stay)), name),
        bound(survey, replace(remove, undo=(add,)), name),
        zero_released(survey, array, name),
    )


def _component_kib(array: Array, room: Room, old: GrowShape, new: GrowShape) -> int:
    """Return how much of each member is used so that the data can move towards its end.

    mdadm gives a raid10 a smaller component by itself, by all that its data move.
    """
    component, need, after = array.component_kib or 0, least_move(old, new), room.after or 0
    if after >= need:
        return component
    short = need if old.level == "raid10" else need - after
    component -= -(-short * SECTOR_BYTES // KIB)
    chunk = max(1, old.chunk_bytes // KIB)
    return component - component % chunk


def plan_shrink_size(survey: Survey, array: Array, kib: int) -> Plan | Refusal:
    """Return the plan that lets an array use less of each member.

    Args:
        survey: the host, with the array's members.
        array: the array.
        kib: how much of each.
    """
    refusal = refuse_level(array) or refuse_reshape(survey, array)
    if refusal is None and array.level == "raid0":
        refusal = Refusal(code=RefusalCode.UNSUPPORTED, why="raid0 always uses all of each member")
    if refusal:
        return refusal
    shape, before = shape_of(array), array.component_kib or 0
    chunk = max(1, shape.chunk_bytes // KIB)
    if not 0 < kib < before or kib % chunk:
        why = f"{kib} KiB of each member is not less than the {before} KiB in use"
        if kib <= 0:
            why = f"{kib} KiB of each member leaves nothing of the array"
        elif kib < before:
            why = f"{kib} KiB of each member is not a number of whole chunks of {chunk} KiB"
        return Refusal(
            code=RefusalCode.INVALID, why=why, remedy=f"give a multiple of {chunk} KiB below {before} KiB"
        )
    size_kib = shape.capacity_kib(kib)
    above = _smaller_above(survey, array, size_kib)
    if isinstance(above, Refusal):
        return above
    around = around_policy(survey, array, level=shape.level)
    if isinstance(around, Refusal):
        return around
    return Plan(
        title=f"shrink: {binary_change(before * KIB, kib * KIB)} of each member",
        subject=array.title,
        steps=(
            *above,
            *around.before,
            _array_size(array, f"{size_kib}", size_kib),
            *_size_steps(array, shape, kib),
            *around.after,
        ),
        harm=Harm.REDUCES,
        notes=(
            *around.notes,
            f"Capacity {binary_change(array.size_bytes or 0, size_kib * KIB)}, at once.",
            "Nothing moves: what is beyond stays on the members, and is no longer protected.",
        ),
        devices=tuple(member.name for member in array.members),
        arrays=(array.name,),
    )


def _size_steps(array: Array, shape: GrowShape, kib: int) -> tuple[Step, ...]:
    """Return the step that lets an array of this shape use so much of each member."""
    old = array.component_kib or 0
    return (_component(array, shape, kib, back=_component(array, shape, old)),)


def _component(array: Array, shape: GrowShape, kib: int, *, back: Step | None = None) -> Step:
    return RunTool(
        argv=("mdadm", "--grow", array.path, f"--size={kib}"),
        why="uses that much of each member",
        needs=same_array(array),
        awaits=(Fact(kind=FactKind.SYNCED, subject=array.name),),
        proves=(_size(array, shape.capacity_kib(kib)),),
        undo=(back,) if back is not None else (),
    )


def _array_size(array: Array, word: str, kib: int | None) -> Step:
    """Return the step that says how large the array is, whatever its members hold."""
    return RunTool(
        argv=("mdadm", "--grow", array.path, f"--array-size={word}"),
        why="what is beyond can no longer be reached; nothing is moved yet"
        if kib
        else "as large as it can be",
        needs=same_array(array),
        proves=(_size(array, kib),) if kib else (),
        undo=(_array_size(array, "max", None),) if kib else (),
        volatile=bool(kib),
    )


def _size(array: Array, kib: int) -> Fact:
    return Fact(kind=FactKind.SIZE, subject=array.name, value=str(kib * KIB))


def _backwards(array: Array) -> Step:
    """Return the step without which mdadm asks for a backup file."""
    back = array_step(array, "reshape_direction", "forwards", "as it was")
    step = array_step(array, "reshape_direction", "backwards", "from the end: then no backup file is needed")
    begun = Fact(kind=FactKind.TEXT, subject=step.path, value=step.text)
    return replace(step, proves=(begun,), undo=(back,), volatile=True)


def _smaller_above(survey: Survey, array: Array, kib: int) -> tuple[Step, ...] | Refusal:
    """Return the steps that make smaller what stands on an array, or why they cannot."""
    disk = survey.above.get(array.name) or survey.snapshot.disks.get(array.name)
    if disk is None:
        return ()
    kind = signature_of(disk)
    mount = next((use for use in disk.uses if use.kind == "mount"), None)
    if mount is not None and mount.detail == "btrfs":
        argv = ("btrfs", "filesystem", "resize", f"{kib}K", mount.what)
        return survey.refuse_tool("btrfs") or (
            RunTool(argv=argv, why="the file system first", timeout_s=_CHECK_S),
        )
    if kind == "xfs" or (mount is not None and mount.detail == "xfs"):
        return Refusal(
            code=RefusalCode.UNSUPPORTED,
            why=f"an XFS file system is on {array.title}, and XFS cannot shrink",
            remedy="copy its contents elsewhere",
        )
    if kind in _EXT:
        return _smaller_ext(survey, array, kib, mounted=mount.what if mount is not None else "")
    if kind == "LVM2_member":
        size = ("--yes", "--setphysicalvolumesize", f"{kib}k")
        step = RunTool(
            argv=("pvresize", *size, array.path),
            why="the physical volume first; LVM refuses where volumes are beyond",
            timeout_s=_CHECK_S,
            undo=(RunTool(argv=("pvresize", array.path), why="as large as the array again"),),
        )
        return survey.refuse_tool("pvresize") or (step,)
    if kind or disk.users or any(use.kind == "partition" for use in disk.uses):
        return Refusal(
            code=RefusalCode.IN_USE,
            why=f"raidtui cannot shrink what {array.title} holds: {kind or disk.users or 'partitions'}",
            remedy="shrink it by hand, or copy it elsewhere and clear it",
        )
    return ()


def _smaller_ext(survey: Survey, array: Array, kib: int, *, mounted: str) -> tuple[Step, ...] | Refusal:
    if mounted:
        return Refusal(
            code=RefusalCode.IN_USE,
            why=f"the file system at {mounted} shrinks only while it is not mounted",
            remedy=f"umount {mounted}",
        )
    free = Fact(kind=FactKind.FREE, subject=array.name)
    check = RunTool(
        argv=("e2fsck", "-f", "-p", array.path),
        why="resize2fs requires a checked file system",
        timeout_s=_CHECK_S,
        needs=(*same_array(array), free),
    )
    resize = RunTool(
        argv=("resize2fs", array.path, f"{kib}K"),
        why="the file system first; it refuses where its files do not fit",
        timeout_s=_CHECK_S,
        needs=(*same_array(array), free),
        undo=(
            RunTool(argv=("resize2fs", array.path), why="as large as the array again", timeout_s=_CHECK_S),
        ),
    )
    return survey.refuse_tool("resize2fs") or (check, resize)


def _refuse_slots(array: Array, slots: int) -> Refusal | None:
    now, level = array.raid_disks or 0, array.level or ""
    if level not in _LEAST:
        return Refusal(
            code=RefusalCode.UNSUPPORTED,
            why=f"raidtui cannot remove slots from a {level}",
            remedy="make a new array and copy",
        )
    spares: Sequence[str] = [each.name for each in array.members if each.role == "spare"]
    if spares:
        return Refusal(
            code=RefusalCode.UNSUPPORTED,
            why=f"{array.title} has spares ({joined(spares)})",
            remedy="remove the spares first",
        )
    least, most = _LEAST[level], now - 1
    if not least <= slots <= most:
        fewer = f"choose {least} to {most}" if least < most else f"choose {least}"
        return Refusal(
            code=RefusalCode.INVALID,
            why=f"a {level} of {now} devices cannot have {slots}",
            remedy=fewer if least <= most else "it has no more than it needs",
        )
    return None
