"""The lock that one worker at a time holds, and the process of a worker that a journal names."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from raidtui.jobs.journal import journal_path, who
from raidtui.jobs.state_files import PRIVATE_MODE, check_folder, take

if TYPE_CHECKING:
    import psutil

_START_FIELD = 22 - 4
"""Of /proc/PID/stat, after the name and the state."""
_MOST_PIDS = 1 << 22
_INSTANT_S = 0.1


class JobError(Exception):
    """A plan or a job cannot be used; the message says what to do."""


class BusyError(JobError):
    """Another job is running. Jobs run one at a time."""


def refuse_folder(folder: Path) -> None:
    """Refuse jobs in a folder of another user. As root, its mode is corrected.

    Raises:
        JobError: the folder is another user's, or cannot be read.
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
    """Hold the lock of all jobs, so that two of them never change storage at the same time.

    Raises:
        BusyError: another worker holds it.
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
            if not take(descriptor, _INSTANT_S):  # one who asks who works holds it for an instant
                holder = os.pread(descriptor, 4096, 0).decode("utf-8", "replace").strip()
                raise BusyError(f"another job is running: {holder}; wait for it, or cancel it")
            text = f"{job_id} (pid {os.getpid()}, by {who()})".encode()
            os.pwrite(descriptor, text, 0)  # in place: a full disk has no room for more
            os.ftruncate(descriptor, len(text))
        except OSError as error:
            raise JobError(
                f"the lock {path} cannot be taken: {error.strerror}; nothing was started"
            ) from error
        yield
    finally:
        os.close(descriptor)


def worker_of(folder: Path) -> str | None:
    """Return the id of the job whose worker holds the lock, or None."""
    return (_lock_text(folder) or "").partition(" ")[0] or None


def _lock_text(folder: Path) -> str | None:
    with contextlib.suppress(OSError):
        descriptor = os.open(folder / "lock", os.O_RDONLY | os.O_CLOEXEC)  # no write access is needed
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)  # readers do not block each other
        except OSError:
            return os.pread(descriptor, 4096, 0).decode("utf-8", "replace")
        finally:
            os.close(descriptor)
    return None


def boot_id() -> str:
    """Return the id of this boot, or "" where the kernel does not say it."""
    with contextlib.suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return ""


def started_s(pid: int | None = None) -> float | None:
    """Return when a process was started, seconds after the boot: whatever the clock is set to meanwhile.

    The kernel counts it in ticks (field 22 of /proc/PID/stat, proc_pid_stat(5)).

    Args:
        pid: its number; None: this process.

    Returns:
        None where there is none, or where it has ended (Z, X) and only waits to be reaped.
    """
    try:
        text = Path(f"/proc/{pid or 'self'}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    state, *fields = text.rpartition(")")[2].split()
    return None if state in "ZX" else round(int(fields[_START_FIELD]) / os.sysconf("SC_CLK_TCK"), 2)


def process_of(pid: object, at_s: object, boot: object) -> psutil.Process | None:
    """Return the process that a record names; None where it has ended, even if its number is used again.

    Args:
        pid: its number.
        at_s: when it was started, as ``started_s`` says it.
        boot: the id of the boot that it was started in.
    """
    import psutil  # noqa: PLC0415  (a worker needs it, and who looks at a job that was interrupted)

    if not isinstance(pid, int) or not 0 < pid < _MOST_PIDS or boot != boot_id():
        return None
    try:
        process = psutil.Process(pid)
    except psutil.Error:
        return None
    return process if started_s(pid) == at_s else None
