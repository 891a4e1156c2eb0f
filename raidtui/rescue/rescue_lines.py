"""A diagnosis as lines for people, 80 columns wide. Pure."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from raidtui.rescue.gap_words import moment
from raidtui.rescue.records import RescueArray, RescueMember, WayBack
from raidtui.view.text import cell_width, fit
from raidtui.view.units import binary_size

_WIDTH = 80
_COLUMNS = (
    ("DEVICE", 10),
    ("SLOT", 4),
    ("STATE", 10),
    ("EVENTS", 8),
    ("LAST WRITTEN (UTC)", 19),
    ("ARRAY", 8),
)


def array_lines(array: RescueArray) -> Iterator[str]:
    """Yield what there is to say of an array, and an empty line."""
    yield _title(array)
    yield ""
    yield f"  {_row([head for head, _ in _COLUMNS])}  SERIAL"
    for member in array.members:
        yield _member_line(member)
        yield from _more(member)
    for slot in array.missing:
        yield f"  {_row(['-', str(slot), 'missing', '', '', ''])}".rstrip()
    yield ""
    for cause in array.causes:
        yield from _wrapped(f"* {cause.text}")
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


def _row(cells: list[str]) -> str:
    padded = []
    for cell, (_, width) in zip(cells, _COLUMNS, strict=True):
        shown = fit(cell, width)
        padded.append(shown + " " * (width - cell_width(shown)))
    return "  ".join(padded)


def _member_line(member: RescueMember) -> str:
    block = member.superblock
    role = "" if block is None or block.role is None else str(block.role)[:1].upper()
    slot = role if block is None or block.slot is None else str(block.slot)
    cells = [
        member.device,
        slot or "-",
        {"superblock-lost": "no superb."}.get(member.presence, str(member.presence)),
        "" if block is None or block.events is None else str(block.events),
        "" if block is None or block.updated_s is None else moment(block.updated_s).removesuffix(" UTC"),
        "" if block is None else block.roles or "",
    ]
    return f"  {_row(cells)}  {member.serial}".rstrip()


def _more(member: RescueMember) -> Iterator[str]:
    """Yield what the table has no column for, where there is something."""
    block = member.superblock
    words = []
    if block is not None and block.recovery_sectors is not None:
        words.append(f"rebuilt up to {binary_size(block.recovery_sectors * 512)}")
    if block is not None and block.reshape is not None:
        words.append(f"reshape at {binary_size(block.reshape.position_kib << 10)}")
    if block is not None and block.bad_blocks:
        words.append("bad blocks recorded")
    if member.start_sectors:
        words.append(f"from sector {member.start_sectors}")
    if member.same_as:
        words.append(f"same as {member.same_as}")
    if words:
        yield f"      {', '.join(words)}"


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
