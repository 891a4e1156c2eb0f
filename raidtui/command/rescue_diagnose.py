"""``raidtui rescue [--json] [DEVICE...]``: what happened to the arrays, for people and for programs."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from raidtui.host.roots.root import Root

if TYPE_CHECKING:
    from raidtui.rescue.records import RescueArray
    from raidtui.session.rescue import RescueReport


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what ``rescue`` takes without a subcommand."""
    parser.add_argument("--json", action="store_true", help="as JSON (docs/rescue.md)")
    parser.add_argument("devices", nargs="*", metavar="DEVICE", help="read only these; default: all")


def run(root: Root, arguments: argparse.Namespace) -> int:
    """Print the diagnosis; return its exit status (docs/rescue.md)."""
    from raidtui.command.device_names import kernel_name  # noqa: PLC0415
    from raidtui.command.streams import print_json  # noqa: PLC0415
    from raidtui.session.rescue import read_rescue  # noqa: PLC0415
    from raidtui.view.text import visible  # noqa: PLC0415

    report = read_rescue(root, tuple(kernel_name(root, word) for word in arguments.devices))
    for name in report.unknown:
        print(f"raidtui: {visible(name)}: there is no such device", file=sys.stderr)
    if arguments.json:
        print_json(report_dict(report))
    else:
        for array in report.arrays:
            print(visible(f"{array.name or array.uuid}: {array.level}"))
            for cause in array.causes:
                print(visible(f"  {cause.text}"))
    return status_of(report)


def status_of(report: RescueReport) -> int:
    """Return 0 no rescue is needed, 1 one is, 2 too few members to start an array, 3 nothing was read."""
    from raidtui.rescue.records import CauseCode  # noqa: PLC0415

    if not report.read:
        return 3
    codes = {cause.code for array in report.arrays for cause in array.causes}
    return 0 if codes <= {CauseCode.COMPLETE} else 2 if CauseCode.NOT_ENOUGH in codes else 1


def report_dict(report: RescueReport) -> dict[str, Any]:
    """Return the form for programs (docs/rescue.md)."""
    return {"arrays": [_array_dict(array) for array in report.arrays], "silent": list(report.silent)}


def _array_dict(array: RescueArray) -> dict[str, Any]:
    return {
        "uuid": array.uuid,
        "name": array.name,
        "level": array.level,
        "members": [
            {
                "device": member.device,
                "serial": member.serial or None,
                "size_bytes": member.size_bytes,
                "state": member.presence,
                "slot": member.superblock.slot,
                "events": member.superblock.events,
                "recovery_offset_sectors": member.superblock.recovery_sectors,
            }
            for member in array.members
        ],
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
                "devices": list(way.devices),
            }
            for way in array.ways
        ],
    }
