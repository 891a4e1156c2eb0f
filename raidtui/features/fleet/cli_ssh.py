"""``raidtui ssh HOST``: raidtui on a host that need not have it, on this terminal."""

from __future__ import annotations

import argparse
import os
import sys

from raidtui.command.streams import UsageError
from raidtui.features.fleet.bring import RemoteRun, file_name, find_file, run_on
from raidtui.features.fleet.hosts import FleetError, host_of
from raidtui.host.readers.host_reader import HostReader
from raidtui.view.text import visible

_REFUSED = 2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``ssh``."""
    parser.description = (
        "Bring the one file of raidtui to a host by ssh, verify it there, and run it on this terminal. Only"
        " the file stays there, in the login's cache."
    )
    parser.add_argument(
        "host", metavar="HOST", help="as ssh takes it: a name, user@host, ssh://user@host:port"
    )
    parser.add_argument(
        "-F", dest="config", default="", metavar="FILE", help="ssh_config to use, as with ssh"
    )
    parser.add_argument("-i", dest="key", default="", metavar="KEY", help="private key, as with ssh")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--file", default="", metavar="FILE", help=f"the one file, {file_name()}")
    what.add_argument(
        "--installed", action="store_true", help="run the raidtui that is installed there, and bring nothing"
    )
    parser.add_argument("--no-sudo", action="store_true", help="run it as the user that logs in")
    parser.add_argument(
        "arguments",
        metavar="...",
        nargs=argparse.REMAINDER,
        help="what raidtui is given there, such as status",
    )


def run(reader: HostReader, arguments: argparse.Namespace) -> int:
    """Run raidtui there; return its exit status, 2 where it could not be run.

    Raises:
        UsageError: a captured host is named.
    """
    if not reader.live:
        raise UsageError("ssh goes to another host: --root and --demo come after HOST, for raidtui there")
    words = arguments.arguments[1:] if arguments.arguments[:1] == ["--"] else arguments.arguments
    try:
        host = host_of(arguments.host, {"ansible_private_key_file": arguments.key})
        wanted = RemoteRun(
            file=None if arguments.installed else find_file(arguments.file),
            arguments=tuple(words),
            sudo=not arguments.no_sudo,
            config=arguments.config,
            terminal=os.isatty(0) and os.isatty(1),
        )
        return run_on(host, wanted)
    except FleetError as error:
        print(f"raidtui: {visible(str(error))}", file=sys.stderr)
        return _REFUSED
