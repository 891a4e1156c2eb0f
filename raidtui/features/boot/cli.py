"""``raidtui boot-check``: whether the machine comes up without any one of its disks, and why not.

Exit status: 0 without any of them, 1 not without all of them, 3 not known.
"""

from __future__ import annotations

import argparse
import shlex
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING

from raidtui.command.streams import print_json
from raidtui.host.readers.host_reader import HostReader
from raidtui.monitor.boot.boot_check import check_boot, look_at_boot_dict
from raidtui.monitor.boot.boot_remedies import remedy_of
from raidtui.view.text import visible

if TYPE_CHECKING:
    from raidtui.monitor.boot.boot_reasons import DiskVerdict

_WIDTH = 100
_ALL, _SOME, _UNKNOWN = 0, 1, 3
_WORDS = {
    True: "the machine boots",
    False: "the machine does not boot",
    None: "it is not known whether the machine boots",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``boot-check``."""
    parser.add_argument("--json", action="store_true", help="print JSON (docs/boot-check.md)")


def run(reader: HostReader, arguments: argparse.Namespace) -> int:
    """Print the verdicts; return the exit status, see the module."""
    look = check_boot(reader)
    if arguments.json:
        print_json(look_at_boot_dict(look))
    else:
        for line in _lines(look.verdicts, look.unread):
            print(visible(line))
    found = {each.boots_without for each in look.verdicts}
    if False in found:
        return _SOME
    return _UNKNOWN if None in found or not found else _ALL


def _lines(verdicts: tuple[DiskVerdict, ...], unread: tuple[str, ...]) -> Iterator[str]:

    orders: dict[tuple[str, ...], None] = {}
    if not verdicts:
        yield "It is not known what the machine boots from."
    for each in verdicts:
        serial = f" ({each.serial})" if each.serial else ""
        yield f"Without {each.name}{serial}: {_WORDS[each.boots_without]}."
        for reason in each.reasons:
            mark = {False: "no", None: "unknown", True: "note"}[reason.boots]
            yield from textwrap.wrap(
                f"    {mark}: {reason.text}  [{reason.code}]",
                _WIDTH,
                subsequent_indent="        ",
                break_on_hyphens=False,
                break_long_words=False,
            )
            if reason.boots is not True and (order := remedy_of(reason)[1]):
                orders[order] = None
    for sentence in unread:
        yield f"not known: {sentence}"
    for order in orders:
        yield f"Plan: {shlex.join(('raidtui', *order))}"
    if orders:
        yield "Afterwards, look again: raidtui boot-check"
