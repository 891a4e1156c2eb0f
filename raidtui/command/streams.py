"""Standard input, output and error as the command line needs them, whatever was handed over.

An output that cannot be written to ends the program with 74 (EX_IOERR), which says nothing about arrays and
disks. Text for people uses ASCII signs where the encoding has no others.
"""

from __future__ import annotations

import errno
import io
import json
import os
import sys
from typing import TYPE_CHECKING, Any, TextIO

from raidtui.view.glyphs import LINES, encoding, register
from raidtui.view.text import visible

if TYPE_CHECKING:
    from raidtui.model.plan import Refusal

NOT_WRITTEN = 74


class UsageError(Exception):
    """The arguments do not go together; the message says why."""


class OutputError(Exception):
    """Standard output cannot be written to. No OSError: those are caught where files are opened."""

    def __init__(self, error: OSError) -> None:
        super().__init__(error.strerror or str(error))
        self.nobody_reads = error.errno == errno.EPIPE


class _Output(io.FileIO):
    """A descriptor whose failure ends the program, or is ignored where no one reads it any more."""

    def __init__(self, descriptor: int, *, must: bool) -> None:
        super().__init__(descriptor, "wb", closefd=False)
        self.must = must

    def write(self, data: Any, /) -> int:  # noqa: ANN401  (any buffer)
        try:
            return super().write(data) or 0
        except OSError as error:
            if self.must:
                self.must = False  # what is left in the buffer is written again as the program ends
                raise OutputError(error) from error
            return memoryview(data).nbytes


def hold_numbers() -> None:
    """Hold the numbers 0, 1 and 2 where they are closed: the next file opened would be standard output.

    Such an input is empty, and writes to such an output fail.
    """
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDONLY)  # the lowest number that is free
    if sys.stdin is None:
        sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, closefd=False)), "utf-8", "replace")


def guard() -> None:
    """Put streams in place that can be relied on: see the module."""
    hold_numbers()
    register()
    sys.stdout = _stream(1, must=True)
    sys.stderr = _stream(2, must=False)


def _stream(number: int, *, must: bool) -> TextIO:
    buffer = io.BufferedWriter(_Output(number, must=must))
    at_once = os.isatty(number) or not must
    return io.TextIOWrapper(buffer, encoding=encoding(), errors=LINES, line_buffering=at_once)


def write_bytes(data: bytes) -> None:
    """Write bytes to standard output, after the text printed so far."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def print_json(value: object, *, indent: int | None = 1) -> None:
    """Write JSON: UTF-8 whatever the locale, as programs read it."""
    write_bytes(json.dumps(value, ensure_ascii=False, indent=indent).encode("utf-8", "replace") + b"\n")


def print_refusal(refusal: Refusal, *, as_json: bool) -> int:
    """Print a refusal on standard error, and as JSON on standard output on request.

    Returns:
        The exit status: 3 where what was asked for could not be read, else 2.
    """
    if as_json:
        print_json(
            {
                "raidtui_refusal": 1,
                "code": refusal.code,
                "why": refusal.why,
                "remedy": refusal.remedy or None,
            }
        )
    print(f"raidtui: not possible: {visible(refusal.sentence)}", file=sys.stderr)
    return 3 if refusal.code == "no-answer" else 2  # RefusalCode is imported with plans alone


class ProgressLine:
    """One line on the terminal that says how far something is; on standard error."""

    def __init__(self) -> None:
        self._last = ""

    def show(self, text: str) -> None:
        """Draw the line again if the text is another one."""
        if text != self._last:
            self._last = text
            print(f"\r{text:<24}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Remove the line."""
        if self._last:
            print(f"\r{'':<24}\r", end="", file=sys.stderr, flush=True)


def no_terminal() -> str:
    """Return why no screen can open here; "" where one can."""
    if not sys.stdout.isatty() or not sys.stdin.isatty():
        return "the console needs a terminal"
    if os.environ.get("TERM") == "dumb":
        return "the console needs a terminal that moves its cursor, and this one says TERM=dumb"
    return ""
