"""A passphrase on its way to a worker: through a named pipe (fifo(7)) in the folder of its job.

It is in the memory of the kernel and of the processes: in no file, no argument, no environment, no journal.
"""

from __future__ import annotations

import contextlib
import errno
import os
import select
import time

from raidtui.jobs.store import Job

_PIPE = "key"
_PATIENCE_S, _PACE_S = 30.0, 0.05
_MOST_BYTES = 8 << 10


def make_pipe(job: Job) -> None:
    """Make the pipe that a passphrase goes through.

    Raises:
        OSError: it cannot be made.
    """
    os.mkfifo(job.folder / _PIPE, 0o600)


def remove_pipe(job: Job) -> None:
    """Remove the pipe where it is left: its worker was killed, or never began."""
    with contextlib.suppress(OSError):
        (job.folder / _PIPE).unlink()


def hand_over(job: Job, passphrase: str) -> bool:
    """Give a passphrase to a worker that has just been started; return whether it has it."""
    end_s = time.monotonic() + _PATIENCE_S
    try:
        while True:
            try:
                descriptor = os.open(job.folder / _PIPE, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
                break
            except OSError as error:  # ENXIO: no reader yet
                if error.errno != errno.ENXIO or time.monotonic() >= end_s:
                    return False
            time.sleep(_PACE_S)
        with contextlib.suppress(OSError), os.fdopen(descriptor, "wb", buffering=0) as file:
            return file.write(passphrase.encode()) == len(passphrase.encode())
        return False
    finally:
        remove_pipe(job)


def take_key(job: Job) -> str:
    """Return the passphrase that is handed over to this worker; "" where none comes."""
    found = b""
    with contextlib.suppress(OSError, UnicodeDecodeError):
        descriptor = os.open(job.folder / _PIPE, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb", buffering=0) as file:
            waiting = select.poll()
            waiting.register(file, select.POLLIN)
            while waiting.poll(_PATIENCE_S * 1000) and (more := file.read(_MOST_BYTES)):
                found += more
        return found.decode()
    return ""
