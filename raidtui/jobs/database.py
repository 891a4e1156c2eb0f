"""A file of records in the state folder, kept by SQLite. Several raidtuis may have it open at a time.

SQLite is imported when a file is opened: most runs do without those 5 ms.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Self

from raidtui.jobs.files import own_folder, sync_folder

_WAIT_S = 5.0


class Database:
    """An opened file; one thread's, and to be closed (it is a context manager).

    Args:
        path: the file; it is made where there is none.

    Raises:
        Exception: ``error``: it cannot be opened, or is of a newer raidtui.
    """

    what: ClassVar[str]
    """What people call it: ledger, history."""
    schema: ClassVar[int]
    """The number of the present form."""
    make: ClassVar[tuple[str, ...]]
    """The statements that make an empty one."""
    error: ClassVar[type[Exception]]
    """What is raised; its message says what is wrong, and what to do."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with self._told():
            import sqlite3  # noqa: PLC0415

            own_folder(path.parent)
            new = not path.exists()
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
            if new:
                sync_folder(path.parent)
            self._file = sqlite3.connect(path, timeout=_WAIT_S, isolation_level=None)
        with contextlib.ExitStack() as unready:
            unready.callback(self._file.close)
            self._prepare()
            unready.pop_all()

    def _prepare(self) -> None:
        if self._version() == 0:
            with self.writing() as file:
                if self._version() == 0:  # another raidtui may have been faster
                    for statement in self.make:
                        file.execute(statement)
                    file.execute(f"PRAGMA user_version = {self.schema}")
        if (version := self._version()) > self.schema:
            raise self.error(f"the {self.what} {self._path} is of a newer raidtui (form {version})")

    def _version(self) -> int:
        with self.reading() as file:
            return int(file.execute("PRAGMA user_version").fetchone()[0])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    @contextlib.contextmanager
    def reading(self) -> Iterator[Any]:
        """Give the connection for queries."""
        with self._told():
            yield self._file

    @contextlib.contextmanager
    def writing(self) -> Iterator[Any]:
        """Give the connection for statements that are done all or none."""
        with self._told(), self._file:  # which commits, or rolls back
            self._file.execute("BEGIN IMMEDIATE")
            yield self._file

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        """Say in one error what went wrong with the file."""
        try:
            import sqlite3  # noqa: PLC0415
        except ImportError as error:
            raise self.error(f"this Python has no sqlite3, and so no {self.what} can be kept") from error
        try:
            yield
        except OSError as error:
            raise self.error(f"the {self.what} {self._path} cannot be opened: {error.strerror}") from error
        except (sqlite3.Error, UnicodeDecodeError) as error:  # its own message may hold what is damaged
            remedy = "; move it away and a new one is made" if "not a database" in str(error) else ""
            raise self.error(f"the {self.what} {self._path} cannot be used: {error}{remedy}") from error
