"""The key of what is encrypted: how it comes to the worker of a trial, and what it opens.

A passphrase goes through a named pipe (fifo(7)) in the folder of the job. It is in the memory of the kernel
and of the processes: in no file, no argument, no environment and no journal.
"""

from __future__ import annotations

import contextlib
import errno
import os
import select
import time
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from raidtui.jobs.patient_tool import run_patiently
from raidtui.jobs.store import Job
from raidtui.rescue.trial.trial_request import map_path

_PIPE = "key"
_PATIENCE_S, _PACE_S = 30.0, 0.05
_MOST_BYTES = 8 << 10
_NO_KEY = 2
"""The exit status of cryptsetup where no keyslot opens (cryptsetup(8), RETURN CODES)."""


class TrialKey(Struct, frozen=True, kw_only=True):
    """A key.

    Args:
        file: the file that holds it; "" where it was typed.
        typed: the passphrase; "" where it is in a file, or has not come.
    """

    file: str = ""
    typed: str = ""


class Opening(Struct, frozen=True, kw_only=True):
    """What came of opening an encrypted volume.

    Args:
        path: the map that shows what is in it; "" where it was not opened.
        words: what that says, a clause.
    """

    path: str = ""
    words: str = ""


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
    """Give a passphrase to the worker of a trial, which has just been started; return whether it has it."""
    end_s = time.monotonic() + _PATIENCE_S
    try:
        while True:
            try:
                descriptor = os.open(job.folder / _PIPE, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
                break
            except OSError as error:  # ENXIO: nobody reads yet
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


def open_volume(
    target: str, name: str, key: TrialKey, output: Path, cancelled: Callable[[], bool]
) -> Opening:
    """Open an encrypted volume, read-only.

    Args:
        target: its path.
        name: the map's name.
        key: the key.
        output: the file that gets what cryptsetup prints.
        cancelled: whether to end.

    Raises:
        OSError: the output cannot be written.
    """
    if not key.file and not key.typed:
        return Opening(words="the passphrase did not come, so what is encrypted was not looked at")
    argv = ("cryptsetup", "open", "--readonly", "--type=luks", f"--key-file={key.file or '-'}", target, name)
    end = run_patiently(argv, output, cancelled, stdin=key.typed)
    if end.status == 0:
        return Opening(
            path=map_path(name), words="the key opens it, so its header and that keyslot are whole"
        )
    if end.status == _NO_KEY:
        words = (
            "the key opens no keyslot: it is another key, or the keyslots are damaged; nothing shows which"
        )
        return Opening(words=f"{words}; what is encrypted was not looked at")
    if end.missing:
        words = "cryptsetup is not installed (apt install cryptsetup-bin)"
    else:
        words = f"cryptsetup could not open it: {end.why or end.tail.rpartition(chr(10))[2]}"
    return Opening(words=f"{words}; what is encrypted was not looked at")
