"""/proc/diskstats: what block devices have read, written and discarded (admin-guide/iostats.rst)."""

from __future__ import annotations

from collections.abc import Collection

from raidtui.host.readers.host_reader import HostReader
from raidtui.model.disk import DiskIo
from raidtui.view.units import SECTOR_BYTES

DISKSTATS = "/proc/diskstats"
_FIRST, _WITHOUT_DISCARDS, _DISCARDED = 3, 14, 16


def read_io(reader: HostReader, names: Collection[str], *, keep: bool = False) -> dict[str, DiskIo]:
    """Return the counters of the named devices; devices that the kernel does not list are left out.

    Args:
        reader: the host.
        names: kernel names.
        keep: whether the file stays open for the next reading; only the thread that samples may ask for it.
    """
    found: dict[str, DiskIo] = {}
    if not names:
        return found
    for line in (reader.text(DISKSTATS, keep=keep) or "").split("\n"):
        head = line.split(None, _FIRST)
        if len(head) > _FIRST and head[2] in names and (io := _parse_counters(line.split())) is not None:
            found[head[2]] = io
    return found


def _parse_counters(words: list[str]) -> DiskIo | None:
    """Return the counters of one line, split; None where the line is not the kernel's."""
    if len(words) < _WITHOUT_DISCARDS:
        return None
    try:
        numbers = map(int, words[_FIRST:_WITHOUT_DISCARDS])
        reads, _, read_sectors, read_ms, writes, _, written, write_ms, in_flight, busy, queued = numbers
    except ValueError:
        return None
    discarded = words[_DISCARDED] if len(words) > _DISCARDED else ""  # Linux 4.18 and later
    return DiskIo(
        reads=reads,
        read_sectors=read_sectors,
        read_ms=read_ms,
        writes=writes,
        written_sectors=written,
        write_ms=write_ms,
        busy_ms=busy,
        discarded_sectors=int(discarded) if discarded.isdecimal() and len(discarded) < 20 else None,
        in_flight=in_flight,
        queued_ms=queued,
    )


def written_bytes(reader: HostReader, names: Collection[str]) -> dict[str, int]:
    """Return the bytes that the kernel has written to each of the named devices since it appeared."""
    return {name: io.written_sectors * SECTOR_BYTES for name, io in read_io(reader, names).items()}


def read_discards(reader: HostReader, names: Collection[str]) -> dict[str, int]:
    """Return the discarded sectors of 512 bytes, by kernel name.

    A device whose counters are all 0 is left out: its queue does not count (queue/iostats). So is every
    device where the kernel is older than 4.18 and does not count discards.
    """
    return {
        name: io.discarded_sectors
        for name, io in read_io(reader, names).items()
        if io.discarded_sectors is not None and (io.reads or io.writes or io.discarded_sectors)
    }
