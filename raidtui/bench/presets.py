"""Workloads that somebody has published figures for, and where each comes from."""

from __future__ import annotations

from msgspec import Struct

from raidtui.bench.workload import Workload
from raidtui.view.units import KIB

_CHUNKS = (
    "a study of chunk sizes on a RAID-10 of four SATA SSDs (2016, kernel 4.1, fio 2.2): one job, engine sync,"
    " direct, 500 MB, trimmed before each run, three repeats"
)
_MIB = KIB * KIB


class Preset(Struct, frozen=True, kw_only=True):
    """A workload by name.

    Args:
        origin: where it comes from, a phrase.
        blocks: the block sizes that it was published with, bytes; the first is the workload's own.
    """

    name: str
    words: str
    origin: str
    work: Workload
    blocks: tuple[int, ...] = ()


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
        name="hot-spots",
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
