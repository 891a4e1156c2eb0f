"""The plan of a trial: what it makes, step by step, each with its undo. No step writes to a member. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from raidtui.features.rescue.mdadm_words import Assembly, Recreation, dirty_steps, mdadm_words
from raidtui.features.rescue.search.reshape_progress import ReshapeForms, find_reshape_forms
from raidtui.features.rescue.trial.trial_members import (
    assemble_container,
    count_data_sectors,
    find_members,
    find_replaying,
    find_waiting_arrays,
    make_array_table,
    name_volumes,
)
from raidtui.features.rescue.trial.trial_record import (
    MOVED_BYTES,
    ROOM_BYTES,
    STORE_BYTES,
    TrialHost,
    TrialMethod,
    TrialNames,
    TrialRecord,
    TrialRequest,
    map_path,
)
from raidtui.features.rescue.trial.trial_rules import (
    follow_rules,
    lift_rules,
    shadow_rules,
    write_hiding_rules,
)
from raidtui.model.array import Array
from raidtui.model.fact import Fact, FactKind
from raidtui.model.plan import Harm, Plan, PutFile, Refusal, RefusalCode, RunTool, Step
from raidtui.model.reshape_place import is_cut
from raidtui.model.survey import Device, Survey
from raidtui.plans.assemble import let_go_of
from raidtui.plans.contents import device_facts
from raidtui.view.units import SECTOR_BYTES, binary_size

_MODULES = {
    TrialMethod.READ_ONLY: (),
    TrialMethod.MAPPED: ("dm-mod", "dm-raid"),
    TrialMethod.OVERLAYS: ("dm-mod", "dm-snapshot", "loop"),
}
METHOD_WORDS = {
    TrialMethod.READ_ONLY: "on the members themselves, read-only",
    TrialMethod.MAPPED: "by the device mapper, read-only",
    TrialMethod.OVERLAYS: "on copy-on-write overlays",
}
_ON_OVERLAYS = "try it on overlays: raidtui rescue try ... --overlays"
_START_S = 300.0
_RUNS = "readonly|clean|active|active-idle|write-pending|read-auto"


class TrialPlan(Struct, frozen=True, kw_only=True):
    """A trial before it begins.

    Args:
        record: what is kept beside the plan.
    """

    plan: Plan
    record: TrialRecord


def plan_trial(survey: Survey, host: TrialHost, request: TrialRequest) -> TrialPlan | Refusal:
    """Return the plan of a trial, or why there is none.

    Args:
        survey: the host, with the members.
        host: what it has for a trial.
        request: what is tried.
    """
    devices = find_members(survey, request)
    if isinstance(devices, Refusal):
        return devices
    if request.method is TrialMethod.READ_ONLY and (logged := find_replaying(survey, request.made.devices)):
        return Refusal(
            code=RefusalCode.UNSUPPORTED,
            why=f"md replays the log of {', '.join(logged)} when it starts them,"
            " even read-only and onto read-only devices",
            remedy=_ON_OVERLAYS,
        )
    if request.method is TrialMethod.READ_ONLY and any(is_cut(device.superblock) for device in devices):
        return Refusal(
            code=RefusalCode.UNSUPPORTED,
            why="its reshape stopped within a stripe: reads of that stripe hang until it continues",
            remedy=_ON_OVERLAYS,
        )
    stored, wanted = request.method is TrialMethod.OVERLAYS, request
    request = _roomy(request, devices)
    folder = _folder(host, request, len(devices)) if stored else ""
    if isinstance(folder, Refusal):
        return folder
    inside = name_volumes(request.made)
    names = TrialNames(ident=request.ident, array=host.array, folder=folder, volumes=len(inside))
    if stored and len(host.loops) < len(devices):
        return Refusal(code=RefusalCode.BUSY, why="there are not enough free loop devices")
    waiting = find_waiting_arrays(survey, request.made.devices)
    steps = [*_begin(request, host, names, devices, waiting)]
    overlays: dict[str, str] = {}
    if request.method is TrialMethod.MAPPED:
        made = _mapped(request, names, devices)
        if isinstance(made, Refusal):
            return made
        steps += made
        start, target = len(steps) - 1, map_path(names.whole)
    else:
        if stored:
            overlays = {device.disk.name: names.map(device.disk.name) for device in devices}
            steps += _overlaid(request, host, names, devices)
        steps += _backed_up(request, names)
        started = _started(request, names, devices, overlays)
        steps += dirty_steps(request.made, started)
        start = steps.index(started)
        if isinstance(request.made, Assembly) and request.made.external:
            steps[start:] = assemble_container(request.made, names, steps[start], _held(devices, overlays))
            start += 1  # the first one writes a file
        target = f"/dev/{names.array}"
    plan = Plan(
        title=f"rescue trial {request.ident}: {request.label}, {METHOD_WORDS[request.method]}",
        subject=request.label,
        steps=tuple(steps),
        harm=Harm.HARMLESS,
        stacked=True,
        notes=("Nothing is written to the members: the kernel refuses it during the trial.",),
        devices=tuple(device.disk.name for device in devices),
        arrays=names.arrays if request.method is not TrialMethod.MAPPED else (),
    )
    record = TrialRecord(
        request=wanted,
        names=names,
        start=start,
        target=target,
        overlays=overlays,
        forms=_forms(request, devices),
        volumes=dict(zip(inside, names.arrays[1:], strict=True)),
    )
    return TrialPlan(plan=plan, record=record)


def _forms(request: TrialRequest, devices: Sequence[Device]) -> ReshapeForms | None:
    made = request.made
    if isinstance(made, Recreation) or not made.invalid_backup:
        return None
    return find_reshape_forms(
        {device.disk.name: block for device in devices if (block := device.superblock) is not None}
    )


def _roomy(request: TrialRequest, devices: Sequence[Device]) -> TrialRequest:
    """Give the stores room for what md moves before a reshape that mdadm continues is held."""
    made = request.made
    if request.store_bytes or isinstance(made, Recreation) or not made.backup:
        return request
    most = max((device.disk.size_bytes or 0 for device in devices), default=0)
    return replace(request, store_bytes=min(most + most // 64 + (1 << 20), MOVED_BYTES))


def _folder(host: TrialHost, request: TrialRequest, members: int) -> str | Refusal:
    """Return a folder for the stores that has room for what they may take."""
    need = request.store_bytes * members if request.store_bytes else ROOM_BYTES * members
    for folder, free_bytes in host.rooms:
        if free_bytes >= need:
            return folder
    looked = ", ".join(f"{binary_size(free)} in {folder}" for folder, free in host.rooms)
    each = f"{members} x {binary_size(request.store_bytes or ROOM_BYTES)}"
    return Refusal(
        code=RefusalCode.TOO_SMALL,
        why=f"there is no room for the overlays' stores: they may take {binary_size(need)} ({each});"
        f" free: {looked or 'nothing, there is no such folder'}",
        remedy="name a folder with room: --store FOLDER",
    )


def _begin(
    request: TrialRequest,
    host: TrialHost,
    names: TrialNames,
    devices: Sequence[Device],
    waiting: Sequence[Array],
) -> list[Step]:
    """Hide what the trial makes, hold off automatic assembly, and make the members read-only."""
    modules = _MODULES[request.method]
    loaded = RunTool(argv=("modprobe", "--all", *modules), why="the kernel's modules", may_fail=True)
    return [
        *((loaded,) if modules else ()),
        RunTool(
            argv=("mkdir", "-p", "/run/udev/rules.d"), why="the folder of rules that do not survive a boot"
        ),
        PutFile(
            path=names.rules,
            content=write_hiding_rules(names),
            why="udev assembles no array and makes no links to what the trial makes",
            undo=lift_rules(names.ident, "udev works as before"),
        ),
        *(shadow_rules(host.array_rules) if _continues(request) else ()),
        *follow_rules(names.ident),
        _made(names.place, "a private place"),
        *map(let_go_of, waiting),
        *(_set_read_only(device) for device in devices),
    ]


def _continues(request: TrialRequest) -> bool:
    """Whether mdadm itself continues a reshape: with a backup file."""
    return isinstance(request.made, Assembly) and bool(request.made.backup)


def _made(folder: str, why: str) -> Step:
    """A private folder, removed when it is empty again."""
    gone = (Fact(kind=FactKind.ABSENT, subject=folder),)
    return RunTool(
        argv=("mkdir", "-m", "700", folder),
        why=why,
        proves=(Fact(kind=FactKind.NODE, subject=folder),),
        undo=(RunTool(argv=("rmdir", folder), why="remove it", proves=gone),),
    )


def _set_read_only(device: Device) -> Step:
    name, path = device.disk.name, device.path
    return RunTool(
        argv=("blockdev", "--setro", path),
        why="the kernel refuses every write to it",
        needs=device_facts(device),
        proves=(Fact(kind=FactKind.READ_ONLY, subject=name, value="yes"),),
        undo=()
        if device.read_only
        else (
            RunTool(
                argv=("blockdev", "--setrw", path),
                why="it is writable again",
                proves=(Fact(kind=FactKind.READ_ONLY, subject=name, value="no"),),
            ),
        ),
    )


def _overlaid(
    request: TrialRequest, host: TrialHost, names: TrialNames, devices: Sequence[Device]
) -> list[Step]:
    """A sparse store for each member, and an overlay that keeps in it what is written."""
    size = request.store_bytes or STORE_BYTES
    files = tuple(names.store(device.disk.name) for device in devices)
    steps = [
        _made(names.stores, "a folder for the stores"),
        RunTool(
            argv=("truncate", f"--size={size}", *files),
            why=f"a sparse store for each member, {binary_size(size)} at most",
            undo=(RunTool(argv=("rm", "-f", *files), why="remove the stores"),),
        ),
    ]
    for device, number, file in zip(devices, host.loops, files, strict=False):
        loop = f"loop{number}"
        steps.append(
            RunTool(
                argv=("losetup", "--sector-size", str(device.sector_bytes), f"/dev/{loop}", file),
                why=f"the store of {device.disk.name} as a device",
                needs=(Fact(kind=FactKind.BACKED, subject=loop),),
                proves=(Fact(kind=FactKind.BACKED, subject=loop, value=file),),
                undo=(
                    RunTool(
                        argv=("losetup", "--detach", f"/dev/{loop}"),
                        why="release it",
                        needs=(Fact(kind=FactKind.BACKED, subject=loop, value=file),),
                        proves=(Fact(kind=FactKind.UNBACKED, subject=loop, value=file),),
                    ),
                ),
            )
        )
    for device, number in zip(devices, host.loops, strict=False):
        sectors = (device.disk.size_bytes or 0) // SECTOR_BYTES
        table = f"0 {sectors} snapshot {device.path} /dev/loop{number} P 8"
        steps.append(_map(names.map(device.disk.name), table, why=f"the overlay of {device.disk.name}"))
    return steps


def _map(name: str, table: str, *, why: str, read_only: bool = False) -> Step:
    return RunTool(
        argv=("dmsetup", "create", name, *(("--readonly",) if read_only else ()), "--table", table),
        why=why,
        proves=(Fact(kind=FactKind.NODE, subject=map_path(name)),),
        undo=(
            RunTool(
                argv=("dmsetup", "remove", "--retry", name),
                why="remove it",
                proves=(Fact(kind=FactKind.MAPPED, subject=name, value="no"),),
            ),
        ),
    )


def _mapped(request: TrialRequest, names: TrialNames, devices: Sequence[Device]) -> list[Step] | Refusal:
    """The part of each member that holds data, and the array that they make, all of it read-only."""
    if isinstance(request.made, Assembly):
        return Refusal(code=RefusalCode.INVALID, why="the device mapper knows no superblocks of md")
    geometry = request.made.geometry
    sizes = {device.disk.name: (device.disk.size_bytes or 0) // SECTOR_BYTES for device in devices}
    sectors = count_data_sectors(geometry, sizes)
    maps = {device.disk.name: map_path(names.map(device.disk.name)) for device in devices}
    table = make_array_table(geometry, sectors, maps)
    if isinstance(table, Refusal):
        return table
    return [
        *(
            _map(
                names.map(device.disk.name),
                f"0 {sectors} linear {device.path} {geometry.data_offset_sectors}",
                why=f"the data of {device.disk.name}",
                read_only=True,
            )
            for device in devices
        ),
        _map(names.whole, table, why="the array, without superblocks", read_only=True),
    ]


def _backup(names: TrialNames) -> str:
    return f"{names.scratch}/backup"


def _backed_up(request: TrialRequest, names: TrialNames) -> list[Step]:
    """A copy of a reshape's backup file, or an empty one: mdadm 4.2 crashes where there is none."""
    made = request.made
    if not isinstance(made, Assembly) or not made.backup:
        return []
    file = _backup(names)
    lost = made.invalid_backup
    return [
        RunTool(
            argv=("truncate", "--size=0", file) if lost else ("cp", "--", made.backup, file),
            why="a new backup file" if lost else "a copy of the backup file",
            undo=(
                RunTool(
                    argv=("rm", "-f", file, f"/run/mdadm/backup_file-{names.array}"),
                    why="remove it, and mdadm's link to it",
                ),
            ),
        )
    ]


def _started(
    request: TrialRequest, names: TrialNames, devices: Sequence[Device], overlays: dict[str, str]
) -> Step:
    """The real command: but for the paths of the devices, word for word."""

    def path(name: str) -> str:
        return map_path(overlays[name]) if name in overlays else f"/dev/{name}"

    array = f"/dev/{names.array}"
    held = _held(devices, overlays)
    made = request.made
    watched = _continues(request)
    if isinstance(made, Assembly) and made.backup:
        made = replace(made, backup=_backup(names))
    why = "new superblocks" if isinstance(request.made, Recreation) else "by its superblocks"
    return RunTool(
        argv=mdadm_words(array, made, path),
        why=f"start it {why}, " + ("and continue the reshape" if watched else "read-only"),
        timeout_s=_START_S,
        proof_decides=watched,
        needs=(Fact(kind=FactKind.GONE, subject=names.array),),
        proves=(
            Fact(kind=FactKind.STANDS_ON, subject=names.array, value=held),
            Fact(
                kind=FactKind.STATE,
                subject=names.array,
                value=_RUNS,
            ),
        ),
        undo=(
            RunTool(
                argv=("mdadm", "--stop", array),
                why="stop it",
                needs=(Fact(kind=FactKind.STANDS_ON, subject=names.array, value=held),),
                proves=(Fact(kind=FactKind.STANDS_OFF, subject=names.array, value=held),),
            ),
        ),
    )


def _held(devices: Sequence[Device], overlays: Mapping[str, str]) -> str:
    """What the array stands on, as the value of a fact."""
    return "|".join(overlays.get(device.disk.name, device.disk.name) for device in devices)
