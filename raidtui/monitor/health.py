"""Findings about arrays: the verdict of ``raidtui.model.verdict`` with a sentence and a remedy.

Not faults: auto-read-only, a running check, a resync, mismatches on RAID-1 and RAID-10 (swap and mapped files
leave harmless ones there). Faults: a failed, missing or degraded array, judged by level and mirror sets.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from raidtui.model.array import NO_SUPERBLOCK, Array
from raidtui.model.array_sync import Phase
from raidtui.model.bad_blocks import bad_members, lost
from raidtui.model.check_words import found_words
from raidtui.model.finding import Finding, FindingCode, Health, Severity
from raidtui.model.levels import NO_REDUNDANCY
from raidtui.model.snapshot import Snapshot, StaleLine
from raidtui.model.sync_record import CHECKS, LastCheck
from raidtui.model.verdict import INFO, Condition, health_word, is_unread, troubles
from raidtui.monitor.absent_health import NEVER_RE_CREATE, RESCUE, health_of_absent, judge_absent
from raidtui.monitor.member_health import ALONE, Beside, is_in_trouble, judge_members
from raidtui.monitor.slow_health import slow_finding
from raidtui.monitor.sync_health import (
    Troubles,
    finding_of,
    judge_sync,
    writable_words,
)
from raidtui.view.units import counted, joined

_HEALTHS = {health.word: health for health in Health}


Judged = dict[str, tuple[Array, Beside, tuple[Finding, ...]]]


def judge(snapshot: Snapshot, known: Judged | None = None) -> tuple[Finding, ...]:
    """Return the findings of all arrays, the worst first.

    Args:
        snapshot: the arrays.
        known: former findings by ``Array.key``, kept by the caller; an array that is still the same object is
            not judged again.
    """
    known = {} if known is None else known
    found: list[Finding] = []
    for array in snapshot.arrays:
        before, beside = known.get(array.key), _beside(snapshot, array)
        if before is None or before[0] is not array or before[1] != beside:
            judged = tuple(judge_array(array, snapshot.checks.get(array.key), beside))
            before = known[array.key] = (array, beside, judged)
        found += before[2]
    for absent in snapshot.absent:
        found.append(judge_absent(absent))
    if len(known) > len(snapshot.arrays):
        for key in known.keys() - {array.key for array in snapshot.arrays}:
            del known[key]
    return tuple(sorted(found, key=lambda finding: -finding.severity))


def _beside(snapshot: Snapshot, array: Array) -> Beside:
    stale, origin = snapshot.stale_lines.get(array.key, ()), snapshot.origins.get(array.key, "")
    slow = snapshot.slow.get(array.key)
    if array.container is None:
        return Beside(stale_lines=stale, origin=origin, slow=slow) if stale or origin or slow else ALONE
    container = next((each for each in snapshot.arrays if array.container == each.name), None)
    if container is None:
        return Beside(stale_lines=stale, slow=slow)
    volumes = [each for each in snapshot.arrays if each.container == container.name]
    serving = {member.name for each in volumes for member in each.members}
    idle = tuple(member.name for member in container.members if member.name not in serving)
    return Beside(container=container, idle=idle, stale_lines=stale, slow=slow)


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


def exit_status(snapshot: Snapshot, healths: Collection[Health]) -> int:
    """Return 0 for all well, 1 for degraded or attention, 2 for failed, 3 where the state is not known.

    Args:
        snapshot: the host.
        healths: of its arrays, as ``healths_of`` returns them.
    """
    if Health.FAILED in healths:
        return 2
    if not snapshot.readable or Health.UNKNOWN in healths or _unread_lines(snapshot):
        return 3
    return 1 if any(health >= Health.ATTENTION for health in healths) else 0


def condition_of(array: Array, check: LastCheck | None = None, origin: str = "") -> Condition:
    """Return what the verdict on an array is made from; ``origin`` is as in ``Beside``."""
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
    condition.lacking = array.degraded if array.up is None and array.level not in NO_REDUNDANCY else 0
    condition.size_kib = array.size_bytes and array.size_bytes // 1024
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
    condition.member_trouble = any(is_in_trouble(member) for member in array.members)
    condition.mismatches = array.mismatch_count or 0
    condition.last_action = array.last_sync_action or ""
    if check is not None:
        condition.mismatches = 0 if check.rewritten else check.mismatches
        condition.last_action = check.action
    condition.same_uuid = array.twin
    condition.created_over = bool(origin)
    return condition


def judge_array(array: Array, check: LastCheck | None = None, beside: Beside = ALONE) -> Iterator[Finding]:
    """Yield the findings about one array; ``check`` is what is known of its last check."""
    found = troubles(condition_of(array, check, beside.origin))
    if beside.origin:
        remedy = (
            f"if what it held is wanted, stop it now (mdadm --stop {array.path}): the {array.sync_action}"
            " overwrites it; then raidtui rescue (a in the console)"
        )
        yield finding_of(array, FindingCode.CREATED_OVER, beside.origin, remedy, found=found)
    if array.stale is not None and not array.understood:
        text = f"exists, but its lines in /proc/mdstat cannot be parsed: {array.stale.reason}"
        remedy = f"mdadm --detail {array.path} shows its state; please report it: raidtui capture FILE"
        yield finding_of(array, FindingCode.NOT_UNDERSTOOD, text, remedy)
    elif array.stale is not None:
        yield finding_of(array, FindingCode.STALE, f"cannot be read now: {array.stale.reason}", found=found)
    if not array.active:
        if FindingCode.INACTIVE in found:
            yield _inactive(array, found)
        return
    yield from judge_members(array, found, beside)
    yield from judge_sync(array, found)
    yield from _judge_rest(array, check, found)
    yield from _judge_lines(array, beside.stale_lines)
    if beside.slow is not None:
        yield slow_finding(array, beside.slow)


def _inactive(array: Array, found: Troubles) -> Finding:
    strange = [member.name for member in array.members if member.waits == NO_SUPERBLOCK]
    here = [member for member in array.members if not (member.detached or member.name in strange)]
    slots = {member.slot for member in here if member.slot is not None and not member.has("faulty")}
    there = len(slots) or sum(not member.has("journal") for member in here)
    total = array.raid_disks
    noun = "member" if (total or there) == 1 else "members"
    text = f"{there} {noun}" if total is None else f"{there} of {total} {noun}"
    if total is not None and there > total:
        text = f"{there} devices for {counted(total, 'slot')}: spares, or former members"
    if strange:
        text += (
            f" ({joined(strange)}"
            f" {'is no longer a member' if len(strange) == 1 else 'are no longer members'})"
        )
    command = "raidtui plan assemble (a in the console)"
    if strange or (total is not None and there > total):
        remedy = RESCUE
    elif total is not None and there < total:
        remedy = f"find the missing members; {command} says whether it can start without them"
    else:
        remedy = f"{command} starts it, or says what keeps it from starting"
    text = f"is inactive: not started, with {text}"
    return finding_of(array, FindingCode.INACTIVE, text, f"{remedy}; {NEVER_RE_CREATE}", found=found)


def _judge_lines(array: Array, lines: Sequence[StaleLine]) -> Iterator[Finding]:
    if not lines:
        return
    words = f"{joined([line.where for line in lines])} {'has' if len(lines) == 1 else 'have'}"
    mend = "remove it" if any(line.doubled for line in lines) else f"put UUID={array.uuid} there"
    yield Finding(
        severity=Severity.ATTENTION,
        code=FindingCode.CONF_LINE_STALE,
        subject=array.key,
        name=array.title,
        sentence=f"{words} another UUID for {array.path} than its members",
        remedy=f"{mend}, then update the initramfs",
    )


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
        remedy = f"use only one of them; mdadm --detail {array.path} shows when it was last written"
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
        text = f"the {array.sync.action} has found {counted(check.mismatches, 'mismatched sector')} so far"
    remedy = f"raidtui rescue mismatches {array.name} says where; a repair rewrites parity, not the data"
    parity = FindingCode.MISMATCHES in found
    yield finding_of(array, FindingCode.MISMATCHES, text, remedy if parity else "", found=found)


def _unread_lines(snapshot: Snapshot) -> bool:
    return snapshot.md_loaded and any(lack.part == "/proc/mdstat" for lack in snapshot.lacks)
