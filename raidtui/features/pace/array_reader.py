"""Reads one array as the controller wants it: who uses it, how long they wait, how fast md is."""

from __future__ import annotations

import statistics
import time
from collections import deque
from collections.abc import Sequence

from raidtui.features.pace.controller import PaceReading
from raidtui.host.array_probe import ArrayProbe, suspended_below
from raidtui.host.block import BLOCK, DiskReader
from raidtui.host.diskstats import read_io
from raidtui.host.md.mdstat import parse_mdstat
from raidtui.host.readers.host_reader import HostReader
from raidtui.model.disk import DiskIo

_SHARE = 0.02
"""The probes take so much of one disk's time at most."""
_LEAST_A_S, _MOST_A_S = 2.0, 10.0
_KNOWN = 20
_SPEED_S = 30.0
_SLOW_S = 1.0
_PATIENCE = 2.0
_DEEPEST = 8


class PaceReader:
    """The readings of one array.

    Args:
        reader: the live host.
        name: the array's kernel name.
        latency_ms: the target.
        devices: kernel names of further devices whose requests are to have it: what stands on the array.

    Raises:
        OSError: the array cannot be opened.
    """

    def __init__(self, reader: HostReader, name: str, latency_ms: float, devices: Sequence[str] = ()) -> None:
        self._reader, self.name, self._devices = reader, name, tuple(devices)
        self._probe = ArrayProbe(f"/dev/{name}", _PATIENCE * latency_ms)
        self._asked_s = 0.0
        self._known: deque[float] = deque(maxlen=_KNOWN)
        self._before: tuple[int, dict[str, DiskIo]] | None = None
        self._marks: deque[tuple[float, int]] = deque()
        self._slow_s = 0.0
        self.left_kib: int | None = None
        self.trouble = ""
        """Why no probe is sent, or ""."""

    def close(self) -> None:
        """End the probe."""
        self._probe.close()

    def read(self, *, probes: bool) -> PaceReading:
        """Return what is to be known since the last call; the caller adds times and turns.

        Args:
            probes: whether the array is probed: not while the sync has all the speed.
        """
        now_s = time.monotonic()
        if now_s - self._slow_s >= _SLOW_S:
            self._slow_s = now_s
            self._read_slow(now_s)
        probed = self._probe.take()
        self._known.extend(probed.waits_ms)
        if probed.error:
            self.trouble = f"reads of {self.name} fail: {probed.error}"
        typical_ms = statistics.median(self._known) if self._known else 100.0
        a_second = min(_MOST_A_S, max(_LEAST_A_S, _SHARE * 1000 / max(typical_ms, 0.1)))
        if probes and not self.trouble and now_s - self._asked_s >= 1 / a_second:
            self._asked_s = now_s
            self._probe.ask()
        requests, flying, means = self._requests(probed.done, under_way=probed.under_way)
        return PaceReading(
            clock_s=now_s,
            requests=requests,
            flying=flying,
            waits_ms=(*probed.waits_ms, *means),
            left_kib=self.left_kib,
        )

    def _requests(self, own: int, *, under_way: bool) -> tuple[int, int, tuple[float, ...]]:
        """Return the requests of others since the last call, those under way, the mean waits of devices."""
        found = read_io(self._reader, {self.name, *self._devices})
        io = found.get(self.name)
        if io is None:
            return 0, 0, ()
        flying = max(0, io.in_flight - under_way) if io.in_flight is not None else 0
        if under_way:  # its end may be in one count and not in the other
            return flying, flying, ()
        total = io.reads + io.writes - own
        before, self._before = self._before, (total, found)
        if before is None:
            return flying, flying, ()
        means = tuple(
            mean
            for name in self._devices
            if (mean := _mean_ms(before[1].get(name), found.get(name))) is not None
        )
        return max(0, total - before[0]) + flying, flying, means

    def _read_slow(self, now_s: float) -> None:
        below = suspended_below(self._reader, self.name)
        self.trouble = f"{below} is suspended" if below else ""
        lines = parse_mdstat(self._reader.text("/proc/mdstat") or "")
        array = next((each for each in lines.arrays if each.name == self.name), None)
        sync = array.sync if array is not None else None
        if sync is None or sync.done_kib is None or sync.total_kib is None:
            self._marks.clear()
            self.left_kib = None
            return
        self.left_kib = max(0, sync.total_kib - sync.done_kib)
        self._marks.append((now_s, sync.done_kib))
        while len(self._marks) > 2 and now_s - self._marks[0][0] > _SPEED_S:
            self._marks.popleft()

    @property
    def speed_kib_s(self) -> float | None:
        """The speed of the sync over the last half minute, KiB/s; None before it is known."""
        if len(self._marks) < 2:
            return None
        (first_s, first), (last_s, last) = self._marks[0], self._marks[-1]
        return max(0, last - first) / (last_s - first_s) if last_s > first_s else None


def _mean_ms(before: DiskIo | None, now: DiskIo | None) -> float | None:
    """Return how long a device's requests took in the mean between two readings; None without any."""
    if before is None or now is None:
        return None
    count = now.reads + now.writes - before.reads - before.writes
    took = now.read_ms + now.write_ms - before.read_ms - before.write_ms
    return took / count if count > 0 and took >= 0 else None


def disks_below(reader: HostReader, name: str) -> dict[str, str]:
    """Return the whole disks that an array stands on, each with its serial number or WWN; "" without one."""
    bottoms, found = [name], []
    for _ in range(_DEEPEST):
        below = [(each, reader.names(f"{BLOCK}/{each}/slaves")) for each in bottoms]
        found += [each for each, names in below if not names]
        bottoms = [each for _, names in below for each in names]
    disks = DiskReader(reader).read(set(found) - {name})
    return {each.disk: each.identity for _, each in sorted(disks.items())}
