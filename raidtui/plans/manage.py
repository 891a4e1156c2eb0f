"""Steps of ``mdadm --manage``: what may be acted on, steps bound to that, and how a replace is undone.

Measured on kernel 6.1 (raid1, raid5, raid6, raid10): a replacement can be failed and removed while it is
being filled, the array stays as redundant as it was, and ``-want_replacement`` clears the request. While the
array is frozen, the copy cannot finish between the check and the failing: the replacement would then be the
only copy. Once the copy is complete, the old member is faulty, and the replace cannot be undone.
"""

from __future__ import annotations

from msgspec.structs import replace

from raidtui.model.array import Array, Member
from raidtui.model.bad_blocks import lost, only_holders
from raidtui.model.fact import Fact, FactKind
from raidtui.model.geometry import losses_left
from raidtui.model.levels import NO_REDUNDANCY, PARITY_LEVELS
from raidtui.model.plan import Refusal, RefusalCode, RunTool, Step, WaitUntil
from raidtui.model.refuse_silence import refuse_silence
from raidtui.model.survey import Device, Survey
from raidtui.plans.contents import device_facts, same_disk
from raidtui.plans.target import array_step, base_of, needs_root
from raidtui.view.units import joined

SPARE_AGAIN = "with its superblock, udev would add it as a spare again"
"""Why a spare that was released loses its superblock."""


def refuse_array(survey: Survey, array: Array) -> Refusal | None:
    """Return why an array's members cannot be changed at all, or None."""
    if refusal := needs_root(survey.snapshot):
        return refusal
    if refusal := refuse_silence(survey.mdadm, package="mdadm"):
        return refusal
    if not array.active:
        return Refusal(
            code=RefusalCode.WRONG_STATE, why=f"{array.title} is inactive", remedy="assemble it first"
        )
    if array.read_only == "read-only":
        return Refusal(
            code=RefusalCode.WRONG_STATE,
            why=f"{array.title} is read-only",
            remedy=f"mdadm --readwrite {array.path}",
        )
    if (array.metadata or "").startswith("external"):
        return Refusal(
            code=RefusalCode.UNSUPPORTED,
            why=f"{array.title} has external metadata, which raidtui only monitors",
        )
    return None


def refuse_now(array: Array) -> Refusal | None:
    """Return why an array cannot be reshaped at the moment: something syncs, or a member is missing."""
    if array.sync is not None or array.work_waits:
        action = array.sync.action if array.sync is not None else "sync"
        return Refusal(
            code=RefusalCode.BUSY, why=f"a {action} is in progress", remedy="wait until it is done"
        )
    if array.degraded:
        return Refusal(
            code=RefusalCode.WRONG_STATE,
            why=f"{array.title} is degraded",
            remedy="replace the missing member first",
        )
    return refuse_detached(array)


def refuse_detached(array: Array) -> Refusal | None:
    """Return that the device of a member left the machine, which md has not noticed; or None."""
    if not array.detached:
        return None
    names = [member.name for member in array.detached]
    return Refusal(
        code=RefusalCode.WRONG_STATE,
        why=f"{joined(names)} left the machine, and md has not noticed yet",
        remedy=f"mark {'it' if len(names) == 1 else 'them'} as failed first",
    )


def refuse_read_only(array: Array) -> Refusal | None:
    """Return why md writes nothing to an array by itself, or None."""
    if not array.read_only:
        return None
    return Refusal(
        code=RefusalCode.WRONG_STATE,
        why=f"{array.title} is {array.read_only}",
        remedy="make it read-write first",
    )


def member_of(survey: Survey, array: Array, name: str) -> Member | Refusal:
    """Return a member that may be acted on, or why not."""
    if refusal := refuse_array(survey, array):
        return refusal
    member = next((each for each in array.members if each.name == name), None)
    return member or Refusal(code=RefusalCode.NOT_FOUND, why=f"{name} is not a member of {array.title}")


def refuse_loss(array: Array, member: Member) -> Refusal | None:
    """Return why the array cannot do without this member, or None: the last good copy is never given up."""
    if not array.redundant:
        return no_redundancy(array, member)
    if member.has("journal") and member.detached:
        return None  # it holds nothing any more that md could read
    if member.has("journal"):
        return Refusal(
            code=RefusalCode.NOT_REDUNDANT,
            why=f"{member.name} is the journal of {array.title}, which is read-only without it",
        )
    if member.slot is None or not member.has("in_sync"):
        return None
    if array.up is None:
        return Refusal(code=RefusalCode.UNKNOWN, why="which members are in sync is not known")
    left = losses_left(array.level, array.layout, len(array.up), tuple({*array.not_up, member.slot}))
    if member.detached and left is not None and left < 0:
        return Refusal(
            code=RefusalCode.NOT_REDUNDANT,
            why=f"too few members of {array.title} are there: {joined([m.name for m in array.detached])} left"
            " the machine",
            remedy="reconnect what left, stop the array, and assemble it again",
        )
    if left is None or left < 0:
        return Refusal(
            code=RefusalCode.NOT_REDUNDANT,
            why=f"{member.name} holds the last copy of part of {array.title}",
            remedy="add a disk, or replace it",
        )
    if refusal := _refuse_bad_blocks(array, member):
        return refusal
    unsynced = array.level in PARITY_LEVELS and array.resync_start not in {None, "none"}
    if array.parity_unfinished or unsynced:
        return Refusal(
            code=RefusalCode.NOT_REDUNDANT,
            why=f"{array.title} is not yet in sync",
            remedy="wait for the resync",
        )
    return None


def _refuse_bad_blocks(array: Array, member: Member) -> Refusal | None:
    """Return why a member that could go by the level is needed: where others are bad, it has the data."""
    held = next((held for each, held in only_holders(array) if each.name == member.name), None)
    if held is None:
        return None
    return Refusal(
        code=RefusalCode.NOT_REDUNDANT,
        why=f"{member.name} alone holds {held.size} of {array.title}: there are bad blocks on"
        f" {joined(held.names)}",
        remedy=f"replace {joined(held.names)} first: its bad blocks are then read from {member.name}",
    )


def good_elsewhere(array: Array, member: Member) -> tuple[Fact, ...]:
    """Return that no bad block was recorded on the other members since the plan was made."""
    base = base_of(array)
    return tuple(
        Fact(kind=FactKind.TEXT, subject=f"{base}/dev-{each.name.replace('/', '!')}/bad_blocks", value="")
        for each in array.members
        if each.name != member.name and each.slot is not None and each.bad_blocks == ()
    )


def bad_block_notes(array: Array) -> tuple[str, ...]:
    """Return a note on sectors that cannot be copied, because no good copy is left; or nothing."""
    gone = lost(array)
    if not gone.sectors:
        return ()
    names = joined(gone.names)
    text = f"{gone.size} cannot be copied: there are bad blocks on {names}, and no good copy is left in"
    return (f"{text} {array.title}. A former member may still hold it: leave it unchanged.",)


def no_redundancy(array: Array, member: Member) -> Refusal:
    """Return that every member is needed."""
    if array.level in NO_REDUNDANCY or array.as_raid4:
        return Refusal(
            code=RefusalCode.NOT_REDUNDANT,
            why=f"{array.why_not_redundant}: without {member.name} all data is lost",
        )
    return Refusal(
        code=RefusalCode.UNKNOWN,
        why=f"{array.why_not_redundant}, so whether it can do without {member.name} is not known",
    )


def manage(array: Array, options: tuple[str, ...], why: str, *proves: Fact) -> Step:
    """Return a step of ``mdadm --manage`` on the array with this UUID, whatever its name is by then."""
    argv = ("mdadm", "--manage", array.path, *options)
    return RunTool(argv=argv, why=why, needs=same_array(array), proves=proves)


def word_for(member: Member) -> str:
    """Return mdadm's word for a member: its path, or the kernel's name of a device that has no path any more.

    mdadm finds a name without a slash in md's sysfs, for --fail and --remove alone (Manage_subdevs); the word
    ``detached`` would mean all such members.
    """
    return member.name.replace("/", "!") if member.present is False else f"/dev/{member.name}"


def fail_and_remove(array: Array, name: str, why: str) -> tuple[Step, Step]:
    """Return the steps that take a member out of service, and out of the array.

    After a power cut between them md has not started the array with it ("kicking non-fresh"), and mdadm finds
    nothing to fail, or to remove: that is done then. Or mdadm has taken it back as the machine booted: a disk
    that comes while its array is started is added to it. It has to fail once more then.

    Args:
        array: the array.
        name: its member.
        why: it has to leave, a clause.
    """
    path = f"/dev/{name}"
    fail = manage(array, ("--fail", path), why, member_fact(array, name, "faulty|absent"))
    remove = manage(array, ("--remove", path), "release it", member_fact(array, name, "absent"))
    fail = replace(fail, proof_decides=True, volatile=True)
    return fail, replace(remove, proof_decides=True, patient=True)


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


def await_filled(array: Array, name: str, why: str) -> Step:
    """Return the step that waits for the copy to a member, which md makes by itself.

    Args:
        array: the array.
        name: the member that is filled.
        why: what md does, a clause.
    """
    same = same_array(array)
    return WaitUntil(
        why=why,
        until=(*same, member_fact(array, name, "in_sync")),
        as_long_as=(*same, member_fact(array, name, "spare|in_sync")),
    )


def same_array(array: Array) -> tuple[Fact, ...]:
    """Return that a kernel name still is the array with this UUID; nothing where it has none."""
    return (Fact(kind=FactKind.ARRAY, subject=array.name, value=array.uuid),) if array.uuid else ()


def member_fact(array: Array, name: str, words: str) -> Fact:
    """Return that a member has one of these states ("a|b"), is "present", or "absent"."""
    return Fact(kind=FactKind.MEMBER, subject=f"{array.name}/{name}", value=words)


def undo_add_spare(array: Array, old: str, new: str, same: tuple[Fact, ...] = ()) -> tuple[Step, ...]:
    """Return what takes the device back that was added as a spare, for the copy.

    Its superblock goes, too: udev gives a spare that has one back to its array at the next event, and at the
    next boot (``mdadm --incremental``).

    Args:
        array: the array.
        old: the member that was to go.
        new: the device; it was free before.
        same: facts that say that it still is the same disk.
    """
    zero = zero_step(array, new, same, SPARE_AGAIN)
    return (_settle(new), _remove(array, old, new, "release it"), *((zero,) if array.uuid else ()))


def undo_replace(array: Array, old: str, new: str, *, spare: bool) -> tuple[Step, ...]:
    """Return what ends the copying of a member to another device, and lets the member stay.

    The first step says whether it can be done at all; ``idle`` must come after it, whatever became of those
    between.

    Args:
        array: the array.
        old: the member that was to go.
        new: the device that it is copied to.
        spare: whether that was a spare of the array before: then it is one again.
    """
    serves = _serves(array, old, new)
    freeze = array_step(array, "sync_action", "frozen", "keeps the copy from finishing meanwhile")
    fail = manage(
        array, ("--fail", f"/dev/{new}"), "abandon the copy", member_fact(array, new, "faulty|absent")
    )
    thaw = array_step(array, "sync_action", "idle", f"resumes pending work and frees the slot of {new}")
    add = manage(
        array, ("--add-spare", f"/dev/{new}"), "it was a spare before", member_fact(array, new, "spare")
    )
    return (
        replace(freeze, needs=(serves,)),
        replace(fail, needs=(*fail.needs, serves)),
        array_step(array, f"dev-{old.replace('/', '!')}/state", "-want_replacement", f"keep {old}"),
        replace(thaw, proves=(Fact(kind=FactKind.LOOSE, subject=f"{array.name}/{new}"),)),
        _settle(new),
        _remove(array, old, new, "remove it"),
        *((add,) if spare else ()),
    )


def zero_released(survey: Survey, array: Array, name: str) -> Step:
    """Return the step that zeroes the superblock of a member that was released: udev would add it again."""
    return bound(survey, zero_step(array, name, (), "with its superblock, udev would add it again"), name)


def zero_step(array: Array, name: str, same: tuple[Fact, ...], why: str) -> Step:
    """Return the step that zeroes the superblock of a former member.

    Args:
        array: the array.
        name: its former member.
        same: facts that say that it still is the same disk.
        why: what would happen else.
    """
    return RunTool(
        argv=("mdadm", "--zero-superblock", f"/dev/{name}"),
        why=why,
        needs=(
            *same,
            Fact(kind=FactKind.FREE, subject=name),
            Fact(kind=FactKind.SUPERBLOCK, subject=name, value=array.uuid or ""),
        ),
        proves=(Fact(kind=FactKind.SUPERBLOCK, subject=name),),
    )


def _remove(array: Array, old: str, new: str, why: str) -> Step:
    remove = manage(array, ("--remove", f"/dev/{new}"), why, member_fact(array, new, "absent"))
    return replace(remove, needs=(*remove.needs, _serves(array, old, new)))


def _settle(new: str) -> Step:
    """What was added a moment ago, udev may be about to add again."""
    return RunTool(
        argv=("udevadm", "settle", "--timeout=10"), why=f"wait for udev to finish with {new}", may_fail=True
    )


def _serves(array: Array, old: str, new: str) -> Fact:
    return Fact(kind=FactKind.SERVES, subject=f"{array.name}/{old}", value=new)
