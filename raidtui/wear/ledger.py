"""The ledger: readings of all disks over time, in one SQLite file in the state folder.

A disk is its serial number (or WWN), never sdX. Marks name moments: before and after a sync, a job, a
benchmark; what a disk took between two of them is what that cost.
"""

from __future__ import annotations

from pathlib import Path

from raidtui.jobs.journal import journal_path
from raidtui.jobs.state_files import Database
from raidtui.wear.entries import DAY_S, Entry, Mark

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
        nonmedium_errors INTEGER
    )""",
    "CREATE INDEX entry_of ON entry (disk, at_s)",
)
_ADDED = ("nonmedium_errors",)
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


_COLUMNS = tuple(Entry.__struct_fields__)


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

    def add(self, *entries: Entry) -> None:
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

    def entries(self, disk: str, since_s: float = 0.0) -> tuple[Entry, ...]:
        """Return a disk's readings since a time, the oldest first."""
        return self._entries("disk = ? AND at_s >= ?", disk, since_s)

    def at_mark(self, mark: int) -> tuple[Entry, ...]:
        """Return the readings that belong to a mark."""
        return self._entries("mark = ?", mark)

    def _entries(self, where: str, *values: object) -> tuple[Entry, ...]:
        query = f"SELECT {', '.join(_COLUMNS)} FROM entry WHERE {where} ORDER BY at_s, id"  # noqa: S608
        with self.reading() as file:
            rows = file.execute(query, values).fetchall()
        found = (dict(zip(_COLUMNS, row, strict=True)) for row in rows)
        return tuple(
            Entry(**{**row, "passed": None if row["passed"] is None else bool(row["passed"])})
            for row in found
        )

    def thin(self, before_s: float) -> int:
        """Of what is older keep each disk's last reading of a day and those with a mark.

        Returns:
            How many readings went.

        Raises:
            LedgerError: the file cannot be written.
        """
        with self.writing() as file:
            gone = file.execute(_THIN, (before_s, DAY_S))
        return int(gone.rowcount)


def _fitting(value: object) -> object:
    """SQLite's integers have 64 bits; a count beyond that is none."""
    return None if isinstance(value, int) and abs(value) > _MOST else value
