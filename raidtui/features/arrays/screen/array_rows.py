"""The list of arrays: its rows, which one is chosen, what it shows without rows; the counts in the header."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from functools import partial

from msgspec import Struct

from raidtui.model.absent import Absence, AbsentArray
from raidtui.model.array import Array
from raidtui.model.array_sync import Phase
from raidtui.model.finding import Event, FindingCode, Health, Tone
from raidtui.model.levels import layout_short
from raidtui.model.verdict import ROLES, state, urgency
from raidtui.view.array_row import Brief
from raidtui.view.line import GLYPHS, Line, rule_line
from raidtui.view.moments import clock_words
from raidtui.view.text import visible
from raidtui.view.wrapping import wrap, wrapped
from raidtui.watch.watch import Report

_LEAST_NEWS = 4
_TONE_ROLES = {Tone.PLAIN: "dim", Tone.GOOD: "ok", Tone.WARN: "warn", Tone.BAD: "bad"}

Listed = Array | AbsentArray
"""An array that runs, or one that should."""


def ordered(report: Report) -> list[Listed]:
    """Return the arrays in the order of the list: what may be lost first, optimal ones last."""
    listed: list[Listed] = [*report.snapshot.absent, *report.snapshot.arrays]
    return sorted(listed, key=partial(_urgency, report))


def _urgency(report: Report, array: Listed) -> int:
    role, word = state_of(report, array)
    if isinstance(array, AbsentArray):
        return urgency(role, word, redundant=False, losses_left=None)
    return urgency(role, word, redundant=array.redundant, losses_left=array.losses_left)


def shared_titles(report: Report) -> frozenset[str]:
    """Return the titles that several arrays have; their rows show the kernel's name, too."""
    seen: set[str] = set()
    shared: set[str] = set()
    listed: list[Listed] = [*report.snapshot.absent, *report.snapshot.arrays]
    for array in listed:
        (shared if array.title in seen else seen).add(array.title)
    return frozenset(shared)


def state_of(report: Report, array: Listed) -> tuple[str, str]:
    """Return (role, word) of an array's state."""
    health = report.healths[array.key]
    if isinstance(array, AbsentArray):
        return ROLES[health.word], "failed" if health is Health.FAILED else "stopped"
    return state(
        health.word,
        active=array.active,
        container=array.is_container,
        frozen=array.sync_action == "frozen",
        sync=array.sync.action if array.sync is not None else "",
        phase=array.sync.phase if array.sync is not None else "",
    )


def is_down(report: Report, array: Array) -> bool:
    """Whether an array that the kernel lists does not run, has failed, or was created over an older one."""
    over = any(finding.code is FindingCode.CREATED_OVER for finding in report.of(array))
    return not array.is_container and (not array.active or over or report.healths[array.key] is Health.FAILED)


def brief_of(report: Report, array: Listed, shared: Collection[str] = ()) -> Brief:
    """Return an array's row; ``shared`` as from ``shared_titles``."""
    role, word = state_of(report, array)
    if isinstance(array, AbsentArray):
        absent = Brief(array.title, role, word)
        absent.level = array.level or ""
        absent.layout = layout_short(array.level, array.layout)
        absent.note = absence_words(array)
        absent.short_note = array.count_short
        return absent
    if report.snapshot.stale is not None and role != "bad":
        role = "unknown"  # that is how it was
    brief = Brief(array.title, role, word)
    brief.suffix = array.name if array.title in shared else ""
    brief.level = array.level or ""
    brief.layout = layout_short(array.level, array.layout)
    brief.chunk_bytes = array.chunk_bytes
    brief.size_bytes = array.size_bytes
    brief.note = "rescue trial" if report.snapshot.is_trial(array) else _note(report, array)
    if array.sync is not None and array.sync.percent is not None:
        brief.percent = array.sync.percent
        estimate = report.estimates.get(array.key)
        if estimate is not None:
            brief.speed_kib_s = estimate.speed_kib_s
            brief.left_s = estimate.left_s
    return brief


def nothing_lines(report: Report, wanted: str, width: int) -> list[Line]:
    """Return why the list has no rows.

    Args:
        report: the last report.
        wanted: the text of the filter; "" where all arrays are listed.
        width: of the window.
    """
    if wanted and (report.snapshot.arrays or report.snapshot.absent):
        return [[(f" No array contains {visible(wanted)!r}. Esc shows all.", "plain")]]
    if not report.snapshot.readable:
        reason = report.snapshot.lacks[0].sentence if report.snapshot.lacks else ""
        return [[(f" Not known: {visible(reason)}", "bad")]]
    if report.snapshot.trials:
        lines: list[Line] = [
            [],
            [(" A rescue trial is in progress; there is no other md array.", "strong")],
            [(" a shows its progress, what it has proven, and how to take it down.", "plain")],
            [],
        ]
    else:
        lines = [
            [],
            [
                (" No md array on this host.", "strong"),
                (" b builds one, a rescues one, d opens the demo host.", "plain"),
            ],
            [],
        ]
    for lack in report.snapshot.lacks:
        lines += wrapped(lack.sentence, max(20, width - 3) + 1, "dim", indent=1)
    return lines


def news_lines(events: Sequence[Event], width: int, height: int) -> list[Line]:
    """Return what happened last, newest first, in at most so many rows; nothing where nothing has."""
    if height < _LEAST_NEWS or not events:
        return []
    lines: list[Line] = [[], rule_line(width, "log")]
    for event in reversed(events):
        clock = time.strftime("%H:%M", time.localtime(event.at_s))
        role = _TONE_ROLES[event.tone]
        first, *more = wrap(f"{event.subject} {event.text}", width - 11)
        lines.append([(f" {clock} ", "dim"), (f"{GLYPHS.get(role, '·')} ", role), (first, "plain")])
        lines += [[(" " * 9 + part, "plain")] for part in more]
        if len(lines) >= height:
            break
    return lines[:height]


def offer_words(report: Report, listed: Listed | None, key: str) -> str:
    """Return the offer of the guide for a chosen array, a sentence; "" where it needs none.

    Args:
        report: the last report.
        listed: the chosen array.
        key: the key that opens the guide.
    """
    if report.snapshot.trials:
        return f"A rescue trial is in progress: its members are read-only until it ends; {key} shows it"
    if listed is None or report.healths[listed.key] is not Health.FAILED:
        return ""
    state = "does not run" if isinstance(listed, AbsentArray) or not listed.active else "has failed"
    return f"{listed.title} {state}: {key} says what happened, and how it comes back"


def absence_words(absent: AbsentArray) -> str:
    """Return why an array is not in /proc/mdstat, and how many members were found."""
    if absent.absence is Absence.NOT_THERE:
        return "does not run, no member found"
    word = "gone" if absent.absence is Absence.GONE else "not started"
    return f"{word}: {absent.count_short}"


def _note(report: Report, array: Array) -> str:
    if not array.active and not array.is_container:
        total = f" of {array.raid_disks}" if array.raid_disks else ""
        return f"{len(array.members)}{total} members there"
    missing = array.missing_slots
    if missing and array.up is not None:
        return array.in_sync_words
    if array.sync is not None and array.sync.phase is not Phase.RUNNING:
        turn = report.turns.get(array.key)
        if turn is None or turn.begins_in_s is None:
            return f"{array.sync.action} waits"
        now_s = report.snapshot.taken_s
        begins = clock_words(now_s, now_s + turn.begins_in_s)
        return f"{array.sync.action} {'after' if turn.rivals else 'from about'} {begins}"
    return array.read_only


def counts_of(report: Report) -> dict[tuple[str, str], int]:
    """Return {(role, word): how many arrays} for the header."""
    counts: dict[tuple[str, str], int] = {}
    listed: list[Listed] = [*report.snapshot.absent, *report.snapshot.arrays]
    for array in listed:
        state = state_of(report, array)
        counts[state] = counts.get(state, 0) + 1
    return counts


def matches(array: Listed, text: str) -> bool:
    """Whether a text is in an array's names, level, state or members (case does not matter)."""
    if isinstance(array, AbsentArray):
        found = [array.path, array.title, array.level or "", array.uuid or "", array.absence.value]
        found += [member.name for member in array.members]
        return any(text.lower() in word.lower() for word in found)
    words = [array.name, array.title, array.level or "", array.array_state or "", array.uuid or ""]
    words += [member.name for member in array.members]
    if array.sync is not None:
        words.append(array.sync.action)
    return any(text.lower() in word.lower() for word in words)


class Chosen(Struct, frozen=True, kw_only=True):
    """Which array is chosen.

    Args:
        key: of the array; None without one.
        gone: was chosen when it was stopped; nothing else was chosen since.
    """

    key: str | None = None
    gone: str | None = None


def keep_choice(
    before: Chosen, shown: Sequence[Listed], listed: Sequence[Listed], *, is_there: bool = False
) -> Chosen:
    """Return the choice among the arrays that are shown now.

    It follows the array's identity; where that is gone, the row stays until it is back.

    Args:
        before: the previous choice.
        shown: the arrays that are shown from now on.
        listed: those that were shown before.
        is_there: whether the host has the chosen one, shown or not.
    """
    keys = [array.key for array in shown]
    key, gone = before.key, before.gone
    if gone in keys:
        key, gone = gone, None
    if key in keys:
        return Chosen(key=key, gone=gone)
    if gone is None and not is_there:
        gone = key
    if not shown:
        return Chosen(gone=gone)
    row = next((i for i, array in enumerate(listed) if array.key == key), 0)
    named = [array.key for array in shown if any(array.name == o.name for o in listed[row : row + 1])]
    return Chosen(key=named[0] if named else keys[min(row, len(keys) - 1)], gone=gone)
