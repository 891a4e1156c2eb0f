"""``raidtui fleet``: the arrays of many hosts, worst first, by ssh (docs/fleet.md)."""

from __future__ import annotations

import argparse
import asyncio
import sys
import time

from msgspec.structs import replace

from raidtui.command.streams import ProgressLine, UsageError, no_terminal, print_json
from raidtui.features.fleet.answers import FleetRow, exit_status, worst_first
from raidtui.features.fleet.asking import ASKED, AskSettings, ask_all, kept_connections, ssh_words
from raidtui.features.fleet.fleet_lines import fleet_dict, text_lines
from raidtui.features.fleet.hosts import FleetError, FleetHost
from raidtui.features.fleet.inventory import hosts_of
from raidtui.host.readers.host_reader import HostReader
from raidtui.view.text import visible

_REFUSED = 2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``fleet``."""
    parser.description = (
        "Ask many hosts for their arrays by ssh, and show them worst first. On a terminal a screen"
        " opens, which fills as answers arrive; Enter opens a host."
    )
    parser.add_argument(
        "inventory",
        metavar="INVENTORY",
        nargs="*",
        help="an inventory of Ansible (- is the output of ansible-inventory --list), a pattern of ssh_config"
        " such as 'db*', or a host; default: all hosts that ssh_config names",
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON (docs/fleet.md)")
    form.add_argument("--text", action="store_true", help="print lines, also on a terminal")
    parser.add_argument(
        "-F", dest="config", default="", metavar="FILE", help="ssh_config to use, as with ssh"
    )
    parser.add_argument(
        "--at-once",
        type=int,
        default=AskSettings().at_once,
        metavar="N",
        help="hosts asked at once (%(default)s)",
    )
    parser.add_argument(
        "--timeout",
        type=float,
        default=AskSettings().timeout_s,
        metavar="S",
        help="seconds for a host (%(default)g)",
    )
    parser.add_argument(
        "--command", dest="asked", default=ASKED, metavar="COMMAND", help="what is run there (%(default)s)"
    )
    parser.add_argument("--file", default="", metavar="FILE", help="the one file that Enter brings to a host")


def fleet_of(reader: HostReader, arguments: argparse.Namespace) -> tuple[tuple[FleetHost, ...], AskSettings]:
    """Return the hosts and how they are asked.

    Raises:
        UsageError: a number is not possible, or a captured host is named.
        FleetError: there are no such hosts, or no ssh.
    """
    if not reader.live:
        raise UsageError("fleet asks other hosts: --root and --demo name none of them")
    if arguments.at_once < 1 or not 0 < arguments.timeout <= 3600:
        raise UsageError("--at-once is at least 1, and --timeout is from 1 to 3600 seconds")
    ssh_words()
    hosts = hosts_of(arguments.inventory, arguments.config)
    if not hosts:
        raise FleetError("there are no hosts: ssh_config names none, or the inventory is empty")
    settings = AskSettings(
        at_once=arguments.at_once,
        timeout_s=arguments.timeout,
        connect_s=max(1, min(10, int(arguments.timeout))),
        config=arguments.config,
        command=arguments.asked,
    )
    return hosts, settings


def run(reader: HostReader, arguments: argparse.Namespace) -> int:
    """Show the fleet; return the exit status of ``answers.exit_status``, 2 where there is nothing to ask."""
    try:
        hosts, settings = fleet_of(reader, arguments)
    except FleetError as error:
        print(f"raidtui: {visible(str(error))}", file=sys.stderr)
        return _REFUSED
    if not (arguments.json or arguments.text or no_terminal()):
        return _open_screen(hosts, settings, arguments)
    rows: list[FleetRow] = []
    line = ProgressLine()

    def take(row: FleetRow) -> None:
        rows.append(row)
        if sys.stderr.isatty():
            line.show(f"{len(rows)} of {len(hosts)} hosts")

    asyncio.run(ask_all(hosts, settings, take))
    line.clear()
    found = worst_first(rows)
    status = exit_status(found)
    if arguments.json:
        print_json(fleet_dict(found, at_s=time.time(), status=status))
    else:
        print("\n".join(text_lines(found)))
    return status


def _open_screen(hosts: tuple[FleetHost, ...], settings: AskSettings, arguments: argparse.Namespace) -> int:
    from raidtui.features.fleet.screen.fleet_app import FleetApp  # noqa: PLC0415  (it imports Textual)

    with kept_connections() as folder:
        kept = replace(settings, masters=folder)
        opens = not arguments.readonly
        app = FleetApp(hosts, kept, theme=arguments.theme, file=arguments.file, opens=opens)
        return app.run(mouse=not arguments.no_mouse) or app.return_code or 0
