"""What ``wear`` takes. Nothing is imported here that only carrying it out needs."""

from __future__ import annotations

from raidtui.command.parsers import Commands


def add_wear_parser(commands: Commands) -> None:
    """Add ``wear`` to the command line."""
    words = "how worn the disks are, what was written to them, and what is wrong with one"
    parser = commands.add_parser("wear", help=words, description=f"Print {words}.")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="as JSON (docs/wear.md)")
    form.add_argument("--prometheus", action="store_true", help="as metrics (docs/wear.md)")
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--from",
        dest="files",
        nargs="+",
        metavar="FILE",
        help="explain output of smartctl --json -x from elsewhere; - is standard input",
    )
    what.add_argument(
        "--record", action="store_true", help="write a reading into the history, and say nothing: for a timer"
    )
    what.add_argument(
        "--mark", metavar="WORDS", help="mark this moment: from now on, wear tells what was written since"
    )
    what.add_argument(
        "--history",
        nargs="?",
        const="",
        metavar="DISK",
        help="writes per day, and what syncs and jobs have cost; without a disk, list those that are known",
    )
