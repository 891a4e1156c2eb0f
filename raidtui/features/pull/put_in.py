"""The second plan of an exchange: a disk takes the place of the one that was pulled, or a disk comes back.

A new disk gets the partition table of a neighbour, where members are partitions, and joins the arrays. A disk
that has been in them is taken back by its superblock: with a bitmap, md copies only what has changed.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from msgspec.structs import replace

from raidtui.features.pull.bays import partition_of_disk
from raidtui.features.pull.boot_parts import loader_steps
from raidtui.features.pull.record import PullDisk, PullMember, PullRecord
from raidtui.features.pull.tables import Table, boot_notes, refuse_table, table_script
from raidtui.features.pull.take_out import whole_of
from raidtui.model.answer import known
from raidtui.model.array import Array
from raidtui.model.boot import BootFacts
from raidtui.model.disk import Disk, disk_number
from raidtui.model.fact import Fact, FactKind
from raidtui.model.plan import Harm, NothingToDo, Plan, Refusal, RefusalCode, RunTool, Step
from raidtui.model.survey import Device, Survey
from raidtui.plans.candidates import refuse_device, refuse_old_arrays
from raidtui.plans.contents import device_facts, losses_of, wipe_steps
from raidtui.plans.locate import plan_locate, trouble_words
from raidtui.plans.re_add import plan_re_add
from raidtui.plans.repair import plan_add
from raidtui.view.units import binary_size, joined

BOOT_CHECK = "At the end a boot check says whether the machine boots without any one of its disks."
_WORN_PERCENT = 10.0


def model_disk(survey: Survey, target: PullDisk) -> str | Refusal:
    """Return the disk whose partition table a new disk gets: it has the same members, all in sync.

    Args:
        survey: the host.
        target: the disk that was pulled; its members are partitions.
    """
    found: list[set[str]] = []
    for was in target.members:
        array = _array(survey, was)
        disks = {whole_of(survey, member.name) for member in array.members} if array is not None else set()
        found.append({disk for disk in disks if array is not None and _serves(array, disk, was.part)})
    same = sorted(set.intersection(*found)) if found else []
    if same:
        return same[0]
    return Refusal(
        code=RefusalCode.NOT_FOUND,
        why="no other disk has the same members on partitions of the same numbers, all in sync: there is no"
        " partition table to copy",
        remedy="partition it by hand, then add (A) each partition",
    )


def _serves(array: Array, disk: str, part: int) -> bool:
    name = partition_of_disk(disk, part)
    return any(member.name == name and member.has("in_sync") for member in array.members)


def _array(survey: Survey, was: PullMember) -> Array | None:
    return next((array for array in survey.snapshot.arrays if array.uuid == was.uuid), None)


def plan_put_in(
    survey: Survey,
    record: PullRecord,
    name: str,
    table: Table | Refusal | None,
    *,
    of: str = "",
    boot: BootFacts | None = None,
    destroys: Collection[str] = (),
) -> Plan | Refusal:
    """Return the plan that puts a new disk in the place of the one that was pulled.

    Args:
        survey: the host, with this disk, its partitions, and all members of the arrays.
        record: of the exchange.
        name: the kernel's name of the new disk.
        table: the partition table it gets; None where the whole disk is the member; or why there is none.
        of: the disk whose table it is.
        boot: the boot loaders of the disks that are there; None where they were not read.
        destroys: names of stopped arrays that may be destroyed, as typed.
    """
    device = survey.devices.get(name)
    if device is None:
        return survey.no_device(name)
    if isinstance(table, Refusal):
        return table
    if table is None:
        made = _whole(survey, record, name, destroys)
    else:
        made = _parted(survey, record, device, table, of=of, destroys=destroys)
    loader: tuple[Step, ...] = ()
    if table is not None and boot is not None:
        loader = loader_steps(survey, record, boot, device, table=table, of=of)
    if isinstance(made, Refusal):
        return made
    return replace(
        made,
        title=f"put in: {name}, {disk_number(device.disk.serial or '', device.disk.identity)}",
        steps=(*made.steps, *_light_off(survey, record, name), *loader),
        warning=" ".join(filter(None, (made.warning, *_warnings(survey, record, device)))),
        notes=(
            _new_words(device),
            *made.notes,
            *(() if table is None or loader else boot_notes(table, name, of)),
            BOOT_CHECK,
        ),
    )


def _light_off(survey: Survey, record: PullRecord, name: str) -> tuple[Step, ...]:
    """Return the step that ends the blinking of a bay, by the disk that is in it now; nothing without it."""
    light = plan_locate(survey, name, on=False)
    return (replace(light.steps[0], may_fail=True),) if record.light and isinstance(light, Plan) else ()


def plan_return(survey: Survey, record: PullRecord, name: str) -> Plan | Refusal:
    """Return the plan that takes the disk back that was to be pulled, or was.

    Args:
        survey: as for ``plan_push_back``.
        record: of the exchange.
        name: the kernel's name of the disk now.
    """
    made = plan_push_back(survey, record.target, name)
    if isinstance(made, Refusal):
        return made
    return replace(made, steps=(*made.steps, *_light_off(survey, record, name)))


def _new_words(device: Device) -> str:
    disk = device.disk
    kind = {True: "a hard disk", False: "an SSD"}.get(disk.rotational, "of unknown kind")  # type: ignore[arg-type]
    worn = "wear not known" if device.wear_percent is None else f"{device.wear_percent:.0f} % worn"
    size = binary_size(disk.size_bytes) if disk.size_bytes is not None else "size not known"
    return (
        f"The new disk: {disk.model or 'unknown model'}, {kind}, {size}, sectors of {device.sector_bytes}"
        f" bytes, {worn}."
    )


def _warnings(survey: Survey, record: PullRecord, device: Device) -> list[str]:
    """Return what speaks against a disk, a sentence each."""
    found = [trouble_words(device)] if device.trouble else []
    worn = device.wear_percent
    if worn is not None and worn >= _WORN_PERCENT:
        found.append(f"{device.disk.name} is not new: {worn:.0f} % of its rated endurance is used.")
    arrays = [array for was in record.target.members if (array := _array(survey, was)) is not None]
    kinds = {
        survey.snapshot.disks[member.name].rotational
        for array in arrays
        for member in array.members
        if member.name in survey.snapshot.disks and member.name != device.disk.name
    }
    own = device.disk.rotational
    if own is not None and (not own) in kinds:
        words = ("a hard disk", "SSDs") if own else ("an SSD", "hard disks")
        found.append(
            f"{device.disk.name} is {words[0]} among {words[1]}: the array gets the slower one's speed."
        )
    return found


def _whole(survey: Survey, record: PullRecord, name: str, destroys: Collection[str]) -> Plan | Refusal:
    array = _array(survey, record.target.members[0])
    if array is None:
        return _no_array(record.target.members[0])
    return plan_add(survey, array, name, destroys=destroys)


def _no_array(was: PullMember) -> Refusal:
    return Refusal(
        code=RefusalCode.NOT_FOUND,
        why=f"the array {was.array} is not there",
        remedy="start it first: a in pane 1, or raidtui rescue",
    )


def _parted(
    survey: Survey,
    record: PullRecord,
    device: Device,
    table: Table,
    *,
    of: str,
    destroys: Collection[str],
) -> Plan | Refusal:
    """Return the plan for a disk that is partitioned first."""
    disk = device.disk
    refusal = (
        survey.refuse_tool("sfdisk", "wipefs")
        or refuse_device(device, survey)
        or refuse_old_arrays((device,), survey, destroys)
        or refuse_table(
            table, name=disk.name, size_bytes=disk.size_bytes or 0, sector_bytes=device.sector_bytes
        )
    )
    if refusal is not None:
        return refusal
    parts = {part.number: _partition(device, table, part.number) for part in table.parts}
    devices = {**survey.devices, **{each.disk.name: each for each in parts.values()}}
    later = replace(survey, devices=devices)
    plans: list[Plan] = []
    for was in record.target.members:
        array, part = _array(survey, was), parts.get(was.part)
        if array is None:
            return _no_array(was)
        if part is None:
            return Refusal(code=RefusalCode.NOT_FOUND, why=f"the table of {of} has no partition {was.part}")
        made = plan_add(later, array, part.disk.name)
        if isinstance(made, Refusal):
            return made
        plans.append(made)
    wipes = wipe_steps(device, survey)
    losses = losses_of((device,), survey)
    whole = merged("", plans)
    return replace(
        whole,
        steps=(*wipes, *_table_steps(survey, device, table, parts.values(), of), *whole.steps),
        harm=Harm.DESTROYS if wipes else whole.harm,
        losses=losses,
        confirm=plans[0].subject if wipes else "",
        devices=(disk.name,),
    )


def _partition(device: Device, table: Table, number: int) -> Device:
    """Return a partition of a disk, as it will be."""
    part, whole = table.by_number[number], device.disk
    disk = Disk(
        name=partition_of_disk(whole.name, number),
        disk=whole.name,
        size_bytes=part.size * device.sector_bytes,
        model=whole.model,
        serial=whole.serial,
        wwn=whole.wwn,
        rotational=whole.rotational,
    )
    return replace(
        device,
        disk=disk,
        superblock=None,
        digest=None,
        probed=known(()),
        start_bytes=part.start * device.sector_bytes,
        trouble="",
    )


def _table_steps(
    survey: Survey, device: Device, table: Table, parts: Collection[Device], of: str
) -> tuple[Step, ...]:
    extended = {part.number for part in table.parts if part.is_extended}
    hidden = {partition_of_disk(device.disk.name, number) for number in extended}
    there = tuple(
        fact
        for part in parts
        if part.disk.name not in hidden
        for fact in (
            Fact(kind=FactKind.NODE, subject=part.path),
            Fact(kind=FactKind.SIZE, subject=part.disk.name, value=str(part.disk.size_bytes)),
        )
    )
    write = RunTool(
        argv=("sfdisk", "--quiet", "--wipe", "always", "--wipe-partitions", "always", device.path),
        stdin=table_script(table, device.disk.name),
        why=f"the partition table of {of}, with identifiers of its own",
        needs=device_facts(device, untouched=not wipe_steps(device, survey)),
        proves=there,
        destroys=True,
    )
    return write, RunTool(argv=("udevadm", "settle"), why="waits for the partitions", proves=there)


def merged(title: str, plans: Sequence[Plan]) -> Plan:
    """Return several plans as one: first all that is done, then all that is waited for."""
    steps = [step for plan in plans for step in plan.steps]
    subjects = list(dict.fromkeys(plan.subject for plan in plans))
    return Plan(
        title=title,
        subject=joined(subjects),
        steps=(*(step for step in steps if not step.waits), *(step for step in steps if step.waits)),
        harm=max(plan.harm for plan in plans),
        warning=" ".join(dict.fromkeys(plan.warning for plan in plans if plan.warning)),
        losses=tuple(loss for plan in plans for loss in plan.losses),
        notes=tuple(dict.fromkeys(note for plan in plans for note in plan.notes)),
        confirm=next((plan.confirm for plan in plans if plan.confirm), ""),
        devices=tuple(dict.fromkeys(name for plan in plans for name in plan.devices)),
        arrays=tuple(dict.fromkeys(name for plan in plans for name in plan.arrays)),
    )


def plan_push_back(survey: Survey, disk: PullDisk, name: str) -> Plan | Refusal:
    """Return the plan that takes a disk back into the arrays that it was in.

    Args:
        survey: the host, with this disk, its partitions, and all members of the arrays.
        disk: what it was when the exchange began.
        name: the kernel's name of it now.
    """
    plans: list[Plan] = []
    for was in disk.members:
        array, part = _array(survey, was), partition_of_disk(name, was.part)
        if array is None:
            return _no_array(was)
        if any(member.name == part for member in array.members):
            continue
        made = plan_re_add(survey, array, part)
        if isinstance(made, Refusal) and array.bitmap is None:
            made = plan_add(survey, array, part)
        if isinstance(made, Refusal):
            return made
        plans.append(made)
    if not plans:
        return NothingToDo(why=f"{name} is in all its arrays already")
    return merged(f"take back: {name}, {disk.number}", plans)
