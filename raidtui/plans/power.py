"""Stop and assemble; read-only and back."""

from __future__ import annotations

from msgspec.structs import replace

from raidtui.model.array import Array
from raidtui.model.plan import Fact, Harm, Kind, Plan, Refusal, Step
from raidtui.model.survey import Survey
from raidtui.plans.names import refuse_name
from raidtui.plans.target import needs_root
from raidtui.plans.usage import refuse_use
from raidtui.plans.whole import MARGIN_EVENTS, REBUILT, refuse_start, standing

_WRITABLE = "clean|active|write-pending|active-idle"


def plan_stop(survey: Survey, array: Array) -> Plan | Refusal:
    """Return the plan that stops an array."""
    refusal = needs_root(survey.snapshot) or refuse_use(survey, array)
    if refusal:
        return refusal
    volumes = [each.title for each in survey.snapshot.arrays if each.container == array.name]
    if volumes:
        return Refusal(
            code="in-use", why=f"{array.title} holds {', '.join(volumes)}", remedy="stop that first"
        )
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


def plan_read_only(survey: Survey, array: Array) -> Plan | Refusal:
    """Return the plan that lets nothing be written to an array."""
    if refusal := _refuse_switch(survey, array):
        return refusal
    if array.read_only == "read-only":
        return Refusal(code="nothing-to-do", why=f"{array.title} is read-only already")
    if refusal := refuse_use(survey, array):
        return refusal
    back = _switch(array, "--readwrite", "as it was", _WRITABLE)
    step = _switch(array, "--readonly", "nothing is written to it, not even by md", "readonly")
    return Plan(
        title=f"read-only: {array.title}",
        subject=array.title,
        steps=(replace(step, undo=(back,)),),
        undo=(back,),
        harm=Harm.REDUCES,
        warning="While it is read-only, no failed member is rebuilt.",
        arrays=(array.name,),
    )


def plan_read_write(survey: Survey, array: Array) -> Plan | Refusal:
    """Return the plan that lets an array be written to again; what waited to be synced starts then."""
    if refusal := _refuse_switch(survey, array):
        return refusal
    if not array.read_only:
        return Refusal(code="nothing-to-do", why=f"{array.title} can be written to already")
    back = _switch(array, "--readonly", "as it was", "readonly")
    step = _switch(array, "--readwrite", "it can be written to; what waits to be synced starts", _WRITABLE)
    return Plan(
        title=f"read-write: {array.title}",
        subject=array.title,
        steps=(replace(step, undo=(back,)),),
        undo=(back,),
        arrays=(array.name,),
    )


def _refuse_switch(survey: Survey, array: Array) -> Refusal | None:
    if refusal := needs_root(survey.snapshot):
        return refusal
    if not array.active:
        return Refusal(code="wrong-state", why=f"{array.title} is inactive", remedy="assemble it first")
    return None


def _switch(array: Array, option: str, why: str, states: str) -> Step:
    return Step(
        argv=("mdadm", option, array.path),
        why=why,
        needs=(Fact(kind=Kind.ARRAY, subject=array.name, value=array.uuid),) if array.uuid else (),
        proves=(Fact(kind=Kind.STATE, subject=array.name, value=states),),
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
        return Refusal(code="invalid", why="no device is given", remedy="name the members")
    if twice := [name for name in names if names.count(name) > 1]:
        return Refusal(code="invalid", why=f"{twice[0]} is named twice", remedy="name each member once")
    blocks = []
    waiting = _waiting_in(survey, names)
    for name in names:
        device = survey.devices.get(name)
        if device is None:
            return survey.no_device(name)
        if refusal := survey.refuse_unread(name):
            return refusal
        if device.superblock is None or device.superblock.uuid is None:
            return Refusal(code="not-found", why=f"{name} has no md superblock")
        if waiting is None or not any(member.name == name for member in waiting.members):
            if device.disk.users:
                return Refusal(code="in-use", why=f"{name} is in use: {device.disk.users}")
            if refusal := _refuse_member(survey, name):
                return refusal
            if device.busy:
                return Refusal(code="in-use", why=f"{name}: {device.busy}")
        blocks.append(device.superblock)
    if refusal := survey.refuse_pending():
        return refusal  # any of those left may be a newer member
    uuids = {block.uuid for block in blocks}
    if len(uuids) > 1:
        labels = ", ".join(f"{name} of {block.label}" for name, block in zip(names, blocks, strict=True))
        return Refusal(
            code="ambiguous", why=f"these are members of several arrays: {labels}", remedy="name those of one"
        )
    block = max(blocks, key=lambda each: each.events or 0)
    uuid = block.uuid or ""
    running = [array for array in survey.snapshot.arrays if array is not waiting]
    if there := next((array for array in running if array.uuid == uuid), None):
        return Refusal(code="taken", why=f"{block.label} is there already as {there.name}")
    newest = max((each.events or 0 for each in blocks), default=0)
    if refusal := _refuse_older(survey, names, uuid, newest):
        return refusal
    wanted = block.raid_disks or len(names)
    found = dict(zip(names, blocks, strict=True))
    if refusal := refuse_start(found, run=run):
        return refusal
    members = standing(found)
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
        steps=(*((_let_go(waiting),) if waiting is not None else ()), step),
        undo=step.undo,
        harm=Harm.REDUCES if run and len(names) < wanted else Harm.HARMLESS,
        notes=tuple(f"{name} (slot {slot}) {why}{_left_out(why)}." for name, slot, why in members.not_whole),
        devices=names,
    )


def _left_out(why: str) -> str:
    return ": that goes on" if why.startswith(REBUILT) else ": mdadm leaves it out"


def _waiting_in(survey: Survey, names: tuple[str, ...]) -> Array | None:
    """Return the inactive array that holds some of these devices and no other, or None.

    ``mdadm -I`` makes one where members are missing at boot; it has to go before its members can be taken.
    """
    for array in survey.snapshot.arrays:
        held = {member.name for member in array.members}
        if held and held <= set(names) and not array.active and not array.is_container:
            return array
    return None


def _let_go(array: Array) -> Step:
    return Step(
        argv=("mdadm", "--stop", array.path),
        why="it was not started, and holds the members",
        needs=(Fact(kind=Kind.UNUSED, subject=array.name),),
        proves=(Fact(kind=Kind.GONE, subject=array.name),),
    )


def _refuse_older(survey: Survey, names: tuple[str, ...], uuid: str, newest: int) -> Refusal | None:
    """What was written since these members left would be gone, and they would be taken for the newer ones."""
    for name, device in survey.devices.items():
        block = device.superblock
        if (
            block is not None
            and block.uuid == uuid
            and name not in names
            and (block.events or 0) > newest + MARGIN_EVENTS
        ):
            return Refusal(
                code="wrong-state",
                why=f"{name} is a newer member, at event {block.events}, and is not named: these are at"
                f" {newest}, and what was written since then would be lost",
                remedy=f"name {name} too",
            )
    return None


def _name_all(array: Array) -> str:
    if array.is_container:
        return "its volumes are started, not its members"
    return f"name all that it holds ({' '.join(member.name for member in array.members)}), or stop it first"


def _refuse_member(survey: Survey, name: str) -> Refusal | None:
    for array in survey.snapshot.arrays:
        if any(member.name == name for member in array.members):
            if array.active:
                return Refusal(
                    code="nothing-to-do", why=f"{name} is a member of {array.title}, which is running already"
                )
            return Refusal(
                code="in-use", why=f"{name} is in {array.title}, which is inactive", remedy=_name_all(array)
            )
    return None
