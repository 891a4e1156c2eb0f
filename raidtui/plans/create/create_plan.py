"""Create: a new array from free devices. What was on them is lost, and said to be before.

mdadm's questions are all answered by ``--run`` at once, so everything that they would warn of is refused or
reported here; and its defaults differ from version to version, so every option is given.
"""

from __future__ import annotations

from raidtui.model.fact import Fact, FactKind
from raidtui.model.geometry import MISSING, usable_kib
from raidtui.model.plan import Harm, Plan, Refusal, RefusalCode, RunTool, Step
from raidtui.model.refuse_silence import refuse_silence
from raidtui.model.survey import Device, Survey
from raidtui.plans.candidates import refuse_device, refuse_old_arrays
from raidtui.plans.contents import cleared_facts, device_facts, losses_of, wipe_steps
from raidtui.plans.create.create_notes import array_kib, create_notes
from raidtui.plans.create.create_request import Below, CreateRequest
from raidtui.plans.create.file_system import geometry, on_top_notes, on_top_steps, refuse_on_top
from raidtui.plans.create.shape import Shape, shape_of
from raidtui.plans.persist import conf_steps
from raidtui.plans.target import needs_root, refuse_taken
from raidtui.view.units import KIB, counted


def plan_create(request: CreateRequest, survey: Survey) -> Plan | Refusal:
    """Return the plan that creates an array, or why it cannot be created.

    Args:
        request: the array.
        survey: the host, with all devices that the request names.
    """
    if refusal := needs_root(survey.snapshot):
        return refusal
    if refusal := refuse_silence(survey.mdadm, package="mdadm"):
        return refusal
    shape = shape_of(request)
    if isinstance(shape, Refusal):
        return shape
    if refusal := _refuse_taken(request, shape, survey):
        return refusal
    devices = chosen(request, survey)
    if isinstance(devices, Refusal):
        return devices
    members = devices[:-1] if request.journal else devices
    if refusal := refuse_sizes(request, shape, members):
        return refusal
    below = _below(request, shape, members)
    if refusal := refuse_on_top(request.on_top, survey, below):
        return refusal
    top = on_top_steps(request.on_top, survey, below)
    losses = losses_of(devices, survey)
    wipes = tuple(step for device in devices for step in wipe_steps(device, survey))
    conf = conf_steps(survey, uuid=shape.uuid, link=f"/dev/md/{request.name}", metadata=request.metadata)
    gone = "What is on the devices is lost, and undo does not restore it." if losses else ""
    return Plan(
        title=f"create: {new_array_words(request.name, shape.level, len(request.devices))}",
        subject=request.name,
        steps=(*wipes, _create_step(request, shape, survey, devices), *top, *conf),
        harm=Harm.DESTROYS,
        warning=gone,
        losses=losses,
        notes=(
            *create_notes(request, shape, survey, members, component_sizes(request, shape, members)),
            *on_top_notes(request.on_top, survey, below, members[: len(below.members)]),
        ),
        confirm=request.name,
        devices=(*request.named, *request.on_top.others),
    )


def new_array_words(name: str, level: str, devices: int) -> str:
    """Return a new array in a few words: 127, raid10 of 4 devices."""
    return f"{name}, {level} of {counted(devices, 'device')}"


def _below(request: CreateRequest, shape: Shape, members: tuple[Device, ...]) -> Below:
    """Return the array as seen from above; spares, which are last, hold no data."""
    return Below(
        path=f"/dev/md/{request.name}" if request.number is None else shape.node,
        level=shape.level,
        shape=geometry(shape.level, shape.layout_number, shape.chunk_kib, len(request.devices)),
        size_bytes=array_kib(request, shape, component_sizes(request, shape, members)) * KIB,
        members=tuple(name for name in request.devices if name != MISSING),
        sector_bytes=members[0].sector_bytes,
    )


def _refuse_taken(request: CreateRequest, shape: Shape, survey: Survey) -> Refusal | None:
    if refusal := refuse_taken(survey.snapshot, request.name):
        return refusal
    if any(array.name == shape.kernel for array in survey.snapshot.arrays):
        return Refusal(
            code=RefusalCode.TAKEN, why=f"{shape.kernel} already exists", remedy="choose another number"
        )
    known = {array.uuid for array in survey.snapshot.arrays}
    known |= {device.superblock.uuid for device in survey.devices.values() if device.superblock is not None}
    if shape.uuid in known:
        return Refusal(
            code=RefusalCode.TAKEN, why=f"the UUID {shape.uuid} is taken", remedy="choose another one"
        )
    return None


def _create_step(request: CreateRequest, shape: Shape, survey: Survey, devices: tuple[Device, ...]) -> Step:
    free = (Fact(kind=FactKind.GONE, subject=shape.kernel),) if shape.kernel else ()
    return RunTool(
        argv=_argv(request, shape, survey),
        why="every option is given: mdadm's defaults change",
        needs=(*(fact for device in devices for fact in cleared_facts(device, survey)), *free),
        proves=_proofs(request, shape),
        undo=_undo(request, shape, devices),
        destroys=True,
    )


def _argv(request: CreateRequest, shape: Shape, survey: Survey) -> tuple[str, ...]:
    options = [
        ("homehost", survey.homehost),
        ("name", request.name),
        ("uuid", shape.uuid),
        ("metadata", request.metadata),
        ("level", shape.level),  # before layout: mdadm reads its words by level
        ("raid-devices", str(len(request.devices))),
        ("chunk", str(shape.chunk_kib or "")),
        ("layout", shape.layout),
        ("bitmap", shape.bitmap),
        ("consistency-policy", "ppl" if shape.ppl else ""),
        ("size", str(request.size_kib or "")),
        ("spare-devices", str(len(request.spares) or "")),
        ("write-journal", _path(request.journal) if request.journal else ""),
    ]
    flags = [("--assume-clean", request.assume_clean), ("--failfast", request.failfast)]
    # --write-mostly holds for all devices after it; in a mirror the order of the devices says nothing.
    late = [name for name in request.devices if name in request.write_mostly]
    early = [name for name in request.devices if name not in request.write_mostly]
    return (
        "mdadm",
        "--create",
        shape.node,
        "--run",
        *(f"--{name}={value}" for name, value in options if value),
        *(flag for flag, wanted in flags if wanted),
        *map(_path, early),
        *(["--write-mostly"] if late else []),
        *map(_path, late),
        *map(_path, request.spares),
    )


def _path(name: str) -> str:
    return name if name == MISSING else f"/dev/{name}"


def _proofs(request: CreateRequest, shape: Shape) -> tuple[Fact, ...]:
    facts = [
        Fact(kind=FactKind.RUNNING, subject=shape.uuid),
        Fact(kind=FactKind.NAME, subject=shape.uuid, value=request.name),
        *(Fact(kind=FactKind.SUPERBLOCK, subject=name, value=shape.uuid) for name in request.named),
    ]
    if shape.kernel:
        facts += [
            Fact(kind=FactKind.ARRAY, subject=shape.kernel, value=shape.uuid),
            Fact(kind=FactKind.LEVEL, subject=shape.kernel, value=shape.level),
            *(
                Fact(kind=FactKind.MEMBER, subject=f"{shape.kernel}/{name}", value="present")
                for name in request.named
            ),
        ]
    return tuple(facts)


def _undo(request: CreateRequest, shape: Shape, devices: tuple[Device, ...]) -> tuple[Step, ...]:
    """Stop it, then wipe its superblocks, one step a device: some may not have one yet."""
    ours = (
        (
            Fact(kind=FactKind.ARRAY, subject=shape.kernel, value=shape.uuid),
            Fact(kind=FactKind.UNUSED, subject=shape.kernel),
        )
        if shape.kernel
        else (Fact(kind=FactKind.NAME, subject=shape.uuid, value=request.name),)
    )
    stop = RunTool(
        argv=("mdadm", "--stop", shape.node),
        why="releases its members",
        needs=ours,
        proves=(Fact(kind=FactKind.GONE, subject=shape.uuid),),
    )
    zeros = (
        RunTool(
            argv=("mdadm", "--zero-superblock", device.path),
            why=f"{device.disk.name} is no longer a member",
            needs=(
                *device_facts(device, untouched=False),
                Fact(kind=FactKind.SUPERBLOCK, subject=device.disk.name, value=shape.uuid),
            ),
            proves=(Fact(kind=FactKind.SUPERBLOCK, subject=device.disk.name),),
            destroys=True,
        )
        for device in devices
    )
    return (stop, *zeros)


def chosen(request: CreateRequest, survey: Survey) -> tuple[Device, ...] | Refusal:
    """Return the devices and spares in order, or why they cannot be taken."""
    names = request.named
    if twice := [name for name in names if names.count(name) > 1]:
        return Refusal(
            code=RefusalCode.INVALID, why=f"{twice[0]} is named twice", remedy="name each device once"
        )
    found = []
    for name in names:
        device = survey.devices.get(name)
        if device is None:
            return survey.no_device(name)
        if device.disk.disk != name and device.disk.disk in names:
            return Refusal(
                code=RefusalCode.AMBIGUOUS,
                why=f"{name} is a partition of {device.disk.disk}, and both are named",
                remedy="name one of them",
            )
        found.append(device)
    for device in found:
        if refusal := refuse_device(device, survey):
            return refusal
    first = found[0]
    for device in found:
        if device.sector_bytes != first.sector_bytes:
            return Refusal(
                code=RefusalCode.UNSUPPORTED,
                why=f"{first.disk.name} has sectors of {first.sector_bytes} bytes and {device.disk.name} of"
                f" {device.sector_bytes}: data on an array of both may not be readable",
                remedy="use devices with one sector size",
            )
    return refuse_old_arrays(found, survey, request.destroys) or tuple(found)


def refuse_sizes(request: CreateRequest, shape: Shape, devices: tuple[Device, ...]) -> Refusal | None:
    """Return why the devices are too small for the request, or None."""
    usable = component_sizes(request, shape, devices)
    for device, kib in zip(devices, usable, strict=True):
        if kib <= 0:
            return Refusal(
                code=RefusalCode.TOO_SMALL,
                why=f"{device.disk.name} has no room for a chunk of {shape.chunk_kib} KiB",
                remedy="choose smaller chunks, or a larger device",
            )
        if request.size_kib > kib:
            return Refusal(
                code=RefusalCode.TOO_SMALL,
                why=f"{device.disk.name} has {kib} KiB for data, {request.size_kib} KiB is requested",
                remedy="choose a smaller size",
            )
    if 0 < request.size_kib < (shape.chunk_kib or 64):
        return Refusal(
            code=RefusalCode.TOO_SMALL,
            why=f"{request.size_kib} KiB of each member is less than a chunk",
            remedy="choose a larger size",
        )
    return None


def component_sizes(request: CreateRequest, shape: Shape, devices: tuple[Device, ...]) -> tuple[int, ...]:
    """Return what of each device can hold data, KiB."""
    return usable_kib(
        [device.disk.size_bytes or 0 for device in devices],
        metadata=request.metadata,
        chunk_kib=shape.chunk_kib,
        ppl=shape.ppl,
    )
