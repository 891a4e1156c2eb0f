"""fio's output while it runs: one JSON object per status interval, with messages between them.

``fio --output-format=json+ --status-interval=250ms`` prints an object, then a whole new one, and so on; all
values are cumulative. Errors and "terminating on signal" stand between them. An object begins with a line
``{`` and ends with a line ``}``, whatever comes in one reading.
"""

from __future__ import annotations

from collections import deque
from typing import Annotated

import msgspec
from msgspec import Meta, Struct, field

_MOST_BYTES = 32 << 20
_MOST_SAID = 200
Count = Annotated[int, Meta(ge=0, lt=1 << 62)]
Rate = Annotated[float, Meta(ge=0, lt=1e18)]


class Latency(Struct, frozen=True, kw_only=True):
    """Latencies of one kind. ``bins`` are the histogram of ``json+``: nanoseconds -> how many took that."""

    mean: Rate = 0.0
    bins: dict[Count, Count] = {}


class Side(Struct, frozen=True, kw_only=True):
    """What one job did in one direction since it began, or since its ramp time ended.

    Args:
        io_bytes, total_ios: how much.
        runtime: milliseconds.
        iops: fio's own mean.
        bw_bytes: bytes/s, likewise; fio before 3.6 does not say it.
        clat_ns, lat_ns: completion and total latency; fio fills the bins of one of them.
    """

    io_bytes: Count = 0
    total_ios: Count = 0
    runtime: Count = 0
    iops: Rate = 0.0
    bw_bytes: Rate | None = None
    clat_ns: Latency = Latency()
    lat_ns: Latency = Latency()

    @property
    def latency(self) -> Latency:
        """The latency that has a histogram, or else completion latency."""
        return self.lat_ns if self.lat_ns.bins and not self.clat_ns.bins else self.clat_ns


class JobPart(Struct, frozen=True, kw_only=True):
    """One job, or one group of jobs under ``group_reporting``. ``error`` is an errno."""

    jobname: str = ""
    groupid: int = 0
    error: int = 0
    read: Side = Side()
    write: Side = Side()


class Dump(Struct, frozen=True, kw_only=True):
    """One object: all jobs at one moment."""

    version: str = field(name="fio version", default="")
    timestamp_ms: Count = 0
    jobs: tuple[JobPart, ...] = ()


class StreamParser:
    """Takes fio's output in pieces. Whatever comes, it raises nothing.

    Attributes:
        said: lines that are no JSON, the last 200.
        broken: how many objects could not be used: cut short, or not JSON.
        last: the last good object as it was printed.
    """

    def __init__(self) -> None:
        self.said: deque[str] = deque(maxlen=_MOST_SAID)
        self.broken = 0
        self.last = b""
        self._rest = b""
        self._lines: list[bytes] | None = None
        self._size = 0

    def feed(self, data: bytes) -> list[Dump]:
        """Return the objects that have come to their end with this piece."""
        head, newline, self._rest = (self._rest + data).rpartition(b"\n")
        if not newline:
            if len(self._rest) > _MOST_BYTES:
                self._rest = b""
                self._drop()
            return []
        found = []
        for line in head.split(b"\n"):
            dump = self._take(line)
            if dump is not None:
                found.append(dump)
        return found

    def close(self) -> list[Dump]:
        """Return what the last line without an end completes; an object that is still open is broken."""
        found = self.feed(b"\n") if self._rest else []
        self._drop()
        return found

    def _take(self, line: bytes) -> Dump | None:
        bare = line.rstrip()
        if bare == b"{" and line[:1] == b"{":
            self._drop()
            self._lines, self._size = [bare], 1
        elif self._lines is None:
            if bare:
                self.said.append(bare.decode("utf-8", "replace"))
        elif bare == b"}" and line[:1] == b"}":
            text = b"\n".join([*self._lines, bare])
            self._lines = None
            return self._decode(text)
        else:
            self._lines.append(line)
            self._size += len(line)
            if self._size > _MOST_BYTES:
                self._drop()
        return None

    def _drop(self) -> None:
        if self._lines is not None:
            self.broken += 1
        self._lines = None

    def _decode(self, text: bytes) -> Dump | None:
        try:
            dump = msgspec.json.decode(text, type=Dump)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            self.broken += 1
            return None
        self.last = text + b"\n"
        return dump
