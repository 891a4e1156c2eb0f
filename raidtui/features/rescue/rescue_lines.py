"""A diagnosis as lines for people, 80 columns wide. Pure."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from raidtui.features.rescue.records import RescueArray, RescueMember, WayBack
from raidtui.features.rescue.rescue_verdict import verdict_of
from raidtui.view.moments import moment
from raidtui.view.text import cell_width, fit
from raidtui.view.units import binary_size

_WIDTH = 80
_HEADS = ("DEVICE", "SLOT", "STATE", "EVENTS", "LAST WRITTEN (UTC)", "ARRAY", "SERIAL")
_WIDEST = (12, 4, 10, 9, 19, 12, 20)


def array_lines(array: RescueArray) -> Iterator[str]:
    """Yield what there is to say of an array, and an empty line."""
    yield _title(array)
    yield ""
    yield from _table(array)
    yield ""
    for cause in array.causes:
        yield from _wrapped(f"* {cause.text}")
    yield from _wrapped(f"=> {verdict_of(array).text}", 3)
    if array.ways:
        yield ""
        yield "Ways back, from harmless to drastic:"
    for number, way in enumerate(array.ways, 1):
        yield from _way_lines(number, way)
    yield ""


def _title(array: RescueArray) -> str:
    words = [array.name or (array.uuid or "Devices without a superblock")]
    words += [array.level] if array.level else []
    words += [f"{array.raid_disks} slots"] if array.raid_disks else []
    words += [f"running as {array.running}"] if array.running else []
    words += [f"UUID {array.uuid}"] if array.uuid and array.name else []
    return ", ".join(words)


def _table(array: RescueArray) -> Iterator[str]:
    """Yield the members; serial numbers have a line of their own where they do not fit."""
    rows = [_cells(member) for member in array.members]
    rows += [("-", str(slot), "missing", "", "", "", "") for slot in array.missing]
    widths = [
        min(most, max(cell_width(row[column]) for row in (_HEADS, *rows)))
        for column, most in enumerate(_WIDEST)
    ]
    own_line = sum(widths) + 2 * len(widths) > _WIDTH
    shown = len(widths) - own_line
    yield _row(_HEADS[:shown], widths)
    for number, row in enumerate(rows):
        yield _row(row[:shown], widths)
        more = list(_more(array.members[number])) if number < len(array.members) else []
        if own_line and row[-1]:
            more.insert(0, f"serial {row[-1]}")
        if more:
            yield f"      {', '.join(more)}"


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    shown = [fit(cell, width) for cell, width in zip(cells, widths, strict=False)]
    padded = [text + " " * (width - cell_width(text)) for text, width in zip(shown, widths, strict=False)]
    return f"  {'  '.join(padded)}".rstrip()


def _cells(member: RescueMember) -> tuple[str, ...]:
    block = member.superblock
    role = "" if block is None or block.role is None else str(block.role)[:1].upper()
    slot = role if block is None or block.slot is None else str(block.slot)
    return (
        member.device,
        slot or "-",
        {"superblock-lost": "no superb."}.get(member.presence, str(member.presence)),
        "" if block is None or block.events is None else str(block.events),
        "" if block is None or block.updated_s is None else moment(block.updated_s).removesuffix(" UTC"),
        "" if block is None else block.roles or "",
        member.serial,
    )


def _more(member: RescueMember) -> Iterator[str]:
    """Yield what the table has no column for, where there is something."""
    block = member.superblock
    if block is not None and block.recovery_sectors is not None:
        yield (f"rebuilt up to {binary_size(block.recovery_sectors * 512)}")
    if block is not None and block.reshape is not None:
        yield (f"reshape at {binary_size(block.reshape.position_kib << 10)}")
    if block is not None and block.bad_blocks:
        yield ("bad blocks recorded")
    if member.start_sectors:
        yield (f"from sector {member.start_sectors}")
    if member.same_as:
        yield (f"same as {member.same_as}")


def _way_lines(number: int, way: WayBack) -> Iterator[str]:
    mark = "" if way.possible else "NOT POSSIBLE. "
    yield from _wrapped(f"{number:2}. {mark}{way.text}", 4)
    if not way.possible:
        yield from _wrapped(f"    Why not: {way.why_not}.", 6)
        return
    yield from _wrapped(f"    Writes: {way.writes or 'nothing'}.", 6)
    if way.forgives:
        yield from _wrapped(f"    Forgives: {way.forgives}.", 6)


def _wrapped(text: str, indent: int = 2) -> list[str]:
    return textwrap.wrap(text, _WIDTH, subsequent_indent=" " * indent, break_on_hyphens=False)
