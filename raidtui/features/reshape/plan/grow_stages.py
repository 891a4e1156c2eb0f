"""The steps of a reshape: devices added, ``mdadm --grow`` (mdadm(8), GROW MODE), and the wait for md.

A plan may have several such stages, one after the other. What a stage has begun, only another reshape takes
back: its steps have no undo, and the job is not rolled back beyond them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from raidtui.features.reshape.plan.grow_shape import GrowShape, Room, least_move, refuse_no_room
from raidtui.model.array import Array
from raidtui.model.fact import Fact, FactKind
from raidtui.model.plan import Refusal, RefusalCode, RunTool, Step, WaitUntil
from raidtui.model.survey import Device, Survey
from raidtui.plans.contents import cleared_facts, device_facts
from raidtui.plans.known_bugs import refuse_known_bugs
from raidtui.plans.manage import (
    SPARE_AGAIN,
    bound,
    fail_and_remove,
    manage,
    member_fact,
    refuse_array,
    refuse_now,
    refuse_read_only,
    same_array,
    zero_step,
)
from raidtui.plans.repair import candidate_for, cleared
from raidtui.plans.target import array_step
from raidtui.view.units import KIB, SECTOR_BYTES, joined

GROW_S = 300.0
_OLDEST_KERNEL, _OLDEST_MDADM = (3, 5), (3, 3)
"""Before them, no data offset could be moved."""


class GrowStage(Struct, frozen=True, kw_only=True):
    """One call of ``mdadm --grow``, and what md does by itself afterwards.

    Args:
        options: after the array's path.
        old, new: the shapes before and after, as md moves the data.
        why: what the call does, a phrase.
        moves: what md does afterwards, a clause; "" where nothing is left to do.
        adds: names of devices that are added as spares before.
        takes: names of devices that the call itself adds.
        drops: names of members that are none afterwards, or spares.
        frees: names of members that leave the array before, spares first: what is redundant.
        shown: the shape that the array has meanwhile, where that is neither of the two.
        again: whether mdadm may do it by itself at the end of the stage before.
    """

    options: tuple[str, ...]
    old: GrowShape
    new: GrowShape
    why: str
    moves: str = ""
    adds: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()
    drops: tuple[str, ...] = ()
    frees: tuple[str, ...] = ()
    shown: GrowShape | None = None
    again: bool = False

    @property
    def overwrites(self) -> bool:
        """Whether md writes over the old place of what it has moved all the time, not at first alone.

        That is so where as many disks have data afterwards. A RAID 10 has a way of its own (raid10.c).
        """
        level_10 = "raid10" in {self.old.level, self.new.level}
        return not level_10 and self.old.data == self.new.data and least_move(self.old, self.new) > 0

    def begun(self, array: Array) -> tuple[Fact, ...]:
        """Return the facts that show that it has begun."""
        shape = self.new.fact(array) if self.shown is None else self.shown.fact(array, self.new)
        if self.old.level != self.new.level or self.old.chunk_bytes == self.new.chunk_bytes:
            return (shape,)
        chunk = str(self.new.chunk_bytes // KIB)
        return shape, Fact(kind=FactKind.CHUNK, subject=array.name, value=chunk)


def stage_steps(
    survey: Survey,
    array: Array,
    stages: Sequence[GrowStage],
    devices: Mapping[str, Device],
    *,
    room: Room,
    backup: str = "",
    larger: bool = False,
) -> tuple[Step, ...]:
    """Return the steps of all stages.

    Args:
        survey: the host.
        array: the array.
        stages: first to last.
        devices: what is added, by name.
        room: of the members, before.
        backup: the path of a backup file, which is used where the room is too little.
        larger: whether the array is larger afterwards: the last wait is for that, too.
    """
    steps: list[Step] = []
    members = [member.name for member in array.members if member.slot is not None]
    for stage in stages:
        steps += [add_step(survey, array, devices[name]) for name in stage.adds]
        members = [name for name in members if name not in stage.frees]
        stay = tuple(member_fact(array, name, "in_sync") for name in members)
        steps += [step for name in stage.frees for step in _free_steps(survey, array, name, stay)]
        new = (*stage.adds, *stage.takes)
        taken = [fact for name in stage.takes for fact in cleared_facts(devices[name], survey)]
        step = _grow_step(array, stage, members, taken)
        fits = room.fits(stage.old, stage.new)
        paces = array.name if fits and stage.overwrites and stage.old.level != "raid0" else ""
        if not fits:
            step = replace(step, argv=(*step.argv[:3], f"--backup-file={backup}", *step.argv[3:]))
        if paces:
            steps.append(_halt_step(array, stage))
        steps.append(step)
        if stage.shown is not None and fits:
            steps += end_mdadm(survey, array, step)
        members = [name for name in (*members, *new) if name not in stage.drops]
        if stage.moves:
            steps.append(replace(_wait_step(array, stage, new), paces=paces))
        room = room.moved(stage.old, stage.new)
    if larger and array.size_bytes is not None:
        more = Fact(kind=FactKind.LARGER, subject=array.name, value=str(array.size_bytes))
        last = steps[-1]
        steps[-1] = (
            replace(last, until=(*last.until, more))
            if last.waits
            else replace(last, proves=(*last.proves, more))
        )
    return tuple(steps)


def _free_steps(survey: Survey, array: Array, name: str, stay: Sequence[Fact]) -> tuple[Step, ...]:
    """Return the steps that take what is redundant from an array which becomes a RAID 0.

    All that stay have to serve. mdadm would do that by itself, and leave the superblock: at the next boot,
    udev may meet that member first, and start nothing (measured: an inactive array of it, and the others are
    refused).
    """
    fail, remove = fail_and_remove(array, name, "a raid0 has no place for it")
    device = survey.devices.get(name)
    same = device_facts(device, free=False, untouched=False) if device is not None else ()
    zero = zero_step(array, name, same, "with its superblock, it might be started in place of the others")
    fail = replace(fail, needs=(*fail.needs, *stay), final=True)
    return bound(survey, fail, name), bound(survey, remove, name), zero


def end_mdadm(survey: Survey, array: Array, step: Step) -> tuple[Step, ...]:
    """Return the steps that end mdadm's process that waits for a reshape which the kernel does alone.

    It takes a pause, or a shutdown, for the end of the reshape of a RAID 0, and fails the new members.

    Args:
        survey: the host.
        array: the array.
        step: the call of mdadm that leaves the process behind, with its command line.
    """
    if "pkill" in survey.missing:
        return ()
    own = re.escape(" ".join(step.argv[1:]))
    proof = Fact(kind=FactKind.UNATTENDED, subject=array.name)
    why = "mdadm waits for the end, and would take a pause or a shutdown for it"
    unit = f"mdadm-grow-continue@{array.name}.service"
    stop = RunTool(argv=("systemctl", "stop", unit), why=why, may_fail=True)
    pattern = rf"(/\S*/)?mdadm ({own}|--grow --continue /dev/{array.name}( .*)?)"
    end = RunTool(
        argv=("pkill", "--full", "--exact", pattern),
        why="the kernel continues alone" if survey.systemd else why,
        needs=same_array(array),
        proves=(proof,),
        proof_decides=True,
    )
    return (stop, end) if survey.systemd else (end,)


def _grow_step(array: Array, stage: GrowStage, members: Sequence[str], taken: Sequence[Fact]) -> Step:
    paths = tuple(f"/dev/{name}" for name in stage.takes)
    return RunTool(
        argv=("mdadm", "--grow", array.path, *stage.options, *(("--add", *paths) if paths else ())),
        why=stage.why,
        timeout_s=GROW_S,
        needs=(
            *same_array(array),
            stage.old.fact(array),
            Fact(kind=FactKind.RESHAPED, subject=array.name),
            *(member_fact(array, name, "in_sync") for name in members),
            *(member_fact(array, name, "spare") for name in stage.adds),
            *taken,
        ),
        awaits=(Fact(kind=FactKind.SYNCED, subject=array.name),),
        proves=stage.begun(array),
        proof_decides=stage.again,
        final=True,
    )


def _halt_step(array: Array, stage: GrowStage) -> Step:
    """Return the step before a reshape that makes md halt after the first stripes (jobs.reshape_pace)."""
    limit = max(stage.old.chunk_bytes, stage.new.chunk_bytes) // SECTOR_BYTES
    why = "md halts there, so that no power cut meets what is not recorded; the job moves it on"
    step = array_step(array, "sync_max", str(limit), why)
    back = array_step(array, "sync_max", "max", "md halts nowhere")
    return replace(
        step,
        needs=(*same_array(array), Fact(kind=FactKind.RESHAPED, subject=array.name)),
        awaits=(Fact(kind=FactKind.SYNCED, subject=array.name),),  # the kernel takes it from no resync
        proves=(Fact(kind=FactKind.TEXT, subject=step.path, value=str(limit)),),
        undo=(back,),
        volatile=True,
    )


def _wait_step(array: Array, stage: GrowStage, new: Sequence[str]) -> Step:
    same, begun = same_array(array), stage.begun(array)
    return WaitUntil(
        why=stage.moves,
        until=(
            *same,
            *begun,
            Fact(kind=FactKind.RESHAPED, subject=array.name),
            *(member_fact(array, name, "in_sync") for name in new),
        ),
        as_long_as=(*same, *begun),
    )


def add_step(survey: Survey, array: Array, device: Device) -> Step:
    """Return the step that adds a device as a spare; undone, it is what it was before."""
    name = device.disk.name
    add = manage(array, ("--add-spare", f"/dev/{name}"), "a new member", member_fact(array, name, "spare"))
    loose = Fact(kind=FactKind.LOOSE, subject=f"{array.name}/{name}")
    remove = manage(array, ("--remove", f"/dev/{name}"), "release it", member_fact(array, name, "absent"))
    zero = zero_step(array, name, device_facts(device, free=False, untouched=False), SPARE_AGAIN)
    back = (replace(remove, needs=(*remove.needs, loose)), zero)
    return replace(cleared(survey, add, device), undo=back)


def refuse_stages(
    stages: Sequence[GrowStage], room: Room, *, backup: str, unguarded: bool = False
) -> Refusal | None:
    """Return why one of the stages lacks room, or None; see ``refuse_no_room``."""
    for stage in stages:
        if refusal := refuse_no_room(room, stage.old, stage.new, backup=backup, unguarded=unguarded):
            return refusal
        room = room.moved(stage.old, stage.new)
    return None


def needs_backup(stages: Sequence[GrowStage], room: Room) -> bool:
    """Whether one of the stages lacks room."""
    return refuse_stages(stages, room, backup="") is not None


def refuse_reshape(survey: Survey, array: Array) -> Refusal | None:
    """Return why an array cannot be reshaped at all, or not now."""
    refusal = refuse_array(survey, array) or refuse_now(array) or _refuse_versions(survey)
    refusal = refusal or refuse_read_only(array)
    if refusal:
        return refusal
    if not array.uuid:
        return Refusal(code=RefusalCode.UNKNOWN, why=f"{array.title} has no UUID to identify it")
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
    return refuse_known_bugs(survey, array)


def _refuse_versions(survey: Survey) -> Refusal | None:
    kernel = tuple(int(word) for word in (survey.snapshot.host.kernel or "").split(".")[:2] if word.isdigit())
    if kernel and kernel < _OLDEST_KERNEL:
        return Refusal(
            code=RefusalCode.UNSUPPORTED, why="kernels before 3.5 cannot move the data of a member elsewhere"
        )
    if survey.mdadm.value is not None and survey.mdadm.value < _OLDEST_MDADM:
        return Refusal(code=RefusalCode.NO_TOOL, why="mdadm before 3.3 cannot move the data of a member")
    return None


def new_devices(
    survey: Survey, array: Array, names: Sequence[str], *, destroys: Collection[str]
) -> Mapping[str, Device] | Refusal:
    """Return the devices that are added, by name, or why one of them cannot be."""
    if len(set(names)) < len(names):
        return Refusal(code=RefusalCode.INVALID, why="a device is named twice", remedy="name each once")
    found: dict[str, Device] = {}
    for name in names:
        device = candidate_for(survey, array, name, destroys=destroys, redundant=False)
        if isinstance(device, Refusal):
            return device
        found[name] = device
    return found
