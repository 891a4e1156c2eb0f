"""What ``tune`` takes. Nothing is imported here that only carrying it out needs."""

from __future__ import annotations

import argparse

from raidtui.command.parsers import Commands

_WORDS = "disks, @ARRAY (all of its members), an array, cpu, system; then KNOB=VALUE"


def add_tune_parser(commands: Commands) -> None:
    """Add ``tune`` to the command line."""
    parser = commands.add_parser(
        "tune", help="scheduler, NCQ, governor and md's knobs: show, set for now, keep for good"
    )
    orders = parser.add_subparsers(dest="order", metavar="ORDER", required=True)
    form = argparse.ArgumentParser(add_help=False)
    form.add_argument("--json", action="store_true", help="as JSON (docs/tune.md)")
    act = argparse.ArgumentParser(add_help=False, parents=[form])
    act.add_argument(
        "--dry-run", action="store_true", help="show the plan, do nothing; with --json: for raidtui apply"
    )

    def order(name: str, words: str, parent: argparse.ArgumentParser) -> argparse.ArgumentParser:
        made: argparse.ArgumentParser = orders.add_parser(
            name, help=words, description=words, parents=[parent]
        )
        return made

    show = order("show", "show all knobs, or those of some: value, default, who set it", form)
    show.add_argument("words", metavar="WHAT", nargs="*", help="disks, @ARRAY, an array, cpu, system")
    show.add_argument(
        "--erc", action="store_true", help="ask the disks for SCT ERC, too (smartctl; needs root)"
    )
    wish = order("set", "set knobs for now; a reboot forgets them", act)
    wish.add_argument("words", metavar="WORD", nargs="+", help=_WORDS)
    keep = order("keep", "keep values over reboots: those named, or all that was set for now", act)
    keep.add_argument("words", metavar="WORD", nargs="*", help=f"{_WORDS}, or KNOB for the value of now")
    forget = order("forget", "keep values no longer: those named, or all", act)
    forget.add_argument("words", metavar="WORD", nargs="*", help="whose, and which knobs")
    order("undo", "put back what was set last, also by another run since the boot", act)
    profile = order("profile", "set what differs from a profile; without a name, list the profiles", act)
    profile.add_argument("name", metavar="NAME", nargs="?", default="")
    profile.add_argument("words", metavar="WHAT", nargs="*", help="disks, @ARRAY, cpu; all members otherwise")
    profile.add_argument("--keep", action="store_true", help="and keep it over reboots")
