"""Members of a running array, read past the page cache (open(2), O_DIRECT), and behind everyone else.

md itself slows a check down where the disks have other work (md_do_sync, is_mddev_idle). This does the same.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from msgspec import Struct

from raidtui.host.block import BLOCK, whole_disk
from raidtui.host.readers.host_reader import HostReader
from raidtui.view.units import SECTOR_BYTES

_READ, _WRITTEN = 2, 6
"""Fields of /sys/block/DISK/stat: 512-byte sectors (Documentation/block/stat.rst)."""
_FEW_SECTORS = 64
"""So much counts as no work of others, as for md."""
_SPELL_S = 0.05
_SHARE = 9
"""While others work, a tenth of the time is spent reading."""
WINDOW_BYTES = 1 << 20
_BLOCK = 4096
Place = tuple[int, int, int]
"""Slot, byte from the start of the member's data, and length."""


class ReadingLimits(Struct, frozen=True, kw_only=True):
    """How fast members are read, KiB/s of each; None for no limit.

    Args:
        max_kib_s: at most.
        min_kib_s: at least, however much others use the disks; 0, too, for no limit.
    """

    max_kib_s: int | None = None
    min_kib_s: int | None = None


class Pace(ReadingLimits, frozen=True, kw_only=True):
    """How fast members are read.

    Args:
        others: whether others use the disks, given the bytes that were read for this so far; None where that
            is not asked.
    """

    others: Callable[[int], bool] | None = None

    def give_way(
        self,
        read: int,
        took_s: float,
        own: int,
        pause: Callable[[float], object],
        ended: Callable[[], bool],
    ) -> None:
        """Wait after a step: for the limit, and until others leave the disks alone.

        Args:
            read: bytes of one member.
            took_s: how long that took.
            own: bytes that were read of all members so far.
            pause: waits for so many seconds.
            ended: whether to wait no longer.
        """
        waited = _at_speed(read, self.max_kib_s) - took_s if self.max_kib_s else 0.0
        if waited > 0:
            pause(waited)
        if self.others is None:
            return
        longest = _SHARE * took_s
        if self.min_kib_s:
            longest = min(longest, _at_speed(read, self.min_kib_s) - took_s)
        waited = max(0.0, waited)
        while self.others(own) and waited < longest and not ended():
            pause(_SPELL_S)
            waited += _SPELL_S


def _at_speed(read: int, kib_s: int) -> float:
    return read / (kib_s << 10)


class OthersAtWork:
    """Whether others use the disks of an array: requests in flight, or sectors that were not read for this.

    Asked only while nothing is being read for this.

    Args:
        reader: the host.
        array: the kernel's name.
        members: the kernel's names.
    """

    def __init__(self, reader: HostReader, array: str, members: Sequence[str]) -> None:
        self._reader = reader
        self._disks = tuple(dict.fromkeys(_disk(reader, name) for name in members))
        self._flights = (array, *self._disks)
        self._seen = self._moved()

    def __call__(self, own: int) -> bool:
        """Return whether others have used them since it was asked last, or wait for them now.

        Args:
            own: bytes that were read for this so far, of all members.
        """
        moved = self._moved() - own // SECTOR_BYTES
        before, self._seen = self._seen, moved
        return moved - before > _FEW_SECTORS or any(map(self._in_flight, self._flights))

    def _moved(self) -> int:
        return sum(self._field(name, "stat", at) for name in self._disks for at in (_READ, _WRITTEN))

    def _in_flight(self, name: str) -> bool:
        return any(self._field(name, "inflight", at) for at in (0, 1))

    def _field(self, name: str, file: str, at: int) -> int:
        words = (self._reader.text(f"{BLOCK}/{name.replace('/', '!')}/{file}") or "").split()
        return int(words[at]) if len(words) > at and words[at].isdigit() else 0


def _disk(reader: HostReader, member: str) -> str:
    partition = reader.text(f"{BLOCK}/{member.replace('/', '!')}/partition") is not None
    return whole_disk(reader, member) if partition else member


def read_last() -> None:
    """Ask the I/O scheduler to serve this thread after all others (ioprio_set(2), idle class)."""
    import psutil  # noqa: PLC0415  (only what reads disks for long needs it)

    # The kernel takes the number of a thread as that of a process.
    with contextlib.suppress(psutil.Error, OSError):
        psutil.Process(threading.get_native_id()).ionice(psutil.IOPRIO_CLASS_IDLE)


class DirectMember:
    """A device that is read past the page cache, or a file, which is read as files are.

    Args:
        path: where it is.
        name: the kernel's name.
        offset_bytes: where its data begin.
        bad: (first byte, length) from there that md has recorded as bad.

    Raises:
        OSError: it cannot be opened.
    """

    def __init__(self, path: str, name: str, offset_bytes: int, bad: Sequence[tuple[int, int]] = ()) -> None:
        self.name = name
        self.offset_bytes = offset_bytes
        self._bad = tuple(bad)
        try:
            self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECT)
        except OSError:
            if not os.path.isfile(path):  # noqa: PTH113
                raise
            self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)  # tmpfs knows no O_DIRECT
        self._size = os.lseek(self._descriptor, 0, os.SEEK_END)
        self._lock = threading.Lock()
        self.bytes_read = 0
        """How much was read of it."""

    def is_bad(self, byte: int, length: int) -> bool:
        """Whether md has recorded a part of the data as bad."""
        return any(first < byte + length and byte < first + count for first, count in self._bad)

    def read(self, start: int, length: int) -> bytes | None:
        """Return bytes of the device, counted from its start; None where they cannot be read."""
        first = start - start % _BLOCK
        last = min(-(-(start + length) // _BLOCK) * _BLOCK, self._size)
        if last < start + length:
            return None
        with mmap.mmap(-1, -(-(last - first) // mmap.PAGESIZE) * mmap.PAGESIZE) as held:
            view = memoryview(held)[: last - first]
            try:
                done = os.preadv(self._descriptor, [view], first)
                with self._lock:
                    self.bytes_read += done
                return bytes(view[start - first : start - first + length]) if done == len(view) else None
            except OSError:
                return None
            finally:
                view.release()

    def window(self, number: int) -> bytes | None:
        """Return a window of the device, the last one shorter; None where it cannot be read."""
        start = number * WINDOW_BYTES
        return self.read(start, min(WINDOW_BYTES, self._size - start)) if start < self._size else None

    def close(self) -> None:
        """Close the device."""
        os.close(self._descriptor)


class MemberWindows:
    """The members of an array, of which the windows that are needed now are held.

    Args:
        members: by slot.
    """

    def __init__(self, members: Mapping[int, DirectMember]) -> None:
        self.members = dict(members)
        self._held: dict[tuple[int, int], bytes | None] = {}
        self._readers = ThreadPoolExecutor(
            max(1, len(members)), thread_name_prefix="raidtui-members", initializer=read_last
        )

    def hold(self, places: Iterable[Place]) -> int:
        """Read the windows of places, all members at a time; return the bytes read of one member at most."""
        wanted: dict[tuple[int, int], None] = {}
        for slot, byte, length in places:
            if slot in self.members:
                start = self.members[slot].offset_bytes + byte
                for window in range(start // WINDOW_BYTES, (start + length - 1) // WINDOW_BYTES + 1):
                    wanted[slot, window] = None
        self._held = {key: data for key, data in self._held.items() if key in wanted}
        new = [key for key in wanted if key not in self._held]
        self._held.update(zip(new, self._readers.map(self._window, new), strict=True))
        slots = [slot for slot, _ in new]
        return max((slots.count(slot) for slot in set(slots)), default=0) * WINDOW_BYTES

    @property
    def bytes_read(self) -> int:
        """How much was read of all members."""
        return sum(member.bytes_read for member in self.members.values())

    def get(self, place: Place) -> bytes | None:
        """Return what is held of a place; None where it cannot be read."""
        slot, byte, length = place
        start = self.members[slot].offset_bytes + byte
        parts = []
        while length:
            window, within = divmod(start, WINDOW_BYTES)
            size = min(length, WINDOW_BYTES - within)
            data = self._held.get((slot, window))
            if data is None or len(data) < within + size:
                return None
            parts.append(data[within : within + size])
            start, length = start + size, length - size
        return b"".join(parts) if len(parts) > 1 else parts[0]

    def again(self, places: Sequence[Place]) -> list[bytes | None]:
        """Read places again, all members at a time."""
        return list(self._readers.map(self._anew, places))

    def _anew(self, place: Place) -> bytes | None:
        slot, byte, length = place
        member = self.members[slot]
        return member.read(member.offset_bytes + byte, length)

    def _window(self, key: tuple[int, int]) -> bytes | None:
        member = self.members[key[0]]
        return member.window(key[1])

    def close(self) -> None:
        """Close all members."""
        self._readers.shutdown(cancel_futures=True)
        for member in self.members.values():
            member.close()
