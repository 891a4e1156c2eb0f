"""How fast members that are in use are read: no faster than a check, and behind everybody else.

md itself slows a check down where the disks have other work (md_do_sync, is_mddev_idle). This does the same.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Sequence

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


class Pace(Struct, frozen=True, kw_only=True):
    """How fast members are read.

    Args:
        max_kib_s: of each member; None for no limit.
        min_kib_s: what others never push it below; None or 0 where they may for long.
        others: whether others use the disks, given the bytes that were read for this so far; None where that
            is not asked.
    """

    max_kib_s: int | None = None
    min_kib_s: int | None = None
    others: Callable[[int], bool] | None = None

    def give_way(
        self,
        read: int,
        took_s: float,
        own: int,
        pause: Callable[[float], None],
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
        root: the host.
        array: the kernel's name.
        members: the kernel's names.
    """

    def __init__(self, root: HostReader, array: str, members: Sequence[str]) -> None:
        self._root = root
        self._disks = tuple(dict.fromkeys(_disk(root, name) for name in members))
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
        words = (self._root.text(f"{BLOCK}/{name.replace('/', '!')}/{file}") or "").split()
        return int(words[at]) if len(words) > at and words[at].isdigit() else 0


def _disk(root: HostReader, member: str) -> str:
    partition = root.text(f"{BLOCK}/{member.replace('/', '!')}/partition") is not None
    return whole_disk(root, member) if partition else member


def read_last() -> None:
    """Ask the I/O scheduler to serve this thread after all others (ioprio_set(2), idle class)."""
    import psutil  # noqa: PLC0415  (only what reads disks for long needs it)

    # The kernel takes the number of a thread as that of a process.
    with contextlib.suppress(psutil.Error, OSError):
        psutil.Process(threading.get_native_id()).ionice(psutil.IOPRIO_CLASS_IDLE)
