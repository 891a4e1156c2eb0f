"""``raidtui --readonly``: which commands act, and are refused."""

from __future__ import annotations

import argparse
import sys

from raidtui.host.readers.host_reader import READONLY, HostReader
from raidtui.jobs.state_files import keep_nothing

_ACTS = {
    "apply": (),
    "ssh": (),
    "jobs": ("cancel", "resume", "rollback", "work"),
    "bench": ("run", "sweep", "stop", "restore", "work", "note", "delete"),
    "tune": ("set", "keep", "forget", "undo"),
    "rescue": ("try", "copy", "mismatches", "clean", "work"),
    "pull": ("array", "next", "watch", "cancel"),
    "alert": ("event", "smartd", "send", "test", "add", "remove"),
    "pace": ("arrays", "stop", "restore"),
    "wear": ("record", "mark", "types"),
    "advice": ("ignore", "unignore"),
}
"""Commands that act; those with words only with one of these subcommands or arguments."""
_ONLY_SHOWS = ("plan", "dry_run", "status", "list")
"""Arguments with which none of them acts."""


def refused(reader: HostReader, arguments: argparse.Namespace) -> bool:
    """Let this process write nothing, and refuse a command that acts; return whether it was refused.

    A plan is printed as it would be without ``--readonly``: printing it does nothing.
    """
    keep_nothing()
    given = vars(arguments)
    subcommand, words = given.get("subcommand"), _ACTS.get(arguments.command or "", ("",))
    acts = not words or subcommand in words or any(given.get(word) for word in words)
    shows = any(given.get(word) for word in _ONLY_SHOWS)
    if acts and not shows:
        print(f"raidtui: {READONLY}", file=sys.stderr)
        return True
    prints = "plan" in {arguments.command, subcommand} or given.get("plan") or given.get("dry_run")
    reader.readonly = not prints
    return False
