"""What the verbs of ``mdadm --manage`` share: what may be acted on, and steps bound to that."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from raidtui.model.array import Array, Member
from raidtui.model.bad_blocks import lost, only_holders
from raidtui.model.geometry import losses_left
from raidtui.model.levels import NO_REDUNDANCY, PARITY_LEVELS
from raidtui.model.plan import Fact, Kind, Refusal, Step
from raidtui.model.survey import Device, Survey
from raidtui.plans.contents import device_facts, same_disk
from raidtui.plans.target import base_of, needs_root
from raidtui.view.units import joined


def refuse_array(survey: Survey, array: Array) -> Refusal | None:
    """Return why an array's members cannot be changed at all, or None."""
    if refusal := needs_root(survey.snapshot):
        return refusal
    if survey.mdadm is None:
        return Refusal(code="no-tool", why="mdadm is not installed", remedy="apt install mdadm")
    if not array.active:
        return Refusal(code="wrong-state", why=f"{array.title} is inactive", remedy="assemble it first")
    if array.read_only == "read-only":
        return Refusal(
            code="wrong-state", why=f"{array.title} is read-only", remedy=f"mdadm --readwrite {array.path}"
        )
    if (array.metadata or "").startswith("external"):
        return Refusal(
            code="unsupported",
            why=f"{array.title} is managed by its controller's metadata, which is only watched",
        )
    return None


def member_of(survey: Survey, array: Array, name: str) -> Member | Refusal:
    """Return a member that may be acted on, or why not."""
    if refusal := refuse_array(survey, array):
        return refusal
    member = next((each for each in array.members if each.name == name), None)
    return member or Refusal(code="not-found", why=f"{name} is no member of {array.title}")


def refuse_loss(array: Array, member: Member) -> Refusal | None:
    """Return why the array cannot do without this member, or None: the last good copy is never given up."""
    if not array.redundant:
        return no_redundancy(array, member)
    if member.has("journal"):
        return Refusal(
            code="not-redundant",
            why=f"{member.name} is the journal of {array.title}, which is read-only without it",
        )
    if member.slot is None or not member.has("in_sync"):
        return None
    missing = array.missing_slots
    if array.up is None or missing is None:
        return Refusal(code="unknown", why="which members are in sync is not known")
    left = losses_left(array.level, array.layout, len(array.up), tuple({*missing, member.slot}))
    if left is None or left < 0:
        return Refusal(
            code="not-redundant",
            why=f"{member.name} holds the last copy of a part of {array.title}",
            remedy="add a disk, or replace it",
        )
    if refusal := _refuse_bad_blocks(array, member):
        return refusal
    unsynced = array.level in PARITY_LEVELS and array.resync_start not in {None, "none"}
    if array.parity_unfinished or unsynced:
        return Refusal(
            code="not-redundant", why=f"{array.title} is not yet in sync", remedy="wait for the resync"
        )
    return None


def _refuse_bad_blocks(array: Array, member: Member) -> Refusal | None:
    """Return why a member that could go by the level is needed: where others are bad, it has the data."""
    held = next((held for each, held in only_holders(array) if each.name == member.name), None)
    if held is None:
        return None
    return Refusal(
        code="not-redundant",
        why=f"{member.name} alone holds {held.size} of {array.title}: there are bad blocks on"
        f" {joined(held.names)}",
        remedy=f"replace {joined(held.names)} first; what is bad there is copied from {member.name}",
    )


def good_elsewhere(array: Array, member: Member) -> tuple[Fact, ...]:
    """Return that no bad block was recorded on the other members since the plan was made."""
    base = base_of(array)
    return tuple(
        Fact(kind=Kind.TEXT, subject=f"{base}/dev-{each.name.replace('/', '!')}/bad_blocks", value="")
        for each in array.members
        if each.name != member.name and each.slot is not None and each.bad_blocks == ()
    )


def bad_block_notes(array: Array) -> tuple[str, ...]:
    """Return what cannot be copied to a new member, because no good copy is left of it."""
    gone = lost(array)
    if not gone.sectors:
        return ()
    names = joined(gone.names)
    text = f"{gone.size} cannot be copied: there are bad blocks on {names}, and no good copy is left in"
    return (f"{text} {array.title}. A former member may still have it: keep it as it is.",)


def no_redundancy(array: Array, member: Member) -> Refusal:
    """Return that every member is needed."""
    if array.level in NO_REDUNDANCY:
        return Refusal(
            code="not-redundant", why=f"{array.level} has no redundancy: without {member.name} all is gone"
        )
    return Refusal(
        code="unknown",
        why=f"{array.why_not_redundant}, so whether it can do without {member.name} is not known",
    )


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
