"""What fio is asked to do: one kind of I/O, by one or more equal jobs. Pure.

Options are those of fio(1); every one that matters is given, so that fio's own defaults do not.
"""

from __future__ import annotations

import re

from msgspec import Struct
from msgspec.structs import replace

from raidtui.features.bench.option_texts import refuse
from raidtui.model.plan import Refusal
from raidtui.view.units import KIB, binary_size, counted, short_binary

KINDS_OF_IO = {
    "read": "sequential read",
    "write": "sequential write",
    "randread": "random read",
    "randwrite": "random write",
    "rw": "sequential read and write",
    "randrw": "random read and write",
}
ENGINES = ("sync", "psync", "libaio", "io_uring")
"""The ones that are offered: the first two have one request under way, whatever the depth."""
GUESSED_BYTES_S = 500_000_000
"""The write speed that is assumed for a run by time."""
NAME = "bench"
"""fio's name of the job, and with it of its files: the next run finds those of the last one."""
_ONE_AT_A_TIME = frozenset({"sync", "psync"})
_DISTRIBUTION = re.compile(r"(zipf|pareto|normal|random)(:[0-9]{1,3}(\.[0-9]{1,6})?)?")
_MOST = 1 << 16
_MOST_RAMP_S = 5


class Workload(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One kind of I/O.

    Args:
        rw: fio's word: read, write, randread, randwrite, rw or randrw.
        block_bytes: the size of one request.
        size_bytes: what each job works on, and, without a time, how much it reads or writes.
        depth: requests under way in each job.
        jobs: how many do the same at a time, each on a file of its own.
        runtime_s: 0 is until the size is done.
        ramp_s: what runs before the measurement begins.
        engine: how requests are made.
        direct: whether the page cache is passed by.
        read_percent: of a mix, how many requests are reads.
        distribution: of random places: "" is even, or zipf:1.2 and so on.
        flushes: whether each write is followed by fdatasync, whose latency is measured by itself.
    """

    rw: str
    block_bytes: int
    size_bytes: int
    depth: int = 1
    jobs: int = 1
    runtime_s: int = 0
    ramp_s: int = 0
    engine: str = "psync"
    direct: bool = True
    read_percent: int = 50
    distribution: str = ""
    flushes: bool = False

    @property
    def reads(self) -> bool:
        """Whether it reads."""
        return self.rw in {"read", "randread", "rw", "randrw"}

    @property
    def writes(self) -> bool:
        """Whether it writes."""
        return self.rw not in {"read", "randread"}

    @property
    def total_bytes(self) -> int:
        """What all jobs together work on."""
        return self.size_bytes * self.jobs

    @property
    def write_share(self) -> float:
        """Which part of the requests are writes, 0 to 1."""
        if self.rw in {"rw", "randrw"}:
            return 1 - self.read_percent / 100
        return 1.0 if self.writes else 0.0

    @property
    def words(self) -> str:
        """The same in a phrase: random read 4K, depth 32, 2 jobs."""
        mix = f" {self.read_percent}/{100 - self.read_percent}" if 0 < self.write_share < 1 else ""
        parts = [f"{KINDS_OF_IO.get(self.rw, self.rw)}{mix} {short_binary(self.block_bytes)}"]
        parts += [f"depth {self.depth}"] if self.depth > 1 else []
        parts += [counted(self.jobs, "job")] if self.jobs > 1 else []
        parts += [self.distribution] if self.distribution else []
        parts += [] if self.direct else ["through the page cache"]
        parts += ["fdatasync after each"] if self.flushes else []
        return ", ".join(parts)

    def with_engine_for_depth(self) -> Workload:
        """Return it with an engine that has as many requests under way as the depth says."""
        if self.depth > 1 and self.engine in _ONE_AT_A_TIME:
            return replace(self, engine="libaio")
        return self


def with_usual_ramp(work: Workload) -> Workload:
    """Return a workload by time with a short ramp before it: a tenth of the time, 1 to 5 s.

    A run that ends with its size has none: what the ramp asks for would be missing in the measurement.
    """
    if not work.runtime_s or work.ramp_s:
        return work
    return replace(work, ramp_s=min(_MOST_RAMP_S, max(1, work.runtime_s // 10)))


def refuse_workload(work: Workload) -> Refusal | None:
    """Return why fio cannot run this, or None."""
    if work.rw not in KINDS_OF_IO:
        return refuse(f"{work.rw!r} is not a kind of I/O", f"choose {', '.join(KINDS_OF_IO)}")
    if work.engine not in ENGINES:
        return refuse(f"{work.engine!r} is not a supported engine", f"choose {', '.join(ENGINES)}")
    if work.direct and (work.block_bytes < 512 or work.block_bytes % 512):
        return refuse(f"blocks of {work.block_bytes} bytes are not whole sectors", "choose a multiple of 512")
    if work.size_bytes < work.block_bytes:
        size, block = binary_size(work.size_bytes), binary_size(work.block_bytes)
        return refuse(f"a size of {size} is smaller than a block of {block}", "choose a larger size")
    for word, value, least, most in (
        ("the depth", work.depth, 1, _MOST),
        ("the number of jobs", work.jobs, 1, 1024),
        ("the runtime in seconds", work.runtime_s, 0, 7 * 86400),
        ("the ramp time in seconds", work.ramp_s, 0, 86400),
        ("the percentage of reads", work.read_percent, 0, 100),
    ):
        if not least <= value <= most:
            return refuse(f"{word} must be between {least} and {most}, not {value}")
    if work.depth > 1 and work.engine in _ONE_AT_A_TIME:
        return refuse(
            f"the engine {work.engine} has one request in flight, so depth {work.depth} has no effect",
            "choose libaio or io_uring",
        )
    if work.distribution and not _DISTRIBUTION.fullmatch(work.distribution):
        return refuse(
            f"{work.distribution!r} is not a distribution", "choose zipf:1.2, pareto:0.9 or normal:20"
        )
    if work.ramp_s and not work.runtime_s:
        return refuse("a ramp time needs a runtime", "give one")
    return None


def workload_options(work: Workload, *, device: str = "") -> tuple[str, ...]:
    """Return fio's options for a workload in the current folder, or on a device.

    Files are written out before they are measured, reads and writes alike: what was only reserved reads as
    zeros that no flash was asked for, and writes to it would be charged with its allocation.
    """
    more = []
    if work.write_share not in {0.0, 1.0}:
        more.append(f"--rwmixread={work.read_percent}")
    if work.runtime_s:
        more += [f"--runtime={work.runtime_s}s", "--time_based=1"]
    if work.ramp_s:
        more.append(f"--ramp_time={work.ramp_s}s")
    if work.flushes:
        more.append("--fdatasync=1")
    if work.distribution:
        more.append(f"--random_distribution={work.distribution}")
    if device:
        more.append(f"--filename={device.replace(':', chr(92) + ':')}")
    else:
        more += ["--fallocate=none", *(["--overwrite=1"] if work.writes else [])]
    return (
        f"--name={NAME}",
        f"--rw={work.rw}",
        f"--bs={work.block_bytes}",
        f"--size={work.size_bytes}",
        f"--iodepth={work.depth}",
        f"--numjobs={work.jobs}",
        f"--ioengine={work.engine}",
        f"--direct={int(work.direct)}",
        "--group_reporting=1",
        *more,
    )


_CHUNKS = (
    "a study of chunk sizes on a RAID-10 of four SATA SSDs (2016, kernel 4.1, fio 2.2): one job, engine sync,"
    " direct, 500 MB, trimmed before each run, three repeats"
)
_MIB = KIB * KIB
HOT_SPOTS = "hot-spots"
"""The preset for caches."""


class Preset(Struct, frozen=True, kw_only=True):
    """A workload by name.

    Args:
        origin: its source, a phrase.
        blocks: the block sizes that it was published with, bytes; the first is the workload's own.
        loads: several workloads by name, one after another; the first is the workload itself.
    """

    name: str
    words: str
    origin: str
    work: Workload
    blocks: tuple[int, ...] = ()
    loads: dict[str, Workload] = {}

    @property
    def writes(self) -> bool:
        """Whether any of its workloads writes."""
        return any(work.writes for work in self.loads.values()) or self.work.writes

    @property
    def more(self) -> str:
        """What there is besides its workload, a phrase; "" for nothing."""
        if self.loads:
            return f"and {len(self.loads) - 1} more"
        return "and larger blocks" if len(self.blocks) > 1 else ""


def _load(rw: str, block_bytes: int, depth: int) -> Workload:
    return Workload(
        rw=rw,
        block_bytes=block_bytes,
        size_bytes=1024 * _MIB,
        depth=depth,
        runtime_s=30,
        ramp_s=5,
        engine="libaio",
        read_percent=70,
    )


_LOADS = {
    "seq-read-q8": _load("read", _MIB, 8),
    "seq-write-q8": _load("write", _MIB, 8),
    "rand-read-q32": _load("randread", 4 * KIB, 32),
    "rand-write-q32": _load("randwrite", 4 * KIB, 32),
    "rand-read-q1": _load("randread", 4 * KIB, 1),
    "rand-write-q1": _load("randwrite", 4 * KIB, 1),
    "mixed-q32": _load("randrw", 4 * KIB, 32),
    "commit": Workload(
        rw="write",
        block_bytes=2300,
        size_bytes=22 * _MIB,
        runtime_s=30,
        ramp_s=5,
        engine="sync",
        direct=False,
        flushes=True,
    ),
}


def _chunk_study(name: str, words: str, rw: str, *, smallest: int) -> Preset:
    blocks = tuple(kib * KIB for kib in (8, 16, 32, 64, 128, 512, 1024, 20000) if kib >= smallest)
    work = Workload(rw=rw, block_bytes=blocks[0], size_bytes=500 * _MIB, engine="sync")
    return Preset(name=name, words=words, origin=_CHUNKS, work=work, blocks=blocks)


PRESETS = (
    _chunk_study("random-read", "one reader at random places, block by block", "randread", smallest=8),
    _chunk_study("random-write", "one writer at random places, block by block", "randwrite", smallest=8),
    _chunk_study("stream-read", "one reader from the first block to the last", "read", smallest=16),
    _chunk_study("stream-write", "one writer from the first block to the last", "write", smallest=16),
    Preset(
        name="mixed",
        words="a busy database: 70 reads to 30 writes, 128 under way",
        origin="a study of NCQ depths on a RAID-10 of two SATA SSDs (2015, fio 2.1); there with gtod_reduce,"
        " which leaves latencies out, and here without",
        work=Workload(
            rw="randrw",
            block_bytes=4 * KIB,
            size_bytes=4096 * _MIB,
            depth=128,
            engine="libaio",
            read_percent=70,
        ),
    ),
    Preset(
        name="standard",
        words="eight loads: sequential 1M, random 4K with 32 and with 1 in flight, 70/30, and commits",
        origin="the default tests of KDiskMark and CrystalDiskMark; commits of 2,300 bytes as etcd's, fast"
        " enough where 99 % take under 10 ms (IBM, 2019)",
        work=_LOADS["seq-read-q8"],
        loads=_LOADS,
    ),
    Preset(
        name=HOT_SPOTS,
        words="reads that come back to a few places (zipf 1.2), as caches like them",
        origin="a study of lvmcache and bcache (2017): two jobs, engine libaio, depth 8, 2 GB each, by time",
        work=Workload(
            rw="randread",
            block_bytes=4 * KIB,
            size_bytes=2048 * _MIB,
            depth=8,
            jobs=2,
            runtime_s=60,
            engine="libaio",
            distribution="zipf:1.2",
        ),
    ),
)


def find_preset(name: str) -> Preset | None:
    """Return the preset with this name, or None."""
    return next((preset for preset in PRESETS if preset.name == name), None)
