"""Advice that an admin ignores, for good or for a while: kept with who and why.

What it is about is kept by what does not change: an array's UUID, a disk's serial number, a place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec import Struct

from raidtui.features.advice.advice import Advice
from raidtui.jobs.journal import journal_path
from raidtui.jobs.state_files import Database

_MAKE = (
    """CREATE TABLE ignored (
        code TEXT NOT NULL, key TEXT NOT NULL, subject TEXT NOT NULL, severity INTEGER NOT NULL,
        who TEXT NOT NULL, why TEXT NOT NULL, at_s REAL NOT NULL, until_s REAL, PRIMARY KEY (code, key)
    )""",
)


class IgnoredError(Exception):
    """What is ignored cannot be read or written; the message says why, and what to do."""


class Ignored(Struct, frozen=True, kw_only=True):
    """A piece of advice that is ignored.

    Args:
        code: the advice's.
        key: what it is about, by what does not change; "" for the host.
        subject: what that was called then, for people.
        severity: how much it mattered then; once it is more severe, it is reported again.
        who: the user.
        why: what they have said; "" for nothing.
        at_s: since when, epoch seconds.
        until_s: until when; None for good.
    """

    code: str
    key: str
    subject: str
    severity: int
    who: str
    why: str = ""
    at_s: float
    until_s: float | None = None


_COLUMNS = tuple(Ignored.__struct_fields__)
_GET = f"SELECT {', '.join(_COLUMNS)} FROM ignored ORDER BY at_s"  # noqa: S608
_HOLES = ", ".join("?" * len(_COLUMNS))
_PUT = f"INSERT OR REPLACE INTO ignored ({', '.join(_COLUMNS)}) VALUES ({_HOLES})"  # noqa: S608


def ignored_path() -> Path:
    """Return where it is kept: /var/lib/raidtui for root, else the user's state folder."""
    return journal_path().parent / "advice.sqlite"


class IgnoredAdvice(Database):
    """The opened file; see ``Database``.

    Raises:
        IgnoredError: it cannot be opened, or is of a newer raidtui.
    """

    what, schema, make, error = "list of ignored advice", 1, _MAKE, IgnoredError

    def rows(self) -> tuple[Ignored, ...]:
        """Return all that was ever ignored and is still ignored, whatever its end."""
        with self.reading() as file:
            rows = file.execute(_GET).fetchall()
        return tuple(Ignored(**dict(zip(_COLUMNS, row, strict=True))) for row in rows)

    def ignore(self, rows: Iterable[Ignored]) -> None:
        """Keep rows, all or none; each replaces one about the same.

        Raises:
            IgnoredError: the file cannot be written.
        """
        with self.writing() as file:
            for row in rows:
                values = [getattr(row, column) for column in _COLUMNS]
                file.execute(_PUT, values)

    def unignore(self, rows: Iterable[Ignored]) -> None:
        """Forget rows, all or none.

        Raises:
            IgnoredError: the file cannot be written.
        """
        with self.writing() as file:
            for row in rows:
                file.execute("DELETE FROM ignored WHERE code = ? AND key = ?", (row.code, row.key))


def read_ignored() -> tuple[Ignored, ...]:
    """Return what is ignored; nothing where nothing ever was.

    Raises:
        IgnoredError: it cannot be read.
    """
    path = ignored_path()
    if not path.exists():
        return ()
    with IgnoredAdvice(path) as file:
        return file.rows()


def why_ignored(each: Advice, rows: Sequence[Ignored], now_s: float) -> Ignored | None:
    """Return the row by which a piece of advice is ignored now; None where it is not.

    Args:
        each: the advice.
        rows: what is ignored.
        now_s: epoch seconds.
    """
    for row in rows:
        same = (row.code, row.key) == (each.code, each.key) and each.severity <= row.severity
        if same and (row.until_s is None or now_s < row.until_s):
            return row
    return None
