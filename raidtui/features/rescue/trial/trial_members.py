"""The members of a trial: whether they can be had, how they are tried, and what is made of them. Pure.

An array without superblocks is a table of the device mapper (Linux, Documentation/admin-guide/device-mapper/
dm-raid.rst; its RAID 6 layouts are not those of md). A container of external metadata (DDF, Intel) is
assembled, then its volumes start. Measured (mdadm 4.2, Linux 6.1): on devices that are set read-only, md
starts volumes read-only, and mdmon, which keeps the metadata, is refused every write. On overlays, mdmon
writes to these alone; Intel's metadata know disks by their serial numbers, which overlays do not have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from raidtui.features.rescue.mdadm_words import EXTERNAL, Assembly, Recreation, volume_words
from raidtui.features.rescue.search.results import RescueGeometry
from raidtui.features.rescue.trial.trial_record import MOST_VOLUMES, TrialMethod, TrialNames, TrialRequest
from raidtui.model.array import Array
from raidtui.model.fact import Fact, FactKind
from raidtui.model.geometry import MISSING
from raidtui.model.plan import PutFile, Refusal, RefusalCode, RunTool, Step
from raidtui.model.reshape_place import is_cut
from raidtui.model.survey import Device, Superblock, Survey
from raidtui.plans.target import needs_root
from raidtui.view.units import SECTOR_BYTES

_PARITY = {
    "left-symmetric": "raid5_ls",
    "left-asymmetric": "raid5_la",
    "right-symmetric": "raid5_rs",
    "right-asymmetric": "raid5_ra",
    "parity-last": "raid5_n",
    "parity-first": "raid5_0",
}
_START_S = 300.0


def find_members(survey: Survey, request: TrialRequest) -> tuple[Device, ...] | Refusal:
    """Return the members, each of them free, or why they cannot be had."""
    wanted = request.made.devices
    if refusal := needs_root(survey.snapshot):
        return refusal
    if not wanted:
        return Refusal(code=RefusalCode.INVALID, why="no device is given", remedy="name the members")
    if twice := [name for name in wanted if wanted.count(name) > 1]:
        return Refusal(code=RefusalCode.INVALID, why=f"{twice[0]} is named twice")
    found: list[Device] = []
    for name in wanted:
        device = survey.devices.get(name)
        if device is None:
            return survey.no_device(name)
        waiting = any(_has(array, name) for array in find_waiting_arrays(survey, wanted))
        if refusal := survey.refuse_unread(name) or (None if waiting else _refuse_running(survey, name)):
            return refusal
        if not waiting and (device.disk.users or device.busy):
            why = device.disk.users or device.busy
            return Refusal(code=RefusalCode.IN_USE, why=f"{name} is in use: {why}", remedy="release it first")
        if device.disk.size_bytes is None or device.digest is None:
            return Refusal(
                code=RefusalCode.UNKNOWN,
                why=f"{name} cannot be read",
                remedy=f"copy it first: raidtui rescue copy {name} FILE",
            )
        if refusal := _refuse_twin(device, found) or _refuse_container(device, request):
            return refusal
        found.append(device)
    return tuple(found)


def _refuse_twin(device: Device, others: Sequence[Device]) -> Refusal | None:
    """Of a disk and its copy, one is named; 0.90 cannot distinguish them."""
    own = device.superblock.device_uuid if device.superblock is not None else None
    for each in others:
        if own and each.superblock is not None and each.superblock.device_uuid == own:
            why = f"{device.disk.name} and {each.disk.name} have one superblock: one is a copy of the other"
            return Refusal(code=RefusalCode.AMBIGUOUS, why=why, remedy="name one of the two")
    return None


def _refuse_container(device: Device, request: TrialRequest) -> Refusal | None:
    """A container is assembled as it is, and its volumes are started; no more than that."""
    made, name = request.made, device.disk.name
    kind = (device.superblock.metadata or "") if device.superblock is not None else ""
    if isinstance(made, Recreation) or kind not in EXTERNAL:
        return None
    words = EXTERNAL[kind]
    if made.external != kind or made.force or made.update or made.backup:
        return Refusal(
            code=RefusalCode.UNSUPPORTED,
            why=f"{name} is in a container of {words} metadata, which has no such method",
            remedy="start, or start-degraded, of its disks alone",
        )
    if not made.uuid or len(made.volumes) > MOST_VOLUMES:
        why = f"the container of {name} has no UUID" if not made.uuid else "too many volumes are in it"
        return Refusal(
            code=RefusalCode.UNSUPPORTED,
            why=why,
            remedy=f"blockdev --setro /dev/{name} and the others, then assemble by hand: mdadm(8)",
        )
    if kind == "imsm" and request.method is TrialMethod.OVERLAYS:
        return Refusal(
            code=RefusalCode.UNSUPPORTED,
            why="Intel's metadata know their disks by serial numbers, which overlays do not have",
            remedy="try it without --overlays: md and mdmon write nothing to devices that are read-only",
        )
    return None


def find_replaying(survey: Survey, names: Sequence[str]) -> tuple[str, ...]:
    """Return the members whose array has a write journal or a partial parity log.

    What is in it is written to the members as md starts the array (r5l_recovery_log, ppl_recover). Neither a
    read-only array nor a read-only device keeps Linux 6.1 from that: it warns, and writes (bio_check_ro).
    """
    blocks = {name: survey.devices[name].superblock for name in names if name in survey.devices}
    return tuple(name for name, block in blocks.items() if block is not None and block.replays)


def choose_method(survey: Survey, names: Sequence[str]) -> TrialMethod:
    """Return how superblocks that suffice are tried: on the members themselves, unless that is not enough."""
    blocks = [survey.devices[name].superblock for name in names if name in survey.devices]
    return TrialMethod.OVERLAYS if any(map(needs_overlays, blocks)) else TrialMethod.READ_ONLY


def needs_overlays(block: Superblock | None) -> bool:
    """Whether a member cannot be looked at itself: md writes to it, or its reshape has to be moved on."""
    return block is not None and (block.replays or is_cut(block))


def find_waiting_arrays(survey: Survey, names: Sequence[str]) -> tuple[Array, ...]:
    """Return the arrays that were never started and hold some of these devices: mdadm -I makes them.

    A container without volumes is one of them.
    """
    return tuple(
        array
        for array in survey.snapshot.arrays
        if not array.active and not _is_used(survey, array) and any(_has(array, name) for name in names)
    )


def _is_used(survey: Survey, array: Array) -> bool:
    """Whether an array is a container with volumes that run, or may."""
    volumes = (each for each in survey.snapshot.arrays if each.container == array.name)
    return array.is_container and any(volumes)


def _has(array: Array, name: str) -> bool:
    return any(member.name == name for member in array.members)


def _refuse_running(survey: Survey, name: str) -> Refusal | None:
    """A member of an array that runs is not tried: the array has to be stopped first."""
    for array in survey.snapshot.arrays:
        if _has(array, name):
            return Refusal(
                code=RefusalCode.IN_USE,
                why=f"{name} is a member of {array.title}, which is running",
                remedy=f"stop it first: raidtui plan stop {array.name}",
            )
    return None


def count_data_sectors(geometry: RescueGeometry, sizes: Mapping[str, int]) -> int:
    """Return how many sectors of each member hold data: whole chunks.

    Args:
        geometry: the array.
        sizes: the sectors of each device.
    """
    room = min(sizes[name] for name in geometry.present) - geometry.data_offset_sectors
    found = min(geometry.size_sectors or room, room)
    chunk = max(1, geometry.chunk_bytes // SECTOR_BYTES)
    return max(0, found - found % chunk)


def make_array_table(geometry: RescueGeometry, sectors: int, maps: Mapping[str, str]) -> str | Refusal:
    """Return the table of the array, or why there is none.

    Args:
        geometry: the array.
        sectors: how many sectors of each member hold data.
        maps: by member, the path of the map of its data.
    """
    level, slots = geometry.level, len(geometry.order)
    chunk = geometry.chunk_bytes // SECTOR_BYTES
    lost = slots - len(geometry.present)
    if sectors <= 0 or (level != 1 and chunk <= 0):
        return _no_table("nothing is left of the members for data")
    if level == 1:
        return f"0 {sectors} linear {maps[geometry.present[0]]} 0"
    if level == 0:
        if lost:
            return _no_table("RAID 0 without a member holds no whole file system")
        parts = " ".join(f"{maps[name]} 0" for name in geometry.order)
        return f"0 {sectors * slots} striped {slots} {chunk} {parts}"
    pairs = " ".join("- -" if name == MISSING else f"- {maps[name]}" for name in geometry.order)
    if level in {4, 5}:
        # dm's raid4 has its parity first, md's last.
        kind = _PARITY.get("parity-last" if level == 4 else geometry.layout)
        if kind is None:
            return _no_table(f"the device mapper has no layout {geometry.layout}")
        if lost > 1:
            return _no_table(f"RAID {level} misses {lost} members")
        return f"0 {sectors * (slots - 1)} raid {kind} 2 {chunk} nosync {slots} {pairs}"
    if level == 10:
        return _near(geometry, sectors, maps)
    return _no_table(f"the device mapper has no RAID {level} as md has it")


def _no_table(why: str) -> Refusal:
    return Refusal(code=RefusalCode.UNSUPPORTED, why=why)


def _near(geometry: RescueGeometry, sectors: int, maps: Mapping[str, str]) -> str | Refusal:
    """A stripe over one copy of each: dm-raid knows no layout of RAID 10 without superblocks of its own."""
    word, slots = geometry.layout, len(geometry.order)
    copies = int(word[1:]) if word[:1] == "n" and word[1:].isdigit() and int(word[1:]) > 0 else 0
    if not copies or slots % copies:
        return _no_table(f"the device mapper cannot stripe over the layout {word} of {slots} members")
    sets = [geometry.order[first : first + copies] for first in range(0, slots, copies)]
    there = [next((name for name in each if name != MISSING), "") for each in sets]
    if not all(there):
        return _no_table("all copies of a part are missing")
    parts = " ".join(f"{maps[name]} 0" for name in there)
    chunk = geometry.chunk_bytes // SECTOR_BYTES
    return f"0 {sectors * len(sets)} striped {len(sets)} {chunk} {parts}"


def name_volumes(made: Assembly | Recreation) -> tuple[str, ...]:
    """Return the names of a container's volumes, each once: a second one has its number behind it."""
    found: list[str] = []
    for number, name in enumerate(made.volumes if isinstance(made, Assembly) else ()):
        found.append(name if name and name not in found else f"{name or 'volume'} {number}")
    return tuple(found)


def assemble_container(made: Assembly, names: TrialNames, assembling: Step, held: str) -> tuple[Step, ...]:
    """Return the steps that assemble a container and start its volumes.

    Args:
        made: the container.
        names: the trial's.
        assembling: the step that would start an array; its proof is that it runs, which a container does not.
        held: what it stands on, as the value of a fact.
    """
    lines = [
        f"ARRAY /dev/{array} container={made.uuid} member={number}\n"
        for number, array in enumerate(names.arrays[1:])
    ]
    stands = tuple(fact for fact in assembling.proves if fact.kind is FactKind.STANDS_ON)
    stops = tuple(
        RunTool(
            argv=("mdadm", "--stop", f"/dev/{array}"),
            why="stop a volume",
            needs=(Fact(kind=FactKind.STANDS_ON, subject=array, value=held),),
            proves=(Fact(kind=FactKind.STANDS_OFF, subject=array, value=held),),
        )
        for array in names.arrays[1:]
    )
    return (
        PutFile(
            path=names.conf,
            content="".join(lines),
            why="what the volumes are called",
            undo=(RunTool(argv=("rm", "-f", names.conf), why="remove it"),),
        ),
        replace(assembling, why="assemble the container: nothing is started yet", proves=stands),
        RunTool(
            argv=volume_words(f"/dev/{names.array}", made, names.conf),
            why="start its volumes" + (", also without all of their disks" if made.run else ""),
            timeout_s=_START_S,
            needs=tuple(Fact(kind=FactKind.GONE, subject=array) for array in names.arrays[1:]),
            may_fail=True,
            undo=stops,
        ),
    )
