"""``raidtui rescue``: its subcommands; each has a module of its own, which imports its needs when it runs.

Without the name of a subcommand it is ``diagnose``: ``raidtui rescue [--json] [DEVICE...]``.
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Sequence
from types import ModuleType

from raidtui.host.readers.host_reader import HostReader

_DIAGNOSE = "diagnose"
_OF_HOST = ("--root", "--demo")
_SUBCOMMANDS = {
    _DIAGNOSE: "read all superblocks, and say what happened and which ways back there are (default)",
    "search": "search for level, order, chunk, layout and data offset without superblocks; only reads",
    "try": "try a way back with the members read-only, and judge it by what stands on the array",
    "plan": "print the plan of what a trial has rehearsed; nothing is changed",
    "mismatches": "compare all members: which sectors do not match, who disagrees, what lies there",
    "copy": "copy a disk that gives read errors, with GNU ddrescue",
    "clean": "take down all that trials have left",
    "work": "used by raidtui itself: work on a trial, a copy or a comparison in this process",
}
"""``NAME`` is the module ``raidtui.features.rescue.cli_NAME`` with ``add_arguments`` and ``run``."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what ``rescue`` takes."""
    parser.description = (
        "Say why arrays do not start, and how they come back. Without a subcommand: raidtui rescue [--json]"
        " [DEVICE...], which writes nothing. A device that is called like a subcommand is written with /dev/."
    )
    subcommands = parser.add_subparsers(dest="subcommand", metavar="SUBCOMMAND", required=True)
    for name, words in _SUBCOMMANDS.items():
        _module(name).add_arguments(subcommands.add_parser(name, help=words))


def complete(words: Sequence[str]) -> list[str]:
    """Return the arguments of ``rescue`` with the name of a subcommand.

    Args:
        words: the arguments as they were typed.
    """
    typed = list(words)
    at = 0
    while at < len(typed) and typed[at].partition("=")[0] in _OF_HOST:
        at += 2 if typed[at] == "--root" else 1
    following = typed[at] if at < len(typed) else ""
    if following in {*_SUBCOMMANDS, "-h", "--help"}:
        return typed
    return [*typed[:at], _DIAGNOSE, *typed[at:]]


def run(root: HostReader, arguments: argparse.Namespace) -> int:
    """Carry out ``raidtui rescue ...``; return the exit status that the subcommand documents."""
    status: int = _module(arguments.subcommand).run(root, arguments)
    return status


def _module(name: str) -> ModuleType:
    return importlib.import_module(f"raidtui.features.rescue.cli_{name}")
