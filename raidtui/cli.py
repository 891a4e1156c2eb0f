"""The command line: finds the subcommand. Its module says what it takes, and is imported when it is named."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import traceback
from typing import Any, NoReturn

import raidtui
from raidtui.command.streams import NOT_WRITTEN, OutputError, UsageError, guard
from raidtui.host.roots.opening import open_root
from raidtui.host.roots.root import Root, RootError

_EPILOG = """\
exit status of status: 0 all well, 1 degraded or attention, 2 failed, 3 cannot tell;
of wear: 0 all well, 1 attention or worn, 2 a disk is dying, 3 no disk could be read;
of plan, apply, jobs, bench and tune: 0 done, 1 not done, 2 refused, 75 another job is running;
of all: 64 wrong usage, 70 a defect of raidtui, 74 the output could not be written.
Without a command, the console opens. Changes need root; without it all is shown and nothing changed."""


_COMMANDS = {
    "status": "print how the arrays are, and exit with a status that says it",
    "capture": "write what a bug report needs into FILE (tar.gz)",
    "plan": "show what would be done, and do nothing",
    "apply": "carry a saved plan out",
    "jobs": "list jobs; attach, cancel, resume, roll back",
    "bench": "measure with fio: run, sweep, compare, report",
    "tune": "scheduler, NCQ, governor and md's knobs: show, set for now, keep for good",
    "wear": "how worn the disks are, what was written to them, and what is wrong with them",
}
"""Each is a module of ``raidtui.command`` with ``add_arguments`` and ``run``."""


class _Parser(argparse.ArgumentParser):
    """Every command's parser: all of them take what says which host is meant.

    argparse exits with 2 on wrong usage, which of ``status`` would mean "failed": use 64 (EX_USAGE).
    """

    def __init__(self, *args: Any, **more: Any) -> None:  # noqa: ANN401  (as argparse says)
        super().__init__(*args, **more)
        where = self.add_argument_group("which host").add_mutually_exclusive_group()
        where.add_argument(
            "--root",
            metavar="PATH",
            default=argparse.SUPPRESS,  # else a command's parser would undo what was said before the command
            help="look at a captured tree instead of this host: a folder, a capture, or a /proc/mdstat text",
        )
        where.add_argument(
            "--demo",
            action="store_true",
            default=argparse.SUPPRESS,
            help="a simulated host that lives; nothing is real",
        )

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(64, f"{self.prog}: {message}\n")


class _CommandParser(_Parser):
    """A subcommand's parser: its module is imported when there is something to parse."""

    module = ""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:  # noqa: ANN401  (as argparse)
        self.load()
        return super().parse_known_args(args, namespace)

    def load(self) -> None:
        """Take the arguments of the subcommand's module."""
        if self.module:
            module, self.module = self.module, ""
            importlib.import_module(module).add_arguments(self)


def build_parser(*, whole: bool = False) -> argparse.ArgumentParser:
    """Return the parser of everything that ``raidtui`` takes.

    Args:
        whole: whether all subcommands say at once what they take; otherwise the one that is named does.
    """
    parser = _Parser(
        prog="raidtui",
        description="Watch, throttle, build and repair Linux md arrays, from a terminal.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(root=None, demo=False)
    parser.add_argument("-V", "--version", action="version", version=f"raidtui {raidtui.__version__}")
    parser.add_argument(
        "--theme", metavar="NAME", help="dark, light, high-contrast, ansi, or one of your own"
    )
    parser.add_argument("--no-mouse", action="store_true", help="leave the mouse to the terminal")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=_CommandParser)
    for name, words in _COMMANDS.items():
        command = commands.add_parser(name, help=words)
        command.module = f"raidtui.command.{name}"
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
    if arguments.command is None and (why := _no_terminal()):
        print(f"raidtui: {why}; for scripts there is: raidtui status", file=sys.stderr)
        return 64
    try:
        root = _root(arguments)
    except RootError as error:
        print(f"raidtui: {error}", file=sys.stderr)
        return 3
    if arguments.command is None:
        return _screen(root, arguments)
    command = importlib.import_module(f"raidtui.command.{arguments.command}")
    try:
        status: int = command.run(root, arguments)
    except UsageError as error:
        parser.error(str(error))
    return status


def _root(arguments: argparse.Namespace) -> Root:
    if arguments.demo:
        from raidtui.demo.demo_host import demo_root  # noqa: PLC0415

        return demo_root()
    return open_root(arguments.root or "/")


def _no_terminal() -> str:
    """Return why the console cannot open here, if so."""
    if not sys.stdout.isatty() or not sys.stdin.isatty():
        return "the console needs a terminal"
    if os.environ.get("TERM") == "dumb":
        return "the console needs a terminal that moves its cursor, and this one says TERM=dumb"
    return ""


def _screen(root: Root, arguments: argparse.Namespace) -> int:
    from raidtui.ui.palette_later import import_app  # noqa: PLC0415

    import_app()
    from raidtui.ui.launch import launch  # noqa: PLC0415

    return launch(root, theme=arguments.theme, mouse=not arguments.no_mouse)
