"""A probe of how long an array lets requests wait: a few small reads past the page cache, in a thread.

md begins to account a request after it has waited for a resync (md_account_bio; measured on Linux 6.1), so
neither diskstats nor iostat sees that. A read of one's own does. Nothing is written.
"""

from __future__ import annotations

import mmap
import os
import random
import threading
import time

from msgspec import Struct

from raidtui.host.readers.host_reader import HostReader

_READ_BYTES = 4096
_DEEPEST = 8


class Probed(Struct, frozen=True, kw_only=True):
    """What a probe has seen since it was asked before.

    Args:
        waits_ms: of each read that has ended; and of one that has not for longer than the patience, its age.
        done: how many reads have ended since the start.
        under_way: whether one has not ended.
        error: why reads fail, or "".
    """

    waits_ms: tuple[float, ...]
    done: int
    under_way: bool
    error: str


class ArrayProbe:
    """Reads an array, one block at a time, in a thread: a read that hangs blocks nobody.

    The node is open only while a read is under way: an array that somebody has open cannot be stopped.

    Args:
        path: of the array's node.
        patience_ms: from when on a read that has not ended counts with its age.

    Raises:
        OSError: the array cannot be opened.
    """

    def __init__(self, path: str, patience_ms: float) -> None:
        self._path = path
        descriptor = self._open()
        try:
            self._blocks = max(1, os.lseek(descriptor, 0, os.SEEK_END) // _READ_BYTES)
        finally:
            os.close(descriptor)
        self._patience_ms = patience_ms
        self._memory = mmap.mmap(-1, _READ_BYTES)  # aligned, as O_DIRECT wants it
        self._wanted = threading.Event()
        self._lock = threading.Lock()
        self._waits: list[float] = []
        self._done = 0
        self._since_s: float | None = None
        self._error = ""
        self._ends = False
        threading.Thread(target=self._read, daemon=True, name="raidtui-probe").start()

    def ask(self) -> None:
        """Begin a read, unless one is under way."""
        with self._lock:
            if self._since_s is None and not self._ends:
                self._since_s = time.monotonic()
                self._wanted.set()

    def take(self) -> Probed:
        """Return what was seen since the last call."""
        with self._lock:
            waits, self._waits = self._waits, []
            age_ms = 0.0 if self._since_s is None else 1000 * (time.monotonic() - self._since_s)
            hangs = age_ms > self._patience_ms
            return Probed(
                waits_ms=(*waits, *((age_ms,) if hangs else ())),
                done=self._done,
                under_way=self._since_s is not None,
                error=self._error,
            )

    def close(self) -> None:
        """End the thread; one that hangs in a read ends after it."""
        self._ends = True
        self._wanted.set()

    def _open(self) -> int:
        return os.open(self._path, os.O_RDONLY | os.O_DIRECT | os.O_CLOEXEC)

    def _read_one(self) -> str:
        """Read a block; return why it cannot be read, or ""."""
        try:
            descriptor = self._open()
        except OSError as error:
            return error.strerror or str(error)
        try:
            os.preadv(descriptor, [self._memory], _READ_BYTES * random.randrange(self._blocks))  # noqa: S311
        except OSError as error:
            return error.strerror or str(error)
        finally:
            os.close(descriptor)
        return ""

    def _read(self) -> None:
        while True:
            self._wanted.wait()
            self._wanted.clear()
            if self._ends:
                break
            error = self._read_one()
            with self._lock:
                if self._since_s is not None and not error:
                    self._waits.append(1000 * (time.monotonic() - self._since_s))
                self._done += 1
                self._since_s, self._error = None, error


def suspended_below(reader: HostReader, name: str, depth: int = 0) -> str:
    """Return the name of a suspended map that a device stands on, itself included; "" where there is none.

    Args:
        reader: the host.
        name: the kernel's name.
        depth: how deep the device stands below the one that was asked for.
    """
    if reader.text(f"/sys/class/block/{name}/dm/suspended") == "1":
        return name
    below = reader.names(f"/sys/class/block/{name}/slaves") if depth < _DEEPEST else ()
    return next((found for each in below if (found := suspended_below(reader, each, depth + 1))), "")
