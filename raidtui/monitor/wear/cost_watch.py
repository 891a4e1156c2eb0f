"""The cost of syncs and jobs: a reading at the start, another at the end, and a sentence about both.

Blocking and not thread-safe: for a background thread, never the sampling thread. Bytes are counted by the
kernel and need no root; the share of a disk's life needs SMART, and a sleeping disk is not woken for it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from msgspec.structs import replace

from raidtui.host.diskstats import written_bytes
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.smart.smart_names import has_smart, smart_names
from raidtui.model.finding import Event, EventKind
from raidtui.model.snapshot import Snapshot
from raidtui.monitor.sampler import Sampler
from raidtui.monitor.spans import Begun, Ended
from raidtui.monitor.wear.costs import Spent, amounts, life_share, most_bytes, sync_words
from raidtui.monitor.wear.disk_wear import DiskWear
from raidtui.monitor.wear.ledger import LedgerError
from raidtui.monitor.wear.ledger_entries import AFTER, BEFORE, sync_name
from raidtui.monitor.wear.readings import WearReader

_LEAST_BYTES = 10**6
_PATIENCE_S = 5.0  # a disk that hangs must not hold a repair up


class _MarkWriter:
    """Reads disks for the ledger and writes marks; without root it reads none."""

    def __init__(self, reader: HostReader, wear_reader: WearReader) -> None:
        self._reader = reader
        self._wear_reader = wear_reader
        self.trouble = ""

    def read(self, names: Collection[str]) -> dict[str, DiskWear]:
        """Read disks; none without root, since every one would fail."""
        if self._reader.live and not self._reader.writable:
            return {}
        return self._wear_reader.read(sorted(name for name in set(names) if has_smart(name)))

    def record(self, disks: Collection[DiskWear], kind: str, what: str) -> None:
        """Write a mark; ``trouble`` says why it could not be written."""
        self.trouble = ""
        if not any(disk.entry is not None for disk in disks):
            return
        try:
            self._wear_reader.record(disks, kind, what)
        except LedgerError as error:
            self.trouble = str(error)


class CostWatch:
    """Measures what syncs cost.

    Args:
        reader: the host.
        wear_reader: the same host's wear_reader, whose ledger gets the marks.
    """

    def __init__(self, reader: HostReader, wear_reader: WearReader) -> None:
        self._reader = reader
        self._marks = _MarkWriter(reader, wear_reader)

    @property
    def trouble(self) -> str:
        """Why the ledger has no mark of the last sync, if so."""
        return self._marks.trouble

    def begun(self, begun: Begun) -> None:
        """Read the members' disks as a sync begins. A sync whose start was not seen gets no mark.

        The sync may write a lot before a disk answers, so the kernel's count at the start is kept.
        """
        if begun.seen:
            then = _disk_bytes_then(self._reader, begun)
            disks = self._marks.read(begun.disks.values())
            marked = [_counted_from(disk, then.get(name)) for name, disk in disks.items()]
            self._marks.record(marked, BEFORE, sync_name(begun.action, begun.array.title))

    def ended(self, ended: Ended) -> Event | None:
        """Read the disks as a sync ends, and return an event for the log; None if nothing is known."""
        begun = ended.begun
        now = written_bytes(self._reader, begun.written_bytes)
        disks = self._marks.read(begun.disks.values())
        if begun.seen:
            self._marks.record(disks.values(), AFTER, sync_name(begun.action, begun.array.title))
        sizes: dict[str, int] = {}
        for name, before in begun.written_bytes.items():
            if (after := now.get(name, -1)) >= before:
                disk = begun.disks.get(name, name)
                sizes[disk] = sizes.get(disk, 0) + after - before
        if not sizes:
            return None
        text = sync_words(
            begun.action, _spent(sizes, disks), most_bytes(begun.array, begun.action), partly=not begun.seen
        )
        return Event(at_s=self._reader.now_s(), kind=EventKind.WEAR, subject=ended.array.title, text=text)


class JobCost:
    """Measures what a job or benchmark writes to disks: call ``before`` at its start, ``after`` at its end.

    Raises nothing: an unknown cost is not a reason to stop a job.

    Args:
        reader: the host.
        what: its name in the ledger: the plan's title, or the benchmark's.
        disks: the kernel's names of whole disks that it may write to; all of the host where not known.
        ratings: the manufacturers' ratings in bytes, by the beginning of a model's name.
    """

    def __init__(
        self,
        reader: HostReader,
        what: str,
        disks: Collection[str] = (),
        ratings: Mapping[str, int] | None = None,
        *,
        snapshot: Snapshot | None = None,
    ) -> None:
        self._reader = reader
        self._what = what
        self._marks = _MarkWriter(reader, WearReader(reader, ratings, timeout_s=_PATIENCE_S))
        self._names = tuple(disks) or smart_names(reader, snapshot or Sampler(reader).sample())
        self._written: Mapping[str, int] = {}

    def before(self) -> None:
        """Take the first reading."""
        disks = self._marks.read(self._names)
        self._marks.record(disks.values(), BEFORE, self._what)
        self._written = written_bytes(self._reader, self._names)

    def after(self) -> str:
        """Take the second reading; return ``1.62 TB to sdd (0.4 % of its life)``, or "" if unknown."""
        now = written_bytes(self._reader, self._written)
        disks = self._marks.read(self._names)
        self._marks.record(disks.values(), AFTER, self._what)
        sizes = {name: now[name] - size for name, size in self._written.items() if now.get(name, -1) >= size}
        return amounts([each for each in _spent(sizes, disks) if each.size_bytes >= _LEAST_BYTES])


def _disk_bytes_then(reader: HostReader, begun: Begun) -> dict[str, int]:
    """Return what the kernel had written to the members' whole disks when a sync began."""
    now = written_bytes(reader, {*begun.disks.values(), *begun.written_bytes})
    then = {disk: now[disk] for disk in begun.disks.values() if disk in now}
    for name, before in begun.written_bytes.items():
        if (disk := begun.disks.get(name, name)) in then:
            then[disk] -= max(0, now.get(name, before) - before)
    return then


def _counted_from(disk: DiskWear, size_bytes: int | None) -> DiskWear:
    """Return a disk's reading that is not later than when the kernel had written so much."""
    entry = disk.entry
    if entry is None or entry.low_bytes is None or size_bytes is None:
        return disk
    return replace(disk, entry=replace(entry, low_bytes=min(entry.low_bytes, size_bytes)))


def _spent(sizes: Mapping[str, int], disks: Mapping[str, DiskWear]) -> list[Spent]:
    return [
        Spent(name=name, size_bytes=size, share=life_share(disks.get(name), size))
        for name, size in sizes.items()
    ]
