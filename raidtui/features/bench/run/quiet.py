"""Whether the machine is otherwise idle: a check of CPUs, disks and arrays before a measurement."""

from __future__ import annotations

import time
from collections.abc import Mapping

from msgspec import Struct

from raidtui.features.bench.environment import read_arrays
from raidtui.features.bench.place import Place
from raidtui.host.diskstats import read_io
from raidtui.host.readers.host_reader import HostReader
from raidtui.model.disk import DiskIo
from raidtui.view.units import SECTOR_BYTES, three_digits

LOOK_S = 1.0
"""How long a look takes."""
_LOOKS = 4
BUSY_PART = 0.25
BUSY_BYTES_S, BUSY_REQUESTS_S = 1_000_000, 20
"""Occasional writes of a log or a journal stay below these."""
_AT_REST = frozenset({"", "idle", "frozen"})


class LoadCounters(Struct, frozen=True, kw_only=True):
    """The kernel's counters at one moment.

    Args:
        at_s: monotonic seconds.
        busy, total: of all processors, in ticks; None where /proc/stat says nothing.
        io: of devices, by kernel name.
    """

    at_s: float
    busy: int | None = None
    total: int | None = None
    io: Mapping[str, DiskIo] = {}


def noise(root: HostReader, place: Place, *, looks: int = _LOOKS) -> tuple[str, ...]:
    """Return what else the machine does, one phrase each; empty where it is quiet.

    A burst does not count: where only CPUs or disks are busy, it checks again.

    Args:
        root: the host.
        place: where something will be measured: its disks and arrays are meant.
        looks: how often it looks before it says so.
    """
    syncs = tuple(
        f"{array.label or array.name} runs a {array.sync}"
        for array in read_arrays(root, place.arrays)
        if array.sync not in _AT_REST
    )
    found: tuple[str, ...] = ()
    for _ in range(looks):
        before = _read(root, place)
        time.sleep(LOOK_S)
        found = between(before, _read(root, place))
        if syncs or not found:
            break
    return (*syncs, *found)


def _read(root: HostReader, place: Place) -> LoadCounters:
    names = place.disks or place.arrays or tuple(name for name in (place.device,) if name)
    line = (root.text("/proc/stat", keep=True) or "").partition("\n")[0].split()
    ticks = [int(word) for word in line[1:9] if word.isdecimal()] if line[:1] == ["cpu"] else []
    busy = total = None
    if len(ticks) >= 5:  # proc_stat(5): user nice system idle iowait irq softirq steal
        total = sum(ticks)
        busy = total - ticks[3] - ticks[4] - sum(ticks[7:8])
    return LoadCounters(at_s=time.monotonic(), busy=busy, total=total, io=read_io(root, names))


def between(before: LoadCounters, after: LoadCounters) -> tuple[str, ...]:
    """Return what was busy between two readings, a phrase each. Pure."""
    seconds = after.at_s - before.at_s
    found: list[str] = []
    if before.total is not None and after.total is not None and after.total > before.total:
        part = ((after.busy or 0) - (before.busy or 0)) / (after.total - before.total)
        found += [f"the processors are {part * 100:.0f} % busy"] if part > BUSY_PART else []
    for name, now in after.io.items():
        then = before.io.get(name)
        if then is None or seconds <= 0:
            continue
        sectors = now.read_sectors - then.read_sectors + now.written_sectors - then.written_sectors
        requests_s = (now.reads - then.reads + now.writes - then.writes) / seconds
        bytes_s = sectors * SECTOR_BYTES / seconds
        if bytes_s > BUSY_BYTES_S or requests_s > BUSY_REQUESTS_S:
            found.append(f"{name} does {three_digits(bytes_s / 1e6)} MB/s, {requests_s:.0f} requests/s")
    return tuple(found)
