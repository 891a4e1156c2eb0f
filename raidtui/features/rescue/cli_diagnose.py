"""``raidtui rescue [--json] [DEVICE...]``: what happened to the arrays, for people and for programs."""

from __future__ import annotations

import argparse
import sys
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import to_builtins

from raidtui.command.device_names import kernel_name
from raidtui.command.streams import print_json
from raidtui.features.rescue.records import RescueArray, RescueMember, WayBack, judge_array
from raidtui.features.rescue.session import RescueReport, read_rescue
from raidtui.host.readers.host_reader import HostReader
from raidtui.model.survey import Superblock
from raidtui.view.moments import moment
from raidtui.view.text import cell_width, fit, visible
from raidtui.view.units import binary_size

_WIDTH = 80
_HEADS = ("DEVICE", "SLOT", "STATE", "EVENTS", "LAST WRITTEN (UTC)", "ARRAY", "SERIAL")
_WIDEST = (12, 4, 10, 9, 19, 12, 20)
_UNREAD = 3


def array_lines(array: RescueArray) -> Iterator[str]:
    """Yield what there is to say of an array, and an empty line."""
    yield _title(array)
    yield ""
    yield from _table(array)
    yield ""
    for cause in array.causes:
        yield from _wrapped(f"* {cause.text}")
    yield from _wrapped(f"=> {judge_array(array).text}", 3)
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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what ``rescue`` takes without a subcommand."""
    parser.add_argument("--json", action="store_true", help="as JSON (docs/rescue.md)")
    parser.add_argument("devices", nargs="*", metavar="DEVICE", help="read only these; default: all")


def run(reader: HostReader, arguments: argparse.Namespace) -> int:
    """Print the diagnosis; return its exit status (docs/rescue.md)."""
    report = read_rescue(reader, tuple(kernel_name(reader, word) for word in arguments.devices))
    for name in report.unknown:
        _say(f"{name}: there is no such device")
    for name, why in sorted(report.silent.items()):
        _say(f"what is on {name} is not known: {why}")
    if arguments.json:
        print_json(report_dict(report))
    else:
        for array in report.arrays:
            for line in array_lines(array):
                print(visible(line))
        if not report.arrays and report.read:
            where = " on the devices that could be read" if report.silent else ""
            print(f"No md superblock was found{where}, and nothing that may have been a member.")
    if report.why:
        _say(report.why)
    return status_of(report)


def _say(text: str) -> None:

    print(f"raidtui: {visible(text)}", file=sys.stderr)


def status_of(report: RescueReport) -> int:
    """Return 0 no rescue is needed, 1 one is, 2 too few members to start an array, 3 not all was read."""
    needs = max((array.needs for array in report.arrays), default=0)
    unread = report.why or report.unknown or not report.read or (report.silent and not needs)
    return _UNREAD if unread else needs


def report_dict(report: RescueReport) -> dict[str, Any]:
    """Return the form for programs (docs/rescue.md)."""
    return {"arrays": [_array_dict(array) for array in report.arrays], "silent": sorted(report.silent)}


def _array_dict(array: RescueArray) -> dict[str, Any]:

    return {
        "uuid": array.uuid,
        "name": array.name,
        "level": array.level,
        "raid_disks": array.raid_disks,
        "missing": list(array.missing),
        "running": array.running or None,
        "verdict": to_builtins(judge_array(array)),
        "members": [_member_dict(member) for member in array.members],
        "causes": to_builtins(array.causes),
        "ways": [
            {
                "code": "",
                "text": "",
                "writes": "",
                "possible": way.possible,
                **to_builtins(way),
            }  # in this order
            for way in array.ways
        ],
    }


def _member_dict(member: RescueMember) -> dict[str, Any]:

    block = member.superblock or Superblock(uuid=None)  # nothing is known then
    reshape = block.reshape
    return {
        "device": member.device,
        "serial": member.serial or None,
        "model": member.model or None,
        "size_bytes": member.size_bytes,
        "start_sectors": member.start_sectors,
        "state": member.presence,
        "same_as": member.same_as or None,
        "slot": block.slot,
        "role": block.role,
        "events": block.events,
        "updated_s": block.updated_s,
        "created_s": block.created_s,
        "array_state": block.roles,
        "metadata": block.metadata,
        "device_uuid": block.device_uuid,
        "chunk_bytes": block.chunk_bytes,
        "layout": block.layout_name or None,
        "data_offset_sectors": block.offset_sectors,
        "used_sectors": block.used_sectors,
        "recovery_offset_sectors": block.recovery_sectors,
        "dirty": block.dirty,
        "dirty_bytes": block.dirty_bytes,
        "bad_blocks": block.bad_blocks if member.superblock is not None else None,
        "checksum_ok": block.checksum_ok,
        "reshape": None
        if reshape is None
        else {"position_kib": 0, "delta_disks": 0, **to_builtins(reshape)},  # in this order
    }
