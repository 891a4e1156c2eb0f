"""What fio would report on the demo host: a model of its disks and arrays. Nothing is measured.

A disk works on so many requests at once as its kind allows (AHCI: 32 at most, NVMe: more than are asked for
here), each takes its time and the time of its bytes; an array multiplies writes, by its copies or its parity.
A sync takes its part of the disks. It depends on the simulated kernel alone, so that the same run gives the
same figures, but for 1.5 % that are as random as the disks of a real host.

Two runs of hot-spots are remembered: on a cold cache, and on the same one filled.
"""

from __future__ import annotations

import math
import zlib

from msgspec import Struct
from msgspec.structs import replace

from raidtui.demo.demo_host import DemoReader
from raidtui.demo.disks import SimDisk
from raidtui.demo.sim_array import SimArray
from raidtui.features.bench.caches import CacheCount, CacheReading, CacheRun
from raidtui.features.bench.environment import ArrayShape, DiskSettings, Environment
from raidtui.features.bench.place import Place
from raidtui.features.bench.results.run_record import (
    FAILED,
    SIMULATED,
    Flow,
    RunRecord,
    RunSample,
    from_samples,
    with_hits,
)
from raidtui.features.bench.run.measure import begun_record
from raidtui.features.bench.schedule import Run, Schedule
from raidtui.features.bench.workload import HOT_SPOTS, Workload, find_preset
from raidtui.model.levels import PARITY_LEVELS
from raidtui.model.stack import CacheState, StackKind

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


def rate_of(reader: DemoReader, place: Place, work: Workload, *, key: str = "") -> SimulatedRate:
    """Return what a workload reaches.

    Args:
        reader: the simulated host, with its knobs as they are now.
        place: where.
        work: what.
        key: of the run: what is random comes from it.
    """
    kernel = reader.simulated
    disks = [kernel.disks[name] for name in place.disks if name in kernel.disks]
    arrays = [array for name in place.arrays if (array := kernel.array(name)) is not None]
    under_way = work.depth * work.jobs
    if not disks:
        return SimulatedRate(iops=1.0, mean_s=1.0)
    spread = _amplified(arrays, work)
    each = min(_disk_iops(reader, disk, work, under_way * spread / len(disks)) for disk in disks)
    iops = each * len(disks) / spread
    for array in arrays:
        if array.sync is not None and not array.sync.delayed:
            iops *= _SYNCS
        if array.degraded:
            iops *= _DEGRADED
    governor = (reader.text("/sys/devices/system/cpu/cpufreq/policy0/scaling_governor") or "").strip()
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


def _disk_iops(reader: DemoReader, disk: SimDisk, work: Workload, under_way: float) -> float:
    kib = work.block_bytes / 1024
    knobs = reader.simulated.knobs
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
    if not samples:
        return replace(record, state=FAILED, reason="it was stopped before its first figures")
    means = {f"{name}_ns": int(rate.mean_s * 1e9 * tail) for name, tail in _TAILS.items()}
    read, write = (
        replace(each, mean_ns=rate.mean_s * 1e9, **means) if each.ios else each
        for each in from_samples(samples)
    )
    return replace(record, seconds=samples[-1].t_s, read=read, write=write)


def begun(reader: DemoReader, schedule: Schedule, run: Run, job: str) -> RunRecord:
    """Return the record of a run as it begins."""
    record = begun_record(reader, job, schedule, run, place=schedule.place, fio=SIMULATED)
    return replace(
        record,
        title=f"{SIMULATED}: {schedule.title}",
        environment=replace(record.environment, host="demo"),
        remarks=(REMARK,),
    )


_CACHE, _LABEL = "dm-1", "vg0/data"
_HIT_MS, _MISS_MS = 0.16, 1.1
_SECONDS = 60
_DAY_S = 86_400.0
_GIB = 1 << 30
_EMPTY = CacheState(
    mode="writeback",
    policy="smq",
    devices=("dm-4", "dm-3"),
    backing="dm-5",
    block_bytes=65536,
    total_bytes=100 * _GIB,
    used_bytes=0,
    dirty_bytes=0,
    hits=0,
    misses=0,
    promotions=0,
    demotions=0,
)
_DISKS = tuple(
    DiskSettings(name=name, model="Samsung SSD 850 EVO 500GB", scheduler="mq-deadline", queue_depth=32)
    for name in ("sda", "sdb", "sdc", "sdd")
)
_DATA = ArrayShape(
    name="md127",
    label="data",
    level="raid10",
    layout="n2",
    chunk_kib=32,
    members=tuple(f"{disk.name}2" for disk in _DISKS),
)


def demo_runs(now_s: float) -> tuple[tuple[RunRecord, tuple[RunSample, ...]], ...]:
    """Return the runs with their samples, the older one first.

    Args:
        now_s: epoch seconds; they were made the day before.
    """
    preset = find_preset(HOT_SPOTS)
    if preset is None:
        return ()
    begun = now_s - _DAY_S
    cold = _run(preset.work, 1, begun, _EMPTY, warms=True)
    state = cold[0].caches[0].after or _EMPTY
    filled = _run(preset.work, 2, begun + 300, state, warms=False)
    return cold, filled


def _run(
    work: Workload, number: int, at_s: float, before: CacheState, *, warms: bool
) -> tuple[RunRecord, tuple[RunSample, ...]]:
    samples = _samples(work, warms=warms)
    last = samples[-1]
    (cache,) = with_hits(
        (CacheRun(name=_CACHE, kind=StackKind.CACHE, label=_LABEL, before=before, cold=warms),), samples
    )
    promoted = 44_600 if warms else 1_180
    after = replace(
        before,
        used_bytes=(before.used_bytes or 0) + promoted * 65536,
        hits=(before.hits or 0) + (cache.hits or 0),
        misses=(before.misses or 0) + (cache.misses or 0),
        promotions=(before.promotions or 0) + promoted,
    )
    flow = last.read
    read = replace(from_samples(samples)[0], p50_ns=flow.p50_ns, p99_ns=flow.p99_ns, p999_ns=flow.p999_ns)
    record = RunRecord(
        id=number,
        job=f"demo-hot-spots-{number}",
        number=0,
        at_s=at_s,
        title=f"{SIMULATED}: {HOT_SPOTS}",
        preset=HOT_SPOTS,
        note="cold cache" if warms else "again",
        place="/srv/data",
        work=work,
        seconds=last.t_s,
        read=read,
        environment=Environment(
            host="demo",
            kernel="6.12.3",
            fio=SIMULATED,
            disks=_DISKS,
            arrays=(_DATA,),
            file_system="ext4",
        ),
        caches=(replace(cache, after=after),),
    )
    return record, samples


def _samples(work: Workload, *, warms: bool) -> tuple[RunSample, ...]:
    found: list[RunSample] = []
    ios, hits, readings = 0, 0, [CacheReading(t_s=0.0, counts=(CacheCount(name=_CACHE, hits=0, misses=0),))]
    for place in range(1, int(_SECONDS / EACH_S) + 1):
        t_s = place * EACH_S
        ratio = 0.97 - (0.85 * math.exp(-t_s / 14) if warms else 0.0) + 0.012 * math.sin(place * 0.9)
        wait_ms = ratio * _HIT_MS + (1 - ratio) * _MISS_MS
        iops = work.depth * work.jobs * 1000 / wait_ms
        done = int(iops * EACH_S)
        ios, hits = ios + done, hits + int(done * ratio)
        flow = Flow(
            iops=iops,
            bytes_s=iops * work.block_bytes,
            p50_ns=int(wait_ms * 0.8e6),
            p99_ns=int(_MISS_MS * 1.4e6),
            p999_ns=int(_MISS_MS * 3.1e6),
        )
        if place % 4 == 0:
            count = CacheCount(name=_CACHE, hits=hits, misses=ios - hits)
            readings.append(CacheReading(t_s=t_s, counts=(count,)))
        found.append(
            RunSample(
                t_s=t_s,
                read=flow,
                ios=(ios, 0),
                size_bytes=(ios * work.block_bytes, 0),
                caches=tuple(readings),
            )
        )
        readings = []
    return tuple(found)
