"""Writes to md by processes of their own: where a member does not answer, one waits in the kernel for ever.

md waits for its sync thread while it holds the array's lock (drivers/md/md.c, action_store), and nothing ends
that: neither a signal nor the end of the process. So it must be another process than the one that is to end.
"""

from __future__ import annotations

import errno
import os
import select
import subprocess
import sys
import time

PATIENCE_S = 5.0
_AT_ONCE = frozenset({"sync_min", "sync_max", "sync_speed_min", "sync_speed_max"})
"""Files that md writes without the array's lock."""
_SCRIPT = """
import os, sys
try:
    os.write(os.open(sys.argv[1], os.O_WRONLY), sys.argv[2].encode())
except OSError as error:
    os._exit(error.errno)
"""
_waiting: dict[str, tuple[subprocess.Popen[bytes], float]] = {}
"""The writes that md has not taken yet, by the kernel's name of the array: process, and when it began."""


def may_wait(path: str) -> bool:
    """Whether a write to a file may wait for an array's lock."""
    return "/md/" in path and path.rpartition("/")[2] not in _AT_ONCE


def write_apart(path: str, text: str) -> None:
    """Write to a file of an array; give up waiting after ``PATIENCE_S``, whereupon md may still take it.

    Raises:
        OSError: as the kernel gave it; ETIMEDOUT where md has not taken it, or the write before.
    """
    name = path.partition("/md/")[0].rpartition("/")[2]
    if (since_s := unanswered_since(name)) is not None:
        begun = time.strftime("%H:%M", time.localtime(since_s))
        raise TimeoutError(errno.ETIMEDOUT, f"md has not taken a write to it since {begun}", path)
    process = subprocess.Popen(
        (sys.executable, "-ISc", _SCRIPT, path, text),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        start_new_session=True,
    )
    if not _ends(process.pid):
        _waiting[name] = process, time.time()
        why = f"md has not taken it for {PATIENCE_S:.0f} s, and may do it later: a member may not answer"
        raise TimeoutError(errno.ETIMEDOUT, why, path)
    if code := process.wait():
        raise OSError(code, os.strerror(code), path)


def _ends(pid: int) -> bool:
    """Wait for the end of a child by its descriptor; return whether it came in time."""
    descriptor = os.pidfd_open(pid)
    try:
        waiting = select.poll()
        waiting.register(descriptor, select.POLLIN)
        return bool(waiting.poll(int(PATIENCE_S * 1000)))
    finally:
        os.close(descriptor)


def unanswered_since(name: str) -> float | None:
    """Return since when md has not taken a write to an array, epoch seconds; None where it has taken all."""
    process, since_s = _waiting.get(name, (None, 0.0))
    if process is None:
        return None
    if process.poll() is None:
        return since_s
    del _waiting[name]
    return None
