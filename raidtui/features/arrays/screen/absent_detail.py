"""A chosen array that does not run, in lines: its members that were found, and the remedy."""

from __future__ import annotations

import time
from collections.abc import Iterator

from raidtui.features.arrays.screen.array_detail import finding_lines
from raidtui.features.arrays.screen.array_rows import absence_words, state_of
from raidtui.features.arrays.screen.speed_chart import LABEL
from raidtui.model.absent import Absence, AbsentArray, AbsentMember
from raidtui.view.line import Line, rule_line
from raidtui.view.text import fit, tail, visible
from raidtui.view.wrapping import wrap
from raidtui.watch.watch import Report


def absent_head_lines(report: Report, absent: AbsentArray, width: int) -> list[Line]:
    """Return rule and identity, what is wrong and its remedy, and why it does not run."""
    facts = [absent.path]
    if absent.seen_s is not None:
        facts.append(f"ran until {time.strftime('%H:%M:%S', time.localtime(absent.seen_s))}")
    if absent.uuid:
        facts.append(absent.uuid)
    lines = [rule_line(width, absent.title, facts)]
    for finding in report.of(absent):
        lines += finding_lines(finding, finding.remedy, width - 1)
    role, word = state_of(report, absent)
    words = visible(absence_words(absent))
    return [*lines, [(fit(f" {word}", LABEL), "dim"), (" " + fit(words, width - LABEL - 1), role)]]


def absent_body_lines(report: Report, absent: AbsentArray, width: int) -> list[Line]:
    """Return the members, and the files that name it."""
    lines = list(_members(absent, width)) if absent.members else []
    for named in absent.named_by:
        lines.append([(fit(visible(f" named by {named}"), width), "plain")])
    for lack in report.snapshot.lacks:
        if lack.part != "changes":  # the header says read-only
            lines += [[(fit(" " + part, width), "dim")] for part in wrap(lack.sentence, width - 2)]
    return lines


def _members(absent: AbsentArray, width: int) -> Iterator[Line]:
    yield [(fit(" slot     member      serial          found", width), "dim")]
    slots = {member.slot for member in absent.members if member.slot is not None}
    empty = [slot for slot in range(absent.raid_disks or 0) if slot not in slots] if slots else []
    listed: list[tuple[int | None, AbsentMember | None]] = [(each.slot, each) for each in absent.members]
    listed += [(slot, None) for slot in empty]
    for slot, member in sorted(listed, key=lambda each: (each[0] is None, each[0] or 0)):
        place = "–" if slot is None else str(slot)
        name = visible(member.name) if member is not None else "–"
        serial = tail(visible(member.serial), 14) if member is not None and member.serial else ""
        text = f"  {place:<2} {'':<4}  {fit(name, 11)} {fit(serial, 15)} "
        missing = ("not found yet", "unknown") if absent.awaits_udev else ("missing", "bad")
        words, role = _found(absent, member) if member is not None else missing
        first, *further = wrap(words, max(20, width - len(text)))
        yield [(text, "plain"), (first, role)]
        yield from ([(" " * len(text), "plain"), (part, role)] for part in further)


def _found(absent: AbsentArray, member: AbsentMember) -> tuple[str, str]:
    if not member.present:
        return "not there", "bad"
    if member.events_behind > 1:
        return f"present, {member.events_behind} events behind", "warn"
    if member.dropped:
        return "present, the others record it as failed", "warn"
    was = f", was {member.role}" if member.role not in {"", "in_sync"} else ""
    return f"present{was}", "warn" if was and absent.absence is Absence.GONE else "plain"
