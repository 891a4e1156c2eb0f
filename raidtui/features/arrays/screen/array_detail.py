"""The chosen array in lines: identity, what is wrong, sync, members, survivable failures, users."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from raidtui.features.arrays.screen.array_commands import ADD, ASSEMBLE, FAIL, PAUSE, REMOVE, WRITABLE
from raidtui.features.arrays.screen.array_sentences import (
    bitmap_lines,
    check_lines,
    pace_lines,
    reshape_lines,
    survival_lines,
    turn_lines,
    use_lines,
    wrapped,
)
from raidtui.features.arrays.screen.speed_chart import LABEL, speed_lines
from raidtui.frame.chart import bar
from raidtui.frame.pane import SEVERITY_ROLES
from raidtui.model.array import Array, Member
from raidtui.model.array_sync import Phase
from raidtui.model.check_words import check_words, paused_words
from raidtui.model.finding import Finding
from raidtui.model.geometry import set_letters
from raidtui.model.levels import layout_short
from raidtui.model.sync_record import LastCheck
from raidtui.monitor.sync_watch import ended_at
from raidtui.view.line import GLYPHS, Line, rule_line, whole_columns
from raidtui.view.moments import clock_words
from raidtui.view.text import cell_width, fit, fit_words, tail, visible
from raidtui.view.units import binary_size, duration, rate_mb_s, short_binary
from raidtui.view.wrapping import wrap
from raidtui.watch.watch import Report

_TALL, _BESIDE_CHART, _MOST_CHART = 36, 30, 24
"""From which height on a chart has several rows, how many rows all else takes, and the most it gets."""
_FIRST_ROWS = 3
"""How many rows what is wrong has, at least: nearly all findings fit, with their remedies, at 80 columns."""
_SHORTEST_BAR = 12
_MEMBER_ROLES = {
    "in_sync": "plain", "faulty": "bad", "detached": "bad", "rebuilding": "warn", "replacement": "warn",
    "?": "dim",
}  # fmt: skip


def head_lines(
    report: Report, array: Array, width: int, first: Sequence[Line], *, beside: bool = False
) -> list[Line]:
    """Return a rule with the identity, what is wrong and its remedy, and the sync.

    Args:
        report: the last report.
        array: the chosen one.
        width: cells.
        first: as ``first_and_rest`` returns it.
        beside: whether a narrow list is beside it: the identity begins with what that leaves out.
    """
    return [_identity(report, array, width, beside=beside), *first, _progress(report, array, width)]


def first_and_rest(
    report: Report, array: Array, width: int, keymap: Mapping[str, str]
) -> tuple[list[Line], list[Line]]:
    """Return what stands above the sync, and what is left for below the members.

    Above are the worst finding and its remedy, and others that fit; where nothing is wrong, what may fail.
    It has as many rows as it usually needs, also where nothing is wrong: the sliders below it never move.
    """
    first: list[Line] = []
    rest: list[Line] = []
    trial = report.snapshot.is_trial(array)
    if trial:
        first += wrapped("a rescue trial, read-only: a shows it, and takes it down", width - 1, "accent")
    for finding in sorted(report.of(array), key=lambda each: -each.severity):
        if finding.code in {"pending", "delayed"}:
            continue  # the progress line says so, with the reason
        lines = list(finding_lines(finding, "" if trial else remedy_words(finding, array, keymap), width - 1))
        fits = not rest and (not first or len(first) + len(lines) <= _FIRST_ROWS)
        (first if fits else rest).extend(lines)
    is_well = not first
    for lines in (survival_lines(array, width - 1), list(use_lines(report, array, width - 1))):
        fits = is_well and not rest and len(first) + len(lines) <= _FIRST_ROWS
        (first if fits else rest).extend(lines)
    return [*first, *[[]] * (_FIRST_ROWS - len(first))], rest


def _label(text: str) -> tuple[str, str]:
    return (fit(" " + text, LABEL), "dim")


def _identity(report: Report, array: Array, width: int, *, beside: bool) -> Line:
    facts = [array.path]
    if beside:
        shape = f"{array.level or ''} {layout_short(array.level, array.layout)}".strip()
        chunk = short_binary(array.chunk_bytes) if array.chunk_bytes else ""
        size = binary_size(array.size_bytes) if array.size_bytes else ""
        facts = [*(each for each in (shape, chunk, size) if each), array.path]
    if array.array_state and not array.is_container:
        facts.append(array.array_state)
    if array.redundant:
        facts.append("no bitmap" if array.bitmap is None else f"bitmap {array.bitmap.location}")
    if array.metadata:
        facts.append(f"metadata {array.metadata}")
    if array.homehost and array.homehost != report.snapshot.host.name:
        facts.append(f"host {array.homehost}")
    if array.uuid:
        facts.append(array.uuid[:8])
    return rule_line(width, array.title, facts)


def _progress(report: Report, array: Array, width: int) -> Line:
    sync = array.sync
    if sync is None:
        label, words, role = _rest(report, array)
        return [_label(label), (" " + fit_words(visible(words), width - LABEL - 1), role)]
    if sync.phase is not Phase.RUNNING or sync.fraction is None:
        held = report.brakes.get(array.key)
        words = f"{sync.phase.value}: {held.words}" if held else sync.phase.value
        role = "bad" if sync.phase is Phase.FROZEN else "accent"
        return [_label(sync.action), (" " + fit_words(visible(words), width - LABEL - 1), role)]
    percent = sync.percent or f"{sync.fraction:.1%}"
    most = width - LABEL - _SHORTEST_BAR - 11
    ends = next((each for each in _ends(report, array) if len(each) <= most), "")
    bar_width = max(_SHORTEST_BAR, min(width - LABEL - 35, width - LABEL - 11 - len(ends)))
    room = width - LABEL - bar_width - 11
    return [
        _label(sync.action),
        (" " + bar(sync.fraction, bar_width), "accent"),
        (f" {percent:>7}  ", "strong"),
        (fit(ends, room), "plain"),
    ]


def _rest(report: Report, array: Array) -> tuple[str, str, str]:
    """Return (label, words, role) for an array in which nothing is synced."""
    if array.is_container:
        return "container", report.snapshot.container_words(array), "dim"
    if not array.understood:
        return "unknown", "its sync state cannot be read", "dim"
    if not array.active:
        return "inactive", "not started: its data cannot be reached", "bad"
    return "at rest", _rest_words(array, report.snapshot.checks.get(array.key)), "dim"


def _rest_words(array: Array, check: LastCheck | None) -> str:
    if array.level is None:
        return "its level is not known"
    if not array.redundant:
        return "no redundancy: nothing is ever synced"
    if array.missing_slots:
        return "no recovery runs"
    if array.sync_min_sectors:
        if check is None or check.complete is not False:
            return "a check stopped part-way: p resumes it, c starts a new one"
        return paused_words(check)
    return check_words(check, ended_at(check)) if check is not None else "nothing to sync"


def _ends(report: Report, array: Array) -> tuple[str, ...]:
    """Return when it ends, in ever shorter words: a time is shown whole, or not at all."""
    estimate = report.estimates.get(array.key)
    now_s = report.snapshot.taken_s
    if estimate is None:
        return ()
    low_s, high_s = estimate.left_low_s, estimate.left_high_s
    if estimate.left_s is None:
        most = "" if high_s is None else f"at most {duration(high_s)}"
        return (f"{most}: skips what is unchanged", most) if most else ()
    condition = " at this speed" if estimate.if_as_fast else ""
    about = f"ends about {clock_words(now_s, now_s + estimate.left_s)}"
    if low_s is None or high_s is None or high_s - low_s < 90:
        return about + condition, about + " if as fast" * bool(condition)
    between = f"ends {clock_words(now_s, now_s + low_s)} to {clock_words(now_s, now_s + high_s)}"
    return between + condition, about + condition, about + " if as fast" * bool(condition)


def unit_lines(array: Array, width: int) -> list[Line]:
    """Return the sum for RAID-10, whose resync counts the array's KiB; nothing where nothing needs it."""
    text = _unit_words(array, width)
    parts = wrap(text, width - LABEL - 2) if text else []
    return [[(fit(" " * (LABEL + 1) + part, width - 1), "dim")] for part in parts]


def _unit_words(array: Array, width: int) -> str:
    share = array.member_share
    if array.level != "raid10" or array.speed_limit is None or array.speed_limit.max_kib_s is None:
        return ""
    sync = array.sync
    if share is None or sync is None or not array.sync_counts_array:
        text = "this counts a member's KiB; a resync or check would count the array's"
        return "" if sync is None else text
    limit = array.speed_limit.max_kib_s
    each = rate_mb_s(limit * share)
    text = f"{sync.action} counts array KiB: {rate_mb_s(limit)} here is {each} a member"
    if width >= 110:
        text += "; recover counts a member's KiB"
    return text


def body_lines(report: Report, array: Array, width: int, height: int, rest: Sequence[Line]) -> list[Line]:
    """Return the chart of a sync, the members, and the rest.

    The last cell of a line stays empty: a scroll bar is there.

    Args:
        report: the last report.
        array: the chosen one.
        width: cells.
        height: of the window, in rows.
        rest: as ``first_and_rest`` returns it.
    """
    rows = min(_MOST_CHART, height - _BESIDE_CHART) if height >= _TALL else 1
    lines = speed_lines(report, array, width, rows)
    width -= 1
    lines += [*turn_lines(report, array, width), *pace_lines(report, array, width)]
    lines += reshape_lines(array, width)
    rest = [*rest, *check_lines(report, array, width), *bitmap_lines(report, array, width)]
    tall = height >= _TALL
    if tall:
        lines += [[], rule_line(width + 1, "members")]
    lines += [*_members(report, array, width), *([[]] if tall and rest else []), *rest]
    for lack in report.snapshot.lacks:
        if lack.part != "changes":  # the header says read-only
            lines += wrapped(lack.sentence, width, "dim")
    return lines


_MEMBER_COLUMNS = {
    "slot": 11, "member": 12, "serial": 16, "state": 12, "errors": 7, "latency": 9, "size": 11, "model": 16
}  # fmt: skip
_MEMBER_DROPPED = ("model", "size", "latency", "serial", "errors")


def _member_columns(width: int) -> dict[str, int]:
    """Return the columns that fit; size and model come together."""
    kept = whole_columns(_MEMBER_COLUMNS, _MEMBER_DROPPED, width)
    if "model" not in kept:
        kept.pop("size", None)
    else:
        kept["model"] += min(12, width - sum(kept.values()))
    return kept


def _members(report: Report, array: Array, width: int) -> Iterator[Line]:
    letters = set_letters(array.level, array.layout, array.raid_disks or 0)
    kept = _member_columns(width)
    heads = {
        "slot": " slot set" if letters else " slot",
        "member": "member",
        "serial": "serial",
        "state": "state",
        "errors": f"{'errors':>7}",
        "latency": f"{'latency':>9}",
        "size": f"  {'size':>9}",
        "model": "  model",
    }
    head = "".join(fit(heads[name], room) for name, room in kept.items())
    yield [(fit(head.rstrip(), width), "dim")]
    slots = {m.slot for m in array.members if m.slot is not None and not m.has("replacement")}
    empty = sorted(set(array.missing_slots or ()) - slots) if array.active and slots else []
    for member in array.members:
        while empty and (member.slot is None or member.slot > empty[0]):
            yield _empty_slot(empty.pop(0), letters, kept, width)
        yield _member(report, member, letters, kept, width)
    for slot in empty:
        yield _empty_slot(slot, letters, kept, width)


def _empty_slot(slot: int, letters: dict[int, str], kept: Mapping[str, int], width: int) -> Line:
    text = f"  {slot:<2}  {letters.get(slot, ''):<3}  {'–':<11} " + " " * kept.get("serial", 0)
    return [(text, "plain"), (fit("missing", width - len(text)), "bad")]


def _member(
    report: Report, member: Member, letters: dict[int, str], kept: Mapping[str, int], width: int
) -> Line:
    disk = report.snapshot.disks.get(member.name)
    slot = "–" if member.slot is None else str(member.slot)
    letter = letters.get(member.slot, "") if member.slot is not None else ""
    serial = tail(visible(disk.serial), 14) if disk and disk.serial else ""
    latency = report.latency_ms.get(member.name)
    waited = "" if latency is None else f"{latency:.1f} ms"
    errors = "" if member.errors is None else str(member.errors)
    role = _MEMBER_ROLES.get(member.role, "dim")
    word = member.role + ("" if not member.has("write_mostly") else " W")
    size = binary_size(disk.size_bytes) if disk and disk.size_bytes else ""
    model = visible(disk.model) if disk and disk.model else ""
    cells = {
        "slot": (f"  {slot:<2}  {letter:<3}  ", "plain"),
        "member": (f"{fit(visible(member.name), 11)} ", "plain"),
        "serial": (f"{fit(serial, 15)} ", "plain"),
        "state": (fit(word, 12), role),
        "errors": (f" {errors:>6}", "warn" if member.errors else "plain"),
        "latency": (f" {waited:>8}", "plain"),
        "size": (f"  {size:>9}", "plain"),
        "model": (f"  {fit(model, kept.get('model', 2) - 2)}", "plain"),
    }
    spans: Line = [cells[name] for name in kept]
    used = sum(cell_width(text) for text, _ in spans)
    spans.append((" " * max(0, width - used), "plain"))
    return spans


def remedy_words(finding: Finding, array: Array, keymap: Mapping[str, str]) -> str:
    """Return a finding's remedy: the key that does it where there is one, else mdadm's command."""
    if finding.code == "inactive":
        return f"{ASSEMBLE.shown_key(keymap)} shows how it can be started; never re-create it"
    if finding.code == "member-detached":
        serving = any(member.slot is not None for member in array.detached)
        remove = f"{REMOVE.shown_key(keymap)} removes it from the array"
        fail = f"{FAIL.shown_key(keymap)} marks it as failed, {remove}; {ADD.shown_key(keymap)} adds a disk"
        return fail if serving else remove
    if finding.code == "member-faulty" and finding.severity:
        return f"{REMOVE.shown_key(keymap)} removes it from the array; then replace the disk"
    if finding.code in {"auto-read-only", "read-only"} and finding.remedy:
        return f"{WRITABLE.shown_key(keymap)} makes it writable"
    if finding.code in {"frozen", "frozen-with-work"}:
        return f"{PAUSE.shown_key(keymap)} resumes it"
    if finding.code == "degraded":
        if array.sync is not None and array.sync.phase is Phase.FROZEN:
            return f"nothing is rebuilt while it is frozen; {PAUSE.shown_key(keymap)} resumes it"
        waits = any(member.role == "spare" for member in array.members) or array.detached
        unread = any(member.foreign for member in array.members)
        if finding.remedy and array.sync is None and not (waits or unread):
            return f"{ADD.shown_key(keymap)} adds a disk"
    return finding.remedy


def finding_lines(finding: Finding, remedy: str, width: int) -> Iterator[Line]:
    """Yield a finding and its remedy, wrapped."""
    role = SEVERITY_ROLES[finding.severity]
    glyph = {"accent": "i", "warn": GLYPHS["warn"], "bad": GLYPHS["bad"]}[role]
    for number, part in enumerate(wrap(finding.sentence, width - 5)):
        yield [(f" {glyph if number == 0 else ' '} ", role), (fit(part, width - 3), role)]
    for number, part in enumerate(wrap(remedy, width - 7)):
        yield [(f"   {'→' if number == 0 else ' '} ", "dim"), (fit(part, width - 5), "plain")]
