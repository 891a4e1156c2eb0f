"""What fio would report on the demo host: a model of its disks and arrays. Nothing is measured.

A disk works on so many requests at once as its kind allows (AHCI: 32 at most, NVMe: more than are asked for
here), each takes its time and the time of its bytes; an array multiplies writes, by its copies or its parity.
A sync takes its part of the disks. It depends on the simulated kernel alone, so that the same run gives the
same figures, but for 1.5 % that are as random as the disks of a real host.
"""

from __future__ import annotations

import zlib

from msgspec import Struct

from raidtui.demo.demo_host import DemoReader
from raidtui.demo.disks import SimDisk
from raidtui.demo.sim_array import SimArray
from raidtui.features.bench.place import Place
from raidtui.features.bench.results.run_record import SIMULATED, Figures, Flow, RunRecord, RunSample
from raidtui.features.bench.schedule import Run, Schedule
from raidtui.features.bench.workload import Workload
from raidtui.model.levels import PARITY_LEVELS

EACH_S = 0.25
REMARK = "Simulated by a model of the demo host's disks: nothing was measured."
_SATA_REQUESTS, _NVME_REQUESTS = 32, 96
_SATA_S, _NVME_S = 0.000_12, 0.000_075
_SATA_BUS_KIB_S, _REMAPPED = 540_000.0, 0.62
_SCHEDULERS = {"none": 1.0, "mq-deadline": 0.98, "kyber": 0.97, "bfq": 0.86}
_SLOW_CPU = 0.86
_SYNCS, _DEGRADED = 0.55, 0.8
_NOISE, _WOBBLE = 0.015, 0.02
_TAILS = {"p50": 0.92, "p99": 2.7, "p999": 6.5}


class SimulatedRate(Struct, frozen=True, kw_only=True):
    """What a workload reaches at a place: requests per second, and the mean time of one."""

    iops: float
    mean_s: float


def rate_of(root: DemoReader, place: Place, work: Workload, *, key: str = "") -> SimulatedRate:
    """Return what a workload reaches.

    Args:
        root: the simulated host, with its knobs as they are now.
        place: where.
        work: what.
        key: of the run: what is random comes from it.
    """
    kernel = root.simulated
    disks = [kernel.disks[name] for name in place.disks if name in kernel.disks]
    arrays = [array for name in place.arrays if (array := kernel.array(name)) is not None]
    under_way = work.depth * work.jobs
    if not disks:
        return SimulatedRate(iops=1.0, mean_s=1.0)
    spread = _amplified(arrays, work)
    each = min(_disk_iops(root, disk, work, under_way * spread / len(disks)) for disk in disks)
    iops = each * len(disks) / spread
    for array in arrays:
        if array.sync is not None and not array.sync.delayed:
            iops *= _SYNCS
        if array.degraded:
            iops *= _DEGRADED
    governor = (root.text("/sys/devices/system/cpu/cpufreq/policy0/scaling_governor") or "").strip()
    iops *= _SLOW_CPU if governor == "powersave" and under_way < len(disks) else 1.0
    iops *= 1 + _NOISE * _random(key)
    return SimulatedRate(iops=iops, mean_s=under_way / iops)


def _random(key: str) -> float:
    """Return a number in [-1, 1] that depends on the key alone."""
    return zlib.crc32(key.encode()) / 0x7FFFFFFF - 1.0


def _amplified(arrays: list[SimArray], work: Workload) -> float:
    """Return how many requests to the disks one request is."""
    writes = 1.0
    for array in arrays:
        if array.level in PARITY_LEVELS:
            parity = PARITY_LEVELS[array.level]
            small = work.rw.startswith("rand")  # read, modify, write: of the data and of each parity
            writes *= 2 * (1 + parity) if small else array.raid_disks / (array.raid_disks - parity)
        else:
            writes *= max(1, array.copies)
    return 1 - work.write_share + work.write_share * writes


def _disk_iops(root: DemoReader, disk: SimDisk, work: Workload, under_way: float) -> float:
    kib = work.block_bytes / 1024
    knobs = root.simulated.knobs
    depth = float(knobs.get(f"{disk.name}/device/queue_depth", _SATA_REQUESTS))
    most = 1.0 if disk.rotates else _NVME_REQUESTS if disk.is_nvme else min(_SATA_REQUESTS, depth)
    base_s = disk.request_ms / 1000 if disk.rotates else _NVME_S if disk.is_nvme else _SATA_S
    speed_kib_s = float(disk.write_kib_s) if work.write_share > 0.5 else float(disk.read_kib_s)
    speed_kib_s = speed_kib_s if disk.is_nvme else min(speed_kib_s, _SATA_BUS_KIB_S)
    speed_kib_s *= _REMAPPED if work.rw.startswith("rand") and work.writes else 1.0
    first = knobs.get(f"{disk.name}/queue/scheduler", "none" if disk.is_nvme else "mq-deadline")
    alone = min(most, under_way) / (base_s + kib / speed_kib_s)
    return min(alone, speed_kib_s / kib) * _SCHEDULERS.get(first, 1.0)


def seconds_of(work: Workload, rate: SimulatedRate) -> float:
    """Return how long a run is measured: its time, or until its size is done."""
    return float(work.runtime_s) or max(EACH_S, work.total_bytes / work.block_bytes / rate.iops)


def samples_of(work: Workload, rate: SimulatedRate, until_s: float, *, key: str) -> tuple[RunSample, ...]:
    """Return the samples of a run up to a second of it."""
    found: list[RunSample] = []
    ios = [0, 0]
    for place in range(1, int(min(until_s, seconds_of(work, rate)) / EACH_S) + 1):
        now = rate.iops * (1 + _WOBBLE * _random(f"{key} {place}"))
        flows = []
        for side, share in enumerate((1 - work.write_share, work.write_share)):
            ios[side] += int(now * EACH_S * share)
            flows.append(_flow(work, now * share, rate.mean_s * rate.iops / now))
        read, write = ios
        sizes = (read * work.block_bytes, write * work.block_bytes)
        sample = RunSample(
            t_s=place * EACH_S, read=flows[0], write=flows[1], ios=(read, write), size_bytes=sizes
        )
        found.append(sample)
    return tuple(found)


def _flow(work: Workload, iops: float, mean_s: float) -> Flow:
    if not iops:
        return Flow()
    p50, p99, p999 = (int(mean_s * 1e9 * tail) for tail in _TAILS.values())
    return Flow(iops=iops, bytes_s=iops * work.block_bytes, p50_ns=p50, p99_ns=p99, p999_ns=p999)


def with_figures(record: RunRecord, rate: SimulatedRate, samples: tuple[RunSample, ...]) -> RunRecord:
    """Return a record with the figures of its samples."""
    from msgspec.structs import replace  # noqa: PLC0415  (only as a run ends)

    if not samples:
        return replace(record, state="failed", reason="it was stopped before its first figures")
    last, tails = samples[-1], {name: int(rate.mean_s * 1e9 * tail) for name, tail in _TAILS.items()}

    def of(side: int) -> Figures:
        ios, size = last.ios[side], last.size_bytes[side]
        if not ios:
            return Figures()
        return Figures(
            ios=ios,
            size_bytes=size,
            iops=ios / last.t_s,
            bytes_s=size / last.t_s,
            mean_ns=rate.mean_s * 1e9,
            p50_ns=tails["p50"],
            p99_ns=tails["p99"],
            p999_ns=tails["p999"],
        )

    return replace(record, seconds=last.t_s, read=of(0), write=of(1))


def begun(root: DemoReader, schedule: Schedule, run: Run, job: str) -> RunRecord:
    """Return the record of a run as it begins."""
    from msgspec.structs import replace  # noqa: PLC0415  (only as a run begins)

    from raidtui.features.bench.environment import read_environment  # noqa: PLC0415

    environment = read_environment(root, schedule.place, SIMULATED)
    return RunRecord(
        job=job,
        number=run.number,
        repeat=run.repeat,
        point_place=run.place,
        block=run.block,
        visit=run.visit,
        at_s=root.now_s(),
        title=f"{SIMULATED}: {schedule.title}",
        preset=schedule.preset,
        note=schedule.note,
        place=schedule.place.words,
        point=run.point,
        work=schedule.work_at(run.point),
        environment=replace(environment, host="demo"),
        remarks=(REMARK,),
    )
