"""Two runs of hot-spots that the demo host remembers: on a cold cache, and on the same one filled."""

from __future__ import annotations

import math

from msgspec.structs import replace

from raidtui.features.bench.cache_figures import CacheCount, CacheReading, CacheRun
from raidtui.features.bench.environment import ArrayShape, DiskSettings, Environment
from raidtui.features.bench.results.run_record import (
    SIMULATED,
    Figures,
    Flow,
    RunRecord,
    RunSample,
    with_hits,
)
from raidtui.features.bench.workload import HOT_SPOTS, Workload, find_preset
from raidtui.model.stack import CacheState, StackKind

_CACHE, _LABEL = "dm-1", "vg0/data"
_HIT_MS, _MISS_MS = 0.16, 1.1
_SECONDS, _EACH_S = 60, 0.25
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
    read = Figures(
        ios=last.ios[0],
        size_bytes=last.size_bytes[0],
        iops=last.ios[0] / last.t_s,
        bytes_s=last.size_bytes[0] / last.t_s,
        p50_ns=flow.p50_ns,
        p99_ns=flow.p99_ns,
        p999_ns=flow.p999_ns,
    )
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
    for place in range(1, int(_SECONDS / _EACH_S) + 1):
        t_s = place * _EACH_S
        ratio = 0.97 - (0.85 * math.exp(-t_s / 14) if warms else 0.0) + 0.012 * math.sin(place * 0.9)
        wait_ms = ratio * _HIT_MS + (1 - ratio) * _MISS_MS
        iops = work.depth * work.jobs * 1000 / wait_ms
        done = int(iops * _EACH_S)
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
