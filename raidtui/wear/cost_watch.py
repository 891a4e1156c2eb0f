"""What syncs and jobs cost: a reading when one begins, another when it is over, and the sentence about it.

Blocking, and not for two threads at once: for a background thread, never for the sampling's. Bytes are the
kernel's count and need no rights; what a disk says of its life is asked of the disk, but not of one asleep.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from msgspec.structs import replace

from raidtui.host.diskstats import written_bytes
from raidtui.host.roots.root import Root
from raidtui.host.smart.smart_names import has_smart, smart_names
from raidtui.model.finding import Event, EventKind
from raidtui.model.snapshot import Snapshot
from raidtui.monitor.sampler import Sampler
from raidtui.monitor.spans import Begun, Ended
from raidtui.wear.costs import Spent, amounts, life_share, most_bytes, sync_words
from raidtui.wear.disk_wear import DiskWear
from raidtui.wear.ledger import LedgerError
from raidtui.wear.ledger_entries import AFTER, BEFORE, sync_name
from raidtui.wear.readings import WearReader

_LEAST_BYTES = 10**6
_PATIENCE_S = 5.0  # a disk that hangs must not hold a repair up


class _MarkWriter:
    """Readings of disks for the ledger; without the rights for them there are none."""

    def __init__(self, root: Root, reader: WearReader) -> None:
        self._root = root
        self._reader = reader
        self.trouble = ""

    def read(self, names: Collection[str]) -> dict[str, DiskWear]:
        """Ask disks, where we may: without root it would fail for each of them."""
        if self._root.live and not self._root.writable:
            return {}
        return self._reader.read(sorted(name for name in set(names) if has_smart(name)))

    def record(self, disks: Collection[DiskWear], kind: str, what: str) -> None:
        """Write a mark; say in ``trouble`` why it could not be."""
        self.trouble = ""
        if not any(disk.entry is not None for disk in disks):
            return
        try:
            self._reader.record(disks, kind, what)
        except LedgerError as error:
            self.trouble = str(error)


class CostWatch:
    """Measures what syncs cost.

    Args:
        root: the host.
        reader: of the same host; its ledger gets the marks.
    """

    def __init__(self, root: Root, reader: WearReader) -> None:
        self._root = root
        self._marks = _MarkWriter(root, reader)

    @property
    def trouble(self) -> str:
        """Why the ledger has no mark of the last sync, if so."""
        return self._marks.trouble

    def begun(self, begun: Begun) -> None:
        """Take a reading of the members' disks as a sync begins. One that began unseen has no such mark.

        Until a disk has answered, the sync may have written a lot: it is the kernel's count of the beginning
        that is kept.
        """
        if begun.seen:
            then = _disk_bytes_then(self._root, begun)
            disks = self._marks.read(begun.disks.values())
            marked = [_counted_from(disk, then.get(name)) for name, disk in disks.items()]
            self._marks.record(marked, BEFORE, sync_name(begun.action, begun.array.title))

    def ended(self, ended: Ended) -> Event | None:
        """Take a reading as a sync has ended, and return what is to be told; None where nothing is known."""
        begun = ended.begun
        now = written_bytes(self._root, begun.written_bytes)
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
        return Event(at_s=self._root.now_s(), kind=EventKind.WEAR, subject=ended.array.title, text=text)


class JobCost:
    """Measures what a job or a benchmark costs: make it and call ``before``, and ``after`` when it is done.

    Nothing here raises: that a cost is not known is no reason to stop anything.

    Args:
        root: the host.
        what: what the ledger calls it: the plan's title, or a benchmark's.
        disks: the kernel's names of whole disks that it may write to; all of the host where not known.
        ratings: the makers' ratings, bytes by the beginning of a model's name.
    """

    def __init__(
        self,
        root: Root,
        what: str,
        disks: Collection[str] = (),
        ratings: Mapping[str, int] | None = None,
        *,
        snapshot: Snapshot | None = None,
    ) -> None:
        self._root = root
        self._what = what
        self._marks = _MarkWriter(root, WearReader(root, ratings, timeout_s=_PATIENCE_S))
        self._names = tuple(disks) or smart_names(root, snapshot or Sampler(root).sample())
        self._written: Mapping[str, int] = {}

    def before(self) -> None:
        """Take the first reading."""
        disks = self._marks.read(self._names)
        self._marks.record(disks.values(), BEFORE, self._what)
        self._written = written_bytes(self._root, self._names)

    def after(self) -> str:
        """Take the other one; return ``1.62 TB to sdd (0.4 % of its life)``, or "" where nothing is known."""
        now = written_bytes(self._root, self._written)
        disks = self._marks.read(self._names)
        self._marks.record(disks.values(), AFTER, self._what)
        sizes = {name: now[name] - size for name, size in self._written.items() if now.get(name, -1) >= size}
        return amounts([each for each in _spent(sizes, disks) if each.size_bytes >= _LEAST_BYTES])


def _disk_bytes_then(root: Root, begun: Begun) -> dict[str, int]:
    """Return what the kernel had written to the members' whole disks when a sync began."""
    now = written_bytes(root, {*begun.disks.values(), *begun.written_bytes})
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
