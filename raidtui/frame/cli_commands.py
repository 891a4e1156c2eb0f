"""What the command line alone can do; the palette shows how."""

from __future__ import annotations

from msgspec import Struct


class CliCommand(Struct, frozen=True, kw_only=True):
    """What the command line alone can do; the palette shows how.

    Args:
        title: two words or three.
        command: the subcommand and its arguments, after ``raidtui``.
        help: a sentence.
        words: synonyms by which the palette finds it.
    """

    title: str
    command: str
    help: str
    words: str = ""


CLI_COMMANDS = (
    CliCommand(
        title="Grow an array", command="plan grow ARRAY --add DEVICE",
        help="Give an array more devices, or all of larger ones.", words="reshape add disk larger expand",
    ),
    CliCommand(
        title="Convert an array", command="plan convert ARRAY --level=L",
        help="Give an array another level, layout or chunk.", words="reshape level raid5 raid6 migrate",
    ),
    CliCommand(
        title="Shrink an array", command="plan shrink ARRAY --devices=N",
        help="Give an array fewer devices, or use less of each.", words="reshape smaller reduce",
    ),
    CliCommand(
        title="Write journal", command="plan journal ARRAY --add DEVICE",
        help="Add a write journal or a partial parity log, or remove it.", words="ppl write hole",
    ),
    CliCommand(
        title="Grow chunks", command="plan grow-chunk ARRAY KIB",
        help="Change an array's chunk size: a reshape.", words="reshape chunk size",
    ),
    CliCommand(
        title="Repair", command="plan repair ARRAY",
        help="Rewrite what does not match; run a check first.", words="mismatches rewrite parity",
    ),
    CliCommand(
        title="Bitmap", command="plan bitmap ARRAY KIND",
        help="Add a write-intent bitmap to an array, or remove it.", words="write-intent internal",
    ),
    CliCommand(
        title="Read-only", command="plan read-only ARRAY",
        help="Make an array read-only; read-write ends it.", words="readonly writable read-write",
    ),
)  # fmt: skip
