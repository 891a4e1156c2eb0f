"""Findings about arrays that should run and do not."""

from __future__ import annotations

from raidtui.model.absent import Absence, AbsentArray
from raidtui.model.finding import Finding, FindingCode, Health, Severity
from raidtui.view.units import joined

NEVER_RE_CREATE = "never re-create it"
RESCUE = "raidtui rescue (a in the console) says what happened and how it comes back"
_ASSEMBLE = "assemble it: a in the console, or mdadm --assemble"


def health_of_absent(absent: AbsentArray) -> Health:
    """Return the health of an array that does not run: one with all its members may have been stopped."""
    if absent.absence is Absence.NOT_THERE:
        return Health.FAILED if absent.wanted else Health.ATTENTION
    if absent.absence is Absence.GONE or absent.complete is False:
        return Health.FAILED
    return Health.UNKNOWN if absent.complete is None else Health.ATTENTION


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
        count += f"; the others record {joined(dropped)} as failed"
    if absent.absence is Absence.GONE:
        code, sentence = FindingCode.GONE, f"is gone without having been stopped, {count}"
        if lost:
            sentence += f"; not there: {', '.join(lost)}"
        remedy = f"reconnect what is missing, and {NEVER_RE_CREATE}; {RESCUE}"
    elif absent.absence is Absence.NOT_THERE:
        code = FindingCode.NOT_THERE
        sentence = f"does not run, and none of its members was found: {joined(absent.named_by)} {names} it"
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
            remedy = f"{find}{NEVER_RE_CREATE}; {RESCUE}"
        elif absent.obstacle:
            sentence += f"; {absent.obstacle}"
            remedy = f"{NEVER_RE_CREATE}; {RESCUE}"
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
