"""The history of a host as a capture keeps it: the lines that matter, bounded, and what matters of them.

What is kept of a line is what its pattern needs, where the rest may name files, or hold the arguments of a
program: a bug report is read by others.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Sequence

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from raidtui.features.history.entries import Entry
from raidtui.features.history.patterns import compiled, patterns
from raidtui.model.log_line import LogGap, LogLine, LogTrouble, Writer

FORM = 1
MOST_LINES, MOST_OWN = 20_000, 2_000
MOST_BYTES = 4 << 20
_LINE_BYTES = 160
"""What a line takes besides its text."""
_HEADS = frozenset({"boot", "fs-error"})
"""Patterns of which the rest of the line is of no use: who built a kernel, names of files."""
_ARGUMENTS = re.compile(r"(Process '[^' ]+) [^']*'")


class CapturedLog(Struct, frozen=True, kw_only=True):
    """What was logged on a host, and what raidtui did there, each oldest first.

    Args:
        lines: those that matter.
        ours: jobs, changes, benchmarks.
        troubles: what could not be read there, and what was left out.
        form: the number of this form.
    """

    lines: tuple[LogLine, ...] = ()
    ours: tuple[Entry, ...] = ()
    troubles: tuple[LogTrouble, ...] = ()
    form: int = FORM


class CapturedLogError(Exception):
    """The history in a capture cannot be understood; the message says why, a clause."""


def captured_log(
    logged: Iterable[Entry], ours: Sequence[Entry], troubles: Iterable[LogTrouble]
) -> CapturedLog:
    """Return what a capture keeps: the newest lines, within its bounds.

    Args:
        logged: entries of logs, in any order.
        ours: jobs, changes and benchmarks, in any order.
        troubles: what could not be read.
    """
    found = sorted(logged, key=lambda entry: entry.at_s)
    kept: list[LogLine] = []
    left_bytes = MOST_BYTES
    for entry in reversed(found[-MOST_LINES:]):
        text = captured_text(entry)
        left_bytes -= len(text.encode("utf-8", "replace")) + _LINE_BYTES
        if left_bytes < 0:
            break
        writer = Writer(entry.origin.value)
        kept.append(
            LogLine(
                at_s=entry.at_s,
                boot=entry.boot,
                since_boot_s=entry.since_boot_s,
                writer=writer,
                text=text,
                said_in=entry.said_in,
            )
        )
    kept.reverse()
    own = sorted(ours, key=lambda entry: entry.at_s)
    left = (*_left_out(found, len(kept), "lines that matter"), *_left_out(own, MOST_OWN, "own entries"))
    return CapturedLog(lines=tuple(kept), ours=tuple(own[-MOST_OWN:]), troubles=(*troubles, *left))


def _left_out(found: Sequence[Entry], kept: int, what: str) -> tuple[LogTrouble, ...]:
    if len(found) <= kept:
        return ()
    before = time.strftime("%Y-%m-%d %H:%M", time.localtime(found[-kept].at_s)) if kept else "now"
    sentence = (
        f"the capture has the newest {kept:,} of {len(found):,} {what}: those before {before} are left out"
    )
    remedy = "raidtui history, on that host, shows them"
    return (LogTrouble(code=LogGap.CAPTURE_CUT, sentence=sentence, remedy=remedy),)


def captured_text(entry: Entry) -> str:
    """Return what is kept of an entry's line; its pattern still matches it."""
    if entry.code in _HEADS:
        match = compiled(patterns()[entry.code].regex).match(entry.text)
        return match[0] if match is not None else entry.text
    return _ARGUMENTS.sub(r"\1'", entry.text) if entry.code == "udev-failed" else entry.text


def captured_log_text(log: CapturedLog) -> bytes:
    """Return the file of a capture."""
    return msgspec.json.encode(log)


def read_captured_log(data: bytes) -> CapturedLog:
    """Return what a capture's file holds.

    Raises:
        CapturedLogError: it is damaged, or of a newer raidtui.
    """
    try:
        log = msgspec.json.decode(data, type=CapturedLog)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise CapturedLogError(f"the history in this capture is damaged: {error}") from error
    if log.form > FORM:
        raise CapturedLogError(f"the history in this capture is of a newer raidtui (form {log.form})")
    return replace(log, lines=tuple(sorted(log.lines, key=lambda line: line.at_s)))
