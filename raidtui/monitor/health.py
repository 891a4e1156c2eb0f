"""Findings about arrays: the verdict of ``raidtui.model.verdict`` with a sentence and a remedy.

Not faults: auto-read-only, a running check, a resync, mismatches on RAID-1 and RAID-10 (swap and mapped files
leave harmless ones there). Faults: a failed, missing or degraded array, judged by level and mirror sets.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from raidtui.model.absent import Absence, AbsentArray
from raidtui.model.array import Array, Member, Phase
from raidtui.model.bad_blocks import bad_members, bad_sectors, lost, only_holders
from raidtui.model.check_words import found_words
from raidtui.model.finding import Finding, FindingCode, Health, Severity
from raidtui.model.snapshot import Snapshot
from raidtui.model.sync_record import CHECKS, LastCheck
from raidtui.model.verdict import INFO, Condition, health_word, is_unread, troubles
from raidtui.monitor.sync_health import (
    Troubles,
    finding_of,
    judge_awaited,
    judge_sync,
    resume_words,
    writable_words,
)
from raidtui.view.units import SECTOR_BYTES, binary_size, counted, joined

_HEALTHS = {health.word: health for health in Health}
_NEVER_RE_CREATE = "never re-create it"
_ASSEMBLE = "assemble it: a in the console, or mdadm --assemble"
_RESCUE = "raidtui rescue (a in the console) says what happened and how it comes back"


def judge(
    snapshot: Snapshot, known: dict[str, tuple[Array, tuple[Finding, ...]]] | None = None
) -> tuple[Finding, ...]:
    """Return the findings of all arrays, the worst first.

    Args:
        snapshot: the arrays.
        known: former findings by ``Array.key``, kept by the caller; an array that is still the same object is
            not judged again.
    """
    known = {} if known is None else known
    found: list[Finding] = []
    for array in snapshot.arrays:
        before = known.get(array.key)
        origin = snapshot.origins.get(array.key, "")
        if before is None or before[0] is not array or origin:
            found_now = judge_array(array, snapshot.checks.get(array.key), origin)
            before = known[array.key] = (array, tuple(found_now))
        found += before[1]
    for absent in snapshot.absent:
        found.append(judge_absent(absent))
    if len(known) > len(snapshot.arrays):
        for key in known.keys() - {array.key for array in snapshot.arrays}:
            del known[key]
    return tuple(sorted(found, key=lambda finding: -finding.severity))


def health_of(array: Array, findings: Sequence[Finding]) -> Health:
    """Return an array's health by the findings about it."""
    worst = max((finding.severity for finding in findings if finding.subject == array.key), default=INFO)
    stale = array.stale is not None
    unread = is_unread(active=array.active, level=array.level, up=array.up, stale=stale)
    return _HEALTHS[health_word(worst, unread=unread)]


def by_subject(findings: Sequence[Finding]) -> dict[str, list[Finding]]:
    """Return the findings by subject; one search per array would be slow with hundreds of arrays."""
    found: dict[str, list[Finding]] = {}
    for finding in findings:
        found.setdefault(finding.subject, []).append(finding)
    return found


def healths_of(snapshot: Snapshot, findings: Sequence[Finding]) -> dict[str, Health]:
    """Return the health of each array by its key, also of those that do not run."""
    own = by_subject(findings)
    found = {array.key: health_of(array, own.get(array.key, ())) for array in snapshot.arrays}
    return found | {absent.key: health_of_absent(absent) for absent in snapshot.absent}


def health_of_absent(absent: AbsentArray) -> Health:
    """Return the health of an array that does not run: one with all its members may have been stopped."""
    if absent.absence is Absence.NOT_THERE:
        return Health.FAILED if absent.wanted else Health.ATTENTION
    if absent.absence is Absence.GONE or absent.complete is False:
        return Health.FAILED
    return Health.UNKNOWN if absent.complete is None else Health.ATTENTION


def exit_status(snapshot: Snapshot, findings: Sequence[Finding]) -> int:
    """Return 0 for all well, 1 for degraded or attention, 2 for failed, 3 where the state is not known."""
    healths = healths_of(snapshot, findings).values()
    if Health.FAILED in healths:
        return 2
    if not snapshot.readable or Health.UNKNOWN in healths or _unread_lines(snapshot):
        return 3
    return 1 if any(health >= Health.ATTENTION for health in healths) else 0


def condition_of(array: Array, check: LastCheck | None = None, origin: str = "") -> Condition:
    """Return what the verdict on an array is made from; the arguments are as for ``judge_array``."""
    condition = Condition(
        active=array.active,
        container=array.is_container,
        level=array.level,
        layout=array.layout,
        up=array.up,
    )
    journals = [member for member in array.members if member.has("journal")]
    condition.understood = array.understood
    condition.stale = array.stale is not None
    condition.broken = array.array_state == "broken"
    condition.faulty = any(m.has("faulty") and not m.has("journal") for m in array.members)
    condition.detached = any(not member.has("journal") for member in array.detached)
    condition.detached_slots = array.detached_slots
    condition.journal_lost = (array.consistency_policy == "journal" or bool(journals)) and all(
        member.has("faulty") or member.detached for member in journals
    )
    condition.awaited = array.awaited_slots
    condition.frozen = array.sync_action == "frozen"
    condition.work_waits = array.work_waits
    condition.sync, condition.phase = (array.sync.action, array.sync.phase) if array.sync else ("", "")
    if array.reshape is not None and array.sync is None and not condition.frozen:
        condition.sync, condition.phase = "reshape", Phase.PENDING  # it stands in mid-way
    condition.bad_blocks = bool(bad_members(array))
    condition.data_lost = condition.bad_blocks and bool(lost(array).sectors)
    condition.member_trouble = any(_is_in_trouble(member) for member in array.members)
    condition.mismatches = array.mismatch_count or 0
    condition.last_action = array.last_sync_action or ""
    if check is not None:
        condition.mismatches = 0 if check.rewritten else check.mismatches
        condition.last_action = check.action
    condition.same_uuid = array.twin
    condition.created_over = bool(origin)
    return condition


def judge_array(array: Array, check: LastCheck | None = None, origin: str = "") -> Iterator[Finding]:
    """Yield the findings about one array.

    Args:
        array: the array.
        check: what is known of its last check.
        origin: what is older than it, a clause.
    """
    found = troubles(condition_of(array, check, origin))
    if origin:
        remedy = (
            f"if what it held is wanted, stop it now (mdadm --stop {array.path}): the {array.sync_action}"
            " overwrites it; then raidtui rescue (a in the console)"
        )
        yield finding_of(array, FindingCode.CREATED_OVER, origin, remedy, found=found)
    if array.stale is not None and not array.understood:
        text = f"is there, but its lines in /proc/mdstat are not understood: {array.stale.reason}"
        remedy = f"mdadm --detail {array.path} shows its state; please report it: raidtui capture FILE"
        yield finding_of(array, FindingCode.NOT_UNDERSTOOD, text, remedy)
    elif array.stale is not None:
        yield finding_of(array, FindingCode.STALE, f"cannot be read now: {array.stale.reason}", found=found)
    if not array.active:
        if FindingCode.INACTIVE in found:
            yield _inactive(array, found)
        return
    yield from _judge_members(array, found)
    yield from judge_sync(array, found)
    yield from _judge_rest(array, check, found)


def _judge_members(array: Array, found: Troubles) -> Iterator[Finding]:
    missing = array.missing_slots or ()
    faulty = [m.name for m in array.members if m.has("faulty") and not m.has("journal")]
    if FindingCode.FAILED in found:
        text = f"has failed: {_missing_words(array, missing, faulty)}"
        remedy = f"do not write to it and {_NEVER_RE_CREATE}; {_RESCUE}"
        if array.detached:
            names = joined([member.name for member in array.detached])
            remedy = (
                f"do not write to it; reconnect {names}, stop it and assemble it again; {_NEVER_RE_CREATE}"
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
        yield _degraded(array, missing, faulty, found)
    elif FindingCode.MEMBER_FAULTY in found:
        verb, them = ("has", "it") if len(faulty) == 1 else ("have", "them")
        text = f"{joined(faulty)} {verb} failed; all slots are filled without {them}"
        remedy = f"mdadm {array.path} --remove failed, then replace the disk"
        yield finding_of(array, FindingCode.MEMBER_FAULTY, text, remedy, found=found)
    if FindingCode.BAD_BLOCKS in found:
        yield from _judge_bad_blocks(array, found)
    if array.awaited_slots:
        yield judge_awaited(array)
    for member in array.members:
        if _is_in_trouble(member):
            text = f"member {member.name}: {'write errors' if member.has('write_error') else 'is blocked'}"
            yield finding_of(array, FindingCode.MEMBER_TROUBLE, text, "look at its SMART data", found=found)
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


def _is_in_trouble(member: Member) -> bool:
    return member.has("write_error") or (member.has("blocked") and not member.has("faulty"))


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
    remedy = f"replace {joined([each.name for each in bad])} (R); fail no other member before"
    yield finding_of(array, FindingCode.BAD_BLOCKS, text, remedy, found=found)


def _degraded(array: Array, missing: Sequence[int], faulty: list[str], found: Troubles) -> Finding:
    recovering = array.sync is not None and array.sync.action == "recover"
    spare = any(member.role == "spare" for member in array.members)
    if set(missing) <= set(array.detached_slots):  # md knows of none of them
        remedy = "once it is marked as failed, the spare is filled" if spare else ""
    elif array.sync is not None and array.sync.phase is Phase.FROZEN:
        remedy = f"nothing is rebuilt while it is frozen; {resume_words(array)}"
    elif recovering and array.sync is not None and array.sync.phase is Phase.RUNNING:
        remedy = "a recovery runs; leave the other members alone until it is done"
    elif array.read_only and (recovering or spare or _is_there(array)):
        remedy = f"what fills it is there, and waits until it is writable: {writable_words(array)}"
    elif recovering or spare:
        remedy = "a spare is there; its recovery has not started yet"
    elif _is_there(array):
        remedy = "the member that is to be filled is there; its recovery has not started yet"
    else:
        remedy = f"add a disk: mdadm {array.path} --add DEVICE"
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
    rebuilding = [member.name for member in array.members if member.role == "rebuilding"]
    left = [member.name for member in array.detached if not member.has("journal")]
    if not missing and (faulty or left):
        parts = [(faulty, "failed"), (left, "left the machine")]
        return ", ".join(f"{joined(names)} {what}" for names, what in parts if names)
    if not missing:
        return "a member is gone"
    slots = f"slot{'s' if len(missing) > 1 else ''} {', '.join(map(str, missing))}"
    words = f"{len(missing)} of {counted(total, 'member')} missing ({slots})"
    if faulty:
        words += f", {joined(faulty)} failed"
    if rebuilding:
        words += f", {joined(rebuilding)} being rebuilt"
    if left:
        words += f", {joined(left)} left the machine"
    return words


def _inactive(array: Array, found: Troubles) -> Finding:
    here = [member for member in array.members if not member.detached]
    slots = {member.slot for member in here if member.slot is not None and not member.has("faulty")}
    there = len(slots) or sum(not member.has("journal") for member in here)
    wanted = f" of {array.raid_disks}" if array.raid_disks else ""
    noun = "member" if (array.raid_disks or there) == 1 else "members"
    command = "raidtui plan assemble (a in the console)"
    if array.raid_disks is not None and there < array.raid_disks:
        remedy = f"find the missing members; {command} says whether it can start without them"
    else:
        remedy = f"{command} starts it, or says what keeps it from starting"
    text = f"is inactive: not started, with {there}{wanted} {noun}"
    return finding_of(array, FindingCode.INACTIVE, text, f"{remedy}; {_NEVER_RE_CREATE}", found=found)


def _judge_rest(array: Array, check: LastCheck | None, found: Troubles) -> Iterator[Finding]:
    if array.read_only == "auto-read-only":
        yield finding_of(
            array,
            FindingCode.AUTO_READ_ONLY,
            "is auto-read-only: the first write makes it writable",
            writable_words(array) if array.work_waits and array.reshape is None else "",
        )
    elif array.read_only:
        yield finding_of(array, FindingCode.READ_ONLY, "is read-only", f"mdadm --readwrite {array.path}")
    if FindingCode.JOURNAL_MISSING in found:
        text = "has lost its journal device and accepts no writes until it has a new one, or another policy"
        left = [member.name for member in array.detached if member.has("journal")]
        if left:
            text = (
                f"has lost its journal device: {joined(left)} left the machine, which md notices at the next"
                " write; from then on it accepts none until it has a new one, or another policy"
            )
        remedy = f"mdadm --readonly {array.path}, then mdadm {array.path} --add-journal DEVICE"
        if left:
            remedy = f"raidtui plan fail {array.title} {left[0]} and plan remove take it out; then {remedy}"
        yield finding_of(array, FindingCode.JOURNAL_MISSING, text, remedy, found=found)
    yield from _judge_mismatches(array, check, found)
    if FindingCode.SAME_UUID in found:
        text = "has the UUID of another array: a split mirror, or a copied disk"
        remedy = f"use only one of them; mdadm --detail {array.path} shows when it was written last"
        yield finding_of(array, FindingCode.SAME_UUID, text, remedy, found=found)


def _judge_mismatches(array: Array, check: LastCheck | None, found: Troubles) -> Iterator[Finding]:
    """What did not match: by the record of the checks, else by the counter of the last check or repair.

    The counter may be a resync's, which has rewritten what it met.
    """
    if check is None and array.last_sync_action != "resync":
        action = "repair" if array.last_sync_action == "repair" else "check"
        check = LastCheck(action=action, complete=None, mismatches=array.mismatch_count or 0)
    if check is None or not check.mismatches or (check.rewritten and check.action != "repair"):
        return
    text = f"the last {check.action} {found_words(check)}"
    if array.sync is not None and array.sync.action in CHECKS and array.sync.phase is Phase.RUNNING:
        text = f"the {array.sync.action} has met {counted(check.mismatches, 'mismatched sector')} so far"
    remedy = f"raidtui rescue mismatches {array.name} says where; a repair rewrites parity, not the data"
    parity = FindingCode.MISMATCHES in found
    yield finding_of(array, FindingCode.MISMATCHES, text, remedy if parity else "", found=found)


def judge_absent(absent: AbsentArray) -> Finding:
    """Return the finding about an array that should run and does not."""
    health = health_of_absent(absent)
    lost = [member.name for member in absent.members if not member.present]
    there = [member.name for member in absent.present]
    whole = [member.name for member in absent.present if member.events_behind <= 1 and not member.dropped]
    counted_ones = whole if absent.filled == len(whole) else there
    count = absent.count_words + (f" ({', '.join(counted_ones)})" if counted_ones else "")
    names = "names" if len(absent.named_by) == 1 else "name"
    old = [member.name for member in absent.members if member.events_behind > 1]
    if old:
        count += f"; {joined(old)} {'is' if len(old) == 1 else 'are'} behind the others"
    dropped = [member.name for member in absent.members if member.dropped and member.events_behind <= 1]
    if dropped:
        count += f"; the others count {joined(dropped)} as failed"
    if absent.absence is Absence.GONE:
        code, sentence = FindingCode.GONE, f"is gone: it ended without having been stopped, {count}"
        if lost:
            sentence += f"; not there: {', '.join(lost)}"
        remedy = f"reconnect what is missing, and {_NEVER_RE_CREATE}; {_RESCUE}"
    elif absent.absence is Absence.NOT_THERE:
        code = FindingCode.NOT_THERE
        sentence = f"does not run, and no member of it was found: {joined(absent.named_by)} {names} it"
        remedy = "look for its disks; if the array is no longer wanted, remove that line"
    else:
        code, sentence = FindingCode.NOT_STARTED, f"is not started: {count}"
        if absent.awaits_udev:
            reads = (
                f"has not read {joined(absent.unread)} yet" if absent.unread else "is still reading devices"
            )
            sentence = f"is not started: {count}; udev {reads}"
            remedy = "udevadm settle waits until udev is done; udevadm trigger makes it read devices again"
        elif absent.raid_disks is None:
            sentence = f"is not started: {count}; the number of its members is not known"
            remedy = f"run raidtui as root; {_ASSEMBLE}"
            if absent.silence:
                sentence, remedy = f"{sentence}: {absent.silence}", "see the kernel log, and try again"
        elif health is Health.FAILED:
            find = "find the missing members, and " if len(there) < absent.raid_disks else ""
            remedy = f"{find}{_NEVER_RE_CREATE}; {_RESCUE}"
        elif absent.obstacle:
            sentence += f"; {absent.obstacle}"
            remedy = f"{_NEVER_RE_CREATE}; {_RESCUE}"
        else:
            ignore = f"; ARRAY <ignore> UUID={absent.uuid} in mdadm.conf keeps it from being reported"
            remedy = _ASSEMBLE + ignore
        if absent.named_by:
            sentence += f"; {joined(absent.named_by)} {names} it"
    severity = Severity.FAILED if health is Health.FAILED else Severity.ATTENTION
    return Finding(
        severity=severity,
        code=code,
        subject=absent.key,
        name=absent.title,
        sentence=sentence,
        remedy=remedy,
    )


def _unread_lines(snapshot: Snapshot) -> bool:
    return snapshot.md_loaded and any(lack.part == "/proc/mdstat" for lack in snapshot.lacks)
