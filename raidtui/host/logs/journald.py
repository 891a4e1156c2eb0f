"""journald's journal, newest line first, from ``journalctl --output=json`` (systemd.journal-fields(7))."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, assert_never

import msgspec
from msgspec import Struct

from raidtui.host.readers.host_reader import HostReader
from raidtui.host.tool_pieces import PiecesError
from raidtui.model.answer import AnswerKind
from raidtui.model.log_line import LogGap, LogLine, LogTrouble, Writer

STALL_S = 20.0
_MARKS = {
    "d93fb3c9c24d451a97cea615ce59c00b": "stopped",
    "e9bf28e6e834481bb6f48f548ad13606": "missed",
    "a596d6fe7bfa4994828e72309e95d61e": "dropped",
}
"""What the journal says of itself (sd-messages.h): it was stopped, or lines are missing."""
_UDEVD = ("systemd-udevd", "(udev-worker)")
_WRITERS = {
    "mdadm": Writer.MDADM,
    "smartd": Writer.SMARTD,
    **dict.fromkeys(_UDEVD, Writer.UDEV),
}
_FIELDS = ("MESSAGE", "MESSAGE_ID", "SYSLOG_IDENTIFIER", "_SOURCE_MONOTONIC_TIMESTAMP", "_TRANSPORT")
_LINE_MOST = 1 << 20
_EARLY_S = 120.0
"""Later on, the kernel's own clock may be off by seconds from the one that the journal's time comes from."""
_PERSISTENT, _VOLATILE = "/var/log/journal", "/run/log/journal"


class _Entry(Struct, gc=False):
    """The fields that are read. The journal may have bytes, nothing, or several values in each of them."""

    message: Any = msgspec.field(name="MESSAGE", default=None)
    message_id: Any = msgspec.field(name="MESSAGE_ID", default=None)
    identifier: Any = msgspec.field(name="SYSLOG_IDENTIFIER", default=None)
    transport: Any = msgspec.field(name="_TRANSPORT", default=None)
    realtime: str = msgspec.field(name="__REALTIME_TIMESTAMP", default="")
    monotonic: str = msgspec.field(name="__MONOTONIC_TIMESTAMP", default="")
    source: Any = msgspec.field(name="_SOURCE_MONOTONIC_TIMESTAMP", default=None)
    boot: str = msgspec.field(name="_BOOT_ID", default="")


_decoder = msgspec.json.Decoder(_Entry)


def journal_argv(since_s: float | None = None, until_s: float | None = None) -> tuple[str, ...]:
    """Return the command that prints what is read of the journal.

    Args:
        since_s: epoch seconds of the oldest line; None for all.
        until_s: of the newest.
    """
    limits = [f"--since=@{since_s:.0f}"] if since_s is not None else []
    limits += [f"--until=@{until_s:.0f}"] if until_s is not None else []
    writers = (*(f"SYSLOG_IDENTIFIER={name}" for name in _WRITERS), "_UID=0")  # anybody may use any name
    marks = (*(f"MESSAGE_ID={number}" for number in _MARKS), "_TRANSPORT=driver")
    matches = ("_TRANSPORT=kernel", "+", *writers, "+", *marks)
    options = ("--quiet", "--no-pager", "--reverse", "--output=json")
    return ("journalctl", *options, f"--output-fields={','.join(_FIELDS)}", *limits, *matches)


class JournalReader:
    """Reads the journal of a host, newest line first.

    Args:
        reader: the host.
        ended: whether no more is to be read.
    """

    def __init__(self, reader: HostReader, ended: Callable[[], bool]) -> None:
        self._reader = reader
        self._ended = ended
        self.lines = 0
        """How many lines were read so far."""
        self.at_s: float | None = None
        """The time of the last line that was read, epoch seconds."""
        self.damaged = 0
        """How many lines were no entry, or had no text."""
        self.kernel = False
        """Whether there was a line of the kernel."""
        self.troubles: list[LogTrouble] = []

    def read(self, since_s: float | None = None, until_s: float | None = None) -> Iterator[list[LogLine]]:
        """Yield the lines, newest first, as they come; afterwards, ``troubles`` says what is missing."""
        rest = b""
        try:
            argv = journal_argv(since_s, until_s)
            for piece in self._reader.pieces(*argv, stall_s=STALL_S, ended=self._ended):
                whole, newline, tail = (rest + piece).rpartition(b"\n")
                rest = tail if newline else whole + tail
                if newline:
                    yield self._lines_of(whole)
                if len(rest) > _LINE_MOST:
                    rest = b""
                    self.damaged += 1
            if rest:
                yield self._lines_of(rest)
        except PiecesError as error:
            self.troubles.append(self._trouble(error))

    def _lines_of(self, text: bytes) -> list[LogLine]:
        try:
            entries = _decoder.decode_lines(text)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            entries = list(self._one_by_one(text))
        found: list[LogLine] = []
        for entry in entries:
            self._take(entry, found)
        self.lines += len(entries)
        if found:
            self.at_s = found[-1].at_s
        return found

    def _one_by_one(self, text: bytes) -> Iterator[_Entry]:
        """Yield the entries of a piece in which a line is damaged."""
        for line in text.split(b"\n"):
            try:
                yield _decoder.decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                self.damaged += 1

    def _take(self, entry: _Entry, found: list[LogLine]) -> None:
        text = entry.message
        if type(text) is not str:
            text = message_text(text)
        if entry.transport == "kernel":  # programs write to /dev/kmsg, too
            if entry.identifier != "kernel":
                return
            writer, self.kernel = Writer.KERNEL, True
        elif entry.transport == "driver" and _first(entry.message_id) in _MARKS:
            writer = Writer.JOURNAL
        else:
            known = _WRITERS.get(_first(entry.identifier))
            if known is None:
                return
            writer = known
        if text is None:
            self.damaged += 1
            return
        for line in reversed(whole_lines(text)) if "\n" in text else (text,):
            made = _line(entry, writer, line)
            if made is None:
                self.damaged += 1
            else:
                found.append(made)

    def _trouble(self, error: PiecesError) -> LogTrouble:
        code, remedy = LogGap.JOURNAL_FAILED, ""
        match error.kind:
            case AnswerKind.NO_TOOL:
                code = LogGap.JOURNAL_MISSING
            case AnswerKind.TIMED_OUT:
                code = LogGap.JOURNAL_HANGS
                remedy = "journalctl --verify says whether a journal is damaged; r reads again"
            case AnswerKind.NOT_ASKED:
                code = LogGap.NOT_CAPTURED
            case AnswerKind.REFUSED:
                code, remedy = LogGap.JOURNAL_REFUSED, "run raidtui as root"
            case AnswerKind.FAILED | AnswerKind.NOT_UNDERSTOOD | AnswerKind.ANSWER | AnswerKind.NOTHING_THERE:
                pass
            case _:
                assert_never(error.kind)
        return LogTrouble(code=code, sentence=str(error), remedy=remedy)


def message_text(value: object) -> str | None:
    """Return a message as text; None where the journal has none that is printable.

    Args:
        value: a string, an array of bytes, null (more than 4096 bytes), or an array of such values.
    """
    if isinstance(value, str):
        return value
    if not isinstance(value, list) or not value:
        return None
    if all(isinstance(each, int) and 0 <= each < 256 for each in value):
        return bytes(value).decode("utf-8", "replace")
    return message_text(value[0])


def _first(value: object) -> str:
    if type(value) is str:
        return value
    return message_text(value) or ""


def whole_lines(text: str) -> list[str]:
    """Return the lines of a message; one that begins with blanks belongs to the line before it."""
    lines: list[str] = []
    for line in text.split("\n"):
        if lines and line[:1] in {" ", "\t"}:
            lines[-1] += f" {line.strip()}"
        elif line:
            lines.append(line)
    return lines


def _line(entry: _Entry, writer: Writer, text: str) -> LogLine | None:
    try:
        at_s = int(entry.realtime) / 1e6
        since_s = int(entry.monotonic) / 1e6
        if entry.source and since_s < _EARLY_S:  # the journal took these when it was started
            begun_s = int(entry.source) / 1e6
            at_s, since_s = at_s - max(0.0, since_s - begun_s), begun_s
    except (ValueError, TypeError):
        return None
    return LogLine(at_s=at_s, boot=entry.boot, since_boot_s=since_s, writer=writer, text=text)


def journal_troubles(reader: HostReader) -> tuple[LogTrouble, ...]:
    """Return why the journal does not hold everything: this user may not read it, or it is not kept."""
    kept = [
        path for folder in reader.names(_PERSISTENT) for path in _files(reader, f"{_PERSISTENT}/{folder}")
    ]
    passing = [path for folder in reader.names(_VOLATILE) for path in _files(reader, f"{_VOLATILE}/{folder}")]
    there = kept or passing
    if there and not any(reader.may_read(path) for path in there):
        return (
            LogTrouble(
                code=LogGap.JOURNAL_REFUSED,
                sentence="this user may not read the system's journal",
                remedy="run raidtui as root, or join the group systemd-journal or adm",
            ),
        )
    if passing and not kept:
        return (
            LogTrouble(
                code=LogGap.JOURNAL_VOLATILE,
                sentence="the journal is not kept on disk: it begins with this boot",
                remedy="mkdir /var/log/journal and restart systemd-journald keep it from now on",
            ),
        )
    return ()


def _files(reader: HostReader, folder: str) -> list[str]:
    """Return the journals of the system in a folder; those of users do not matter here."""
    names = (name for name in reader.names(folder) if name.startswith("system") and ".journal" in name)
    return [f"{folder}/{name}" for name in names]
