"""Records of runs, made up."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from raidtui.features.bench.caches import CacheCount, CacheReading, CacheRun
from raidtui.features.bench.environment import ArrayShape, Cpu, DiskSettings, Environment
from raidtui.features.bench.option_texts import ONE
from raidtui.features.bench.results.published import published_mb_s
from raidtui.features.bench.results.run_record import Figures, Flow, RunRecord, RunSample
from raidtui.features.bench.workload import Workload
from raidtui.model.stack import CacheState

READ = Workload(rw="randread", block_bytes=8192, size_bytes=8 << 20)
JOB = "20261121-100000-bench"
EPOCH_S = 1_795_209_900.0


def surroundings(**array: Any) -> Environment:
    """Return a host with a RAID-10 of two disks."""
    shape = ArrayShape(
        **{
            "name": "md127",
            "label": "data",
            "uuid": "8d0b1f2a:11111111:22222222:33333333",
            "level": "raid10",
            "layout": "n2",
            "chunk_kib": 32,
            "members": ("sda", "sdb"),
            **array,
        }
    )
    disks = tuple(
        DiskSettings(
            name=name, model="Samsung 850", serial=f"S{name.upper()}", scheduler="none", queue_depth=32
        )
        for name in ("sda", "sdb")
    )
    return Environment(
        host="nas",
        kernel="6.12.3",
        fio="3.33",
        cpu=Cpu(model="Xeon", count=8, governor="performance"),
        disks=disks,
        arrays=(shape,),
        file_system="ext4",
        mount_options="rw,noatime",
        size_bytes=1000,
        free_bytes=400,
    )


def record(number: int = 0, iops: float = 1000.0, **more: Any) -> RunRecord:
    """Return a run that read so many blocks of 8 KiB a second."""
    figures = Figures(
        ios=int(iops),
        size_bytes=int(iops) * 8192,
        iops=iops,
        bytes_s=iops * 8192,
        mean_ns=200_000.0,
        p50_ns=180_000,
        p99_ns=740_000,
        p999_ns=2_900_000,
    )
    return RunRecord(
        **{
            "job": JOB,
            "number": number,
            "at_s": EPOCH_S + number,
            "title": "random-read",
            "place": "/srv",
            "work": READ,
            "seconds": 1.0,
            "read": figures,
            "written": {"sda": 4096, "sdb": 8192},
            "environment": surroundings(),
            **more,
        }
    )


def samples(*iops: float) -> tuple[RunSample, ...]:
    """Return samples of a quarter of a second each."""
    return tuple(
        RunSample(t_s=0.25 * place, read=Flow(iops=value, bytes_s=value * 8192, p99_ns=740_000))
        for place, value in enumerate(iops, 1)
    )


# -- whole benchmarks, with figures as a RAID-10 of SATA SSDs might give them

RANDOM = Workload(
    rw="randread", block_bytes=4096, size_bytes=4 << 30, depth=32, runtime_s=60, engine="libaio"
)
CHUNKS, BLOCKS_KIB = ("one", "16", "32", "512"), (8, 16, 32, 64, 128, 512, 1024)
SCHEDULERS: dict[str, tuple[float, ...]] = {
    "none": (101_900, 102_700, 101_300, 102_300, 102_050, 102_150),
    "mq-deadline": (101_500, 102_400, 101_100, 101_900, 101_650, 101_750),
    "bfq": (70_200, 71_900, 69_800, 70_600, 70_350, 70_450),
    "kyber": (99_100, 103_900, 88_400, 104_400, 96_000, 104_000),
}
"""A, what is like it, what is slower, and what nobody knows."""


def measured(work: Workload, iops: float, **more: Any) -> RunRecord:
    """Return a run of a workload: as many requests wait as its depth says, and a few wait long."""
    waits_ns = int(work.depth * work.jobs / max(iops, 1e-9) * 1e9)
    seconds = work.runtime_s or work.total_bytes / (iops * work.block_bytes)
    figures = Figures(
        ios=int(iops * seconds),
        size_bytes=int(iops * seconds) * work.block_bytes,
        iops=iops,
        bytes_s=iops * work.block_bytes,
        mean_ns=float(waits_ns),
        p50_ns=int(waits_ns * 0.9),
        p99_ns=int(waits_ns * 2.4),
        p999_ns=int(waits_ns * 9.3),
    )
    side = "write" if work.writes else "read"
    return record(**{"seconds": seconds, "work": work, "read": Figures(), side: figures, **more})


def sweep(label: str, values: dict[str, tuple[float, ...]], **more: Any) -> list[RunRecord]:
    """Return a sweep of one thing, by blocks of two runs of each value."""
    first, work = more.pop("first", 1), more.pop("work", RANDOM)
    at_s = more.pop("at_s", EPOCH_S)
    found: list[RunRecord] = []
    for repeat in range(max(map(len, values.values()))):
        for value, iops in values.items():
            if repeat >= len(iops):
                continue
            number = len(found)
            place = {"id": first + number, "number": number, "repeat": repeat, "at_s": at_s + 65 * number}
            place |= {"block": repeat // 2, "visit": repeat // 2}
            title = f"{work.words} by {label}"
            found.append(
                measured(work, iops[repeat], **{"title": title, "point": {label: value}, **place, **more})
            )
    return found


def chunk_sweep(*, repeats: int = 3, first: int = 101, **more: Any) -> list[RunRecord]:
    """Return a sweep of chunks and block sizes that is like the published one, a little faster at the end."""
    found: list[RunRecord] = []
    points = [(chunk, kib) for chunk in CHUNKS for kib in BLOCKS_KIB]
    for number, (repeat, (chunk, kib)) in enumerate((r, point) for r in range(repeats) for point in points):
        work = Workload(rw="randread", block_bytes=kib << 10, size_bytes=500 << 20, engine="sync")
        published = published_mb_s("randread", chunk, work.block_bytes) or 0.0
        mb_s = published * (0.88 + 0.04 * BLOCKS_KIB.index(kib) + 0.03 * CHUNKS.index(chunk) - 0.01 * repeat)
        shape = {} if chunk == ONE else {"arrays": surroundings(chunk_kib=int(chunk)).arrays}
        found.append(
            measured(
                work,
                mb_s * 1e6 / work.block_bytes,
                **{
                    "id": first + number,
                    "job": "20261122-090000-chunks",
                    "number": number,
                    "repeat": repeat,
                    "block": repeat // 2,
                    "visit": repeat * len(CHUNKS) + CHUNKS.index(chunk),
                    "at_s": EPOCH_S + 40_000 + 4 * number,
                    "title": "random-read by chunk, block",
                    "preset": "random-read",
                    "place": "sda, sdb",
                    "point": {"chunk": chunk, "block": str(work.block_bytes)},
                    "environment": replace(surroundings(), **{"arrays": (), "file_system": "", **shape}),
                    **more,
                },
            )
        )
    return found


def curve_samples(records: Sequence[RunRecord], *, seconds: int = 60) -> dict[int, tuple[RunSample, ...]]:
    """Return samples of runs: a short rise, a ripple, and with every third run a dip in the middle."""
    return {run.id: _course(run, seconds) for run in records}


def _course(run: RunRecord, seconds: int) -> tuple[RunSample, ...]:
    found = []
    for place in range(seconds * 4):
        t_s = (place + 1) / 4
        part = min(1.0, 0.6 + 0.2 * t_s) * (1 + 0.03 * math.sin(place * 0.7 + run.id))
        if run.id % 3 == 0 and 0.45 < place / (seconds * 4) < 0.6:
            part *= 0.7
        wait_ns = run.main.p50_ns
        times = (
            {}
            if wait_ns is None
            else {
                "p50_ns": int(wait_ns / part),
                "p99_ns": int(wait_ns * 2.6 / part),
                "p999_ns": int(wait_ns * 10 / part),
            }
        )
        flow = Flow(iops=run.iops * part, bytes_s=run.bytes_s * part, **times)
        found.append(
            RunSample(t_s=t_s, write=flow) if run.main is run.write else RunSample(t_s=t_s, read=flow)
        )
    return tuple(found)


HOT_SPOTS = Workload(
    rw="randread",
    block_bytes=4096,
    size_bytes=2 << 30,
    depth=8,
    jobs=2,
    runtime_s=60,
    engine="libaio",
    distribution="zipf:1.2",
)


def over_cache(number: int, iops: float, ratio: float, *, cold: bool, **more: Any) -> RunRecord:
    """Return a run of hot-spots over lvmcache, with so many hits."""
    used = 0 if cold else 3 << 30
    before = CacheState(
        mode="writeback", policy="smq", block_bytes=65536, total_bytes=4 << 30, used_bytes=used,
        dirty_bytes=0, hits=1000, misses=1000, promotions=10, devices=("dm-4", "dm-5"), backing="dm-6",
    )  # fmt: skip
    requests = int(iops * 60)
    hits = int(requests * ratio)
    after = replace(
        before,
        used_bytes=3 << 30,
        hits=1000 + hits,
        misses=1000 + requests - hits,
        promotions=10 + (49_000 if cold else 1200),
    )
    cache = CacheRun(
        name="dm-0", kind="lvm-cache", label="vc/slow", before=before, after=after, cold=cold,
        hits=hits, misses=requests - hits,
    )  # fmt: skip
    given = {"id": number, "number": 0, "title": "hot-spots", "preset": "hot-spots", "place": "/srv"}
    return measured(HOT_SPOTS, iops, **{**given, "job": f"job-{number}", "caches": (cache,), **more})


def cache_samples(run: RunRecord, first: float, last: float, *, seconds: int = 60) -> tuple[RunSample, ...]:
    """Return samples of a run whose hits go from one ratio to another, read once a second."""
    hits = misses = 0
    found = []
    for place, sample in enumerate(_course(run, seconds)):
        readings = []
        if place % 4 == 0:
            part = min(1.0, place / 120)
            ratio = first + (last - first) * part
            hits, misses = hits + int(run.iops * ratio), misses + int(run.iops * (1 - ratio))
            count = CacheCount(name="dm-0", hits=hits, misses=misses)
            readings.append(CacheReading(t_s=sample.t_s - 0.1, counts=(count,)))
        found.append(replace(sample, caches=tuple(readings)))
    return tuple(found)


def asking(work: Workload, **more: Any) -> dict[str, Any]:
    """Return the fields of a request that asks for a workload, whole."""
    return {
        "rw": work.rw,
        "blocks": (work.block_bytes,),
        "size_bytes": work.size_bytes,
        "depths": (work.depth,),
        "jobs": (work.jobs,),
        "runtime_s": work.runtime_s,
        "ramp_s": work.ramp_s,
        "engine": work.engine,
        "read_percent": work.read_percent,
        "distribution": work.distribution,
        "direct": work.direct,
        **more,
    }
