"""The verbs of ``raidtui plan`` that give an array another shape: grow, convert, shrink, journal."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from raidtui.command.plan_output import add_destroy
from raidtui.features.reshape.backup_places import read_backup_place
from raidtui.features.reshape.plan.convert_plan import plan_convert
from raidtui.features.reshape.plan.convert_stages import ConvertRequest
from raidtui.features.reshape.plan.grow_plan import GrowOptions, plan_grow, plan_grow_size
from raidtui.features.reshape.plan.journal_plan import plan_journal, plan_policy
from raidtui.features.reshape.plan.shrink_plan import plan_shrink, plan_shrink_size
from raidtui.features.reshape.plan.size_plan import plan_larger
from raidtui.frame.feature import Verbs
from raidtui.host.readers.host_reader import HostReader
from raidtui.model.array import Array
from raidtui.model.plan import Plan, Refusal, RefusalCode
from raidtui.model.survey import Survey


def _add(verb: Callable[[str, str], argparse.ArgumentParser]) -> None:
    """Add the verbs.

    Args:
        verb: returns the parser of a verb, of its name and what it does.
    """
    grow = verb(
        "grow", "add devices to an array, or replace all by larger ones; md moves the data while it is in use"
    )
    grow.add_argument("array", metavar="ARRAY")
    _add_devices(grow, "free devices")
    grow.add_argument(
        "--devices",
        dest="slots",
        type=int,
        default=0,
        metavar="N",
        help="slots afterwards (default: one more for each device that is added); spares fill what is left",
    )
    grow.add_argument(
        "--larger",
        nargs="+",
        default=[],
        metavar="DEVICE",
        help="larger devices that replace the members, one after the other; then all of them is used",
    )
    grow.add_argument(
        "--size", choices=("max",), help="use all of each member, when all were replaced by larger ones"
    )
    _add_reshape(grow)
    convert = verb("convert", "change the level, layout or chunk of an array while it is in use")
    convert.add_argument("array", metavar="ARRAY")
    convert.add_argument(
        "--level", default="", help="raid0, raid5, raid6, raid10: several stages make one plan (1 to 5 to 6)"
    )
    convert.add_argument(
        "--layout", default="", help="left-symmetric and others; preserve: 5 to 6 without moving the data"
    )
    convert.add_argument("--chunk", type=int, default=0, metavar="KIB")
    _add_devices(convert, "free devices that become members")
    _add_reshape(convert)
    chunk = verb("grow-chunk", "change the chunk size of an array")
    chunk.add_argument("array", metavar="ARRAY")
    chunk.add_argument("chunk", metavar="KIB", type=int)
    shrink = verb("shrink", "use fewer devices, or less of each; the array's contents must fit")
    shrink.add_argument("array", metavar="ARRAY")
    less = shrink.add_mutually_exclusive_group(required=True)
    less.add_argument("--devices", dest="slots", type=int, default=0, metavar="N", help="slots afterwards")
    less.add_argument("--size", type=int, default=0, metavar="KIB", help="used of each member afterwards")
    journal = verb("journal", "add or remove the write journal or partial parity log of an array")
    journal.add_argument("array", metavar="ARRAY")
    what = journal.add_mutually_exclusive_group(required=True)
    what.add_argument("--add", dest="device", metavar="DEVICE", help="device for a write journal")
    what.add_argument("--remove", action="store_true", help="remove the write journal")
    what.add_argument("--policy", choices=("ppl", "resync"), help="partial parity log (raid5), or none")
    add_destroy(journal)


def _add_devices(parser: argparse.ArgumentParser, words: str) -> None:
    parser.add_argument("--add", dest="devices", nargs="+", default=[], metavar="DEVICE", help=words)
    add_destroy(parser)


def _add_reshape(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--backup-file",
        default="",
        metavar="PATH",
        help="where mdadm keeps what is being moved, if there is no room beside the data: on another disk",
    )
    parser.add_argument(
        "--unguarded",
        action="store_true",
        help="reshape in place, with a backup file, although a power cut meanwhile loses data",
    )
    parser.add_argument(
        "--only-array", action="store_true", help="do not resize LVM, encryption and file system"
    )
    parser.add_argument(
        "--extend",
        action="append",
        default=[],
        metavar="GROUP/VOLUME",
        help="an LVM volume that takes the new room, with its file system",
    )


def _plan(
    reader: HostReader, arguments: argparse.Namespace, array: Array, survey: Survey, names: dict[str, str]
) -> Plan | Refusal:
    """Return the plan of one of these verbs.

    Args:
        reader: the host.
        arguments: of the command line.
        array: the array.
        survey: the host, with the array's members and the devices that are named.
        names: kernel names of the devices, by the typed words.
    """
    if arguments.verb == "journal":
        if arguments.policy:
            return plan_policy(survey, array, arguments.policy)
        name = names[arguments.device] if arguments.device else ""
        return plan_journal(survey, array, name, destroys=arguments.destroy)
    if arguments.verb == "shrink":
        if arguments.size:
            return plan_shrink_size(survey, array, arguments.size)
        return plan_shrink(survey, array, arguments.slots)
    if arguments.verb == "grow-chunk":
        return plan_convert(survey, array, ConvertRequest(chunk_kib=arguments.chunk))
    options = GrowOptions(
        destroys=arguments.destroy,
        backup=read_backup_place(reader, arguments.backup_file) if arguments.backup_file else None,
        unguarded=arguments.unguarded,
        above=not arguments.only_array,
        volumes=tuple(arguments.extend),
    )
    added = tuple(names[word] for word in arguments.devices)
    if arguments.verb == "convert":
        level = arguments.level if arguments.level.startswith("raid") or not arguments.level else ""
        request = ConvertRequest(
            level=level or (f"raid{arguments.level}" if arguments.level else ""),
            layout=arguments.layout,
            chunk_kib=arguments.chunk,
            names=added,
        )
        return plan_convert(survey, array, request, options)
    if arguments.size or arguments.larger:
        if added or arguments.slots:
            return Refusal(
                code=RefusalCode.INVALID,
                why="mdadm changes the size of each member and their number one after the other",
                remedy="make two plans",
            )
        if not arguments.larger:
            return plan_grow_size(survey, array, options)

        return plan_larger(survey, array, tuple(names[word] for word in arguments.larger), options)
    return plan_grow(survey, array, added, slots=arguments.slots, options=options)


VERBS = Verbs(
    names=frozenset({"convert", "grow", "grow-chunk", "journal", "shrink"}), add=_add, of_array=_plan
)
