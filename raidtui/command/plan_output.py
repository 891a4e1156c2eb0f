"""How a command prints a plan: for people, for ``raidtui apply``, or as a shell script."""

from __future__ import annotations

import argparse
import shlex
import time
from typing import TYPE_CHECKING

from raidtui.command.streams import print_refusal, write_bytes
from raidtui.jobs.plan_file import machine_of, save_plan
from raidtui.jobs.writable import tried
from raidtui.model.plan import NothingToDo, Plan, Refusal
from raidtui.plans.shell_script import plan_sentences, shell_script
from raidtui.view.text import visible

if TYPE_CHECKING:
    from raidtui.host.readers.host_reader import HostReader


def add_forms(parser: argparse.ArgumentParser) -> None:
    """Add ``--json`` and ``--sh``, of which one may be given."""
    forms = parser.add_mutually_exclusive_group()
    forms.add_argument("--json", action="store_true", help="print the plan as JSON, for raidtui apply")
    forms.add_argument("--sh", action="store_true", help="print the plan as a commented shell script")


def print_plan(plan: Plan | Refusal, arguments: argparse.Namespace, reader: HostReader, command: str) -> int:
    """Print the plan, or why there is none, in the form that was asked for.

    Args:
        plan: what was planned, or why it is not possible.
        arguments: with ``json`` and ``sh`` of :func:`add_forms`.
        reader: the host that it was planned for.
        command: the command that plans it again, with ``--json`` to be added, for the sentence that says
            how to carry it out.

    Returns:
        0, also where it is so already; 2 where it is refused, or could not write its files.
    """
    if isinstance(plan, NothingToDo):
        if not (arguments.json or arguments.sh):
            print(visible(f"already so: {plan.sentence}"))
            return 0
        plan = plan.plan
    plan = tried(reader, plan)
    if isinstance(plan, Refusal):
        return print_refusal(plan, as_json=arguments.json)
    if arguments.json:
        host = reader.hostname or ""
        write_bytes(save_plan(plan, host=host, made_s=time.time(), machine=machine_of(reader)))
    elif arguments.sh:
        write_bytes(shell_script(plan).encode("utf-8", "surrogateescape"))
    else:
        confirm = f" --confirm={shlex.quote(visible(plan.confirm))}" if plan.confirm else ""
        print("\n".join(plan_sentences(plan)))
        print(f"To do it: {command} --json >plan.json; raidtui apply plan.json{confirm}")
    return 0


def add_destroy(parser: argparse.ArgumentParser) -> None:
    """Add the option that names arrays which may be destroyed."""
    parser.add_argument(
        "--destroy",
        action="append",
        default=[],
        metavar="NAME|UUID",
        help="an array that is not running and may be destroyed: its name or UUID",
    )
