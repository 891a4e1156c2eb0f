"""How the guide looks: the members of an array, what happened to it, and the ways back."""

from __future__ import annotations

import itertools
import textwrap
import time
from collections.abc import Sequence

from msgspec import Struct

from raidtui.features.rescue.records import CauseCode, Presence, RescueArray, RescueMember
from raidtui.features.rescue.screen.guide_rows import GuideRow
from raidtui.model.survey import Superblock
from raidtui.plans.whole import standing
from raidtui.view.line import Line
from raidtui.view.text import cell_width, fit, tail, visible
from raidtui.view.units import SECTOR_BYTES, binary_size, counted, short_size

_ROLES = {
    Presence.WHOLE: "ok",
    Presence.JOURNAL: "plain",
    Presence.SPARE: "plain",
    Presence.DUPLICATE: "plain",
    Presence.UNUSABLE: "bad",
    Presence.SUPERBLOCK_LOST: "bad",
}
_STATES = {Presence.SUPERBLOCK_LOST: "no superblock"}
_WIDE = 100
_MOST = 112
_MISSING = "missing"
_WAYS, _NOTHING = "Ways back", "nothing"
_FRAME = 5
"""Lines of the page around its body and the ways: title, keys and rules."""
_LEAST_BODY, _FEWEST = 8, 4
"""Lines of the body beside a usual way, and beside one of which there is much to say."""


class _Column(Struct, frozen=True, kw_only=True):
    """A column of the table: its head, its cells, the most cells it is given, and whether it is narrow."""

    head: str
    cells: list[str]
    most: int
    right: bool = False
    cut_left: bool = False


def title_of(array: RescueArray) -> str:
    """Return what an array is called: its name without the host, or what else there is."""
    if array.uuid is None and not array.name:
        return "devices without a superblock"
    return array.name.rpartition(":")[2] or (array.uuid or "")[:8]


def facts_of(array: RescueArray) -> str:
    """Return level, slots, where it comes from."""
    host = array.name.rpartition(":")[0]
    facts = [array.level or "", counted(array.raid_disks, "slot") if array.raid_disks else ""]
    facts += [f"of host {host}" if host else "", f"runs as {array.running}" if array.running else ""]
    return ", ".join(visible(fact) for fact in facts if fact)


def member_lines(array: RescueArray, silent: Sequence[str], width: int) -> list[Line]:
    """Return the table of the members, the slots of which nothing was found, and the silent devices.

    Args:
        array: the array.
        silent: kernel names of devices that have not answered.
        width: cells of a line.
    """
    members = array.members
    sick = _sick(array)
    columns = _columns(array, sick, wide=width >= _WIDE)
    state = next(number for number, column in enumerate(columns) if column.head == "state")
    sizes = [_size(column) for column in columns]
    lines: list[Line] = [[(_cells([column.head for column in columns], columns, sizes, width), "dim")]]
    last = 1 + sum(size + 2 for size in sizes[:-1] if size)
    for number in range(len(members) + len(array.missing)):
        cells = [column.cells[number] for column in columns]
        role = _role(members[number], sick) if number < len(members) else "bad"
        text = _cells(cells, columns, sizes, width)
        start = 1 + sum(size + 2 for size in sizes[:state] if size)
        end = start + sizes[state]
        lines.append([(text[:start], "plain"), (text[start:end], role), (text[end:], "plain")])
        lines += [[(" " * last + part, "plain")] for part in _parts(cells[-1], width - last)[1:]]
    if silent:
        words = f"no answer from {', '.join(silent)}: what {'they hold' if len(silent) > 1 else 'it holds'}"
        lines += text_lines(f" {words} is not known", width, "warn", 1)
    return lines


def _columns(array: RescueArray, sick: set[str], *, wide: bool) -> list[_Column]:
    members, slots = array.members, array.missing
    none = [""] * len(slots)
    seen = [each.superblock or Superblock(uuid=None) for each in members]  # nothing is known of the others
    blocks = {each.device: each.superblock for each in members if each.superblock is not None}
    stale = standing(blocks).not_whole if blocks else ()
    known = {each.name: each.rest if each.verb == "is" else each.why for each in stale}
    found = [
        _Column(head="device", cells=[*(each.device for each in members), *("–" for _ in slots)], most=12),
        _Column(
            head="serial", cells=[*(each.serial for each in members), *none], most=9 + 7 * wide, cut_left=True
        ),
        _Column(
            head="slot",
            cells=[*(_number(each.slot, "–") for each in seen), *(str(slot) for slot in slots)],
            most=4,
            right=True,
        ),
        _Column(
            head="state",
            cells=[*(_state(each, sick) for each in members), *[_MISSING] * len(none)],
            most=13,
        ),
        _Column(head="events", cells=[*(_number(each.events) for each in seen), *none], most=10, right=True),
        _Column(head="written (UTC)", cells=[*map(_written, seen), *none], most=15),
    ]
    if wide:
        sizes = ["" if each.size_bytes is None else short_size(each.size_bytes) for each in members]
        found += [
            _Column(head="saw", cells=[*(each.roles or "" for each in seen), *none], most=8),
            _Column(
                head="data at",
                cells=[*(_number(each.offset_sectors) for each in seen), *none],
                most=8,
                right=True,
            ),
            _Column(head="size", cells=[*sizes, *none], most=8, right=True),
        ]
    lacks = [_lack(each, known.get(each.device, ""), sick) for each in members]
    found.append(_Column(head="what is missing", cells=[*lacks, *none], most=60))
    return found


def _sick(array: RescueArray) -> set[str]:
    """Return the devices that give read errors."""
    return {name for cause in array.causes if cause.code is CauseCode.READ_ERRORS for name in cause.devices}


def _state(member: RescueMember, sick: set[str]) -> str:
    if member.presence is Presence.WHOLE and member.device in sick:
        return "read errors"
    return _STATES.get(member.presence, member.presence)


def _role(member: RescueMember, sick: set[str]) -> str:
    return "warn" if member.device in sick else _ROLES.get(member.presence, "warn")


def _number(value: int | None, unknown: str = "") -> str:
    return unknown if value is None else str(value)


def _written(block: Superblock) -> str:
    return "" if block.updated_s is None else time.strftime("%d %b %H:%M:%S", time.gmtime(block.updated_s))


def _lack(member: RescueMember, why: str, sick: set[str]) -> str:
    block = member.superblock
    words = ["read errors"] if member.device in sick and member.presence is not Presence.WHOLE else []
    if member.same_as:
        words.append(f"same as {member.same_as}")
    elif member.presence is Presence.REBUILDING and block is not None and block.recovery_sectors:
        words.append(f"past {binary_size(block.recovery_sectors * SECTOR_BYTES)}")
    elif why:
        words.append(why)
    if block is not None and block.checksum_ok is False:
        words.append("checksum wrong")
    if block is not None and block.bad_blocks:
        words.append("bad blocks")
    return ", ".join(words)


def _size(column: _Column) -> int:
    most = max((cell_width(visible(cell)) for cell in column.cells), default=0)
    return min(column.most, max(most, cell_width(column.head))) if most else 0


def _cells(cells: Sequence[str], columns: Sequence[_Column], sizes: Sequence[int], width: int) -> str:
    parts: list[str] = []
    for cell, column, size in zip(cells, columns, sizes, strict=True):
        if not size:
            continue
        text = visible(cell)
        if column is columns[-1]:
            text = _parts(text, width - 1 - sum(cell_width(part) + 2 for part in parts))[0]
        text = tail(text, size) if column.cut_left else fit(text, size).rstrip()
        pad = " " * (size - cell_width(text))
        parts.append(pad + text if column.right else text + pad)
    return fit((" " + "  ".join(parts)).rstrip(), width)


def _parts(text: str, width: int) -> list[str]:
    """Return a cell in parts that fit: what a member lacks is never cut."""
    return textwrap.wrap(visible(text), max(10, width), break_on_hyphens=False) or [""]


def cause_lines(array: RescueArray, width: int) -> tuple[list[Line], list[Line]]:
    """Return the most important of what happened, and the rest."""
    parts = [
        text_lines(f" · {cause.text}", width, "plain" if number else "strong", 3)
        for number, cause in enumerate(array.causes)
    ]
    return (parts[0] if parts else []), [line for part in parts[1:] for line in part]


def way_panel(
    rows: Sequence[GuideRow], at: int, width: int, height: int, *, body: int = 0, here_only: str = ""
) -> list[Line]:
    """Return the ways back, and beside them what the chosen one does; where there is room, what each does.

    Args:
        rows: the ways.
        at: which of them is chosen.
        width: cells of a line.
        height: lines of the window.
        body: lines of the page above.
        here_only: what is said of ways that Enter would take, where it cannot; "" for nothing.
    """
    name = max(cell_width(_WAYS), *(cell_width(row.words) for row in rows))
    left = name + 2 + cell_width(_NOTHING) + 2
    notes = [note_of(row, width - left - 3, here_only) for row in rows]
    head: Line = [(fit(f"  {fit(_WAYS, name)}  writes", left), "dim")]
    lefts = [_way_line(row, name, left, here=number == at) for number, row in enumerate(rows)]
    whole = _whole_panel(rows, head, lefts, width, here_only) if body else []
    if whole and len(whole) <= height - _FRAME - body:
        return whole
    most = max((len(note) for row, note in zip(rows, notes, strict=True) if row.way.possible), default=0)
    usual = min(max(len(rows) + 1, most), max(7, height - _FRAME - _LEAST_BODY))
    shown = max(usual, min(len(notes[at]), height - _FRAME - _FEWEST))
    first = max(0, min(at - (shown - 1) // 2, len(rows) - (shown - 1)))
    rights = notes[at][:shown]
    empty: list[Line] = [[] for _ in range(shown)]
    return _side_by_side(
        [head, *lefts[first : first + shown - 1], *empty][:shown], [*rights, *empty][:shown], left
    )


def _whole_panel(
    rows: Sequence[GuideRow], head: Line, lefts: Sequence[Line], width: int, here_only: str
) -> list[Line]:
    """Return each way with all that it does beside it."""
    left = sum(cell_width(text) for text, _ in head)
    notes = [note_of(row, width - left - 3, one_of_many=True) for row in rows]
    last = text_lines(here_only, width - left - 3, "dim")
    column = [head]
    for line, note in zip(lefts, notes, strict=True):
        column += [line, *([] for _ in note[1:])]
    column += [[] for _ in last]
    return _side_by_side(column, [[], *itertools.chain(*notes), *last], left)


def _way_line(row: GuideRow, name: int, left: int, *, here: bool) -> Line:
    role = "key" if here and row.way.possible else "plain" if row.way.possible else "dim"
    text = f"{'▸' if here else ' '} {fit(row.words, name)}  {row.writes_word}"
    return [(fit(text, left), role)]


def _side_by_side(lefts: Sequence[Line], rights: Sequence[Line], left: int) -> list[Line]:
    return [
        [*(one or [(" " * left, "plain")]), (" │ ", "dim"), *other]
        for one, other in zip(lefts, rights, strict=True)
    ]


def note_of(row: GuideRow, width: int, here_only: str = "", *, one_of_many: bool = False) -> list[Line]:
    """Return what a way does, what it writes and forgives, and why it is not possible."""
    way = row.way
    lines: list[Line] = []
    if not way.possible:
        lines += text_lines(f"Not possible: {way.why_not}.", width, "warn")
    lines += text_lines(way.text, width, "plain" if way.possible else "dim")
    if way.possible and way.writes:
        lines += text_lines(f"Writes {way.writes}.", width, "warn")
    if way.forgives:
        lines += text_lines(f"Forgives: {way.forgives}.", width, "warn")
    if way.possible and here_only:
        lines += text_lines(here_only, width, "dim")
    elif way.possible and not row.enters and not one_of_many:
        lines += text_lines("Done by hand; then r reads all again.", width, "dim")
    return lines


def text_lines(text: str, width: int, role: str, indent: int = 0) -> list[Line]:
    """Return a text in lines of at most ``width`` and 112 cells; those after the first are indented."""
    parts = textwrap.wrap(
        visible(text), min(width, _MOST), subsequent_indent=" " * indent, break_on_hyphens=False
    )
    return [[(part, role)] for part in parts]
