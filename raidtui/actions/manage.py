"""What the verbs of ``mdadm --manage`` share: what may be acted on, and steps bound to that."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from raidtui.actions.contents import device_facts, same_disk
from raidtui.actions.target import needs_root
from raidtui.model.array import Array, Member
from raidtui.model.geometry import losses_left
from raidtui.model.levels import PARITY_LEVELS
from raidtui.model.plan import Fact, Kind, Refusal, Step
from raidtui.model.survey import Device, Survey


def refuse_array(survey: Survey, array: Array) -> Refusal | None:
    """Return why an array's members cannot be changed at all, or None."""
    if refusal := needs_root(survey.snapshot):
        return refusal
    if survey.mdadm is None:
        return Refusal(why="mdadm is not installed", remedy="apt install mdadm")
    if not array.active:
        return Refusal(why=f"{array.title} is inactive", remedy="assemble it first")
    if array.read_only == "read-only":
        return Refusal(why=f"{array.title} is read-only", remedy=f"mdadm --readwrite {array.path}")
    if (array.metadata or "").startswith("external"):
        return Refusal(why=f"{array.title} is managed by its controller's metadata, which is only watched")
    return None


def member_of(survey: Survey, array: Array, name: str) -> Member | Refusal:
    """Return a member that may be acted on, or why not."""
    if refusal := refuse_array(survey, array):
        return refusal
    member = next((each for each in array.members if each.name == name), None)
    return member or Refusal(why=f"{name} is no member of {array.title}")


def refuse_loss(array: Array, member: Member) -> Refusal | None:
    """Return why the array cannot do without this member, or None: the last good copy is never given up."""
    if not array.redundant:
        return no_redundancy(array, member)
    if member.has("journal"):
        return Refusal(why=f"{member.name} is the journal of {array.title}, which is read-only without it")
    if member.slot is None or not member.has("in_sync"):
        return None
    missing = array.missing_slots
    if array.up is None or missing is None:
        return Refusal(why="which members are in sync is not known")
    left = losses_left(array.level, array.layout, len(array.up), tuple({*missing, member.slot}))
    if left is None or left < 0:
        return Refusal(
            why=f"{member.name} holds the last copy of a part of {array.title}",
            remedy="add a disk, or replace it",
        )
    unsynced = array.level in PARITY_LEVELS and array.resync_start not in {None, "none"}
    if array.parity_unfinished or unsynced:
        return Refusal(why=f"{array.title} is not yet in sync", remedy="wait for the resync")
    return None


def no_redundancy(array: Array, member: Member) -> Refusal:
    """Return that every member is needed."""
    return Refusal(why=f"{array.level} has no redundancy: without {member.name} all is gone")


def manage(array: Array, options: tuple[str, ...], why: str, *proves: Fact) -> Step:
    """Return a step of ``mdadm --manage`` on the array with this UUID, whatever its name is by then."""
    identity = (Fact(kind=Kind.ARRAY, subject=array.name, value=array.uuid),) if array.uuid else ()
    return Step(argv=("mdadm", "--manage", array.path, *options), why=why, needs=identity, proves=proves)


def bound(
    survey: Survey, step: Step, name: str, device: Device | None = None, *, untouched: bool = True
) -> Step:
    """Bind a step to the disk that was meant, whatever its name is by then."""
    if device is not None:
        own = device_facts(device, untouched=untouched)
    else:
        known = survey.devices.get(name)
        disk = survey.snapshot.disks.get(name) or (known.disk if known is not None else None)
        own = same_disk(name, disk, known) if disk is not None else ()
    return replace(step, needs=(*step.needs, *own))


def filled(array: Array, name: str, goes_on: str) -> dict[str, Any]:
    """Return what a plan says of the copy to a member, which md makes after the last step.

    Args:
        array: the array.
        name: the member that is filled.
        goes_on: what md does, a clause.
    """
    same = (Fact(kind=Kind.ARRAY, subject=array.name, value=array.uuid),) if array.uuid else ()
    return {
        "goes_on": goes_on,
        "ends": (*same, member_fact(array, name, "in_sync")),
        "lasts": (*same, member_fact(array, name, "spare|in_sync")),
    }


def member_fact(array: Array, name: str, words: str) -> Fact:
    """Return that a member has one of these states ("a|b"), is "present", or "absent"."""
    return Fact(kind=Kind.MEMBER, subject=f"{array.name}/{name}", value=words)
