"""What ``plan``, ``apply`` and ``jobs`` take. Nothing is imported here that only carrying them out needs."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, Protocol


class Commands(Protocol):
    """What ``ArgumentParser.add_subparsers`` returns."""

    def add_parser(self, name: str, **more: Any) -> Any:  # noqa: ANN401  (as argparse says)
        """Add a command."""


def add_plan_parser(commands: Commands) -> None:
    """Add ``plan`` to the command line."""
    parser = commands.add_parser("plan", help="show what would be done, and do nothing")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    form = argparse.ArgumentParser(add_help=False)
    forms = form.add_mutually_exclusive_group()
    forms.add_argument("--json", action="store_true", help="for raidtui apply")
    forms.add_argument("--sh", action="store_true", help="as a commented shell script")

    def verb(name: str, words: str) -> argparse.ArgumentParser:
        made: argparse.ArgumentParser = verbs.add_parser(name, help=words, description=words, parents=[form])
        return made

    for name, words in (
        ("stop", "stop an array"),
        ("read-only", "let nothing be written to an array"),
        ("read-write", "let an array be written to again"),
        ("check", "read all members and compare"),
        ("repair", "write one copy over the others where members do not match"),
    ):
        verb(name, words).add_argument("array", metavar="ARRAY")
    for name, words in (
        ("fail", "mark a member as failed"),
        ("remove", "take a failed member or a spare out"),
        ("add", "add a device, as a member or a spare"),
        ("re-add", "take a former member back, copying only what changed"),
    ):
        each = verb(name, words)
        each.add_argument("array", metavar="ARRAY")
        each.add_argument("device", metavar="DEVICE")
        if name == "add":
            _add_destroy(each)
    replace = verb("replace", "copy a member to another device while it still serves")
    replace.add_argument("array", metavar="ARRAY")
    replace.add_argument("device", metavar="OLD")
    replace.add_argument("--with", dest="other", metavar="NEW", required=True)
    _add_destroy(replace)
    chunk = verb("grow-chunk", "give an array chunks of another size")
    chunk.add_argument("array", metavar="ARRAY")
    chunk.add_argument("chunk", metavar="KIB", type=int)
    bitmap = verb("bitmap", "give an array a write-intent bitmap, or take it away")
    bitmap.add_argument("array", metavar="ARRAY")
    bitmap.add_argument("bitmap", choices=("none", "internal"))
    locate = verb("locate", "let the light of a disk's bay blink")
    locate.add_argument("device", metavar="DEVICE")
    locate.add_argument("--off", action="store_true", help="put it out")
    test = verb("self-test", "start a SMART self-test on a disk, or abort the one that runs")
    test.add_argument("device", metavar="DISK")
    test.add_argument("test", choices=("short", "long", "conveyance", "abort"))
    rename = verb("rename", "give an array another name")
    rename.add_argument("array", metavar="ARRAY")
    rename.add_argument("--to", metavar="NAME", required=True)
    rename.add_argument("--references", action="store_true", help="change fstab and crypttab along")
    assemble = verb("assemble", "start an array from its members")
    assemble.add_argument("devices", metavar="DEVICE", nargs="+")
    assemble.add_argument("--run", action="store_true", help="also where members are missing")
    assemble.add_argument("--read-only", action="store_true", help="let nothing be written")
    zero = verb("zero-superblock", "wipe md's superblock from a device that no array uses")
    zero.add_argument("device", metavar="DEVICE")
    _add_destroy(zero)
    _add_create(verb("create", "make a new array"))


def _add_destroy(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--destroy",
        action="append",
        default=[],
        metavar="NAME|UUID",
        help="an array at rest that may be destroyed: its name, or its UUID",
    )


def _add_create(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--name", required=True, help="three digits, or a word")
    parser.add_argument("--level", required=True, help="raid0, raid1, raid4, raid5, raid6, raid10")
    parser.add_argument("--layout", default="", help="n2, f2, o2 (raid10); ls, la, rs, ra (raid5, raid6)")
    parser.add_argument("--chunk", type=int, default=0, metavar="KIB")
    parser.add_argument("--bitmap", default="", choices=("none", "internal"))
    parser.add_argument("--consistency-policy", default="", choices=("resync", "bitmap", "ppl", "journal"))
    parser.add_argument("--write-journal", default="", metavar="DEVICE", help="raid4, raid5, raid6")
    parser.add_argument("--metadata", default="1.2", choices=("1.0", "1.1", "1.2"))
    parser.add_argument("--spare", action="append", default=[], metavar="DEVICE")
    parser.add_argument("--write-mostly", action="append", default=[], metavar="DEVICE")
    parser.add_argument("--failfast", action="store_true")
    parser.add_argument("--assume-clean", action="store_true", help="raid1 and raid10: no first sync")
    parser.add_argument(
        "--size", type=int, default=0, metavar="KIB", help="of each member; all of it otherwise"
    )
    parser.add_argument(
        "--partition", action="store_true", help="give whole disks a GPT with a Linux RAID partition"
    )
    parser.add_argument(
        "--reserve", type=int, default=10, metavar="PERCENT", help="left free at a disk's end (10)"
    )
    parser.add_argument("--lvm", default="", metavar="GROUP[/VOLUME]", help="a volume group on it")
    parser.add_argument(
        "--pv", action="append", default=[], metavar="DEVICE", help="another one for the volume group"
    )
    parser.add_argument("--stripes", type=int, default=0, help="of the volume, over so many of the group")
    parser.add_argument(
        "--stripe-size", type=int, default=64, metavar="KIB", help="of the volume's stripes (64)"
    )
    parser.add_argument("--filesystem", default="", choices=("ext4", "xfs"), help="with the array's geometry")
    parser.add_argument("--mount", default="", metavar="FOLDER", help="mount it there, by fstab too")
    parser.add_argument("--trim-weekly", action="store_true", help="enable fstrim.timer")
    _add_destroy(parser)
    parser.add_argument("devices", metavar="DEVICE", nargs="+", help="or the word missing")


def add_job_parsers(commands: Commands) -> None:
    """Add ``apply`` and ``jobs`` to the command line."""
    parser = commands.add_parser("apply", help="carry a saved plan out")
    parser.add_argument(
        "file", metavar="PLAN", help="a plan made with --json; - reads it from standard input"
    )
    parser.add_argument("--confirm", default="", metavar="NAME", help="the name that the plan asks for")
    parser.add_argument("--detach", action="store_true", help="do not wait for the end")
    jobs = commands.add_parser("jobs", help="list jobs; attach, cancel, resume, roll back")
    jobs.add_argument("--json", action="store_true")
    orders = jobs.add_subparsers(dest="order", metavar="ORDER")
    for name, words in (
        ("attach", "follow a job"),
        ("cancel", "end a job after its present step"),
        ("resume", "go on with a job that was interrupted"),
        ("rollback", "undo what a job has done"),
    ):
        orders.add_parser(name, help=words).add_argument("id", metavar="ID")
    work = orders.add_parser("work", help="used by raidtui itself: do a job's work in this process")
    work.add_argument("folder", type=Path)
    work.add_argument("--back", action="store_true")
