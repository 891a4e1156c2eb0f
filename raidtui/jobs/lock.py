"""Which worker works: the lock of all jobs, and the process that a journal names."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from raidtui.jobs.journal import journal_path, who
from raidtui.jobs.state_files import PRIVATE_MODE, check_folder

if TYPE_CHECKING:
    import psutil

_SAME_S = 2.0
"""The kernel counts from the boot: where the clock is corrected, the time of a start moves by as much."""


class JobError(Exception):
    """A plan or a job cannot be used; the message says what to do."""


class BusyError(JobError):
    """Another job is running: there is one at a time."""


def refuse_folder(folder: Path) -> None:
    """Refuse to work with jobs in a folder that belongs to somebody else; root closes it to all others.

    Raises:
        JobError: it does.
    """
    try:
        if folder.parent == journal_path().parent:
            check_folder(folder.parent)
        check_folder(folder, PRIVATE_MODE)
    except FileNotFoundError:
        return
    except OSError as error:
        raise JobError(
            f"the jobs in {folder} cannot be trusted: {error.strerror}; nothing was started"
        ) from error


@contextlib.contextmanager
def only_worker(folder: Path, job_id: str) -> Iterator[None]:
    """Hold the lock of all jobs: two that change storage at a time would not know of each other.

    Raises:
        BusyError: another one holds it; the message says which.
        JobError: it cannot be taken.
    """
    path = folder / "lock"
    refuse_folder(folder)
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise JobError(f"the lock {path} cannot be opened: {error.strerror}; nothing was started") from error
    try:
        try:
            if not _take(descriptor):
                holder = os.pread(descriptor, 4096, 0).decode("utf-8", "replace").strip()
                raise BusyError(f"another job is running: {holder}; wait for it, or cancel it")
            text = f"{job_id} (pid {os.getpid()}, by {who()})".encode()
            os.pwrite(descriptor, text, 0)  # over the last one: on a full disk there is no room for another
            os.ftruncate(descriptor, len(text))
        except OSError as error:
            raise JobError(
                f"the lock {path} cannot be taken: {error.strerror}; nothing was started"
            ) from error
        yield
    finally:
        os.close(descriptor)


def _take(descriptor: int) -> bool:
    """Take the lock; one who only looks (``_lock_text``) has it for an instant: try again."""
    for pause_s in (0.0, 0.01, 0.1):
        time.sleep(pause_s)
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
    return False


def worker_of(folder: Path) -> str | None:
    """Return the id of the job that is being worked on, or None."""
    return (_lock_text(folder) or "").partition(" ")[0] or None


def _lock_text(folder: Path) -> str | None:
    with contextlib.suppress(OSError):
        descriptor = os.open(folder / "lock", os.O_RDONLY | os.O_CLOEXEC)  # also where nothing can be written
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)  # two that look do not see each other
        except OSError:
            return os.pread(descriptor, 4096, 0).decode("utf-8", "replace")
        finally:
            os.close(descriptor)
    return None


def started_s() -> float:
    """Return when this process was started, in epoch seconds."""
    import psutil  # noqa: PLC0415  (a worker needs it, and who looks at a job that was interrupted)

    return float(psutil.Process().create_time())


def process_of(pid: object, at_s: object) -> psutil.Process | None:
    """Return the process that a journal names; None where it has ended, even if its number is used again.

    Args:
        pid: its number.
        at_s: when it was started, epoch seconds; None: whenever that was.
    """
    import psutil  # noqa: PLC0415  (as above)

    if not isinstance(pid, int) or not isinstance(at_s, int | float | None) or pid <= 0:
        return None
    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return None
        same = at_s is None or abs(process.create_time() - at_s) <= _SAME_S
    except (psutil.Error, OverflowError):
        return None
    return process if same else None
