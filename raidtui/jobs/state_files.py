"""The files and folders in which raidtui keeps its state: durable, and closed to writing by others.

``write_synced`` returns when a file is on disk, whole, under its name: data, then the name, then the folder.
``Database`` is a file of records kept by SQLite, which several raidtuis may have open at a time. SQLite is
imported when a file is opened: most runs do without those 5 ms.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Self

FOLDER_MODE = 0o755
PRIVATE_MODE = 0o700
_OTHERS_WRITE = 0o022


def write_synced(path: Path, data: bytes) -> None:
    """Write a file for root's eyes; return when it is on disk, whole, under its name.

    Raises:
        OSError: it could not be written; what had this name before is untouched.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        descriptor = os.open(
            part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600
        )
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            part.unlink()
        raise
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Return when the names in a folder are on disk.

    Raises:
        OSError: the folder cannot be opened, or the disk failed.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def own_folder(folder: Path, mode: int = FOLDER_MODE) -> None:
    """Make a folder where there is none, on disk when this returns; see to the owner and mode of one that is.

    As root the mode is exact, whatever the umask; a user's own folder is only closed to writing by others.

    Raises:
        OSError: it cannot be made, or belongs to somebody else: what lies in it is not to be trusted.
    """
    if folder.is_dir():
        check_folder(folder, mode)
        return
    if not folder.parent.exists():
        own_folder(folder.parent)
    try:
        folder.mkdir(mode=mode)
    except FileExistsError:
        if not folder.is_dir():  # else another raidtui was faster
            raise
    folder.chmod(mode)  # whatever the umask
    sync_folder(folder.parent)


def check_folder(folder: Path, mode: int = FOLDER_MODE) -> None:
    """See to the owner and mode of a folder that is there.

    Raises:
        OSError: it is not there, or belongs to somebody else.
    """
    found = folder.stat()
    if not stat.S_ISDIR(found.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))
    own = os.geteuid()
    if found.st_uid not in {0, own}:
        owner = "root" if own == 0 else f"user {own}"
        why = f"{folder} belongs to user {found.st_uid}, not to {owner}"
        raise PermissionError(errno.EPERM, why, str(folder))
    now = stat.S_IMODE(found.st_mode)
    wanted = mode if own == 0 else now & ~_OTHERS_WRITE
    if now != wanted and own in {0, found.st_uid}:
        folder.chmod(wanted)


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
