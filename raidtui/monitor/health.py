"""Verdicts on arrays: findings with a sentence and a remedy.

Not faults: auto-read-only, a running check, a resync, mismatches on RAID-1 and RAID-10 (swap and mapped files
leave harmless ones there). Faults: a failed, missing or degraded array, judged by level and mirror sets.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from raidtui.model.absent import Absence, AbsentArray
from raidtui.model.array import Array, Phase
from raidtui.model.bad_blocks import bad_members, bad_sectors, lost, only_holders
from raidtui.model.finding import Finding, Health, Severity
from raidtui.model.levels import NO_REDUNDANCY, PARITY_LEVELS
from raidtui.model.snapshot import Snapshot
from raidtui.view.units import SECTOR_BYTES, binary_size, counted, joined

_OF_SEVERITY = {
    Severity.INFO: Health.OPTIMAL,
    Severity.ATTENTION: Health.ATTENTION,
    Severity.DEGRADED: Health.DEGRADED,
    Severity.FAILED: Health.FAILED,
}


_PENDING_WORDS = {
    "auto-read-only": "waits until the first write (auto-read-only)",
    "read-only": "waits until the array is made writable",
    "": "has not started yet",
}


def judge(
    snapshot: Snapshot, known: dict[str, tuple[Array, tuple[Finding, ...]]] | None = None
) -> tuple[Finding, ...]:
    """Return the findings of all arrays, the worst first.

    Args:
        snapshot: what is.
        known: verdicts of before by ``Array.key``, kept by the caller; an array that is still the same object
            is not judged again.
    """
    known = {} if known is None else known
    found: list[Finding] = []
    for array in snapshot.arrays:
        before = known.get(array.key)
        if before is None or before[0] is not array:
            before = known[array.key] = (array, tuple(judge_array(array)))
        found += before[1]
    for absent in snapshot.absent:
        found.append(judge_absent(absent))
    if len(known) > len(snapshot.arrays):
        for key in known.keys() - {array.key for array in snapshot.arrays}:
            del known[key]
    return tuple(sorted(found, key=lambda finding: -finding.severity))


def health_of(array: Array, findings: Sequence[Finding]) -> Health:
    """Return what the findings about an array come to."""
    own = [finding.severity for finding in findings if finding.subject == array.key]
    worst = _OF_SEVERITY[max(own)] if own else Health.OPTIMAL
    unknown = array.level is None or (array.redundant and array.up is None)
    unread = array.stale is not None or (array.active and unknown)
    return max(worst, Health.UNKNOWN) if unread else worst


def by_subject(findings: Sequence[Finding]) -> dict[str, list[Finding]]:
    """Return the findings of each subject: with hundreds of arrays one search each would be many."""
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
    """Return how it is about an array that does not run: one with all its members may have been stopped."""
    if absent.absence is Absence.NOT_THERE:
        return Health.FAILED if absent.wanted else Health.ATTENTION
    if absent.absence is Absence.GONE or absent.complete is False:
        return Health.FAILED
    return Health.UNKNOWN if absent.complete is None else Health.ATTENTION


def exit_status(snapshot: Snapshot, findings: Sequence[Finding]) -> int:
    """Return 0 all well, 1 degraded or attention, 2 failed, 3 cannot tell."""
    healths = healths_of(snapshot, findings).values()
    if Health.FAILED in healths:
        return 2
    if not snapshot.readable or Health.UNKNOWN in healths or _unread_lines(snapshot):
        return 3
    return 1 if any(health >= Health.ATTENTION for health in healths) else 0


def judge_array(array: Array) -> Iterator[Finding]:
    """Yield what there is to say about one array."""
    if array.stale is not None and not array.understood:
        text = f"is there, but its lines in /proc/mdstat are not understood: {array.stale.reason}"
        remedy = f"mdadm --detail {array.path} says how it is; please report it: raidtui capture FILE"
        yield _finding(array, Severity.INFO, "not-understood", text, remedy)
    elif array.stale is not None:
        yield _finding(array, Severity.ATTENTION, "stale", f"cannot be read now: {array.stale.reason}")
    if not array.active:
        if not array.is_container:
            yield _inactive(array)
        return
    yield from _judge_members(array)
    yield from _judge_sync(array)
    yield from _judge_rest(array)


def _judge_members(array: Array) -> Iterator[Finding]:
    missing = array.missing_slots or ()
    left = array.losses_left
    faulty = [m.name for m in array.members if m.has("faulty") and not m.has("journal")]
    if array.array_state == "broken" and array.redundant and left is not None and left >= 0:
        yield _broken(array)
    elif (
        array.array_state == "broken"
        or (left is not None and left < 0)
        or (array.level in NO_REDUNDANCY and faulty)
    ):
        yield _finding(
            array,
            Severity.FAILED,
            "failed",
            f"has failed: {_missing_words(array, missing, faulty)}",
            "do not write to it, and do not create anything anew; the data may still be on the members",
        )
        return
    if missing:
        yield _degraded(array, missing, faulty, left)
    elif faulty:
        verb, them = ("has", "it") if len(faulty) == 1 else ("have", "them")
        yield _finding(
            array,
            Severity.ATTENTION,
            "member-faulty",
            f"{joined(faulty)} {verb} failed; all slots are filled without {them}",
            f"mdadm {array.path} --remove failed, then replace the disk",
        )
    yield from _judge_bad_blocks(array)
    for member in array.members:
        if member.has("write_error") or (member.has("blocked") and not member.has("faulty")):
            word = "write errors" if member.has("write_error") else "is blocked"
            yield _finding(
                array,
                Severity.ATTENTION,
                "member-trouble",
                f"member {member.name}: {word}",
                "look at its SMART data",
            )
        if member.errors:
            text = f"member {member.name}: {counted(member.errors, 'corrected read error')}"
            yield _finding(array, Severity.INFO, "read-errors", text, "a check (c) shows whether more come")


def _broken(array: Array) -> Finding:
    """MD_BROKEN of a mirror stays set until the array is stopped (drivers/md/raid1.c, raid10.c: error).

    Every write ends in EIO, whatever members are added; ``mdadm --detail`` says "clean" (4.2, Linux 6.1).
    """
    return _finding(
        array,
        Severity.FAILED,
        "broken",
        "is broken: every write fails since its last good member was reported as failed; reads work",
        f"stop it and assemble it again: mdadm --stop {array.path}, then mdadm --assemble",
    )


def _judge_bad_blocks(array: Array) -> Iterator[Finding]:
    bad = bad_members(array)
    if not bad:
        return
    gone = lost(array)
    if gone.sectors:
        text = f"has {gone.size} that cannot be read: all copies are bad there ({joined(gone.names)})"
        remedy = "read what is still readable; what lay there has to come from a backup"
        yield _finding(array, Severity.DEGRADED, "bad-blocks-lost", text, remedy)
    sizes = joined([f"{each.name} ({binary_size(bad_sectors(each) * SECTOR_BYTES)})" for each in bad])
    holders = only_holders(array)
    text = f"bad blocks are recorded on {sizes}"
    if holders:
        most = max((held for _, held in holders), key=lambda held: held.sectors)
        verb = "hold" if len(holders) > 1 else "holds"
        text += f": {joined([member.name for member, _ in holders])} alone {verb} {most.size} there"
    remedy = f"replace {joined([each.name for each in bad])} (R); fail no other member before"
    yield _finding(array, Severity.ATTENTION, "bad-blocks", text, remedy)


def _degraded(array: Array, missing: Sequence[int], faulty: list[str], left: int | None) -> Finding:
    recovering = array.sync is not None and array.sync.action == "recover"
    spare = any(member.role == "spare" for member in array.members)
    if array.sync is not None and array.sync.phase is Phase.FROZEN:
        remedy = f"nothing is rebuilt while it is frozen; {_resume(array)}"
    elif recovering and array.sync is not None and array.sync.phase is Phase.RUNNING:
        remedy = "a recovery runs; leave the other members alone until it is done"
    elif recovering or spare:
        remedy = "a spare is there; its recovery has not started yet"
    else:
        remedy = f"add a disk: mdadm {array.path} --add DEVICE"
    risk = ""
    if left == 0:
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
    return _finding(array, Severity.DEGRADED, "degraded", text, remedy)


def _is_last(group: Sequence[int], slot: int, missing: Sequence[int]) -> bool:
    return [each for each in group if each not in missing] == [slot]


def _missing_words(array: Array, missing: Sequence[int], faulty: list[str]) -> str:
    total = len(array.up) if array.up is not None else array.raid_disks or len(array.members)
    rebuilding = [member.name for member in array.members if member.role == "rebuilding"]
    if not missing:
        return f"{joined(faulty)} failed" if faulty else "a member is gone"
    slots = f"slot{'s' if len(missing) > 1 else ''} {', '.join(map(str, missing))}"
    words = f"{len(missing)} of {counted(total, 'member')} missing ({slots})"
    if faulty:
        words += f", {joined(faulty)} failed"
    if rebuilding:
        words += f", {joined(rebuilding)} being rebuilt"
    return words


def _inactive(array: Array) -> Finding:
    slots = {member.slot for member in array.members if member.slot is not None and not member.has("faulty")}
    there = len(slots) or sum(not member.has("journal") for member in array.members)
    wanted = f" of {array.raid_disks}" if array.raid_disks else ""
    noun = "member" if (array.raid_disks or there) == 1 else "members"
    way = "raidtui plan assemble (a in the console)"
    if array.raid_disks is not None and there < array.raid_disks:
        remedy = f"find the missing members; {way} says whether it can start without them"
    else:
        remedy = f"{way} starts it, or says what keeps it from starting"
    return _finding(
        array,
        Severity.FAILED,
        "inactive",
        f"is inactive: not started, with {there}{wanted} {noun}",
        f"{remedy}; never create it anew",
    )


def _resume(array: Array) -> str:
    return f"resume it: p in the console, or mdadm --action=idle {array.path}"


def _judge_sync(array: Array) -> Iterator[Finding]:
    sync = array.sync
    if array.sync_action == "frozen":
        if array.work_waits:
            what = sync.action if sync else "recover"
            yield _finding(
                array,
                Severity.DEGRADED,
                "frozen-with-work",
                f"is frozen while a {what} waits: it does not go on by itself",
                _resume(array),
            )
        else:
            yield _finding(
                array,
                Severity.ATTENTION,
                "frozen",
                "is frozen: a failed disk would not be rebuilt",
                _resume(array),
            )
    elif sync is not None and sync.phase is Phase.PENDING and sync.action == "reshape":
        waits = _PENDING_WORDS[array.read_only] if array.read_only else "stands still"
        yield _finding(
            array,
            Severity.ATTENTION,
            "reshape-waits",
            f"is in the middle of a reshape, which {waits}",
            f"mdadm --readwrite {array.path}" if array.read_only else "",
        )
    elif sync is not None and sync.phase is Phase.PENDING:
        yield _finding(
            array, Severity.INFO, "pending", f"its {sync.action} {_PENDING_WORDS[array.read_only]}"
        )
    elif sync is not None and sync.phase is Phase.DELAYED:
        yield _finding(array, Severity.INFO, "delayed", f"its {sync.action} waits for another array's")


def _judge_rest(array: Array) -> Iterator[Finding]:
    if array.read_only == "auto-read-only":
        text = "is auto-read-only: the first write makes it writable"
        yield _finding(array, Severity.INFO, "auto-read-only", text)
    elif array.read_only:
        yield _finding(array, Severity.INFO, "read-only", "is read-only", f"mdadm --readwrite {array.path}")
    if array.consistency_policy == "journal" or any(member.has("journal") for member in array.members):
        alive = any(member.has("journal") and not member.has("faulty") for member in array.members)
        if not alive:
            yield _finding(
                array,
                Severity.DEGRADED,
                "journal-missing",
                "has lost its journal device and takes no writes until it has one, or another policy",
                f"mdadm --readonly {array.path}, then mdadm {array.path} --add-journal DEVICE",
            )
    if array.mismatch_count:
        yield from _judge_mismatches(array, counted(array.mismatch_count, "mismatched sector"))
    if array.twin:
        yield _finding(
            array,
            Severity.ATTENTION,
            "same-uuid",
            "has the UUID of another array: a mirror that came apart, or a copied disk",
            f"use one of them only; mdadm --detail {array.path} says when it was written last",
        )


def _judge_mismatches(array: Array, sectors: str) -> Iterator[Finding]:
    """The counter is of the last check, repair or resync; what the latter two met they have rewritten."""
    if array.last_sync_action == "resync":
        return
    if array.last_sync_action == "repair":
        yield _finding(array, Severity.INFO, "mismatches", f"the last repair rewrote {sectors}")
        return
    parity = array.level in PARITY_LEVELS
    yield _finding(
        array,
        Severity.ATTENTION if parity else Severity.INFO,
        "mismatches",
        f"the last check found {sectors}",
        "read the files and the kernel log; a repair rewrites parity, not the data" if parity else "",
    )


_NEVER_ANEW = "never create it anew"
_ASSEMBLE = "assemble it: a in the console, or mdadm --assemble"


def judge_absent(absent: AbsentArray) -> Finding:
    """Return what there is to say about an array that does not run."""
    health = health_of_absent(absent)
    lost = [member.name for member in absent.members if not member.present]
    there = [member.name for member in absent.present]
    count = absent.count_words + (f" ({', '.join(there)})" if there else "")
    old = [member.name for member in absent.members if member.events_behind > 1]
    if old:
        count += f"; {joined(old)} {'is' if len(old) == 1 else 'are'} behind the others"
    if absent.absence is Absence.GONE:
        code, sentence = "gone", f"is gone: it ended without having been stopped, {count}"
        if lost:
            sentence += f"; not there: {', '.join(lost)}"
        remedy = f"bring back what is missing, then {_ASSEMBLE}; {_NEVER_ANEW}"
    elif absent.absence is Absence.NOT_THERE:
        code = "not-there"
        sentence = f"does not run, and no member of it was found: {joined(absent.named_by)} names it"
        remedy = "look for its disks; where it is not wanted any more, take that line out"
    else:
        code, sentence = "not-started", f"is not started: {count}"
        if absent.raid_disks is None:
            sentence = f"is not started: {count}, how many it has is not known"
            remedy = f"ask as root; {_ASSEMBLE}"
        elif health is Health.FAILED:
            remedy = f"find the missing members, then {_ASSEMBLE}; {_NEVER_ANEW}"
        else:
            ignore = f"; ARRAY <ignore> UUID={absent.uuid} in mdadm.conf keeps it from being reported"
            remedy = _ASSEMBLE + ignore
        if absent.named_by:
            sentence += f"; {joined(absent.named_by)} {'names' if len(absent.named_by) == 1 else 'name'} it"
    severity = Severity.FAILED if health is Health.FAILED else Severity.ATTENTION
    return Finding(
        severity=severity,
        code=code,
        subject=absent.key,
        name=absent.title,
        sentence=sentence,
        remedy=remedy,
    )


def _finding(array: Array, severity: Severity, code: str, sentence: str, remedy: str = "") -> Finding:
    return Finding(
        severity=severity, code=code, subject=array.key, name=array.title, sentence=sentence, remedy=remedy
    )


def _unread_lines(snapshot: Snapshot) -> bool:
    return snapshot.md_loaded and any(lack.part == "/proc/mdstat" for lack in snapshot.lacks)
