"""The ledger: readings of all disks over time, in an SQLite file in the state folder, or in memory.

A disk is identified by its serial number (or WWN), never by sdX. Marks name moments, such as before and after
a sync; the writes between two marks are the cost.
"""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

import msgspec
from msgspec import Struct
from msgspec.structs import asdict, replace

from raidtui.jobs.journal import journal_path
from raidtui.jobs.state_files import Database
from raidtui.monitor.wear.ledger_entries import DAY_S, LedgerEntry, Mark

PATH = "/.raidtui/wear.json"
"""Where a capture has its host's history."""
_RECENT_S = 2 * DAY_S
_DAYS = (400, 120, 30, 7)
_MOST_BYTES = 4 << 20


class OpenLedger(Protocol):
    """A ledger that is open."""

    def __enter__(self) -> Self:
        """Return the open ledger."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        """Close it."""

    def add(self, *entries: LedgerEntry) -> None:
        """Keep readings."""

    def mark(self, kind: str, what: str, at_s: float) -> int:
        """Make a mark and return its id."""

    def marks(self, since_s: float = 0.0) -> tuple[Mark, ...]:
        """Return the marks since a time, the oldest first."""

    def disks(self) -> tuple[str, ...]:
        """Return all disks that were ever read."""

    def entries(self, disk: str, since_s: float = 0.0) -> tuple[LedgerEntry, ...]:
        """Return a disk's readings since a time, the oldest first."""

    def at_mark(self, mark: int) -> tuple[LedgerEntry, ...]:
        """Return the readings that belong to a mark."""

    def thin(self, before_s: float) -> int:
        """Remove most of what is older; return how many readings were removed."""


class CapturedHistory(Struct, frozen=True, kw_only=True):
    """A history as a capture keeps it."""

    marks: tuple[Mark, ...] = ()
    entries: tuple[LedgerEntry, ...] = ()


class MemoryLedger:
    """A ledger in memory.

    Args:
        kept: what is in it at first.
    """

    def __init__(self, kept: CapturedHistory | None = None) -> None:
        found = kept or CapturedHistory()
        self._marks = list(found.marks)
        self._entries = sorted(found.entries, key=lambda each: each.at_s)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing is to be closed."""

    def add(self, *entries: LedgerEntry) -> None:
        """See ``OpenLedger``."""
        self._entries += entries

    def mark(self, kind: str, what: str, at_s: float) -> int:
        """See ``OpenLedger``."""
        made = Mark(id=1 + max((each.id for each in self._marks), default=0), at_s=at_s, kind=kind, what=what)
        self._marks.append(made)
        return made.id

    def marks(self, since_s: float = 0.0) -> tuple[Mark, ...]:
        """See ``OpenLedger``."""
        return tuple(each for each in self._marks if each.at_s >= since_s)

    def disks(self) -> tuple[str, ...]:
        """See ``OpenLedger``."""
        return tuple(sorted({each.disk for each in self._entries}))

    def entries(self, disk: str, since_s: float = 0.0) -> tuple[LedgerEntry, ...]:
        """See ``OpenLedger``."""
        return tuple(each for each in self._entries if each.disk == disk and each.at_s >= since_s)

    def at_mark(self, mark: int) -> tuple[LedgerEntry, ...]:
        """See ``OpenLedger``."""
        return tuple(each for each in self._entries if each.mark == mark)

    def thin(self, before_s: float) -> int:
        """See ``OpenLedger``: nothing is old in a session."""
        del before_s
        return 0


def read_captured_history(text: str) -> CapturedHistory | None:
    """Return a capture's history; None if the text holds none."""
    try:
        return msgspec.json.decode(text, type=CapturedHistory)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None


def captured_history_text(pages: OpenLedger, disks: tuple[str, ...], now_s: float) -> bytes:
    """Return what a capture keeps of a ledger; b"" where there is nothing.

    Of what is older than two days that is each day's last reading, and of many disks fewer days.

    Args:
        pages: the ledger.
        disks: the disks in question.
        now_s: epoch seconds.
    """
    text = b""
    for days in _DAYS:
        found = _kept_of(pages, disks, now_s - days * DAY_S, now_s)
        entries = [
            {key: value for key, value in asdict(each).items() if value is not None} for each in found.entries
        ]
        text = msgspec.json.encode({"marks": found.marks, "entries": entries}) if entries else b""
        if len(text) <= _MOST_BYTES:
            return text
    return b""


def _kept_of(pages: OpenLedger, disks: tuple[str, ...], since_s: float, now_s: float) -> CapturedHistory:
    entries = [each for disk in disks for each in _sparse(pages.entries(disk, since_s), now_s)]
    known = {each.mark for each in entries}
    marks = tuple(mark for mark in pages.marks(since_s) if mark.id in known)
    left = {mark.id for mark in marks}
    return CapturedHistory(
        marks=marks,
        entries=tuple(each if each.mark in left else replace(each, mark=None) for each in entries),
    )


def _sparse(entries: tuple[LedgerEntry, ...], now_s: float) -> list[LedgerEntry]:
    last_of = {each.at_s // DAY_S: each for each in entries}
    return [
        each
        for each in entries
        if each.mark is not None or each.at_s >= now_s - _RECENT_S or last_of[each.at_s // DAY_S] is each
    ]


SCHEMA = 1
_MOST = (1 << 63) - 1
_MAKE = (
    """CREATE TABLE mark (
        id INTEGER PRIMARY KEY, at_s REAL NOT NULL, kind TEXT NOT NULL, what TEXT NOT NULL
    )""",
    """CREATE TABLE entry (
        id INTEGER PRIMARY KEY, disk TEXT NOT NULL, at_s REAL NOT NULL, mark INTEGER REFERENCES mark (id),
        name TEXT NOT NULL, model TEXT NOT NULL, firmware TEXT NOT NULL, hours INTEGER, percent INTEGER,
        size_bytes INTEGER, source TEXT NOT NULL, count INTEGER, unit_bytes INTEGER,
        since TEXT NOT NULL, low_bytes INTEGER, high_bytes INTEGER, crc_errors INTEGER, reallocated INTEGER,
        pending INTEGER, uncorrectable INTEGER, media_errors INTEGER, passed INTEGER,
        nonmedium_errors INTEGER, spin_retries INTEGER, end_to_end_errors INTEGER, command_timeouts INTEGER,
        reallocation_events INTEGER, critical_minutes INTEGER, temperature_c INTEGER
    )""",
    "CREATE INDEX entry_of ON entry (disk, at_s)",
)
_ADDED = (
    "nonmedium_errors", "spin_retries", "end_to_end_errors", "command_timeouts", "reallocation_events",
    "critical_minutes", "temperature_c",
)  # fmt: skip
"""Columns that ledgers of earlier versions do not have. Those versions leave them alone."""
_THIN = """
DELETE FROM entry WHERE at_s < ? AND mark IS NULL
    AND id NOT IN (SELECT MAX(id) FROM entry GROUP BY disk, CAST(at_s / ? AS INTEGER))
"""


class LedgerError(Exception):
    """The ledger cannot be read or written; the message says why, and what to do."""


def ledger_path() -> Path:
    """Return where the ledger is: /var/lib/raidtui for root, else the user's state folder."""
    return journal_path().parent / "wear.sqlite"


_COLUMNS = tuple(LedgerEntry.__struct_fields__)


class Ledger(Database):
    """The opened ledger; see ``Database``.

    Raises:
        LedgerError: it cannot be opened, or is of a newer raidtui.
    """

    what, schema, make, error = "ledger", SCHEMA, _MAKE, LedgerError

    def _prepare(self) -> None:
        super()._prepare()
        if self._missing():
            with self.writing() as file:
                for column in self._missing():  # another raidtui may have been faster
                    file.execute(f"ALTER TABLE entry ADD COLUMN {column} INTEGER")

    def _missing(self) -> list[str]:
        with self.reading() as file:
            known = {row[1] for row in file.execute("PRAGMA table_info (entry)").fetchall()}
        return [column for column in _ADDED if column not in known]

    def add(self, *entries: LedgerEntry) -> None:
        """Keep readings, all or none.

        Raises:
            LedgerError: the file cannot be written.
        """
        holes = ", ".join("?" * len(_COLUMNS))
        with self.writing() as file:
            for entry in entries:
                values = [_fitting(getattr(entry, column)) for column in _COLUMNS]
                file.execute(f"INSERT INTO entry ({', '.join(_COLUMNS)}) VALUES ({holes})", values)  # noqa: S608

    def mark(self, kind: str, what: str, at_s: float) -> int:
        """Make a mark and return its id; entries that belong to it carry that.

        Raises:
            LedgerError: the file cannot be written.
        """
        with self.writing() as file:
            made = file.execute("INSERT INTO mark (at_s, kind, what) VALUES (?, ?, ?)", (at_s, kind, what))
        return int(made.lastrowid or 0)

    def marks(self, since_s: float = 0.0) -> tuple[Mark, ...]:
        """Return the marks since a time, the oldest first."""
        query = "SELECT id, at_s, kind, what FROM mark WHERE at_s >= ? ORDER BY at_s, id"
        with self.reading() as file:
            rows = file.execute(query, (since_s,)).fetchall()
        return tuple(Mark(id=row[0], at_s=row[1], kind=row[2], what=row[3]) for row in rows)

    def disks(self) -> tuple[str, ...]:
        """Return all disks that were ever read."""
        with self.reading() as file:
            rows = file.execute("SELECT DISTINCT disk FROM entry ORDER BY disk").fetchall()
        return tuple(row[0] for row in rows)

    def entries(self, disk: str, since_s: float = 0.0) -> tuple[LedgerEntry, ...]:
        """Return a disk's readings since a time, the oldest first."""
        return self._entries("disk = ? AND at_s >= ?", disk, since_s)

    def at_mark(self, mark: int) -> tuple[LedgerEntry, ...]:
        """Return the readings that belong to a mark."""
        return self._entries("mark = ?", mark)

    def _entries(self, where: str, *values: object) -> tuple[LedgerEntry, ...]:
        query = f"SELECT {', '.join(_COLUMNS)} FROM entry WHERE {where} ORDER BY at_s, id"  # noqa: S608
        with self.reading() as file:
            rows = file.execute(query, values).fetchall()
        found = (dict(zip(_COLUMNS, row, strict=True)) for row in rows)
        return tuple(
            LedgerEntry(**{**row, "passed": None if row["passed"] is None else bool(row["passed"])})
            for row in found
        )

    def thin(self, before_s: float) -> int:
        """Of older readings, keep each disk's last one of a day and those with a mark.

        Returns:
            How many readings were removed.

        Raises:
            LedgerError: the file cannot be written.
        """
        with self.writing() as file:
            gone = file.execute(_THIN, (before_s, DAY_S))
        return int(gone.rowcount)


def _fitting(value: object) -> object:
    """SQLite's integers have 64 bits; a larger count is not kept."""
    return None if isinstance(value, int) and abs(value) > _MOST else value
