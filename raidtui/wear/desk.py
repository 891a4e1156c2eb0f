"""The desk of wear: disks read, judged with their history, written into the ledger; what plans want to know.

Blocking: a disk is asked by a process of its own, and one that hangs is waited for up to a limit. Never in
the sampling's path.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from raidtui.host.block import read_identity
from raidtui.host.roots.root import Root
from raidtui.host.smart.smart_names import smart_names
from raidtui.host.smart.smart_reader import TIMEOUT_S, SmartReader
from raidtui.model.disk import Disk
from raidtui.model.finding import Severity
from raidtui.model.smart import MeasuredReading, SmartReading
from raidtui.model.snapshot import Snapshot
from raidtui.model.survey import Device, Survey
from raidtui.wear.array import ArrayWear, judge_array
from raidtui.wear.disk import judge_disk
from raidtui.wear.endurance import Confidence
from raidtui.wear.entries import Entry, Mark, measured_unit
from raidtui.wear.faults import told_of
from raidtui.wear.ledger import Ledger, LedgerError, ledger_path
from raidtui.wear.pages import PATH, MemoryLedger, Pages, kept_text, read_kept
from raidtui.wear.record import DiskWear
from raidtui.wear.spells import BY_HAND, Spell, between, last_mark, spells_of

_PLAN_S = 5.0
_LEADS = {"dying": "is dying: ", "cable?": "may have a bad cable: ", "hot": ""}
_HISTORY_S = 400 * 86_400.0
_KEEP_ALL_S = 31 * 86_400.0
_RECORD_S = 1800.0


class WearLook(Struct, frozen=True, kw_only=True):
    """All disks and arrays of a host, as they were at one moment, with what the ledger tells of before.

    Args:
        at_s: epoch seconds.
        disks: in the order of their names.
        known: what udev calls those that said nothing themselves, by the kernel's name.
        mark: the last one that a person has set; None where there is none.
        since: what was written since then, bytes by the disk's kernel name.
        spells: what syncs and jobs have cost, the latest first.
        known_since_s: of the oldest reading that the ledger has of these disks; None where it has none.
        trouble: why the ledger could not be read or written, if so.
    """

    at_s: float
    disks: tuple[DiskWear, ...] = ()
    known: Mapping[str, Disk] = field(default_factory=dict)
    arrays: tuple[ArrayWear, ...] = ()
    mark: Mark | None = None
    since: Mapping[str, int] = field(default_factory=dict)
    spells: tuple[Spell, ...] = ()
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
    entries: tuple[Entry, ...] = ()
    spells: tuple[Spell, ...] = ()
    unit_bytes: int | None = None


class WearDesk:
    """Reads and remembers.

    Args:
        root: the host.
        ratings: the makers' ratings, bytes by the beginning of a model's name.
        timeout_s: how long each disk may take.
    """

    def __init__(
        self, root: Root, ratings: Mapping[str, int] | None = None, *, timeout_s: float = TIMEOUT_S
    ) -> None:
        self._root = root
        self._ratings = ratings or {}
        self._reader = SmartReader(root, timeout_s)
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

    def measured(self, names: Collection[str]) -> Mapping[str, MeasuredReading]:
        """Return what whole disks say, by kernel name; it takes as long as they do."""
        return self._reader.read(names)

    def judged(
        self, measured: Mapping[str, MeasuredReading], outages: Mapping[str, float] | None = None
    ) -> dict[str, DiskWear]:
        """Return the wear of disks by what they have said; see ``read``."""
        at_s = self._root.now_s()
        histories = self._histories(measured, at_s)
        return {
            name: judge_disk(
                each, at_s, histories.get(name, ()), self._ratings, outage_s=(outages or {}).get(name)
            )
            for name, each in measured.items()
        }

    def look(self, snapshot: Snapshot, *, record: bool = False, mark: str | None = None) -> WearLook:
        """Return what there is to say of all disks of a host.

        Args:
            snapshot: its arrays.
            record: whether readings are written into the ledger, too: of disks whose last one is older than
                half an hour.
            mark: a person's words for this moment, which is marked then; None: it is not.
        """
        found = self.read(smart_names(self._root, snapshot))
        read = [disk for disk in found.values() if disk.entry is not None]
        if read and not self.trouble and (record or mark is not None):
            self._write(read, mark)
        now = [disk.entry for disk in found.values() if disk.entry is not None]
        last, since, spells = self._past(now, measured_units(found.values()))
        return WearLook(
            at_s=self._root.now_s(),
            disks=tuple(found.values()),
            known={
                name: read_identity(self._root, name) for name, disk in found.items() if disk.reading is None
            },
            arrays=array_wears(snapshot, found),
            mark=last,
            since={entry.name: since[entry.disk] for entry in now if entry.disk in since},
            spells=spells,
            known_since_s=self._since_s,
            trouble=self.trouble,
        )

    def _write(self, disks: Sequence[DiskWear], mark: str | None) -> None:
        before_s = self._root.now_s() - _RECORD_S
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
        self, now: Collection[Entry], units: Mapping[str, int]
    ) -> tuple[Mark | None, Mapping[str, int], tuple[Spell, ...]]:
        """Return the last mark of a person's, what was written since, and what syncs and jobs have cost."""
        try:
            pages = None if self.trouble else self._pages(make=False)
            if pages is None:
                return None, {}, ()
            with pages:
                marks = pages.marks(self._root.now_s() - _HISTORY_S)
                mark = last_mark(marks)
                since = between(pages.at_mark(mark.id), tuple(now), units) if mark is not None else {}
                return mark, since, spells_of(marks, pages.at_mark, units)
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
        now_s = self._root.now_s()
        pages = self._pages(make=True)
        assert pages is not None  # noqa: S101  (it was to be made)
        with pages:
            mark = pages.mark(kind, what, now_s) if kind else None
            pages.add(*(replace(entry, mark=mark) for entry in entries))
            pages.thin(now_s - _KEEP_ALL_S)
        return mark

    def known(self) -> tuple[Entry, ...]:
        """Return the last reading of each disk that the ledger knows, the disks in the order of their names.

        What was written is told in the unit that was measured, where one was.

        Raises:
            LedgerError: it cannot be read.
        """
        pages = self._pages(make=False)
        if pages is None:
            return ()
        with pages:
            all_of_them = [pages.entries(disk) for disk in pages.disks()]
        lasts = []
        for entries in all_of_them:
            last, unit = entries[-1], measured_unit(entries)
            if unit is not None and last.count is not None:
                last = replace(last, size_bytes=last.count * unit)
            lasts.append(last)
        return tuple(sorted(lasts, key=lambda each: (each.name, each.disk)))

    def history(self, disk: str) -> DiskHistory:
        """Return the history of a disk, by its serial number or WWN.

        Raises:
            LedgerError: it cannot be read.
        """
        pages = self._pages(make=False)
        if pages is None:
            return DiskHistory(disk=disk)
        since_s = self._root.now_s() - _HISTORY_S
        with pages:
            entries = pages.entries(disk, since_s)
            unit = measured_unit(entries)
            units = {} if unit is None else {disk: unit}
            spells = spells_of(pages.marks(since_s), pages.at_mark, units)
        own = tuple(spell for spell in spells if disk in spell.costs)
        return DiskHistory(disk=disk, entries=entries, spells=own, unit_bytes=unit)

    def kept(self, disks: Collection[str]) -> bytes:
        """Return the history of some disks for a capture; b"" where there is none or it cannot be read."""
        try:
            pages = self._pages(make=False)
            if pages is None:
                return b""
            with pages:
                return kept_text(pages, tuple(disks), self._root.now_s())
        except LedgerError:
            return b""

    def _pages(self, *, make: bool) -> Pages | None:
        """Return the ledger, to be closed; None where there is none and none is to be made."""
        if self._root.live:
            path = ledger_path()
            return Ledger(path) if make or os.path.exists(path) else None  # noqa: PTH110  (no Path is needed)
        if self._memory is None:
            text = self._root.text(PATH)
            kept = read_kept(text) if text is not None else None
            if text is not None and kept is None:
                self._spoilt = self.trouble = "the history in this capture cannot be read"
            self._memory = MemoryLedger(kept)
        return self._memory

    def _histories(
        self, measured: Mapping[str, MeasuredReading], at_s: float
    ) -> dict[str, tuple[Entry, ...]]:
        self.trouble = self._spoilt
        try:
            pages = self._pages(make=False)
            if pages is None:
                return {}
            with pages:
                found = {
                    name: pages.entries(each.result.identity, at_s - _HISTORY_S)
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
    """Return the units that were measured, by disk (``Entry.disk``)."""
    return {
        disk.entry.disk: disk.written.unit_bytes
        for disk in disks
        if disk.entry is not None
        and disk.written.confidence is Confidence.MEASURED
        and disk.written.unit_bytes is not None
    }


def array_wears(snapshot: Snapshot, disks: Mapping[str, DiskWear]) -> tuple[ArrayWear, ...]:
    """Return what there is to say of each array's members side by side."""
    found = []
    for array in snapshot.arrays:
        names = {whole_disk(snapshot, member.name): None for member in array.members}
        found.append(judge_array(array.title, array.key, [disks[name] for name in names if name in disks]))
    return tuple(found)


def whole_disk(snapshot: Snapshot, member: str) -> str:
    """Return the disk that a member lies on."""
    disk = snapshot.disks.get(member)
    return disk.disk if disk is not None else member


class PlanAsker:
    """Asks SMART for what a plan wants to know: see ``raidtui.host.reading.Asker``."""

    def __init__(self) -> None:
        self._said: Mapping[str, MeasuredReading] = {}

    def measure(self, root: Root, disks: Collection[str]) -> None:
        """Ask whole disks."""
        self._said = WearDesk(root, timeout_s=_PLAN_S).measured(disks)

    def judge(self, root: Root, survey: Survey) -> Survey:
        """Return the survey with the wear of its devices."""
        away = {device.disk.disk: _away_s(device, survey) for device in survey.devices.values()}
        outages = {disk: away_s for disk, away_s in away.items() if away_s is not None}
        return _with_wear(survey, WearDesk(root).judged(self._said, outages))


def worn(root: Root, survey: Survey) -> Survey:
    """Return a survey whose devices know their disk's wear, and what is wrong with it or its cable."""
    asker = PlanAsker()
    asker.measure(root, sorted({device.disk.disk for device in survey.devices.values()}))
    return asker.judge(root, survey)


def _with_wear(survey: Survey, found: Mapping[str, DiskWear]) -> Survey:
    devices = {name: _worn(device, found.get(device.disk.disk)) for name, device in survey.devices.items()}
    return replace(survey, devices=devices)


def _worn(device: Device, wear: DiskWear | None) -> Device:
    if wear is None or wear.reading is None:
        return device
    trouble = wear.trouble
    words = f"{_LEADS[trouble.word]}{trouble.reason}; {trouble.remedy}" if trouble is not None else ""
    words = words or "; ".join(_bad_places(wear, wear.reading))
    percent, written = wear.percent.percent, wear.written.known_bytes
    life = int(written / percent * 100) if percent and written else None
    return replace(device, wear_percent=percent, life_bytes=life, trouble=words)


def _bad_places(wear: DiskWear, reading: SmartReading) -> Iterator[str]:
    """Yield what speaks against giving data to a disk that is not dying yet."""
    told = [told_of(reading, fault) for fault in wear.faults if fault.medium]
    yield from (each.sentence for each in told if each.severity > Severity.INFO)


def _away_s(device: Device, survey: Survey) -> float | None:
    """Return for how long a former member of a running array has been away; None for all others."""
    block = device.superblock
    if block is None or block.updated_s is None:
        return None
    for array in survey.snapshot.arrays:
        if array.uuid == block.uuid and array.active:
            serves = [member.name for member in array.members if not member.has("faulty")]
            since_s = max(0.0, survey.snapshot.taken_s - block.updated_s)
            return None if device.disk.name in serves else since_s
    return None
