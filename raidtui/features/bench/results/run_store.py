"""The history: every run with its surroundings, in one SQLite file in the state folder.

fio's own JSON and the samples are kept beside, compressed.
"""

from __future__ import annotations

import contextlib
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from raidtui.features.bench.results.run_record import RunRecord, RunSample, decode
from raidtui.jobs.journal import journal_path
from raidtui.jobs.state_files import Database

SCHEMA = 1
_MAKE = (
    """CREATE TABLE run (
        id INTEGER PRIMARY KEY, job TEXT NOT NULL, number INTEGER NOT NULL, at_s REAL NOT NULL,
        note TEXT NOT NULL, record BLOB NOT NULL, samples BLOB NOT NULL, raw BLOB NOT NULL,
        UNIQUE (job, number)
    )""",
    "CREATE INDEX run_at ON run (at_s)",
)


class ResultsError(Exception):
    """The history cannot be read or written; the message says why, and what to do."""


class BenchHistory(Struct, frozen=True, kw_only=True):
    """All runs that are kept, the oldest first, or why they cannot be read."""

    records: tuple[RunRecord, ...] = ()
    trouble: str = ""


class RunFiles(Struct, frozen=True, kw_only=True):
    """What is kept beside the records, by the runs' numbers.

    Args:
        samples: the intervals of each run.
        raws: fio's own JSON.
    """

    samples: Mapping[int, Sequence[RunSample]] = {}
    raws: Mapping[int, bytes] = {}


def results_path() -> Path:
    """Return where the history is: /var/lib/raidtui for root, else the user's state folder."""
    return journal_path().parent / "bench.sqlite"


class Results(Database):
    """The opened history; see ``Database``.

    Args:
        path: the file; None is the one in the state folder.

    Raises:
        ResultsError: it cannot be opened, or is of a newer raidtui.
    """

    what, schema, make, error = "history", SCHEMA, _MAKE, ResultsError

    def __init__(self, path: Path | None = None) -> None:
        super().__init__(path or results_path())

    def add(self, record: RunRecord, samples: Sequence[RunSample] = (), raw: bytes = b"") -> int:
        """Keep a run and return its number; it replaces one with the same job and number in it.

        Args:
            record: the run.
            samples: its samples.
            raw: fio's own JSON.

        Raises:
            ResultsError: the file cannot be written.
        """
        packed = zlib.compress(msgspec.json.encode(list(samples)))
        values = (
            record.job,
            record.number,
            record.at_s,
            record.note,
            msgspec.json.encode(record),
            packed,
            zlib.compress(raw),
        )
        with self.writing() as file:
            made = file.execute(
                "INSERT OR REPLACE INTO run (job, number, at_s, note, record, samples, raw)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                values,
            )
        return int(made.lastrowid)

    def update(self, record: RunRecord) -> None:
        """Put a record in the place of the one with its number; samples and JSON stay.

        Raises:
            ResultsError: the file cannot be written.
        """
        with self.writing() as file:
            file.execute("UPDATE run SET record = ? WHERE id = ?", (msgspec.json.encode(record), record.id))

    def runs(self, *words: str) -> tuple[RunRecord, ...]:
        """Return the runs that match all words, oldest first; without words, all.

        A word is a run's number, a benchmark's id or the end or beginning of one, or a part of what is shown
        of a run: its title, place, preset, note, point, state, array or disk model. "last" is the newest
        benchmark.
        """
        with self.reading() as file:
            rows = file.execute("SELECT id, note, record FROM run ORDER BY at_s, id").fetchall()
        records = tuple(_records(rows))
        meant = [records[-1].job if word == "last" and records else word for word in words]
        return tuple(record for record in records if all(fits(record, word) for word in meant))

    def of_job(self, job: str) -> tuple[RunRecord, ...]:
        """Return the runs of a benchmark, in its order."""
        with self.reading() as file:
            query = "SELECT id, note, record FROM run WHERE job = ? ORDER BY number"
            rows = file.execute(query, (job,)).fetchall()
        return tuple(_records(rows))

    def samples(self, run: int) -> tuple[RunSample, ...]:
        """Return the samples of a run; none where there is no such run.

        Raises:
            ResultsError: it is damaged.
        """
        data = self._packed("samples", run)
        try:
            return tuple(msgspec.json.decode(data, type=list[RunSample])) if data else ()
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise ResultsError(f"the samples of run {run} are damaged: {error}") from error

    def raw(self, run: int) -> bytes:
        """Return fio's own JSON of a run.

        Raises:
            ResultsError: it is damaged.
        """
        return self._packed("raw", run)

    def files(self, runs: Sequence[int]) -> RunFiles:
        """Return what is kept beside the records of runs.

        Raises:
            ResultsError: it is damaged.
        """
        return RunFiles(
            samples={run: self.samples(run) for run in runs}, raws={run: self.raw(run) for run in runs}
        )

    def _packed(self, column: str, run: int) -> bytes:
        with self.reading() as file:
            row = file.execute(f"SELECT {column} FROM run WHERE id = ?", (run,)).fetchone()  # noqa: S608
        try:
            return zlib.decompress(row[0]) if row else b""
        except (zlib.error, TypeError) as error:
            raise ResultsError(f"the {column} of run {run} are damaged: {error}") from error

    def set_note(self, runs: Sequence[int], note: str) -> None:
        """Give runs a note.

        Raises:
            ResultsError: the file cannot be written.
        """
        with self.writing() as file:
            file.executemany("UPDATE run SET note = ? WHERE id = ?", [(note, run) for run in runs])

    def delete(self, runs: Sequence[int]) -> int:
        """Delete runs; return how many there were.

        Raises:
            ResultsError: the file cannot be written.
        """
        with self.writing() as file:
            gone = file.executemany("DELETE FROM run WHERE id = ?", [(run,) for run in runs])
        return int(gone.rowcount)


def _records(rows: Sequence[tuple[int, str, bytes]]) -> Iterator[RunRecord]:
    for number, note, data in rows:
        # Of a form that is not known any more, or damaged.
        with contextlib.suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError, TypeError):
            yield replace(decode(data), id=number, note=str(note))


def run_number(word: str) -> int | None:
    """Return the number of a run as it is typed or printed: 7, #7; None for any other word."""
    digits = word.removeprefix("#")
    return int(digits) if digits.isascii() and digits.isdecimal() else None


def fits(record: RunRecord, word: str) -> bool:
    """Whether a word means a run, see ``Results.runs``."""
    if (number := run_number(word)) is not None:
        return record.id == number
    if record.job == word or record.job.startswith(word) or record.job.endswith(word):
        return True
    texts = (record.title, record.place, record.preset, record.note, record.state, record.words)
    shapes = (f"{each.name} {each.label} {each.level} {each.uuid}" for each in record.environment.arrays)
    models = (f"{each.name} {each.model} {each.serial}" for each in record.environment.disks)
    return any(word.lower() in text.lower() for text in (*texts, *shapes, *models))
