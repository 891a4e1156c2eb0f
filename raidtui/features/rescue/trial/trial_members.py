"""The members of a trial: whether they can be had, and how little is enough to try them. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from raidtui.features.rescue.mdadm_words import EXTERNAL, Recreation
from raidtui.features.rescue.trial.trial_request import MOST_VOLUMES, TrialMethod, TrialRequest
from raidtui.model.array import Array
from raidtui.model.plan import Refusal, RefusalCode
from raidtui.model.reshape_place import is_cut
from raidtui.model.survey import Device, Superblock, Survey
from raidtui.plans.target import needs_root


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
            why=f"{name} is in a container of {words} metadata, which knows none of that",
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
