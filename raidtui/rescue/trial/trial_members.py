"""The members of a trial: whether they can be had, and how little is enough to try them. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from raidtui.model.array import Array
from raidtui.model.plan import Refusal, RefusalCode
from raidtui.model.reshape_place import is_cut
from raidtui.model.survey import Device, Superblock, Survey
from raidtui.plans.target import needs_root
from raidtui.rescue.mdadm_words import Assembly, Recreation
from raidtui.rescue.trial.trial_request import TrialMethod, TrialRequest


def members_of(survey: Survey, request: TrialRequest) -> tuple[Device, ...] | Refusal:
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
        waiting = any(_has(array, name) for array in waiting_arrays(survey, wanted))
        if refusal := survey.refuse_unread(name) or (None if waiting else _refuse_running(survey, name)):
            return refusal
        if not waiting and (device.disk.users or device.busy):
            why = device.disk.users or device.busy
            return Refusal(code=RefusalCode.IN_USE, why=f"{name} is in use: {why}", remedy="release it first")
        if isinstance(request.made, Assembly) and device.superblock and device.superblock.volumes:
            return Refusal(
                code=RefusalCode.UNSUPPORTED,
                why=f"{name} is a disk of a container of external metadata, which raidtui only reads",
                remedy="assemble the container with mdadm --assemble, then mdadm --incremental starts its"
                " volumes",
            )
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
    """A container is started in two steps, its volumes by mdadm --incremental: a trial has one."""
    kind = {"imsm": "Intel", "ddf": "DDF"}.get((device.superblock and device.superblock.metadata) or "")
    if kind is None or isinstance(request.made, Recreation):
        return None
    remedy = f"blockdev --setro /dev/{device.disk.name} and the others, then assemble by hand: mdadm(8)"
    return Refusal(
        code=RefusalCode.UNSUPPORTED,
        why=f"{device.disk.name} is in a container of {kind} metadata, which a trial cannot assemble",
        remedy=remedy + ("; off Intel's controllers, with IMSM_NO_PLATFORM=1" if kind == "Intel" else ""),
    )


def replaying(survey: Survey, names: Sequence[str]) -> tuple[str, ...]:
    """Return the members whose array has a write journal or a partial parity log.

    What is in it is written to the members as md starts the array (r5l_recovery_log, ppl_recover). Neither a
    read-only array nor a read-only device keeps Linux 6.1 from that: it warns, and writes (bio_check_ro).
    """
    blocks = {name: survey.devices[name].superblock for name in names if name in survey.devices}
    return tuple(name for name, block in blocks.items() if block is not None and block.replays)


def least_method(survey: Survey, names: Sequence[str]) -> TrialMethod:
    """Return how superblocks that suffice are tried: on the members themselves, unless that is not enough."""
    blocks = [survey.devices[name].superblock for name in names if name in survey.devices]
    return TrialMethod.OVERLAYS if any(map(needs_overlays, blocks)) else TrialMethod.READ_ONLY


def needs_overlays(block: Superblock | None) -> bool:
    """Whether a member cannot be looked at itself: md writes to it, or its reshape has to be moved on."""
    return block is not None and (block.replays or is_cut(block))


def waiting_arrays(survey: Survey, names: Sequence[str]) -> tuple[Array, ...]:
    """Return the arrays that were never started and hold some of these devices: mdadm -I makes them."""
    return tuple(
        array
        for array in survey.snapshot.arrays
        if not array.active and not array.is_container and any(_has(array, name) for name in names)
    )


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
