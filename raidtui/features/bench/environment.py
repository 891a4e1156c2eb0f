"""The environment of a run: kernel, fio, CPU, disks, arrays, file system, wear; and whether all is quiet."""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from raidtui.features.bench.place import Place, is_simulated
from raidtui.host.block import BLOCK, DiskReader
from raidtui.host.diskstats import read_io
from raidtui.host.mounts import mount_options
from raidtui.host.readers.host_reader import HostReader, whole_number
from raidtui.host.sensors import policy_words
from raidtui.host.smart.smart_reader import SmartReader
from raidtui.model.array import Array
from raidtui.model.disk import DiskIo
from raidtui.model.levels import Raid10Layout
from raidtui.monitor.sampler import Sampler
from raidtui.monitor.wear.disk_wear import judge_disk
from raidtui.view.units import SECTOR_BYTES, binary_size, counted, three_digits

_SMART_S = 10.0

Wear = tuple[float | None, int | None]
"""What a disk says of itself: percent of its life used, bytes written."""


class Cpu(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The processor. ``governor`` and ``preference`` name each value that some of its policies have."""

    model: str = ""
    count: int = 0
    driver: str = ""
    governor: str = ""
    preference: str = ""


class DiskSettings(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A disk and how the kernel treats it; None where the kernel has no such setting.

    Args:
        worn_percent, written_bytes: SMART figures of the disk, before and after all runs.
    """

    name: str
    model: str = ""
    serial: str = ""
    size_bytes: int | None = None
    rotational: bool | None = None
    scheduler: str = ""
    queue_depth: int | None = None
    requests: int | None = None
    read_ahead_kib: int | None = None
    write_cache: str = ""
    worn_percent: tuple[float | None, float | None] = (None, None)
    written_bytes: tuple[int | None, int | None] = (None, None)


class ArrayShape(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An array's geometry and state; ``sync`` is the action that ran meanwhile, "" for none."""

    name: str
    label: str = ""
    uuid: str = ""
    level: str = ""
    layout: str = ""
    chunk_kib: int = 0
    bitmap: str = "none"
    members: tuple[str, ...] = ()
    missing: int = 0
    sync: str = ""


class Environment(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """All of it.

    Args:
        free_bytes, size_bytes: of the folder's file system; None for a device.
    """

    host: str = ""
    kernel: str = ""
    fio: str = ""
    cpu: Cpu = Cpu()
    disks: tuple[DiskSettings, ...] = ()
    arrays: tuple[ArrayShape, ...] = ()
    file_system: str = ""
    mount_options: str = ""
    size_bytes: int | None = None
    free_bytes: int | None = None

    @property
    def fill_percent(self) -> float | None:
        """How full the file system is."""
        if not self.size_bytes or self.free_bytes is None:
            return None
        return round(100 * (1 - self.free_bytes / self.size_bytes), 1)


def read_environment(reader: HostReader, place: Place, fio: str) -> Environment:
    """Return the surroundings of a run. What cannot be read is left out.

    Args:
        reader: the host.
        place: where the run is.
        fio: fio's version, which does not change from run to run.
    """
    size = free = None
    if place.directory and not is_simulated(reader):
        found = os.statvfs(place.directory)
        size, free = found.f_blocks * found.f_frsize, found.f_bavail * found.f_frsize
    return Environment(
        host=reader.hostname or "",
        kernel=reader.kernel or "",
        fio=fio,
        cpu=read_cpu(reader),
        disks=read_disks(reader, place.disks),
        arrays=read_arrays(reader, place.arrays),
        file_system=place.file_system,
        mount_options=mount_options(reader, place.mount) if place.directory else "",
        size_bytes=size,
        free_bytes=free,
    )


def read_cpu(reader: HostReader) -> Cpu:
    """Return the processor's name and what governs its speed."""
    lines = (reader.text("/proc/cpuinfo") or "").split("\n")
    model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")

    def values(name: str) -> str:
        return ", ".join(dict.fromkeys(policy_words(reader, name)))

    return Cpu(
        model=model,
        count=sum(line.startswith("processor") for line in lines),
        driver=values("scaling_driver"),
        governor=values("scaling_governor"),
        preference=values("energy_performance_preference"),
    )


def read_disks(reader: HostReader, names: Sequence[str]) -> tuple[DiskSettings, ...]:
    """Return these disks with the kernel's settings."""
    known = DiskReader(reader).read(set(names))
    found = []
    for name in names:
        node = f"{BLOCK}/{name.replace('/', '!')}"
        scheduler = (reader.text(f"{node}/queue/scheduler") or "").partition("[")[2].partition("]")[0]
        disk = known.get(name)
        settings = DiskSettings(
            name=name,
            scheduler=scheduler,
            queue_depth=whole_number(reader.text(f"{node}/device/queue_depth")),
            requests=whole_number(reader.text(f"{node}/queue/nr_requests")),
            read_ahead_kib=whole_number(reader.text(f"{node}/queue/read_ahead_kb")),
            write_cache=(reader.text(f"{node}/queue/write_cache") or "").strip(),
        )
        if disk is not None:
            settings = replace(
                settings,
                model=disk.model or "",
                serial=disk.identity,
                size_bytes=disk.size_bytes,
                rotational=disk.rotational,
            )
        found.append(settings)
    return tuple(found)


def read_arrays(reader: HostReader, names: Collection[str]) -> tuple[ArrayShape, ...]:
    """Return these arrays as they are now, in the order of the names."""
    arrays = {array.name: array for array in Sampler(reader).sample().arrays} if names else {}
    return tuple(array_shape(arrays[name]) for name in names if name in arrays)


def array_shape(array: Array) -> ArrayShape:
    """Return what a figure depends on."""
    layout = ""
    if array.level == "raid10" and array.layout is not None:
        decoded = Raid10Layout.decode(array.layout)
        layout = decoded.short if decoded is not None else ""
    return ArrayShape(
        name=array.name,
        label=array.label or "",
        uuid=array.uuid or "",
        level=array.level or "",
        layout=layout,
        chunk_kib=(array.chunk_bytes or 0) // 1024,
        bitmap="none" if array.bitmap is None else "internal",
        members=tuple(member.name for member in array.members),
        missing=(array.degraded or 0) + len(array.detached_slots),
        sync=array.sync.action if array.sync is not None else "",
    )


def with_wear(environment: Environment, before: Mapping[str, Wear], after: Mapping[str, Wear]) -> Environment:
    """Return the surroundings with the disks' wear before and after."""
    none: Wear = (None, None)
    disks = tuple(
        replace(
            disk,
            worn_percent=(before.get(disk.name, none)[0], after.get(disk.name, none)[0]),
            written_bytes=(before.get(disk.name, none)[1], after.get(disk.name, none)[1]),
        )
        for disk in environment.disks
    )
    return replace(environment, disks=disks)


def read_wear(reader: HostReader, names: Collection[str]) -> dict[str, Wear]:
    """Return what disks say of their wear: (percent used, bytes written), by kernel name; needs root.

    A disk that is asleep, or says nothing, has no figures.
    """
    if not reader.writable or not names:
        return {}
    found = SmartReader(reader, _SMART_S).read(names)
    judged = {name: judge_disk(measured, reader.now_s()) for name, measured in found.items()}
    return {name: (disk.percent.known, disk.written.known_bytes) for name, disk in judged.items()}


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


def noise(reader: HostReader, place: Place, *, looks: int = _LOOKS) -> tuple[str, ...]:
    """Return what else the machine does, one phrase each; empty where it is quiet.

    A burst does not count: where only CPUs or disks are busy, it checks again.

    Args:
        reader: the host.
        place: where something will be measured: its disks and arrays are meant.
        looks: how often it looks before it says so.
    """
    syncs = tuple(
        f"{array.label or array.name} runs a {array.sync}"
        for array in read_arrays(reader, place.arrays)
        if array.sync not in _AT_REST
    )
    found: tuple[str, ...] = ()
    for _ in range(looks):
        before = _read(reader, place)
        time.sleep(LOOK_S)
        found = between(before, _read(reader, place))
        if syncs or not found:
            break
    return (*syncs, *found)


def _read(reader: HostReader, place: Place) -> LoadCounters:
    names = place.disks or place.arrays or tuple(name for name in (place.device,) if name)
    line = (reader.text("/proc/stat", keep=True) or "").partition("\n")[0].split()
    ticks = [int(word) for word in line[1:9] if word.isdecimal()] if line[:1] == ["cpu"] else []
    busy = total = None
    if len(ticks) >= 5:  # proc_stat(5): user nice system idle iowait irq softirq steal
        total = sum(ticks)
        busy = total - ticks[3] - ticks[4] - sum(ticks[7:8])
    return LoadCounters(at_s=time.monotonic(), busy=busy, total=total, io=read_io(reader, names))


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


Part = tuple[str, str]
"""What a value is called, "" where that is clear, and the value."""


def environment_lines(environment: Environment) -> list[tuple[str, tuple[Part, ...]]]:
    """Return an environment as (what, parts); unknown values are left out."""
    cpu = environment.cpu
    governed = ", ".join(text for text in (cpu.driver, cpu.governor, cpu.preference) if text)
    model = f"{cpu.count} x {cpu.model}" if cpu.count else ""
    lines: list[tuple[str, tuple[Part, ...]]] = [
        ("kernel", (("", environment.kernel),)),
        ("fio", (("", environment.fio),)),
        ("CPU", (("", f"{model} ({governed})" if model and governed else model),)),
        ("file system", (("", _file_system(environment)),)),
    ]
    if environment.fill_percent is not None:
        lines.append(("filled", (("", f"{environment.fill_percent} %"),)))
    lines += [(array.label or array.name, _array_parts(array)) for array in environment.arrays]
    lines += [(disk.name, _disk_parts(disk)) for disk in environment.disks]
    known = ((what, tuple(part for part in parts if part[1])) for what, parts in lines)
    return [(what, parts) for what, parts in known if parts]


def _file_system(environment: Environment) -> str:
    kind, options = environment.file_system, environment.mount_options
    return f"{kind} ({options})" if kind and options else kind


def part_words(part: Part) -> str:
    """Return a part of an ``environment_lines`` line in words: scheduler none."""
    return " ".join(word for word in part if word)


def _array_parts(array: ArrayShape) -> tuple[Part, ...]:
    return (
        ("", f"{array.level} {array.layout}".strip()),
        ("chunk", f"{array.chunk_kib}K" if array.chunk_kib else ""),
        ("bitmap", array.bitmap),
        ("", counted(len(array.members), "member")),
        ("", f"{array.missing} missing" if array.missing else ""),
        ("", f"a {array.sync} ran" if array.sync else ""),
    )


def _disk_parts(disk: DiskSettings) -> tuple[Part, ...]:
    worn = [f"{value:g} %" for value in disk.worn_percent if value is not None]
    written = [binary_size(value) for value in disk.written_bytes if value is not None]
    return (
        ("", disk.model),
        ("", disk.serial),
        ("", binary_size(disk.size_bytes) if disk.size_bytes else ""),
        ("scheduler", disk.scheduler),
        ("queue depth", str(disk.queue_depth) if disk.queue_depth is not None else ""),
        ("", f"{disk.requests} requests" if disk.requests is not None else ""),
        ("read-ahead", f"{disk.read_ahead_kib} KiB" if disk.read_ahead_kib is not None else ""),
        ("", disk.write_cache),
        ("worn", " → ".join(dict.fromkeys(worn))),
        ("written", " → ".join(dict.fromkeys(written))),
    )
