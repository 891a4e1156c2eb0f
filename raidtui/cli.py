"""The command line. Each command imports what it needs when it runs."""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from pathlib import Path
from typing import Any, NoReturn

import raidtui
from raidtui.command.bench_parser import add_bench_parser
from raidtui.command.parsers import add_job_parsers, add_plan_parser
from raidtui.command.streams import NOT_WRITTEN, OutputError, guard
from raidtui.command.tune_parser import add_tune_parser
from raidtui.command.wear_parser import add_wear_parser
from raidtui.host.roots.opening import open_root
from raidtui.host.roots.root import Root, RootError

_EPILOG = """\
exit status of status: 0 all well, 1 degraded or attention, 2 failed, 3 cannot tell;
of wear: 0 all well, 1 attention or worn, 2 a disk is dying, 3 no disk could be read;
of plan, apply, jobs, bench and tune: 0 done, 1 not done, 2 refused, 75 another job is running;
of all: 64 wrong usage, 70 a defect of raidtui, 74 the output could not be written.
Without a command, the console opens. Changes need root; without it all is shown and nothing changed."""


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


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of everything that ``raidtui`` takes."""
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
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser)
    status = commands.add_parser(
        "status", help="print how the arrays are, and exit with a status that says it"
    )
    form = status.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="as JSON (docs/status-json.md)")
    form.add_argument("--prometheus", action="store_true", help="as metrics, node_exporter's names")
    status.add_argument(
        "--watch", action="store_true", help="go on: a line per event (with --json: an object)"
    )
    capture = commands.add_parser("capture", help="write what a bug report needs into FILE (tar.gz)")
    capture.add_argument("file", metavar="FILE", type=Path)
    capture.add_argument(
        "--with-serials", action="store_true", help="keep serial numbers and WWNs; they are hashed otherwise"
    )
    add_plan_parser(commands)
    add_job_parsers(commands)
    add_bench_parser(commands)
    add_tune_parser(commands)
    add_wear_parser(commands)
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
    if arguments.command == "status":
        if arguments.watch and arguments.prometheus:
            parser.error("--watch prints events, which are no metrics; leave one of the two out")
        return _status(root, arguments)
    if arguments.command == "capture":
        return _capture(root, arguments)
    if arguments.command in {"plan", "apply", "jobs"}:
        return _order(root, arguments)
    if arguments.command == "bench":
        return _bench(root, arguments)
    if arguments.command == "tune":
        return _tune(root, arguments)
    if arguments.command == "wear":
        return _wear(root, arguments)
    return _screen(root, arguments)


def _root(arguments: argparse.Namespace) -> Root:
    if arguments.demo:
        from raidtui.demo.demo_host import demo_root  # noqa: PLC0415

        return demo_root()
    return open_root(arguments.root or "/")


def _status(root: Root, arguments: argparse.Namespace) -> int:
    from raidtui.command.status import print_status, watch_status  # noqa: PLC0415

    form = "json" if arguments.json else "prometheus" if arguments.prometheus else "sentences"
    return watch_status(root, form) if arguments.watch else print_status(root, form)


def _capture(root: Root, arguments: argparse.Namespace) -> int:
    from raidtui.command.capture import write_capture  # noqa: PLC0415

    try:
        number = write_capture(root, arguments.file, with_serials=arguments.with_serials)
    except FileExistsError:
        print(f"raidtui: {arguments.file} is there already; choose another name", file=sys.stderr)
        return 73
    except OSError as error:
        print(f"raidtui: {arguments.file}: {error.strerror}", file=sys.stderr)
        return 73
    kept = "with serial numbers" if arguments.with_serials else "serial numbers hashed"
    print(f"{arguments.file}: {number} files, {kept}. Look at it with: raidtui --root {arguments.file}")
    return 0


def _order(root: Root, arguments: argparse.Namespace) -> int:
    if arguments.command == "plan":
        from raidtui.command.plan import run_plan  # noqa: PLC0415

        return run_plan(root, arguments)
    if arguments.command == "apply":
        from raidtui.command.apply import run_apply  # noqa: PLC0415

        return run_apply(root, arguments)
    from raidtui.command.jobs import run_jobs  # noqa: PLC0415

    return run_jobs(root, arguments)


def _bench(root: Root, arguments: argparse.Namespace) -> int:
    from raidtui.command.bench import run_bench_order  # noqa: PLC0415

    return run_bench_order(root, arguments)


def _tune(root: Root, arguments: argparse.Namespace) -> int:
    from raidtui.command.tune import run_tune_order  # noqa: PLC0415

    return run_tune_order(root, arguments)


def _wear(root: Root, arguments: argparse.Namespace) -> int:
    from raidtui.command.wear import run_wear  # noqa: PLC0415

    return run_wear(root, arguments)


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
