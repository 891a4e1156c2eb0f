"""Arrays that are not running, found by their superblocks, and the plans that start one. Pure."""

from __future__ import annotations

from msgspec import Struct

from raidtui.model.array import Array
from raidtui.model.fact import Fact, FactKind
from raidtui.model.plan import Harm, Plan, Refusal, RefusalCode, RunTool, Step
from raidtui.model.reshape_place import reading_note
from raidtui.model.survey import Superblock, Survey
from raidtui.plans.target import needs_root, refuse_name
from raidtui.plans.whole import MARGIN_EVENTS, StaleMember, refuse_start, standing
from raidtui.view.units import counted

REPLAY_NOTE = (
    "md replays the write journal or the partial parity log as it starts the array, also read-only: that"
    " writes to the members."
)


class StoppedArray(Struct, frozen=True, kw_only=True):
    """An array that is not running.

    Args:
        block: the newest of its superblocks.
        names: kernel names of its members, in the kernel's order.
        found: how many of its slots these fill.
        short: why the data of some are not whole, a clause each: "sdc2 is 2 events behind".
    """

    block: Superblock
    names: tuple[str, ...]
    found: int
    short: tuple[str, ...] = ()

    @property
    def missing(self) -> int:
        """How many slots nothing was found for."""
        return max(0, (self.block.raid_disks or 0) - self.found)

    @property
    def words(self) -> str:
        """The array in one line: label, level, members, what differs."""
        wanted = self.block.raid_disks
        parts = [f"{self.found} of {wanted} members" if wanted else counted(self.found, "member")]
        parts += self.short
        shape = f"{self.block.label:<12} {self.block.level or '?':<7}"
        return f"{shape} {', '.join(parts)}  {' '.join(self.names)}"


class StartMethod(Struct, frozen=True, kw_only=True):
    """A method of starting an array: its name, what it means, its plan or why there is none."""

    key: str
    words: str
    note: str
    made: Plan | Refusal


def stopped_arrays(survey: Survey) -> tuple[StoppedArray, ...]:
    """Return the arrays that are not running, by their superblocks; not those of external metadata."""
    running = {array.uuid for array in survey.snapshot.arrays if array.active}
    found: dict[str, list[str]] = {}
    for name, device in survey.devices.items():
        block = device.superblock
        if block is not None and block.uuid and block.uuid not in running and not _is_on_a_part(name, survey):
            found.setdefault(block.uuid, []).append(name)
    return tuple(_stopped_array(tuple(names), survey) for names in found.values())


def _is_on_a_part(name: str, survey: Survey) -> bool:
    """A superblock at the end (1.0, 0.90) shows on a disk and on its last partition: it is the latter's."""
    own = survey.devices[name]
    parts = [use.what for use in own.disk.uses if use.kind == "partition"]
    blocks = [survey.devices[part].superblock for part in parts if part in survey.devices]
    same = own.superblock.device_uuid if own.superblock is not None else None
    return same is not None and any(block is not None and block.device_uuid == same for block in blocks)


def _stopped_array(names: tuple[str, ...], survey: Survey) -> StoppedArray:
    blocks = {name: block for name in names if (block := survey.devices[name].superblock) is not None}
    newest = max(blocks.values(), key=lambda block: block.events or 0)
    slots = {block.slot for block in blocks.values() if block.slot is not None}
    return StoppedArray(
        block=newest,
        names=names,
        found=len(slots) or len(names),
        short=tuple(f"{each.name} {each.why}" for each in standing(blocks).not_whole),
    )


def start_methods(array: StoppedArray, survey: Survey) -> tuple[StartMethod, ...]:
    """Return the methods of starting an array; where members are missing, also the degraded ones.

    A method that mdadm would refuse has its refusal, which names the disks that have to come back.
    """
    replays = array.block.replays
    found = [
        StartMethod(
            key="normal",
            words="normal",
            note="As at boot: the array starts, and resyncs if needed.",
            made=plan_assemble(survey, array.names),
        ),
        StartMethod(
            key="read-only",
            words="read-only",
            note=REPLAY_NOTE
            if replays
            else "Nothing is written, not even by md: look at the data before you decide.",
            made=plan_assemble(survey, array.names, read_only=True),
        ),
    ]
    if array.missing or array.short:
        found += [
            StartMethod(
                key="degraded-read-only",
                words="degraded, read-only",
                note=f"With the members present. {REPLAY_NOTE}"
                if replays
                else "With the members present. Nothing is written, so the missing ones can still join.",
                made=plan_assemble(survey, array.names, run=True, read_only=True),
            ),
            StartMethod(
                key="degraded",
                words="degraded (--run)",
                note="With the members present. What is written from now on is missing on the others: they"
                " are copied whole when they come back.",
                made=plan_assemble(survey, array.names, run=True),
            ),
        ]
    return tuple(found)


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
        return Refusal(code=RefusalCode.INVALID, why="no device is given", remedy="name the members")
    if twice := [name for name in names if names.count(name) > 1]:
        return Refusal(
            code=RefusalCode.INVALID, why=f"{twice[0]} is named twice", remedy="name each member once"
        )
    blocks = []
    waiting = _waiting_in(survey, names)
    for name in names:
        device = survey.devices.get(name)
        if device is None:
            return survey.no_device(name)
        if refusal := survey.refuse_unread(name):
            return refusal
        if device.superblock is None or device.superblock.uuid is None:
            return Refusal(code=RefusalCode.NOT_FOUND, why=f"{name} has no md superblock")
        if waiting is None or not any(member.name == name for member in waiting.members):
            if device.disk.users:
                return Refusal(code=RefusalCode.IN_USE, why=f"{name} is in use: {device.disk.users}")
            if refusal := _refuse_member(survey, name):
                return refusal
            if device.busy:
                return Refusal(code=RefusalCode.IN_USE, why=f"{name}: {device.busy}")
        blocks.append(device.superblock)
    if refusal := survey.refuse_pending():
        return refusal  # any of those left may be a newer member
    uuids = {block.uuid for block in blocks}
    if len(uuids) > 1:
        labels = ", ".join(f"{name} of {block.label}" for name, block in zip(names, blocks, strict=True))
        return Refusal(
            code=RefusalCode.AMBIGUOUS,
            why=f"these are members of several arrays: {labels}",
            remedy="name the members of one array",
        )
    block = max(blocks, key=lambda each: each.events or 0)
    uuid = block.uuid or ""
    running = [array for array in survey.snapshot.arrays if array is not waiting]
    if there := next((array for array in running if array.uuid == uuid), None):
        return Refusal(code=RefusalCode.TAKEN, why=f"{block.label} is already assembled as {there.name}")
    if refusal := _refuse_older(survey, names, uuid, block.events or 0):
        return refusal
    wanted = block.raid_disks or len(names)
    found = dict(zip(names, blocks, strict=True))
    if refusal := refuse_start(found, run=run):
        return refusal
    members = standing(found)
    label = block.label if refuse_name(block.label) is None else ""
    device_path = f"/dev/md/{label}" if label else f"/dev/md/{uuid[:8]}"
    flags = (*(("--run",) if run else ()), *(("--readonly",) if read_only else ()))
    step = RunTool(
        argv=(
            "mdadm",
            "--assemble",
            device_path,
            f"--uuid={uuid}",
            *flags,
            *(f"/dev/{name}" for name in names),
        ),
        why="start it by its superblocks",
        needs=(
            Fact(kind=FactKind.GONE, subject=uuid),
            *(Fact(kind=FactKind.SUPERBLOCK, subject=name, value=uuid) for name in names),
        ),
        proves=(Fact(kind=FactKind.RUNNING, subject=uuid),),
        undo=(
            RunTool(
                argv=("mdadm", "--stop", device_path),
                why="stop it again",
                proves=(Fact(kind=FactKind.GONE, subject=uuid),),
            ),
        ),
    )
    return Plan(
        title=f"assemble: {block.label}",
        subject=block.label,
        steps=(*((let_go_of(waiting),) if waiting is not None else ()), step),
        undo=step.undo,
        harm=Harm.REDUCES if run and len(names) < wanted else Harm.HARMLESS,
        notes=(
            *(f"{each.words}{_left_out(each)}." for each in members.not_whole),
            *((note,) if (note := reading_note(block)) else ()),
        ),
        devices=names,
    )


def _left_out(member: StaleMember) -> str:
    return ": the rebuild continues" if member.rebuilding else ": mdadm leaves it out"


def _waiting_in(survey: Survey, names: tuple[str, ...]) -> Array | None:
    """Return the inactive array that holds some of these devices and no other, or None.

    ``mdadm -I`` makes one where members are missing at boot; it has to go before its members can be taken.
    """
    for array in survey.snapshot.arrays:
        held = {member.name for member in array.members}
        if held and held <= set(names) and not array.active and not array.is_container:
            return array
    return None


def let_go_of(array: Array) -> Step:
    """Return the step that stops an inactive array, which has never been started."""
    return RunTool(
        argv=("mdadm", "--stop", array.path),
        why="it was never started, and holds the members",
        needs=(Fact(kind=FactKind.UNUSED, subject=array.name),),
        proves=(Fact(kind=FactKind.GONE, subject=array.name),),
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
                code=RefusalCode.WRONG_STATE,
                why=f"{name} is newer, at event {block.events}, and not named: the others are at"
                f" {newest}, and what was written since then would be lost",
                remedy=f"name {name} too",
            )
    return None


def _name_all(array: Array) -> str:
    if array.is_container:
        return "start its volumes, not its members"
    return f"name all of its members ({' '.join(member.name for member in array.members)}), or stop it first"


def _refuse_member(survey: Survey, name: str) -> Refusal | None:
    for array in survey.snapshot.arrays:
        if any(member.name == name for member in array.members):
            if array.active:
                return Refusal(
                    code=RefusalCode.NOTHING_TO_DO,
                    why=f"{name} is a member of {array.title}, which is already running",
                )
            return Refusal(
                code=RefusalCode.IN_USE,
                why=f"{name} is a member of {array.title}, which is inactive",
                remedy=_name_all(array),
            )
    return None
