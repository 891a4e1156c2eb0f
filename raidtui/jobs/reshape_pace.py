"""Lets a reshape continue only as far as a power cut loses nothing.

Where as many disks have data afterwards as before, md writes over the old place of what it has moved, and
must have recorded that in the superblocks before. It knows how far it may go from ``min_offset_diff``, which
drivers/md/raid5.c sets when an array starts (raid5_run), not when a reshape begins while it runs
(raid5_start_reshape): until the next start it records its place every ten seconds only. But it always
records it before it halts at ``sync_max`` (reshape_request; measured on Linux 6.1). A limit that is never
further from the recorded place than the data move does what md does not. No one moves it on: md halts.
"""

from __future__ import annotations

import contextlib
import os
import select
import time
from typing import Self

from msgspec import Struct

from raidtui.host.md.array_attributes import integer, pair_of
from raidtui.host.readers.host_reader import HostReader
from raidtui.jobs.host_writer import HostWriter
from raidtui.view.units import SECTOR_BYTES

_NO_LIMIT = "max"
_PACE_S = 0.05
"""How often the place is read of a host that notifies of nothing: a capture, the demo."""


class _Place(Struct, frozen=True, kw_only=True):
    """How far a reshape is, in sectors of each member.

    Args:
        done: what the superblocks record.
        total: all that is to be done.
        limit: where md halts.
    """

    done: int
    total: int
    limit: int


class ReshapePace:
    """Moves the limit of one array's reshape on.

    Args:
        reader: the host.
        array: the kernel's name of the array.
    """

    def __init__(self, reader: HostReader, array: str) -> None:
        self._reader = reader
        self._base = f"/sys/class/block/{array}/md"
        self._step = _step(reader, self._base)
        self._stride = _stride(reader, self._base, self._step)

    def keep_up(self, seconds: float) -> None:
        """Move the limit on for so long, or until the reshape has ended or has no limit."""
        end_s = time.monotonic() + seconds
        with _Notices(self._reader, f"{self._base}/sync_completed") as notices:
            while (left_s := end_s - time.monotonic()) > 0:
                if not self._move_on():
                    break
                notices.wait(left_s)
        if (left_s := end_s - time.monotonic()) > 0:
            time.sleep(left_s)

    def _move_on(self) -> bool:
        """Move the limit on as far as is safe; return whether there is one still."""
        place = self._place()
        if place is None:
            return False
        self._stride = self._stride or _stride(self._reader, self._base, self._step)
        if not self._stride:
            return True
        to = (place.done + self._stride) // self._step * self._step  # the kernel takes whole chunks
        last = to >= place.total
        if last or to > place.limit:
            # The kernel refuses it where the array was stopped, or another has changed the limit meanwhile.
            with contextlib.suppress(OSError):
                HostWriter(self._reader).write(f"{self._base}/sync_max", _NO_LIMIT if last else str(to))
        return not last

    def _place(self) -> _Place | None:
        """Return where the reshape is; None where it does not run, or has no limit."""
        text = self._reader.text
        limit = integer(text(f"{self._base}/sync_max"))
        done, _, total = (text(f"{self._base}/sync_completed") or "").partition(" / ")
        numbers = integer(done), integer(total)
        if limit is None or text(f"{self._base}/sync_action") != "reshape":
            return None
        if numbers[0] is None or numbers[1] is None:
            return None
        return _Place(done=numbers[0], total=numbers[1], limit=limit)


def _step(reader: HostReader, base: str) -> int:
    """Return how many sectors of each member md reads and writes at once: the larger of both chunks."""
    chunks = [each for each in pair_of(reader.text(f"{base}/chunk_size")) if each]
    return max(chunks, default=0) // SECTOR_BYTES


def _stride(reader: HostReader, base: str, step: int) -> int:
    """Return how many sectors of each member md may move beyond the place that it has recorded.

    It is less than the data move by two steps, and at least one, for which mdadm has made room. 0: not known.
    """
    shifts = []
    for name in reader.names(base):
        if name.startswith("dev-") and integer(reader.text(f"{base}/{name}/slot")) is not None:
            old, new = (integer(reader.text(f"{base}/{name}/{each}")) for each in ("offset", "new_offset"))
            if old is None or new is None:
                return 0
            shifts.append(abs(new - old))
    if not step or not any(shifts):
        return 0
    return max((min(shifts) - 2 * step) // step, 1) * step


class _Notices:
    """Waits for the kernel's notice that md has recorded a place."""

    def __init__(self, reader: HostReader, path: str) -> None:
        self._file = -1
        self._poll = select.poll()
        with contextlib.suppress(OSError):
            if reader.live and not reader.source:
                self._file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
                self._poll.register(self._file, select.POLLPRI | select.POLLERR)
                os.pread(self._file, 64, 0)  # sysfs notifies only after a first read

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file >= 0:
            os.close(self._file)

    def wait(self, seconds: float) -> None:
        """Wait for the next notice, at most so long."""
        if self._file < 0:
            time.sleep(min(_PACE_S, seconds))
            return
        self._poll.poll(1000 * seconds)
        with contextlib.suppress(OSError):  # the array was stopped
            os.pread(self._file, 64, 0)
