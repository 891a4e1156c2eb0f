"""What happened on a host, read when it is asked for: logs, jobs, changes and benchmarks.

It is read in a thread of its own, which can be ended at any time; what was read until then is kept.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from raidtui.features.history.assembly import BootSpan, assemble
from raidtui.features.history.captured import (
    CapturedLog,
    CapturedLogError,
    captured_log,
    captured_log_text,
    read_captured_log,
)
from raidtui.features.history.catalogue import matters
from raidtui.features.history.entries import START_FAILED, Entry, Origin, entry_of, reason_of
from raidtui.features.history.identity import ArrayToday, Today
from raidtui.features.history.incidents import Incident
from raidtui.features.history.own_entries import own_entries
from raidtui.frame.feature import CapturedPart
from raidtui.host.logs.journald import JournalReader, journal_troubles
from raidtui.host.logs.log_files import LogFiles
from raidtui.host.logs.ring import current_boot, read_ring
from raidtui.host.readers.host_reader import HostReader
from raidtui.model.log_line import CAPTURED, LogGap, LogLine, LogTrouble, Writer
from raidtui.model.snapshot import Snapshot
from raidtui.monitor.sampler import Sampler
from raidtui.watch.host_thread import HostThread
from raidtui.watch.session import Session

MOST_ENTRIES = 200_000
_PORT = re.compile(r"/(ata\d+)/")


class HistoryRun:
    """One reading: how far it is, and whether it is to end."""

    def __init__(self) -> None:
        self._ends = threading.Event()
        self.lines = 0
        self.at_s: float | None = None
        """The time of the line that was read last."""

    def end(self) -> None:
        """Read no further; what was read is kept."""
        self._ends.set()

    def ended(self) -> bool:
        """Whether it is to read no further."""
        return self._ends.is_set()


class HostHistory(Struct, frozen=True, kw_only=True):
    """What happened on a host.

    Args:
        incidents: by the time at which they begin.
        troubles: what could not be read, or does not reach back.
        boots: those of which there are lines, oldest first.
        lines: how many lines were read.
        first_s: the time of the oldest entry; None without any.
        at_s: when it was read, epoch seconds.
        today: the host as it is now.
    """

    incidents: tuple[Incident, ...]
    troubles: tuple[LogTrouble, ...] = ()
    boots: tuple[BootSpan, ...] = ()
    lines: int = 0
    first_s: float | None = None
    at_s: float = 0.0
    today: Today = Today()


class TimelineSession:
    """Reads the history of a host.

    Args:
        session: of the host.
    """

    def __init__(self, session: Session) -> None:
        self._loop = loop = session.loop
        self._apart = loop.reader.thread_safe_copy()
        self._thread = HostThread()  # never closed: a tool that hangs must not keep raidtui from ending

    async def read(self, run: HistoryRun, snapshot: Snapshot | None) -> HostHistory:
        """Return what happened; of a host that one thread alone may read, it is read in the sampling's."""
        reader = self._apart or self._loop.reader

        def work() -> HostHistory:
            return read_history(reader, run, snapshot=snapshot)

        return await (self._loop.on_host_thread(work) if self._apart is None else self._thread.run(work))


def read_history(
    reader: HostReader,
    run: HistoryRun | None = None,
    *,
    since_s: float | None = None,
    until_s: float | None = None,
    snapshot: Snapshot | None = None,
) -> HostHistory:
    """Return what happened on a host.

    Args:
        reader: the host.
        run: follows the reading, and ends it.
        since_s: epoch seconds before which nothing is wanted; None for all.
        until_s: after which nothing is wanted.
        snapshot: the host as it is; None: it is read.
    """
    run = run or HistoryRun()
    reading = _Reading(reader, run, since_s, until_s)
    ours, troubles = _read_all(reader, reading)
    today = today_of(reader, snapshot or Sampler(reader).sample())
    incidents, boots = assemble(reading.entries, [e for e in ours if reading.wanted(e.at_s)], today)
    if run.ended() and not reading.full:
        reading.troubles.append(
            LogTrouble(code=LogGap.CANCELLED, sentence="reading was stopped: older lines are not shown")
        )
    return HostHistory(
        incidents=incidents,
        troubles=(*reading.troubles, *troubles),
        boots=boots,
        lines=run.lines,
        first_s=min((each.first_s for each in incidents), default=None),
        at_s=reader.now_s(),
        today=today,
    )


def read_for_capture(reader: HostReader) -> CapturedLog:
    """Return the history of a host as a capture keeps it; that of a capture is kept unchanged."""
    reading = _Reading(reader, HistoryRun(), None, None)
    ours, troubles = _read_all(reader, reading)
    return captured_log(reading.entries, ours, (*reading.troubles, *troubles))


def captured_part(log: CapturedLog) -> CapturedPart:
    """Return what a capture has of the host's history."""
    return CapturedPart(files={CAPTURED: captured_log_text(log)}, said=tuple(_captured_lines(log)))


def _captured_lines(log: CapturedLog) -> Iterator[str]:
    """Yield what the capture has of the host's history, and what it has not."""
    times = [*(line.at_s for line in log.lines), *(entry.at_s for entry in log.ours)]
    first = min(times, default=None)
    since = f", since {time.strftime('%Y-%m-%d %H:%M', time.localtime(first))}" if first is not None else ""
    own = f"and {len(log.ours):,} of its jobs, changes and benchmarks" if log.ours else ""
    lines = f"{len(log.lines):,} lines of its logs, those that raidtui history uses"
    yield f"In it are {lines}{since}{', ' if own else ''}{own}."
    yield from (f"not in it: {trouble.sentence}" for trouble in log.troubles)


def _read_all(reader: HostReader, reading: _Reading) -> tuple[Sequence[Entry], Sequence[LogTrouble]]:
    """Read the logs; return what raidtui did there, and what could not be read of that.

    Nothing of this machine is read where the host is another one.
    """
    if (ours := reading.captured()) is not None:
        return ours, ()
    for read in (reading.journal, reading.files, reading.ring):
        if not reading.run.ended():
            read()
    return own_entries() if reader.live else ((), ())


class _Reading:
    def __init__(
        self, reader: HostReader, run: HistoryRun, since_s: float | None, until_s: float | None
    ) -> None:
        self._reader = reader
        self.run = run
        self._since_s, self._until_s = since_s, until_s
        self._kernel = False
        self._first_s: float | None = None
        self.entries: list[Entry] = []
        self.troubles: list[LogTrouble] = []
        self._before: tuple[LogLine, Entry | None] | None = None
        self.full = False

    def wanted(self, at_s: float) -> bool:
        """Whether a time is within what is asked for."""
        early = self._since_s is not None and at_s < self._since_s
        return not early and (self._until_s is None or at_s <= self._until_s)

    def _take(self, lines: Iterable[LogLine], *, newest_first: bool = False) -> None:
        """Take the lines that matter, and the line before one that says that an array did not start."""
        entries = self.entries
        for line in lines:
            entry, before = entry_of(line), self._before
            if line.writer is Writer.KERNEL and not line.said_in:
                self._before = line, entry
                first, then = ((line, entry), before) if newest_first else (before, (line, entry))
                if first is not None and then is not None and _explains(first, then):
                    entries.append(reason_of(first[0]))
            if entry is not None:
                entries.append(entry)
        if len(entries) > MOST_ENTRIES and not self.full:
            self.full = True
            self.run.end()
            at_s = entries[-1].at_s
            sentence = f"more than {MOST_ENTRIES:,} lines matter: older ones are not shown"
            remedy = f"raidtui history --until @{at_s:.0f} shows it"
            self.troubles.append(LogTrouble(code=LogGap.TOO_MANY, sentence=sentence, remedy=remedy))

    def captured(self) -> tuple[Entry, ...] | None:
        """Read the history in a capture; return what raidtui did there; None where there is no such."""
        try:
            data = b"" if self._reader.live else self._reader.read(CAPTURED)
        except OSError:
            data = b""
        if not data:
            return None
        try:
            log = read_captured_log(data)
        except CapturedLogError as error:
            self.troubles.append(LogTrouble(code=LogGap.DAMAGED, sentence=str(error)))
            return ()
        self.run.lines = len(log.lines)
        self._take(line for line in log.lines if self.wanted(line.at_s))
        self.troubles += log.troubles
        return log.ours

    def journal(self) -> None:
        """Read the journal."""
        reader = JournalReader(self._reader, self.run.ended)
        for lines in reader.read(self._since_s, self._until_s):
            self._take(lines, newest_first=True)
            self.run.lines, self.run.at_s = reader.lines, reader.at_s
            if lines:
                self._first_s = lines[-1].at_s
        self.entries.reverse()
        self._kernel = reader.kernel
        self.troubles += [*reader.troubles, *journal_troubles(self._reader)]
        if reader.damaged:
            sentence = f"{reader.damaged} lines of the journal are damaged, or longer than 4096 bytes"
            self.troubles.append(LogTrouble(code=LogGap.DAMAGED, sentence=sentence))

    def files(self) -> None:
        """Read log files: what is older than the journal, or all where it has no line of the kernel."""
        cuts = self._first_s is not None and self._kernel
        volatile = any(each.code is LogGap.JOURNAL_VOLATILE for each in self.troubles)
        if cuts and not volatile:
            return  # the journal is kept: it is at least as old as files are
        files = LogFiles(self._reader, matters, self.run.ended)
        found: dict[tuple[float, str], LogLine] = {}
        for lines in files.read():
            self.run.lines += len(lines)
            found.update({(round(line.at_s), line.text): line for line in lines})
        before_s = self._first_s if cuts else None
        wanted = (line for line in found.values() if self.wanted(line.at_s))
        self._take(line for line in wanted if before_s is None or line.at_s < before_s)
        self.troubles += files.troubles
        if files.said_in:
            sentence = (
                f"who wrote the lines in {files.said_in[0]}: anyone can write there, so they are shown, but"
                " nothing is concluded from them; the journal and the kernel's ring buffer, which know who"
                " wrote a line, are believed"
            )
            remedy = "raidtui plan alerts --only journal keeps a journal from now on"
            self.troubles.append(LogTrouble(code=LogGap.FILES_FORGEABLE, sentence=sentence, remedy=remedy))

    def ring(self) -> None:
        """Read the kernel's ring buffer, where the journal has no lines of the kernel.

        What a file says that the kernel has said since then is left out.
        """
        if self._kernel:
            return
        lines, trouble = read_ring(self._reader)
        self.run.lines += len(lines)
        if lines:
            begun_s = lines[0].at_s
            self.entries = [
                each
                for each in self.entries
                if not each.said_in or each.origin is not Origin.KERNEL or each.at_s < begun_s
            ]
        self._take(line for line in lines if self.wanted(line.at_s))
        if trouble is not None:
            self.troubles.append(trouble)


def _explains(first: tuple[LogLine, Entry | None], then: tuple[LogLine, Entry | None]) -> bool:
    """Whether a line without a pattern is right before md's that an array did not start."""
    (line, known), failed = first, then[1]
    return known is None and failed is not None and failed.code == START_FAILED and line.boot == failed.boot


def today_of(reader: HostReader, snapshot: Snapshot) -> Today:
    """Return the host as it is now, for what an incident is about."""
    ports: dict[str, str] = {}
    for name in {disk.disk for disk in snapshot.disks.values()}:
        match = _PORT.search(
            reader.link(f"/sys/block/{name}") or reader.link(f"/sys/class/block/{name}") or ""
        )
        if match is not None:
            ports[match[1]] = name
    return Today(
        boot=current_boot(reader),
        arrays={
            array.name: ArrayToday(
                name=array.name,
                key=array.key,
                title=array.title,
                members=tuple(member.name for member in array.members),
            )
            for array in snapshot.arrays
        },
        serials={disk.disk: (disk.serial or "").strip() for disk in snapshot.disks.values()},
        ports=ports,
    )
