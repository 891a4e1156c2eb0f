"""A line of a log of the host, as it was read: who wrote it, when, in which boot."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

CAPTURED = "/.raidtui/history.json"
"""Where a capture has the history of its host."""


class Writer(StrEnum):
    """Who wrote a line of a log."""

    KERNEL = "kernel"
    MDADM = "mdadm"
    SMARTD = "smartd"
    UDEV = "udev"
    JOURNAL = "journal"
    """The journal itself: it stopped, or lines are missing."""


class LogLine(Struct, frozen=True, kw_only=True, gc=False):
    """One line.

    Args:
        at_s: epoch seconds.
        boot: the boot's id, 32 hexadecimal digits in the journal; a name of ours in files; "" where no line
            says which one.
        since_boot_s: seconds since the kernel's start; None where that is not known.
        writer: who wrote it.
        text: as it was written, without time and name; a message of several lines is several of these.
        said_in: the file that has it, which anyone can write; "" for a log that knows who wrote it.
    """

    at_s: float
    boot: str
    since_boot_s: float | None
    writer: Writer
    text: str
    said_in: str = ""


class LogGap(StrEnum):
    """What is missing of a host's logs, for programs; docs/history.md describes each."""

    CANCELLED = "cancelled"
    CAPTURE_CUT = "capture-cut"
    DAMAGED = "damaged"
    FILES_FORGEABLE = "files-forgeable"
    FILES_REFUSED = "files-refused"
    JOURNAL_FAILED = "journal-failed"
    JOURNAL_HANGS = "journal-hangs"
    JOURNAL_MISSING = "journal-missing"
    JOURNAL_REFUSED = "journal-refused"
    JOURNAL_VOLATILE = "journal-volatile"
    NOT_CAPTURED = "not-captured"
    RING_ONLY = "ring-only"
    RING_REFUSED = "ring-refused"
    TOO_MANY = "too-many"


class LogTrouble(Struct, frozen=True, kw_only=True):
    """Something that could not be read, or does not reach back.

    Args:
        code: what.
        sentence: the fact.
        remedy: what to do about it; "" for nothing.
    """

    code: LogGap
    sentence: str
    remedy: str = ""
