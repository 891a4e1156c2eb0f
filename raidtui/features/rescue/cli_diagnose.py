"""``raidtui rescue [--json] [DEVICE...]``: what happened to the arrays, for people and for programs."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from raidtui.command.device_names import kernel_name
from raidtui.command.streams import print_json
from raidtui.features.rescue.rescue_lines import array_lines
from raidtui.features.rescue.rescue_verdict import verdict_of
from raidtui.features.rescue.session import read_rescue
from raidtui.host.readers.host_reader import HostReader
from raidtui.model.survey import Superblock
from raidtui.view.text import visible

if TYPE_CHECKING:
    from raidtui.features.rescue.records import RescueArray, RescueMember
    from raidtui.features.rescue.session import RescueReport


_UNREAD = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what ``rescue`` takes without a subcommand."""
    parser.add_argument("--json", action="store_true", help="as JSON (docs/rescue.md)")
    parser.add_argument("devices", nargs="*", metavar="DEVICE", help="read only these; default: all")


def run(root: HostReader, arguments: argparse.Namespace) -> int:
    """Print the diagnosis; return its exit status (docs/rescue.md)."""
    report = read_rescue(root, tuple(kernel_name(root, word) for word in arguments.devices))
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

    verdict = verdict_of(array)
    return {
        "uuid": array.uuid,
        "name": array.name,
        "level": array.level,
        "raid_disks": array.raid_disks,
        "missing": list(array.missing),
        "running": array.running or None,
        "verdict": {"code": verdict.code, "text": verdict.text},
        "members": [_member_dict(member) for member in array.members],
        "causes": [
            {"code": cause.code, "text": cause.text, "devices": list(cause.devices)} for cause in array.causes
        ],
        "ways": [
            {
                "code": way.code,
                "text": way.text,
                "writes": way.writes,
                "possible": way.possible,
                "why_not": way.why_not,
                "forgives": way.forgives,
                "devices": list(way.devices),
                "backup_file": way.backup,
            }
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
        else {
            "position_kib": reshape.position_kib,
            "delta_disks": reshape.delta_disks,
            "new_level": reshape.new_level,
            "new_layout": reshape.new_layout,
            "new_chunk_bytes": reshape.new_chunk_bytes,
            "new_offset_sectors": reshape.new_offset_sectors,
            "backwards": reshape.backwards,
        },
    }
