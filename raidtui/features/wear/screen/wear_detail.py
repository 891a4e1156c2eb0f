"""Below pane 3's table: what is missing, what is wrong, the members of each array side by side, a history."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from raidtui.features.wear.screen.temperature_lines import temperature_lines
from raidtui.features.wear.screen.wear_lines import ASLEEP, WIDE, odd_names, running_self_test
from raidtui.frame.chart import bar
from raidtui.frame.pages import stamp
from raidtui.frame.pane import SEVERITY_ROLES
from raidtui.model.array import Array
from raidtui.model.finding import Finding, Severity
from raidtui.model.snapshot import Snapshot
from raidtui.monitor.wear.costs import life_share, rebuild_cost, share_words
from raidtui.monitor.wear.disk_wear import DiskWear
from raidtui.monitor.wear.faults import DiskCode
from raidtui.monitor.wear.ledger_entries import MarkedCost, writes_per_day
from raidtui.monitor.wear.readings import DiskHistory, WearLook
from raidtui.monitor.wear.self_test_words import last_words
from raidtui.monitor.wear.temperatures import day_temperatures
from raidtui.view.line import GLYPHS, Line
from raidtui.view.text import cell_width, fit, visible
from raidtui.view.units import amount, counted, decimal_size
from raidtui.view.wrapping import wrap

LABEL = 11
_MOST_COSTS = 2
_BAR_OF_DAY = 48


class DiskGroup(Struct, frozen=True, kw_only=True):
    """Arrays on the same disks, or on a part of them: what was written is known per disk alone.

    Args:
        arrays: the first one has all of the disks.
        findings: about their members, each once.
    """

    arrays: tuple[Array, ...]
    disks: tuple[str, ...]
    findings: tuple[Finding, ...]


def body_lines(
    look: WearLook, snapshot: Snapshot, width: int, *, since: bool = False, chosen: str | None = None
) -> list[Line]:
    """Return everything below the table.

    Args:
        look: the reading.
        snapshot: the arrays.
        width: of the window.
        since: whether bars show what was written since the mark, instead of ever.
        chosen: the disk whose self-tests are shown.
    """
    lines = [*_self_tests(look, chosen, width), *_lacks(look, width)]
    lines += _of_disks(look, width, grave=True)
    groups = groups_of(look, snapshot)
    for group in groups:
        lines += _group_lines(group, look, width, since=since)
    lines += _jobs(look, snapshot, width)
    lines += _of_disks(look, width, grave=False)
    for each in (one for group in groups for one in group.findings):
        if each.severity is Severity.INFO:
            lines += _said(f" {visible(each.name)}", each.sentence, each.remedy, "plain", width)
    return lines


def _self_tests(look: WearLook, chosen: str | None, width: int) -> Iterator[Line]:
    """Yield what disks test now, and how the chosen one's last self-test ended."""
    for disk in look.disks:
        runs = running_self_test(disk) is not None
        if disk.reading is not None and (runs or disk.name == chosen):
            words = last_words(disk.reading)
            if words:
                yield from _said(f" {visible(disk.name)}", words, "", "accent" if runs else "plain", width)


def _lacks(look: WearLook, width: int) -> Iterator[Line]:
    """What could not be read, said once for all disks of which it holds."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for disk in look.disks:
        if disk.unread is not None and disk.unread.why not in ASLEEP:
            reasons.setdefault((disk.unread.reason, disk.unread.remedy), []).append(disk.name)
    for (reason, remedy), names in reasons.items():
        whole = "" if len(names) == len(look.disks) else f"{_listed(names)}: "
        yield from _said(f" {GLYPHS['warn']}", f"{whole}{reason}", remedy, "warn", width)
    if look.trouble:
        yield from _said(f" {GLYPHS['warn']}", f"no history: {look.trouble}", "", "warn", width)


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _said(label: str, sentence: str, remedy: str, role: str, width: int) -> Iterator[Line]:
    room = max(20, width - LABEL - 1)
    for number, part in enumerate(wrap(sentence, room)):
        head = fit(label if number == 0 else "", LABEL)
        yield [(head, role), (part, role if role in {"warn", "bad", "dim"} else "plain")]
    for number, part in enumerate(wrap(remedy, room - 2)):
        yield [(" " * LABEL + ("→ " if number == 0 else "  "), "dim"), (part, "plain")]


def _of_disks(look: WearLook, width: int, *, grave: bool) -> Iterator[Line]:
    found = [
        (disk, each)
        for disk in look.disks
        for each in disk.findings
        if (each.severity > Severity.INFO) is grave and each.code != DiskCode.SMART_UNREAD
    ]
    for disk, each in sorted(found, key=lambda pair: -pair[1].severity):
        role = SEVERITY_ROLES[each.severity]
        label = f" {visible(disk.name)}{f' {GLYPHS[role]}' if grave else ''}"
        yield from _said(label, each.sentence, each.remedy, role, width)


def groups_of(look: WearLook, snapshot: Snapshot) -> tuple[DiskGroup, ...]:
    """Return the arrays, those together that lie on the same disks or on a part of them."""
    arrays = {array.key: array for array in snapshot.arrays}
    wears = sorted(
        (each for each in look.arrays if each.key in arrays and each.disks), key=lambda each: -len(each.disks)
    )
    groups: dict[str, DiskGroup] = {}
    for wear in wears:
        home = next((key for key, each in groups.items() if set(wear.disks) <= set(each.disks)), None)
        if home is None:
            groups[wear.key] = DiskGroup(arrays=(arrays[wear.key],), disks=wear.disks, findings=wear.findings)
            continue
        group = groups[home]
        known = {each.code for each in group.findings}
        more = tuple(each for each in wear.findings if each.code not in known)
        groups[home] = DiskGroup(
            arrays=(*group.arrays, arrays[wear.key]), disks=group.disks, findings=(*group.findings, *more)
        )
    order = list(arrays)
    return tuple(sorted(groups.values(), key=lambda each: order.index(each.arrays[0].key)))


def _group_lines(group: DiskGroup, look: WearLook, width: int, *, since: bool) -> Iterator[Line]:
    if not _is_shown(group, look):
        return
    bars = list(_bars(group, look, width, since=since))
    labels = [array.title for array in group.arrays]
    used = max(LABEL + sum(cell_width(text) for text, _ in each) for each in bars)
    room = width - used - 4
    beside: list[tuple[str, str]] = []
    below: list[tuple[str, str, str]] = []
    for sentence, remedy, role in _paragraphs(group, look):
        parts = wrap(sentence, room) if room >= 24 else ()
        if parts and not below and len(beside) + len(parts) <= len(bars):
            beside += [(part, role) for part in parts]
            if remedy:
                below.append(("", remedy, role))
        else:
            below.append((sentence, remedy, role))
    for number, cells in enumerate(bars):
        label = visible(labels[number]) if number < len(labels) else ""
        line: Line = [(fit(f" {label}", LABEL), "strong" if number == 0 else "plain"), *cells]
        if number < len(beside):
            text, role = beside[number]
            line.append((" " * (used - LABEL - sum(cell_width(each) for each, _ in cells) + 3), "plain"))
            line.append((text, role))
        yield line
    for label in labels[len(bars) :]:
        yield [(f" {visible(label)}", "plain")]
    for sentence, remedy, role in below:
        yield from _said("", sentence, remedy, role, width)


def _is_shown(group: DiskGroup, look: WearLook) -> bool:
    """Whether any of its disks was read, or sleeps."""
    disks = [disk for disk in look.disks if disk.name in group.disks]
    return any(disk.unread is None or disk.unread.why in ASLEEP for disk in disks)


def _bars(group: DiskGroup, look: WearLook, width: int, *, since: bool) -> Iterator[Line]:
    disks = {disk.name: disk for disk in look.disks}
    sizes = {name: _amount(disks.get(name), look, since=since) for name in group.disks}
    largest = max((size for size in sizes.values() if size is not None), default=0)
    odd = odd_names(look)
    cells, names = (34 if width >= WIDE else 18), max(len(name) for name in group.disks)
    for name, size in sizes.items():
        role = "warn" if name in odd else "plain"
        if size is None:
            words = _why_none(disks.get(name), since=since)
            yield [(f"{fit(visible(name), names)} ", "plain"), (fit(words, cells + 9), "dim")]
            continue
        filled = bar(size / largest if largest else 0.0, cells).replace("░", " ")
        figure = f" {decimal_size(size):>8} "
        yield [(f"{fit(visible(name), names)} ", "plain"), (filled, role), (figure, role)]


def _amount(disk: DiskWear | None, look: WearLook, *, since: bool) -> int | None:
    if disk is None:
        return None
    return look.since.get(disk.name) if since else disk.written.known_bytes


def _why_none(disk: DiskWear | None, *, since: bool) -> str:
    if disk is None or (disk.unread is not None and disk.unread.why not in ASLEEP):
        return "not read"
    if disk.unread is not None:
        return "asleep"
    return "not read at the mark" if since else "?"


def _paragraphs(group: DiskGroup, look: WearLook) -> Iterator[tuple[str, str, str]]:
    """Yield (sentence, remedy, role): who is out of line, what syncs have cost, what one would cost."""
    for each in group.findings:
        if each.severity > Severity.INFO:
            yield visible(each.sentence), visible(each.remedy), SEVERITY_ROLES[each.severity]
    titles = [array.title for array in group.arrays]
    for title in titles:
        own = [(cost, action) for cost in look.costs if (action := cost.action_on(title)) is not None]
        for cost, action in own[:_MOST_COSTS]:
            whose = "" if len(titles) == 1 else f" of {title}"
            if words := cost_words(cost, look, group.disks):
                yield visible(f"{stamp(cost.began_s, look.at_s)} {action}{whose}: {words}"), "", "plain"
    of_group = {name: disk for disk in look.disks if (name := disk.name) in group.disks and disk.reading}
    if of_group and (words := rebuild_cost(group.arrays[0], of_group)) and group.arrays[0].redundant:
        yield words, "", "dim"


def cost_words(cost: MarkedCost, look: WearLook, names: Iterable[str] | None = None) -> str:
    """Return what something cost the disks that are there: ``1.62 TB to sdd (0.4 % of its life)``."""
    wanted = None if names is None else set(names)
    found: list[tuple[int, DiskWear]] = []
    for disk in look.disks:
        size = cost.costs.get(disk.entry.disk) if disk.entry is not None else None
        if size is not None and (wanted is None or disk.name in wanted):
            found.append((size, disk))
    largest = max((size for size, _ in found), default=0)
    words = []
    for size, disk in sorted(found, key=lambda pair: -pair[0]):
        if size and size * 100 >= largest:
            share = share_words([life_share(disk, size)])
            words.append(f"{amount(size)} to {disk.name}{f' ({share})' if share else ''}")
    return ", ".join(words)


def _jobs(look: WearLook, snapshot: Snapshot, width: int) -> Iterator[Line]:
    """What else has a begin and an end in the ledger: jobs, benchmarks, arrays that are no more."""
    titles = [array.title for array in snapshot.arrays]
    others = [cost for cost in look.costs if all(cost.action_on(title) is None for title in titles)]
    for number, cost in enumerate(others[:_MOST_COSTS]):
        if words := cost_words(cost, look):
            text = f"{stamp(cost.began_s, look.at_s)} {cost.what}: {words}"
            yield from _said(" jobs" if number == 0 else "", text, "", "plain", width)


def history_lines(history: DiskHistory, disk: DiskWear | None, width: int) -> list[Line]:
    """Return one disk's history: what syncs and jobs have cost it, how warm it was, and a bar a day."""
    if not history.entries:
        text = "no history yet: it begins with the next reading; raidtui wear --record adds to it"
        return list(_said("", text, "", "plain", width))
    last = history.entries[-1]
    days = writes_per_day(history.entries, history.unit_bytes)
    name = disk.name if disk is not None else last.name
    lines: list[Line] = [
        [
            (fit(f" {visible(name)}", LABEL), "strong"),
            (
                visible(f"{last.model}, serial {last.disk}: {counted(len(history.entries), 'reading')}"),
                "plain",
            ),
        ]
    ]
    for cost in history.costs:
        size = cost.costs[history.disk]
        share = share_words([life_share(disk, size)])
        words = f"{amount(size)}{f' ({share})' if share else ''}"
        lines += _said(f" {_day(cost.began_s)}", f"{cost.what}: {words}", "", "plain", width)
    lines += temperature_lines(
        day_temperatures(history.entries), None if disk is None else disk.reading, width
    )
    largest, cells = max((size for _, size in days), default=0), min(_BAR_OF_DAY, width - LABEL - 12)
    for at_s, size in reversed(days):
        filled = bar(size / largest if largest else 0.0, cells).replace("░", " ")
        lines.append(
            [
                (fit(f" {_day(at_s)}", LABEL), "dim"),
                (f"{decimal_size(size):>8}  ", "plain"),
                (filled, "dim"),
            ]
        )
    if not days:
        lines += _said("", "daily figures appear with the next reading", "", "dim", width)
    return lines


def _day(at_s: float) -> str:
    return time.strftime("%d %b %y", time.gmtime(at_s)).lstrip("0").rjust(9)
