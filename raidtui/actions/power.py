"""Stop and assemble."""

from __future__ import annotations

from raidtui.actions.names import refuse_name
from raidtui.actions.target import needs_root
from raidtui.actions.usage import refuse_use
from raidtui.model.array import Array
from raidtui.model.plan import Fact, Harm, Kind, Plan, Refusal, Step
from raidtui.model.survey import Survey


def plan_stop(survey: Survey, array: Array) -> Plan | Refusal:
    """Return the plan that stops an array."""
    refusal = needs_root(survey.snapshot) or refuse_use(survey.snapshot, array)
    if refusal:
        return refusal
    volumes = [each.title for each in survey.snapshot.arrays if each.container == array.name]
    if volumes:
        return Refusal(why=f"{array.title} holds {', '.join(volumes)}", remedy="stop that first")
    paths = tuple(f"/dev/{member.name}" for member in array.members if not member.has("faulty"))
    uuid = array.uuid or ""
    back = Step(
        argv=("mdadm", "--assemble", array.link or array.path, f"--uuid={uuid}", *paths),
        why="start it again",
        proves=(Fact(kind=Kind.RUNNING, subject=uuid),),
    )
    step = Step(
        argv=("mdadm", "--stop", array.path),
        why="its members are free then",
        needs=(
            *((Fact(kind=Kind.ARRAY, subject=array.name, value=uuid),) if uuid else ()),
            Fact(kind=Kind.UNUSED, subject=array.name),
        ),
        proves=(Fact(kind=Kind.GONE, subject=array.name if array.twin or not uuid else uuid),),
        undo=(back,) if uuid and array.active else (),
    )
    return Plan(
        title=f"stop: {array.title}",
        subject=array.title,
        steps=(step,),
        undo=step.undo,
        harm=Harm.REDUCES,
        warning="Its data cannot be reached until it is assembled again. Nothing on it is changed.",
        devices=tuple(member.name for member in array.members),
        arrays=(array.name,),
    )


def plan_assemble(
    survey: Survey, names: tuple[str, ...], *, run: bool = False, read_only: bool = False
) -> Plan | Refusal:
    """Return the plan that starts the array of which these devices are members.

    Args:
        survey: the host, with these devices.
        names: kernel names.
        run: start it also where members are missing.
        read_only: do not let anything be written.
    """
    if refusal := needs_root(survey.snapshot):
        return refusal
    if not names:
        return Refusal(why="no device is given", remedy="name the members")
    if twice := [name for name in names if names.count(name) > 1]:
        return Refusal(why=f"{twice[0]} is named twice", remedy="name each member once")
    blocks = []
    for name in names:
        device = survey.devices.get(name)
        if device is None:
            return Refusal(why=f"there is no device {name}")
        if device.superblock is None or device.superblock.uuid is None:
            return Refusal(why=f"{name} has no md superblock")
        if device.disk.users:
            return Refusal(why=f"{name} is in use: {device.disk.users}")
        if refusal := _refuse_member(survey, name):
            return refusal
        if device.busy:
            return Refusal(why=f"{name}: {device.busy}")
        blocks.append(device.superblock)
    uuids = {block.uuid for block in blocks}
    if len(uuids) > 1:
        labels = ", ".join(f"{name} of {block.label}" for name, block in zip(names, blocks, strict=True))
        return Refusal(why=f"these are members of several arrays: {labels}", remedy="name those of one")
    block = max(blocks, key=lambda each: each.events or 0)
    uuid = block.uuid or ""
    if there := next((array for array in survey.snapshot.arrays if array.uuid == uuid), None):
        return Refusal(why=f"{block.label} is there already as {there.name}")
    newest = max((each.events or 0 for each in blocks), default=0)
    stale = [
        f"{name} is behind: event {each.events} of {newest}"
        for name, each in zip(names, blocks, strict=True)
        if each.events is not None and each.events < newest
    ]
    wanted = block.raid_disks or len(names)
    if len(names) < wanted and not run:
        return Refusal(
            why=f"{block.label} has {wanted} members, {len(names)} are given",
            remedy="name all, or start it degraded with --run",
        )
    label = block.label if refuse_name(block.label) is None else ""
    device_path = f"/dev/md/{label}" if label else f"/dev/md/{uuid[:8]}"
    flags = (*(("--run",) if run else ()), *(("--readonly",) if read_only else ()))
    step = Step(
        argv=(
            "mdadm",
            "--assemble",
            device_path,
            f"--uuid={uuid}",
            *flags,
            *(f"/dev/{name}" for name in names),
        ),
        why="start it from its superblocks",
        needs=(
            Fact(kind=Kind.GONE, subject=uuid),
            *(Fact(kind=Kind.SUPERBLOCK, subject=name, value=uuid) for name in names),
        ),
        proves=(Fact(kind=Kind.RUNNING, subject=uuid),),
        undo=(
            Step(
                argv=("mdadm", "--stop", device_path),
                why="stop it again",
                proves=(Fact(kind=Kind.GONE, subject=uuid),),
            ),
        ),
    )
    return Plan(
        title=f"assemble: {block.label}",
        subject=block.label,
        steps=(step,),
        undo=step.undo,
        harm=Harm.REDUCES if run and len(names) < wanted else Harm.HARMLESS,
        notes=tuple(stale),
        devices=names,
    )


def _refuse_member(survey: Survey, name: str) -> Refusal | None:
    for array in survey.snapshot.arrays:
        if any(member.name == name for member in array.members):
            if array.active:
                return Refusal(why=f"{name} is a member of {array.title}, which is running already")
            return Refusal(why=f"{name} is in {array.title}, which is inactive", remedy="stop that first")
    return None
