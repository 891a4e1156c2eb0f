"""Files of a syslog daemon: kern.log, messages and syslog, rotated and compressed ones too (syslogd(8)).

Anyone can write into them what looks like a line of the kernel, mdadm or smartd: logger(1) takes any name,
and rsyslog 8 takes the kernel's facility from any process that sends it to one of its sockets, which are open
to all (/dev/log; behind journald, /run/systemd/journal/syslog with mode 0666), so that kern.log is no better.
Each line names its file, and nothing is concluded from it.

The classic form has no year and no zone: the zone is this machine's, and the year is counted back from when
the file was last written, and from what is newer.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
import time
import zlib
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import IO, Any

from msgspec import Struct
from msgspec.structs import replace

from raidtui.host.logs.journald import whole_lines
from raidtui.host.readers.host_reader import HostReader
from raidtui.model.log_line import LogGap, LogLine, LogTrouble, Writer

Wanted = Callable[[Writer, str], bool]
"""Whether a line is of any use; the others are dropped as they are read."""
FOLDER = "/var/log"
_NAME = re.compile(r"(?P<base>kern\.log|messages|syslog)(?P<turn>[.-]\d+)?(?:\.(?:gz|xz|bz2))?\Z")
_TAGGED = r" \S+ (?P<tag>[^:\s\[]+)(?:\[\d+\])?: (?P<text>.*)"
_CLASSIC = re.compile(r"(?P<month>[A-Z][a-z]{2}) (?P<day>[ \d]\d) (?P<time>\d\d:\d\d:\d\d)" + _TAGGED)
_ISO = re.compile(r"(?P<stamp>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?)" + _TAGGED)
_PRINTK = re.compile(r"\[ *(\d+\.\d+)\] ?")
_MONTHS = {name: number for number, name in enumerate(
    ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"), 1
)}  # fmt: skip
_TAGS = {
    "kernel": Writer.KERNEL, "mdadm": Writer.MDADM, "smartd": Writer.SMARTD,
    "systemd-udevd": Writer.UDEV, "(udev-worker)": Writer.UDEV,
}  # fmt: skip
_HALF_YEAR = 6
_DAY_S = 86_400.0
_NEWLINE = "#012"  # as rsyslog writes it
_LINE_MOST = 1 << 16
_MOST_BYTES = 1 << 30
_OPENERS: dict[str, Callable[[IO[bytes]], Any]] = {
    "gz": lambda raw: gzip.GzipFile(fileobj=raw),
    "xz": lzma.LZMAFile,
    "bz2": bz2.BZ2File,
}
_DAMAGED = (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError)


class _Read(Struct, kw_only=True, gc=False):
    """A line whose time is not known yet.

    Args:
        at_s: epoch seconds, None in the classic form.
        fields: month, day, hour, minute, second.
        turn: how many years after the first line of the file.
    """

    at_s: float | None
    fields: tuple[int, int, int, int, int]
    turn: int
    since_boot_s: float | None
    writer: Writer
    text: str


class LogFiles:
    """Reads the log files of a host, the newest file first, each from its start.

    Args:
        reader: the host.
        wanted: tells which lines are kept.
        ended: whether no more is to be read.
    """

    def __init__(self, reader: HostReader, wanted: Wanted, ended: Callable[[], bool]) -> None:
        self._reader = reader
        self._wanted = wanted
        self._ended = ended
        self.lines = 0
        self.said_in: list[str] = []
        """The files that have lines of use."""
        self.troubles: list[LogTrouble] = []

    def read(self) -> Iterator[list[LogLine]]:
        """Yield the wanted lines of each file, in its order; lines that two files have come twice."""
        refused: list[str] = []
        for base, paths in self._paths().items():
            del base
            bound_s = self._reader.now_s()
            for path in paths:
                if self._ended():
                    return
                if not self._reader.may_read(path):
                    refused.append(path)
                    continue
                modified_s = self._reader.modified_s(path)
                last_s = bound_s if modified_s is None else min(bound_s, modified_s + _DAY_S)
                lines = self._file(path, last_s)
                if lines:
                    bound_s = lines[0].at_s
                    self.said_in.append(path)
                yield lines
        if refused:
            self.troubles.append(
                LogTrouble(
                    code=LogGap.FILES_REFUSED,
                    sentence=f"this user may not read {refused[0]}",
                    remedy="run raidtui as root, or join the group adm",
                )
            )

    def _paths(self) -> dict[str, list[str]]:
        """Return the files by their common name, each list the newest first."""
        found: dict[str, list[tuple[float, str]]] = {}
        for name in self._reader.names(FOLDER):
            match = _NAME.fullmatch(name)
            if match is not None:
                turn = match["turn"] or ""
                # .1 is the newest of numbers, -20260301 the newest of dates is the highest
                place = 0.0 if not turn else float(turn[1:]) * (1 if turn[0] == "." else -1)
                place = -1e12 if not turn else place
                found.setdefault(match["base"], []).append((place, f"{FOLDER}/{name}"))
        return {base: [path for _, path in sorted(paths)] for base, paths in sorted(found.items())}

    def _file(self, path: str, last_s: float) -> list[LogLine]:
        found: list[_Read] = []
        turn, before = 0, 0
        try:
            with self._reader.open(path) as raw:
                for line in _lines(path, raw):
                    self.lines += 1
                    if not self.lines % 4096 and self._ended():
                        break
                    read = parse_line(line)
                    if read is None:
                        continue
                    if read.at_s is None:
                        month = read.fields[0]
                        turn += (month - before < -_HALF_YEAR) - bool(before and month - before > _HALF_YEAR)
                        before, read.turn = month, turn
                    found += (each for each in _apart(read) if self._wanted(each.writer, each.text))
        except _DAMAGED as error:
            why = getattr(error, "strerror", None) or str(error)
            self.troubles.append(
                LogTrouble(code=LogGap.DAMAGED, sentence=f"{path} cannot be read to its end: {why}")
            )
        return _dated(found, last_s, turn, path)


def _apart(read: _Read) -> list[_Read]:
    """Return the lines of a message that is written in one."""
    if _NEWLINE not in read.text:
        return [read]
    return [replace(read, text=line) for line in whole_lines(read.text.replace(_NEWLINE, "\n"))]


def _lines(path: str, raw: IO[bytes]) -> Iterator[str]:
    opener = _OPENERS.get(path.rpartition(".")[2])
    stream = opener(raw) if opener is not None else raw
    total = 0
    while line := stream.readline(_LINE_MOST):
        total += len(line)
        if total > _MOST_BYTES:
            raise ValueError("it is larger than 1 GiB")
        yield line.decode("utf-8", "replace").rstrip("\r\n")


def parse_line(line: str) -> _Read | None:
    """Return a line of a syslog file; None where it is none, or of a program that does not matter."""
    match = _ISO.match(line)
    at_s: float | None = None
    fields = (0, 0, 0, 0, 0)
    if match is not None:
        try:
            at_s = datetime.fromisoformat(match["stamp"]).timestamp()
        except (ValueError, OverflowError):
            return None
    else:
        match = _CLASSIC.match(line)
        if match is None or match["month"] not in _MONTHS:
            return None
        hour, minute, second = (int(part) for part in match["time"].split(":"))
        fields = (_MONTHS[match["month"]], int(match["day"]), hour, minute, second)
    writer = _TAGS.get(match["tag"])
    if writer is None:
        return None
    text, since_s = match["text"], None
    if writer is Writer.KERNEL and (printk := _PRINTK.match(text)) is not None:
        text, since_s = text[printk.end() :], float(printk[1])
    return _Read(at_s=at_s, fields=fields, turn=0, since_boot_s=since_s, writer=writer, text=text)


def _dated(found: list[_Read], last_s: float, turns: int, path: str) -> list[LogLine]:
    """Return the lines with their years; the last line of the file is not after ``last_s``."""
    year = time.localtime(last_s).tm_year
    undated = [each for each in found if each.at_s is None]
    if undated:
        newest = _epoch(year - (turns - undated[-1].turn), undated[-1].fields)
        if newest is not None and newest > last_s + _DAY_S:
            year -= 1
    lines: list[LogLine] = []
    for each in found:
        at_s = each.at_s if each.at_s is not None else _epoch(year - (turns - each.turn), each.fields)
        if at_s is not None:
            lines.append(
                LogLine(
                    at_s=at_s,
                    boot="",
                    since_boot_s=each.since_boot_s,
                    writer=each.writer,
                    text=each.text,
                    said_in=path,
                )
            )
    return lines


def _epoch(year: int, fields: tuple[int, int, int, int, int]) -> float | None:
    month, day, hour, minute, second = fields
    try:
        return time.mktime((year, month, day, hour, minute, second, 0, 0, -1))
    except (ValueError, OverflowError):
        return None
