"""Lines of logs for tests: from fixtures, and made up."""

from __future__ import annotations

from collections.abc import Iterable

from raidtui.features.history.entries import Entry, entry_of
from raidtui.host.logs.ring import ARGV, read_ring
from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.host.tools import output_path
from raidtui.model.log_line import LogLine, Writer
from tests.places import FIXTURES

LOGS = FIXTURES / "logs"
EPOCH_S = 1_764_000_000.0
BOOT = "b" * 32


def ring_host(text: str, **more: str) -> MemoryReader:
    """A host whose ring buffer holds this text."""
    files = {output_path(ARGV): f"exit 0\n{text}", "/proc/uptime": "1000.00 2000.00\n", **more}
    return MemoryReader(files, taken_s=EPOCH_S + 1000)


def captured(name: str) -> list[LogLine]:
    """The lines of a fixture."""
    lines, _ = read_ring(ring_host((LOGS / f"{name}.txt").read_text()))
    return lines


def line(at_s: float, text: str, writer: Writer = Writer.KERNEL, boot: str = BOOT) -> LogLine:
    """A line so many seconds after the start of its boot."""
    return LogLine(at_s=EPOCH_S + at_s, boot=boot, since_boot_s=at_s, writer=writer, text=text)


def entries(lines: Iterable[LogLine]) -> list[Entry]:
    """The entries of lines."""
    return [entry for each in lines if (entry := entry_of(each)) is not None]
