"""The commands of pane 6, in the order in which they are shown."""

from __future__ import annotations

from raidtui.frame.command import Command

JUMP = Command(
    id="log.jump", keys="enter", action="jump", label="Go to", words="array disk open",
    help="Show the array or the disk that the chosen row is about.",
)  # fmt: skip
TROUBLES = Command(
    id="log.troubles", keys="t", action="troubles", label="Troubles", words="warnings errors only",
    help="Show only warnings and worse, or all.",
)  # fmt: skip
RAW = Command(
    id="log.raw", keys="w", action="raw", label="As written", foot=False, words="raw kernel lines text",
    help="Show the lines of the chosen row as they were written, or what they mean.",
)  # fmt: skip
EXPORT_LOG = Command(
    id="log.export", keys="e", action="export", label="Export", words="report html text json history",
    help="Export the history, as far as it is shown: HTML, JSON or text.",
)  # fmt: skip
READ_LOG = Command(
    id="log.read", keys="r", action="read", label="Read again", foot=False, words="refresh journal",
    help="Read the journal, jobs and benchmarks again; what this console sees is added as it happens.",
)  # fmt: skip
END_LOG = Command(
    id="log.end", keys="x", action="end", label="End reading", foot=False, words="cancel stop",
    help="End the reading of a long journal. What was read until then is shown.",
)  # fmt: skip
LOG = (JUMP, TROUBLES, RAW, EXPORT_LOG, READ_LOG, END_LOG)
