"""Files and folders of raidtui's state: durable, and writable by their owner alone.

``write_synced`` returns when a file is on disk, whole, under its name: data, then the name, then the folder.
``Database`` is an SQLite file, which several processes may have open. SQLite is imported when a file is
opened: most runs save those 5 ms.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, Any, BinaryIO, ClassVar, Self

from raidtui.host.readers.host_reader import READONLY

FOLDER_MODE = 0o755
PRIVATE_MODE = 0o700
_OTHERS_WRITE = 0o022
_OURS = "raidtui"
_WAIT_S, _PACE_S = 5.0, 0.05


_read_alone = False


def keep_nothing() -> None:
    """From now on, this process writes nothing of its own: each attempt fails, as on a read-only disk."""
    global _read_alone  # noqa: PLW0603  (it holds for the whole process, as the mount option does)
    _read_alone = True


def refuse_writing(path: Path) -> None:
    """Refuse to write a file where nothing is kept.

    Raises:
        OSError: ``keep_nothing`` was called.
    """
    if _read_alone:
        raise OSError(errno.EROFS, READONLY, str(path))


ROOT_STATE = Path("/var/lib/raidtui")


def state_folder() -> Path:
    """Return the folder of raidtui's state: /var/lib/raidtui for root, else one of the user."""
    if os.geteuid() == 0:
        return ROOT_STATE
    state = os.environ.get("XDG_STATE_HOME") or "~/.local/state"
    return Path(state).expanduser() / "raidtui"


def write_synced(path: Path, data: bytes, mode: int = 0o600) -> None:
    """Write a file atomically; return when it is on disk.

    Args:
        path: the file.
        data: its content.
        mode: its permissions from the first moment on, less those that the umask takes.

    Raises:
        OSError: it cannot be written; an older file of this name is unchanged.
    """
    refuse_writing(path)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.unlink(missing_ok=True)  # a killed process of this number left it
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
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


def drop_synced(path: Path) -> None:
    """Remove a file, if it is there; return when that is on disk.

    Raises:
        OSError: it cannot be removed.
    """
    path.unlink(missing_ok=True)
    if path.parent.is_dir():
        sync_folder(path.parent)


def private_file(path: Path) -> IO[bytes]:
    """Open a private file for writing, again.

    Raises:
        OSError: it cannot be opened.
    """
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_TRUNC | os.O_CREAT | os.O_CLOEXEC, 0o600), "wb")


def append_to(path: Path) -> IO[bytes]:
    """Open a private file so that each write adds to its end at once.

    Raises:
        OSError: it cannot be opened.
    """
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
    return os.fdopen(os.open(path, flags, 0o600), "ab", buffering=0)


def checksum(data: bytes) -> str:
    """Return the CRC-32 of data as 8 hex digits. It detects damage and edits; it is not a signature."""
    return f"{zlib.crc32(data):08x}"


def read_own(path: Path) -> bytes:
    """Return what a file holds that is to be obeyed.

    Raises:
        OSError: it cannot be read, or another user than root and this one could have written it.
    """
    with open_own(path) as file:
        return file.read()


def open_own(path: Path) -> BinaryIO:
    """Open a file that is to be obeyed. Raises OSError as ``read_own``."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with contextlib.ExitStack() as refused:
        file = refused.enter_context(os.fdopen(descriptor, "rb"))
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise PermissionError(errno.EPERM, f"{path} is not a regular file", str(path))
        refuse_foreign(path, found)
        refused.pop_all()
    return file


def refuse_foreign(path: Path, found: os.stat_result) -> None:
    """Refuse what another user than root and this one could have written.

    Raises:
        OSError: it is such a file or folder; the message says whose.
    """
    if found.st_uid not in {0, os.getuid(), os.geteuid()} or found.st_mode & _OTHERS_WRITE:
        whose = f"user {found.st_uid}, mode {stat.S_IMODE(found.st_mode):o}"
        why = f"{path} is writable by others than root ({whose})"
        raise PermissionError(errno.EPERM, why, str(path))


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder that its owner alone may enter: no one else can keep it from us.

    Raises:
        OSError: it cannot be taken within some seconds; the message says which process holds it.
    """
    refuse_writing(folder)
    own_folder(folder, PRIVATE_MODE)
    descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        if not take(descriptor, _WAIT_S):
            holder = os.pread(descriptor, 64, 0).decode("ascii", "replace") or "another process"
            why = f"{holder} has held the lock {folder}/lock for more than {_WAIT_S:.0f} s"
            raise BlockingIOError(errno.EAGAIN, why, str(folder / "lock"))
        with contextlib.suppress(OSError):  # a full disk: it is only not known then who holds it
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"process {os.getpid()}".encode(), 0)
        yield
    finally:
        os.close(descriptor)


def take(descriptor: int, wait_s: float) -> bool:
    """Take the lock of an open file; return whether that was possible within this time."""
    end_s = time.monotonic() + wait_s
    while True:
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        if time.monotonic() >= end_s:
            return False
        time.sleep(_PACE_S)


def sync_folder(folder: Path) -> None:
    """Sync a folder: return when the names in it are on disk.

    Raises:
        OSError: the folder cannot be opened, or the disk fails.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def own_folder(folder: Path, mode: int = FOLDER_MODE) -> None:
    """Create a folder durably, or check the owner and mode of an existing one, and of raidtui's above it.

    As root, the mode is set exactly. A user's folder only loses the write permission of others.

    Raises:
        OSError: it cannot be created, or belongs to another user: its contents cannot be trusted.
    """
    if folder.parent.name == _OURS:
        own_folder(folder.parent)
    if folder.is_dir():
        check_folder(folder, mode)
        return
    refuse_writing(folder)
    if not folder.parent.exists():
        own_folder(folder.parent)
    try:
        folder.mkdir(mode=mode)
    except FileExistsError:
        if not folder.is_dir():  # else another process created it
            raise
    folder.chmod(mode)  # whatever the umask
    sync_folder(folder.parent)


def check_folder(folder: Path, mode: int = FOLDER_MODE) -> None:
    """Check the owner of an existing folder and correct its mode.

    Raises:
        OSError: it does not exist, or belongs to another user.
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
    if now != wanted and own in {0, found.st_uid} and not _read_alone:
        folder.chmod(wanted)


class Database:
    """An open file, for one thread. It is a context manager that closes the file.

    Args:
        path: the file; a missing one is created.

    Raises:
        Exception: ``error``: it cannot be opened, or was written by a newer raidtui.
    """

    what: ClassVar[str]
    """Its name in messages: ledger, history."""
    schema: ClassVar[int]
    """The number of the current form."""
    make: ClassVar[tuple[str, ...]]
    """The statements that create an empty database."""
    error: ClassVar[type[Exception]]
    """The exception to raise; its message says what is wrong and what to do."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with self._reported():
            import sqlite3  # noqa: PLC0415

            own_folder(path.parent)
            new = not path.exists()
            if new:
                refuse_writing(path)
            if not _read_alone:
                os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
            if new:
                sync_folder(path.parent)
            place = f"{path.absolute().as_uri()}?mode={'ro' if _read_alone else 'rw'}"
            self._file = sqlite3.connect(place, timeout=_WAIT_S, isolation_level=None, uri=True)
        with contextlib.ExitStack() as unready:
            unready.callback(self._file.close)
            self._prepare()
            unready.pop_all()

    def _prepare(self) -> None:
        if self._version() == 0:
            with self.writing() as file:
                if self._version() == 0:  # another process may have made them
                    for statement in self.make:
                        file.execute(statement)
                    file.execute(f"PRAGMA user_version = {self.schema}")
        if (version := self._version()) > self.schema:
            raise self.error(f"the {self.what} {self._path} was written by a newer raidtui (form {version})")

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
        """Close the file; nothing can be read or written afterwards."""
        self._file.close()

    @contextlib.contextmanager
    def reading(self) -> Iterator[Any]:
        """Give the connection, for queries."""
        with self._reported():
            yield self._file

    @contextlib.contextmanager
    def writing(self) -> Iterator[Any]:
        """Give the connection, for statements of one transaction."""
        with self._reported():
            refuse_writing(self._path)
        with self._reported(), self._file:  # commits or rolls back
            self._file.execute("BEGIN IMMEDIATE")
            yield self._file

    @contextlib.contextmanager
    def _reported(self) -> Iterator[None]:
        """Raise ``error`` for everything that goes wrong with the file."""
        try:
            import sqlite3  # noqa: PLC0415
        except ImportError as error:
            raise self.error(f"this Python has no module sqlite3, which the {self.what} needs") from error
        try:
            yield
        except OSError as error:
            raise self.error(f"the {self.what} {self._path} cannot be opened: {error.strerror}") from error
        except (sqlite3.Error, UnicodeDecodeError) as error:  # a damaged file may be in its message
            remedy = "; move it away to start a new one" if "not a database" in str(error) else ""
            raise self.error(f"the {self.what} {self._path} cannot be used: {error}{remedy}") from error
