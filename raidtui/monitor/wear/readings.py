"""The wear of a host's disks: read, judged with their history, written into the ledger.

Blocking: each disk is read by a process of its own, with a time limit. Not for the sampling thread.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from raidtui.host.block import read_identity
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.smart.smart_names import smart_names
from raidtui.host.smart.smart_reader import TIMEOUT_S, SmartReader
from raidtui.model.disk import Disk
from raidtui.model.smart import SmartMeasurement, SmartReading, smart_node
from raidtui.model.snapshot import Snapshot
from raidtui.monitor.wear.array_wear import ArrayWear, judge_array
from raidtui.monitor.wear.disk_wear import DiskWear, judge_disk
from raidtui.monitor.wear.forecast import Forecast, forecast, rated_bytes
from raidtui.monitor.wear.ledger import (
    PATH,
    Ledger,
    LedgerError,
    MemoryLedger,
    OpenLedger,
    captured_history_text,
    ledger_path,
    read_captured_history,
)
from raidtui.monitor.wear.ledger_entries import (
    BY_HAND,
    LedgerEntry,
    Mark,
    MarkedCost,
    between,
    last_mark,
    marked_costs,
    measured_unit,
)
from raidtui.monitor.wear.witnesses import Confidence

_HISTORY_S = 400 * 86_400.0
_KEEP_ALL_S = 31 * 86_400.0
_RECORD_S = 1800.0


class WearLook(Struct, frozen=True, kw_only=True):
    """All disks and arrays of a host at one moment, with their history.

    Args:
        at_s: epoch seconds.
        disks: in the order of their names.
        known: udev's identity of the disks that could not be read, by the kernel's name.
        mark: the last mark of a person; None without one.
        since: what was written since then, bytes by the disk's kernel name.
        costs: the costs of syncs and jobs, the latest first.
        known_since_s: of the oldest reading that the ledger has of these disks; None where it has none.
        trouble: why the ledger could not be read or written, if so.
    """

    at_s: float
    disks: tuple[DiskWear, ...] = ()
    known: Mapping[str, Disk] = field(default_factory=dict)
    arrays: tuple[ArrayWear, ...] = ()
    mark: Mark | None = None
    since: Mapping[str, int] = field(default_factory=dict)
    costs: tuple[MarkedCost, ...] = ()
    known_since_s: float | None = None
    trouble: str = ""

    def disk(self, name: str | None) -> DiskWear | None:
        """Return a disk by its kernel name."""
        return next((each for each in self.disks if each.name == name), None)


class DiskHistory(Struct, frozen=True, kw_only=True):
    """One disk's readings, the oldest first, and what syncs and jobs have cost it, the latest first.

    Args:
        disk: its serial number or WWN.
        unit_bytes: the unit of its counter as it was measured, where it was.
    """

    disk: str
    entries: tuple[LedgerEntry, ...] = ()
    costs: tuple[MarkedCost, ...] = ()
    unit_bytes: int | None = None


class WearReader:
    """Reads and judges disks, and keeps their history.

    Args:
        reader: the host.
        ratings: the manufacturers' ratings in bytes, by the beginning of a model's name.
        timeout_s: how long each disk may take.
    """

    def __init__(
        self, reader: HostReader, ratings: Mapping[str, int] | None = None, *, timeout_s: float = TIMEOUT_S
    ) -> None:
        self._reader = reader
        self._ratings = ratings or {}
        self._smart = SmartReader(reader, timeout_s)
        self._memory: MemoryLedger | None = None
        self._spoilt = ""
        self._known_s: dict[str, float] = {}
        self._since_s: float | None = None
        self.trouble = ""
        """Why the history could not be read or written, if so."""

    def read(self, names: Collection[str], outages: Mapping[str, float] | None = None) -> dict[str, DiskWear]:
        """Return the wear of whole disks, by kernel name. Nothing is written.

        Args:
            names: kernel names.
            outages: for how many seconds a disk was away that has come back.
        """
        return self.judged(self.measured(names), outages)

    def measured(self, names: Collection[str]) -> Mapping[str, SmartMeasurement]:
        """Return the readings of whole disks by kernel name; blocks until they have answered."""
        return self._smart.read(names)

    def judged(
        self, measured: Mapping[str, SmartMeasurement], outages: Mapping[str, float] | None = None
    ) -> dict[str, DiskWear]:
        """Return the wear of disks from their readings; see ``read``."""
        at_s = self._reader.now_s()
        histories = self._histories(measured, at_s)
        return {
            name: judge_disk(
                each, at_s, histories.get(name, ()), self._ratings, outage_s=(outages or {}).get(name)
            )
            for name, each in measured.items()
        }

    def look(self, snapshot: Snapshot, *, record: bool = False, mark: str | None = None) -> WearLook:
        """Read all disks of a host.

        Args:
            snapshot: its arrays.
            record: whether readings are written into the ledger, too: of disks whose last one is older than
                half an hour.
            mark: a person's words for a mark at this moment; None sets no mark.
        """
        found = self.read(smart_names(self._reader, snapshot))
        read = [disk for disk in found.values() if disk.entry is not None]
        if read and not self.trouble and (record or mark is not None):
            self._write(read, mark)
        now = [disk.entry for disk in found.values() if disk.entry is not None]
        last, since, costs = self._past(now, measured_units(found.values()))
        return WearLook(
            at_s=self._reader.now_s(),
            disks=tuple(found.values()),
            known={
                name: read_identity(self._reader, smart_node(name))
                for name, disk in found.items()
                if disk.reading is None
            },
            arrays=array_wears(snapshot, found),
            mark=last,
            since={entry.name: since[entry.disk] for entry in now if entry.disk in since},
            costs=costs,
            known_since_s=self._since_s,
            trouble=self.trouble,
        )

    def look_again(self, look: WearLook, snapshot: Snapshot, names: Collection[str]) -> WearLook:
        """Return a look with some of its disks read again. Nothing is written."""
        found = {disk.name: disk for disk in look.disks} | self.read(names)
        return replace(look, disks=tuple(found.values()), arrays=array_wears(snapshot, found))

    def _write(self, disks: Sequence[DiskWear], mark: str | None) -> None:
        before_s = self._reader.now_s() - _RECORD_S
        due = [
            disk
            for disk in disks
            if mark is not None
            or (disk.entry is not None and self._known_s.get(disk.entry.disk, 0.0) <= before_s)
        ]
        try:
            self.record(due, "" if mark is None else BY_HAND, mark or "")
        except LedgerError as error:
            self.trouble = str(error)

    def _past(
        self, now: Collection[LedgerEntry], units: Mapping[str, int]
    ) -> tuple[Mark | None, Mapping[str, int], tuple[MarkedCost, ...]]:
        """Return the last mark of a person's, what was written since, and what syncs and jobs have cost."""
        try:
            ledger = None if self.trouble else self._ledger(make=False)
            if ledger is None:
                return None, {}, ()
            with ledger:
                marks = ledger.marks(self._reader.now_s() - _HISTORY_S)
                mark = last_mark(marks)
                since = between(ledger.at_mark(mark.id), tuple(now), units) if mark is not None else {}
                return mark, since, marked_costs(marks, ledger.at_mark, units)
        except LedgerError as error:
            self.trouble = str(error)
            return None, {}, ()

    def record(self, disks: Collection[DiskWear], kind: str = "", what: str = "") -> int | None:
        """Write readings into the ledger, with a mark where one is named; return the mark's number.

        Args:
            disks: what ``read`` gave just now.
            kind: of the mark: mark, before, after.
            what: of the mark: a person's words, or "resync of data".

        Raises:
            LedgerError: it cannot be written.
        """
        entries = [disk.entry for disk in disks if disk.entry is not None]
        now_s = self._reader.now_s()
        ledger = self._ledger(make=True)
        assert ledger is not None  # noqa: S101  (it was to be made)
        with ledger:
            mark = ledger.mark(kind, what, now_s) if kind else None
            ledger.add(*(replace(entry, mark=mark) for entry in entries))
            ledger.thin(now_s - _KEEP_ALL_S)
        return mark

    def known(self) -> tuple[LedgerEntry, ...]:
        """Return the last reading of each disk that the ledger knows, the disks in the order of their names.

        Writes are in the measured unit, if there is one.

        Raises:
            LedgerError: it cannot be read.
        """
        ledger = self._ledger(make=False)
        if ledger is None:
            return ()
        with ledger:
            all_of_them = [ledger.entries(disk) for disk in ledger.disks()]
        lasts = []
        for entries in all_of_them:
            last, unit = entries[-1], measured_unit(entries)
            if unit is not None and last.count is not None:
                last = replace(last, size_bytes=last.count * unit)
            lasts.append(last)
        return tuple(sorted(lasts, key=lambda each: (each.name, each.disk)))

    def forecasts(self, since_s: float) -> tuple[tuple[LedgerEntry, Forecast | None], ...]:
        """Return what the ledger says of each disk's end; no disk is asked.

        Args:
            since_s: disks that were not read since then are left out, epoch seconds.

        Returns:
            The last reading of each disk, and when its rated life ends; None where that is not known.

        Raises:
            LedgerError: it cannot be read.
        """
        ledger = self._ledger(make=False)
        if ledger is None:
            return ()
        with ledger:
            all_of_them = [ledger.entries(disk, self._reader.now_s() - _HISTORY_S) for disk in ledger.disks()]
        found = []
        for entries in all_of_them:
            if entries and entries[-1].at_s >= since_s:
                rated = rated_bytes(entries[-1].model, self._ratings)
                found.append((entries[-1], forecast(entries, rated, measured_unit(entries))))
        return tuple(sorted(found, key=lambda each: (each[0].name, each[0].disk)))

    def history(self, disk: str) -> DiskHistory:
        """Return the history of a disk, by its serial number or WWN.

        Raises:
            LedgerError: it cannot be read.
        """
        ledger = self._ledger(make=False)
        if ledger is None:
            return DiskHistory(disk=disk)
        since_s = self._reader.now_s() - _HISTORY_S
        with ledger:
            entries = ledger.entries(disk, since_s)
            unit = measured_unit(entries)
            units = {} if unit is None else {disk: unit}
            costs = marked_costs(ledger.marks(since_s), ledger.at_mark, units)
        own = tuple(cost for cost in costs if disk in cost.costs)
        return DiskHistory(disk=disk, entries=entries, costs=own, unit_bytes=unit)

    def captured_history(self, disks: Collection[str]) -> bytes:
        """Return the history of some disks for a capture; b"" where there is none or it cannot be read."""
        try:
            ledger = self._ledger(make=False)
            if ledger is None:
                return b""
            with ledger:
                return captured_history_text(ledger, tuple(disks), self._reader.now_s())
        except LedgerError:
            return b""

    def _ledger(self, *, make: bool) -> OpenLedger | None:
        """Return an open ledger; None if there is none and none is to be made."""
        if self._reader.live:
            path = ledger_path()
            return Ledger(path) if make or os.path.exists(path) else None  # noqa: PTH110  (no Path is needed)
        if self._memory is None:
            text = self._reader.text(PATH)
            kept = read_captured_history(text) if text is not None else None
            if text is not None and kept is None:
                self._spoilt = self.trouble = "the history in this capture cannot be read"
            self._memory = MemoryLedger(kept)
        return self._memory

    def _histories(
        self, measured: Mapping[str, SmartMeasurement], at_s: float
    ) -> dict[str, tuple[LedgerEntry, ...]]:
        self.trouble = self._spoilt
        try:
            ledger = self._ledger(make=False)
            if ledger is None:
                return {}
            with ledger:
                found = {
                    name: ledger.entries(each.result.identity, at_s - _HISTORY_S)
                    for name, each in measured.items()
                    if isinstance(each.result, SmartReading) and each.result.identity
                }
        except LedgerError as error:
            self.trouble = str(error)
            return {}
        self._known_s = {entries[-1].disk: entries[-1].at_s for entries in found.values() if entries}
        self._since_s = min((entries[0].at_s for entries in found.values() if entries), default=None)
        return found


def measured_units(disks: Collection[DiskWear]) -> dict[str, int]:
    """Return the units that were measured, by disk (``LedgerEntry.disk``)."""
    return {
        disk.entry.disk: disk.written.unit_bytes
        for disk in disks
        if disk.entry is not None
        and disk.written.confidence is Confidence.MEASURED
        and disk.written.unit_bytes is not None
    }


def array_wears(snapshot: Snapshot, disks: Mapping[str, DiskWear]) -> tuple[ArrayWear, ...]:
    """Return the comparison of each array's members."""
    found = []
    for array in snapshot.arrays:
        nodes = {whole_disk(snapshot, member.name) for member in array.members}
        members = [disk for name, disk in disks.items() if smart_node(name) in nodes]
        found.append(judge_array(array.title, array.key, members))
    return tuple(found)


def whole_disk(snapshot: Snapshot, member: str) -> str:
    """Return the disk of a member."""
    disk = snapshot.disks.get(member)
    return disk.disk if disk is not None else member
