"""Findings about the members of an array that runs: what is missing, failed, left or has bad blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from raidtui.model.array import Array, Member
from raidtui.model.array_sync import Phase
from raidtui.model.bad_blocks import bad_members, bad_sectors, lost, only_holders
from raidtui.model.finding import Finding, FindingCode
from raidtui.model.member_speed import SlowMember
from raidtui.model.snapshot import StaleLine
from raidtui.monitor.absent_health import NEVER_RE_CREATE, RESCUE
from raidtui.monitor.sync_health import Troubles, finding_of, judge_awaited, resume_words, writable_words
from raidtui.view.units import SECTOR_BYTES, binary_size, counted, joined


class Beside(Struct, frozen=True, kw_only=True):
    """What the verdict on an array needs of the rest of the host.

    Args:
        container: that which the array is a volume of.
        idle: names of devices in the container that serve no volume of it.
        stale_lines: as in ``Snapshot``.
        origin: what is older than the array, a clause; "" for nothing.
        slow: its member that is slower than its siblings.
    """

    container: Array | None = None
    idle: tuple[str, ...] = ()
    stale_lines: tuple[StaleLine, ...] = ()
    origin: str = ""
    slow: SlowMember | None = None


ALONE = Beside()


def judge_members(array: Array, found: Troubles, beside: Beside) -> Iterator[Finding]:
    """Yield the findings about an array's members; ``found`` is the verdict on it."""
    missing = array.missing_slots or ()
    faulty = [m.name for m in array.members if m.has("faulty") and not m.has("journal")]
    if FindingCode.FAILED in found:
        text = f"has failed: {_missing_words(array, missing, faulty)}"
        remedy = f"do not write to it and {NEVER_RE_CREATE}; {RESCUE}"
        if array.detached:
            names = joined([member.name for member in array.detached])
            remedy = (
                f"do not write to it; reconnect {names}, stop it and assemble it again; {NEVER_RE_CREATE}"
            )
        yield finding_of(array, FindingCode.FAILED, text, remedy, found=found)
        return
    if FindingCode.BROKEN in found:
        # MD_BROKEN of a mirror stays set until the array is stopped (drivers/md/raid1.c, raid10.c: error).
        # Every write ends in EIO, whatever members are added; mdadm --detail says "clean" (4.2, Linux 6.1).
        text = "is broken: every write fails since its last good member was reported as failed; reads work"
        remedy = f"stop it and assemble it again: mdadm --stop {array.path}, then mdadm --assemble"
        yield finding_of(array, FindingCode.BROKEN, text, remedy, found=found)
    if FindingCode.MEMBER_DETACHED in found:
        yield _detached(array, found)
    if FindingCode.DEGRADED in found:
        yield _degraded(array, missing, faulty, found, beside)
    elif FindingCode.MEMBER_FAULTY in found:
        verb, them = ("has", "it") if len(faulty) == 1 else ("have", "them")
        text = f"{joined(faulty)} {verb} failed; all slots are filled without {them}"
        remedy = f"mdadm {array.path} --remove failed, then replace the disk"
        if not found[FindingCode.MEMBER_FAULTY]:
            text = f"{joined(faulty)} {verb} failed; whether all slots are filled without {them} is not known"
            remedy = f"mdadm --detail {array.path} shows it"
        yield finding_of(array, FindingCode.MEMBER_FAULTY, text, remedy, found=found)
    if FindingCode.BAD_BLOCKS in found:
        yield from _judge_bad_blocks(array, found)
    if array.awaited_slots:
        yield judge_awaited(array)
    if array.unfilled_slots:
        text = (
            f"has {array.raid_disks} slots; the last {len(array.unfilled_slots)} have no member: NAS"
            " firmware (QNAP, Synology) makes its system arrays like this; a disk lost at the end looks the"
            " same"
        )
        yield finding_of(array, FindingCode.SLOTS_UNFILLED, text)
    for member in array.members:
        if is_in_trouble(member):
            text = f"member {member.name}: {'write errors' if member.has('write_error') else 'is blocked'}"
            if "E" in member.foreign:
                text = f"member {member.name} has read errors (E: a letter of Synology's kernel)"
            elif member.foreign:
                text = f"member {member.name} is marked {member.foreign}, a letter of another kernel"
            yield finding_of(array, FindingCode.MEMBER_TROUBLE, text, "check its SMART data", found=found)
        if member.errors:
            text = f"member {member.name}: {counted(member.errors, 'corrected read error')}"
            yield finding_of(array, FindingCode.READ_ERRORS, text, "a check (c) shows whether there are more")


def _detached(array: Array, found: Troubles) -> Finding:
    """Members that left: md notices when a request to one of them fails, so not while the array is idle."""
    left = [member for member in array.detached if not member.has("journal")]
    names = [f"the spare {each.name}" if each.slot is None else each.name for each in left]
    text = f"md has not noticed yet: {joined(names)} left the machine"
    serving = next((each.name for each in left if each.slot is not None), "")
    if serving:
        them = f"plan fail {array.title} {serving} marks it as failed (F in the console)"
        remedy = f"raidtui {them}; then remove it, and add a disk"
    else:
        remedy = f"raidtui plan remove {array.title} {left[0].name} releases it"
    return finding_of(array, FindingCode.MEMBER_DETACHED, text, remedy, found=found)


def is_in_trouble(member: Member) -> bool:
    """Whether a member that works has write errors, is blocked, or has a mark of another kernel."""
    blocked = member.has("blocked") and not member.has("faulty")
    return blocked or member.has("write_error") or bool(member.foreign)


def _judge_bad_blocks(array: Array, found: Troubles) -> Iterator[Finding]:
    bad = bad_members(array)
    if FindingCode.BAD_BLOCKS_LOST in found:
        gone = lost(array)
        text = f"has {gone.size} that cannot be read: all copies are bad there ({joined(gone.names)})"
        remedy = "read what is still readable; what lay there has to come from a backup"
        yield finding_of(array, FindingCode.BAD_BLOCKS_LOST, text, remedy, found=found)
    sizes = joined([f"{each.name} ({binary_size(bad_sectors(each) * SECTOR_BYTES)})" for each in bad])
    holders = only_holders(array)
    text = f"bad blocks are recorded on {sizes}"
    if holders:
        most = max((held for _, held in holders), key=lambda held: held.sectors)
        verb = "hold" if len(holders) > 1 else "holds"
        text += f": {joined([member.name for member, _ in holders])} alone {verb} {most.size} there"
    remedy = f"replace {joined([each.name for each in bad])} (R) before failing any other member"
    yield finding_of(array, FindingCode.BAD_BLOCKS, text, remedy, found=found)


def _degraded(
    array: Array, missing: Sequence[int], faulty: list[str], found: Troubles, beside: Beside
) -> Finding:
    recovering = array.sync is not None and array.sync.action == "recover"
    spare = any(member.role == "spare" for member in array.members)
    if FindingCode.BROKEN in found:
        remedy = ""  # that one comes first
    elif set(missing) <= set(array.detached_slots):  # md knows of none of them
        remedy = "once it is marked as failed, the spare is filled" if spare else ""
    elif array.sync is not None and array.sync.phase is Phase.FROZEN:
        remedy = f"nothing is rebuilt while it is frozen; {resume_words(array)}"
    elif recovering and array.sync is not None and array.sync.phase is Phase.RUNNING:
        remedy = "a recovery runs; leave the other members alone until it is done"
    elif array.sync is not None and array.sync.phase is Phase.REMOTE:
        remedy = "another node of the cluster fills it; leave the other members alone until it is done"
    elif recovering and array.sync is not None and array.sync.phase is Phase.DELAYED:
        remedy = "the member that fills it is present; its recovery waits for another array's"
    elif array.read_only and (recovering or spare or _is_there(array)):
        remedy = (
            "the member that fills it is present, and waits until the array is writable:"
            f" {writable_words(array)}"
        )
    elif recovering or spare:
        remedy = "a spare is present; its recovery has not started yet"
    elif _is_there(array):
        remedy = "the member to be rebuilt is present; its recovery has not started yet"
    else:
        remedy = _unread_words(array) or _add_words(array, beside)
    risk = ""
    if array.losses_left == 0:
        last = sorted(
            {s for g in array.mirror_sets for s in g if s not in missing and _is_last(g, s, missing)}
        )
        slots = f"slot{'s' if len(last) > 1 else ''} {', '.join(map(str, last))}"
        holds = "hold" if len(last) > 1 else "holds"
        risk = (
            f"; {slots} {holds} the last copy"
            if last and array.level == "raid10"
            else "; no redundancy is left"
        )
    text = f"is degraded: {_missing_words(array, missing, faulty)}{risk}"
    return finding_of(array, FindingCode.DEGRADED, text, remedy, found=found)


def _unread_words(array: Array) -> str:
    """What comes before a rebuild that has to read members with read errors: Synology's does not run."""
    names = [member.name for member in array.members if "E" in member.foreign]
    if not names or array.losses_left != 0:
        return ""
    if array.level == "raid1":
        return "its last member has read errors: copy its data away before a rebuild"
    verb = "has" if len(names) == 1 else "have"
    return f"{joined(names)} {verb} read errors: copy the data away before a rebuild"


def _add_words(array: Array, beside: Beside) -> str:
    """A disk is added to a container, not to its volume: mdmon then fills the volume (mdadm(8))."""
    if array.container is None:
        return f"add a disk: mdadm {array.path} --add DEVICE"
    path = beside.container.path if beside.container is not None else f"/dev/{array.container}"
    add = f"add a disk to its container: mdadm {path} --add DEVICE"
    if not beside.idle:
        return add
    names, are = joined(beside.idle), "is" if len(beside.idle) == 1 else "are"
    again = f"take it out and add it again once it is clear why, or {add}"
    return f"{names} {are} in the container {path} and in no volume: failed, or left and came back; {again}"


def _is_there(array: Array) -> bool:
    """Whether for each slot that is not in sync a device is there: it waits, and nothing is to be added."""
    there = [
        each
        for each in array.members
        if not (each.has("faulty") or each.has("journal") or each.has("replacement") or each.detached)
    ]
    return array.up is not None and len(there) >= len(array.up)


def _is_last(group: Sequence[int], slot: int, missing: Sequence[int]) -> bool:
    return [each for each in group if each not in missing] == [slot]


def _missing_words(array: Array, missing: Sequence[int], faulty: list[str]) -> str:
    total = len(array.up) if array.up is not None else array.raid_disks or len(array.members)
    total -= len(array.unfilled_slots)
    rebuilding = [member.name for member in array.members if member.role == "rebuilding"]
    left = [member.name for member in array.detached if not member.has("journal")]
    if not missing and (faulty or left):
        parts = [(faulty, "failed"), (left, "left the machine")]
        return ", ".join(f"{joined(names)} {what}" for names, what in parts if names)
    if not missing:
        lost = f"{array.degraded} of {counted(total, 'member')} missing" if array.degraded else ""
        return lost or "a member is gone"
    slots = f"slot{'s' if len(missing) > 1 else ''} {', '.join(map(str, missing))}"
    words = f"{len(missing)} of {counted(total, 'member')} missing ({slots})"
    if faulty:
        words += f", {joined(faulty)} failed"
    if rebuilding:
        words += f", {joined(rebuilding)} being rebuilt"
    if left:
        words += f", {joined(left)} left the machine"
    return words
