"""The command line. Only the module of the subcommand that is given is imported."""

from __future__ import annotations

import argparse
import contextlib
import sys
import traceback
from collections.abc import Callable
from typing import Any, NoReturn

from raidtui.app.registry import FEATURES
from raidtui.command.streams import NOT_WRITTEN, OutputError, UsageError, guard, no_terminal
from raidtui.frame.feature import CommandModule, Subcommand
from raidtui.host.readers.host_reader import HostReader, ReaderError
from raidtui.host.readers.opening import open_root
from raidtui.jobs.journal import state_trouble

_EPILOG = """\
Without a command, raidtui opens the console. Changes need root; without root, raidtui only shows.

exit status:
  status   0 all well, 1 degraded or needs attention, 2 failed, 3 unknown
  wear     0 all well, 1 needs attention or is worn, 2 a disk is failing, 3 no disk's health is known
  rescue   0 no array needs a rescue, 1 one does, 2 one has too few members to start, 3 nothing could be read
  stack    0 nothing is wrong, 1 needs attention, 3 something could not be read
  advice   0 no advice, 1 advice found, 2 refused, 3 something could not be read
  history  0 all was read, 2 no such array or disk, 3 something could not be read, or does not reach back
  pull     0 nothing to do, 1 a disk is being exchanged, 2 refused, 75 another job is running
  boot-check
           0 it boots without any one disk, 1 not without each of them, 3 not known
  alert    0 done, or nothing waits; 1 an alert waits, or was not accepted everywhere; 2 refused
  plan, apply, jobs, bench, tune, pace
           0 done, 1 not done, 2 refused, 75 another job is running
  fleet    0 all well, 1 degraded or needs attention, 2 failed or refused, 3 a host did not answer
  ssh      that of raidtui there, 2 refused
  all      64 wrong usage, 70 a defect of raidtui, 74 the output could not be written"""


def _capture() -> CommandModule:
    from raidtui.app.commands import capture  # noqa: PLC0415  (each is imported when it is used)

    return capture


def _plan() -> CommandModule:
    from raidtui.app.commands import plan  # noqa: PLC0415

    return plan


def _apply() -> CommandModule:
    from raidtui.app.commands import apply  # noqa: PLC0415

    return apply


def _jobs() -> CommandModule:
    from raidtui.app.commands import jobs  # noqa: PLC0415

    return jobs


_OWN = (
    Subcommand(name="capture", help="write what a bug report needs to FILE (tar.gz)", module=_capture),
    Subcommand(name="plan", help="print the plan of a change; nothing is changed", module=_plan),
    Subcommand(name="apply", help="carry out a saved plan", module=_apply),
    Subcommand(name="jobs", help="list, follow, cancel, resume and roll back jobs", module=_jobs),
)
"""Those that belong to no feature."""
_STATUS, *_OTHERS = (command for feature in FEATURES for command in feature.commands)
COMMANDS = {command.name: command for command in (_STATUS, *_OWN, *_OTHERS)}
"""All subcommands, in the order of the help."""


class _Parser(argparse.ArgumentParser):
    """The parser of raidtui and of every subcommand. All take --root and --demo.

    Wrong usage exits with 64 (EX_USAGE). argparse's 2 means "failed" for ``status``.
    """

    def __init__(self, *args: Any, **more: Any) -> None:  # noqa: ANN401  (as argparse says)
        super().__init__(*args, **more)
        where = self.add_argument_group("host").add_mutually_exclusive_group()
        where.add_argument(
            "--root",
            metavar="PATH",
            default=argparse.SUPPRESS,  # a default of the subcommand would replace what stands before it
            help="read a captured host: a folder, a capture file, or a copy of /proc/mdstat",
        )
        where.add_argument(
            "--demo",
            action="store_true",
            default=argparse.SUPPRESS,
            help="use a simulated host; nothing on this machine is read or changed",
        )

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(64, f"{self.prog}: {message}\n")


class _Version(argparse.Action):
    """Print the version; how raidtui was built is looked up only then."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        from raidtui.built import version_line  # noqa: PLC0415

        print(version_line())
        parser.exit()


class _CommandParser(_Parser):
    """The parser of a subcommand. Its module is imported when there is something to parse."""

    subcommand: Subcommand | None = None
    complete: Callable[[Any], Any] = staticmethod(lambda args: args)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:  # noqa: ANN401  (as argparse)
        self.load()
        return super().parse_known_args(self.complete(args), namespace)

    def load(self) -> None:
        """Add the arguments of the subcommand."""
        if self.subcommand is not None:
            module, self.subcommand = self.subcommand.module(), None
            module.add_arguments(self)
            self.complete = getattr(module, "complete", self.complete)


def build_parser(*, whole: bool = False) -> argparse.ArgumentParser:
    """Return the parser of ``raidtui``.

    Args:
        whole: whether the arguments of all subcommands are added; else those of a subcommand are added when
            it is parsed.
    """
    parser = _Parser(
        prog="raidtui",
        description="Watch, build, reshape, repair, rescue, tune and benchmark Linux md arrays.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(root=None, demo=False)
    parser.add_argument(
        "-V",
        "--version",
        action=_Version,
        nargs=0,
        default=argparse.SUPPRESS,
        help="print version and kind, and exit",
    )
    parser.add_argument(
        "--theme",
        metavar="NAME",
        help="dark, light, catppuccin, gruvbox-light, high-contrast, ansi, or a theme of your own",
    )
    parser.add_argument("--no-mouse", action="store_true", help="do not use the mouse")
    parser.add_argument(
        "--readonly",
        action="store_true",
        help="write nothing, as root either; commands that act are refused",
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=_CommandParser)
    for name, subcommand in COMMANDS.items():
        command = commands.add_parser(name, help=subcommand.help)
        command.subcommand = subcommand
        if whole:
            command.load()
    return parser


def run_line(argv: list[str]) -> int:
    """Run the command line of this process, on its own streams; return the exit status.

    74 (EX_IOERR): standard output cannot be written to. 70 (EX_SOFTWARE): a defect of ours.
    """
    guard()
    try:
        status = _ended(argv)
        sys.stdout.flush()
    except OutputError as error:
        if not error.nobody_reads:
            print(f"raidtui: standard output: {error}", file=sys.stderr)
        return NOT_WRITTEN
    except KeyboardInterrupt:
        return 130
    except Exception:  # noqa: BLE001  (Python's own status would be 1: "degraded")
        traceback.print_exc()
        print("raidtui: this is a defect of raidtui; please report it", file=sys.stderr)
        return 70
    return status


def _ended(argv: list[str]) -> int:
    try:
        return run(argv)
    except SystemExit as end:  # argparse: help, version, wrong usage
        return end.code if isinstance(end.code, int) else 64 if end.code else 0


def run(argv: list[str]) -> int:
    """Run the command line; return the exit status."""
    parser = build_parser()
    arguments = parser.parse_args(argv)
    if arguments.demo and arguments.root is not None:
        parser.error("argument --demo: not allowed with argument --root")
    if arguments.command is None and (why := no_terminal()):
        print(f"raidtui: {why}; for scripts there is: raidtui status", file=sys.stderr)
        return 64
    try:
        reader = _root(arguments)
    except ReaderError as error:
        from raidtui.view.text import visible  # noqa: PLC0415

        print(f"raidtui: {visible(str(error))}", file=sys.stderr)
        return 3
    with contextlib.closing(reader):
        try:
            return _run(reader, arguments)
        except UsageError as error:
            parser.error(str(error))


def _run(reader: HostReader, arguments: argparse.Namespace) -> int:
    if arguments.readonly:
        from raidtui.app.commands.readonly import refused  # noqa: PLC0415

        if refused(reader, arguments):
            return 2
    if arguments.command is None:
        return _screen(reader, arguments)
    command = COMMANDS[arguments.command].module()
    if reader.live and (trouble := state_trouble()):
        print(f"raidtui: {trouble}", file=sys.stderr)
    return command.run(reader, arguments)


def _root(arguments: argparse.Namespace) -> HostReader:
    if arguments.demo:
        from raidtui.demo.demo_host import demo_root  # noqa: PLC0415

        return demo_root()
    return open_root(arguments.root or "/")


def _screen(reader: HostReader, arguments: argparse.Namespace) -> int:
    from raidtui.app.palette_later import import_app  # noqa: PLC0415

    import_app()
    from raidtui.app.launch import launch  # noqa: PLC0415

    return launch(reader, theme=arguments.theme, mouse=not arguments.no_mouse)
