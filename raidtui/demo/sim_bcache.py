"""A simulated bcache on two partitions that no array uses: a large one, and one of an NVMe disk before it.

Sources: the files of drivers/md/bcache/sysfs.c in Linux 6.12, and block/genhd.c for its counters.
"""

from __future__ import annotations

import errno
import os

from raidtui.demo.disks import SimCounters
from raidtui.demo.kernel import SimKernel
from raidtui.host.block import BLOCK
from raidtui.host.udev import DATA

NAME, BACKING, CACHE = "bcache0", "sdd3", "nvme3n1p2"
_ON = {BACKING: "sdd", CACHE: "nvme3n1"}
_DEV = (252, 0)
_SECTORS = 293_601_264
_BUCKET, _BUCKETS = 512 << 10, 327_680
_SET = "c4b1e2f0-7a39-4f6d-9c15-2e8d60b7a913"
_READ_IOPS, _WRITE_IOPS, _REQUEST_KIB = 36.0, 12.0, 16.0
_HITS = 0.82
_BACK = 0.25
"""How much of what is written reaches the large partition meanwhile: the rest is written again before."""
_MODES = ("writethrough", "writeback", "writearound", "none")
_FIRST = {"cache_mode": "writeback", "writeback_percent": "10", "sequential_cutoff": "4.0M"}
_MOST_PERCENT = 40
_DETACHED = f"{NAME}/bcache/detached"
_NO_CACHE = "no cache"


def is_there(kernel: SimKernel) -> bool:
    """Whether both partitions are."""
    return all(disk in kernel.disks and name in kernel.counters for name, disk in _ON.items())


def is_attached(kernel: SimKernel) -> bool:
    """Whether it has its cache."""
    return _DETACHED not in kernel.knobs


def account_bcache(kernel: SimKernel, elapsed_s: float) -> None:
    """Count what applications did on it, and what of that its partitions and their disks did."""
    if not is_there(kernel):
        return
    reads, writes = _READ_IOPS * elapsed_s * _REQUEST_KIB, _WRITE_IOPS * elapsed_s * _REQUEST_KIB
    kernel.counters.setdefault(NAME, SimCounters())
    parts = {CACHE: (reads * _HITS, writes), BACKING: (reads * (1 - _HITS), writes * _BACK)}
    if not is_attached(kernel):
        parts = {BACKING: (reads, writes)}
    loads = {NAME: (reads, writes), **parts, **{_ON[name]: load for name, load in parts.items()}}
    for name, (read_kib, write_kib) in loads.items():
        first = CACHE if is_attached(kernel) else BACKING
        disk = kernel.disks[_ON[first] if name == NAME else _ON.get(name, name)]
        kernel.counters[name].add(
            read_kib=read_kib, write_kib=write_kib, request_kib=_REQUEST_KIB, request_ms=disk.request_ms
        )


def bcache_stat_line(kernel: SimKernel) -> list[str]:
    """Return its line of /proc/diskstats."""
    return [kernel.counters[NAME].line(_DEV, NAME)] if is_there(kernel) and NAME in kernel.counters else []


def bcache_files(kernel: SimKernel) -> tuple[dict[str, str], dict[str, str]]:
    """Return its files that change with events, and its links: path -> text, path -> target."""
    if not is_there(kernel):
        return {}, {}
    node = f"{BLOCK}/{NAME}"
    mode = _chosen(kernel, "cache_mode")
    words = {
        "dev": f"{_DEV[0]}:{_DEV[1]}",
        "size": str(_SECTORS),
        "ro": "0",
        "removable": "0",
        "queue/rotational": "0",
        "queue/logical_block_size": "512",
        "queue/discard_max_bytes": "2147450880",
        "bcache/backing_dev_name": BACKING,
        "bcache/cache_mode": " ".join(f"[{each}]" if each == mode else each for each in _MODES),
        "bcache/writeback_percent": _chosen(kernel, "writeback_percent"),
        "bcache/sequential_cutoff": _chosen(kernel, "sequential_cutoff"),
        "bcache/writeback_running": "1",
        "bcache/detach": "",
        "bcache/attach": "",
    }
    files = {f"{node}/{attribute}": f"{text}\n" for attribute, text in words.items()}
    files[f"{BLOCK}/{CACHE}/bcache/bucket_size"] = "512.0k\n"
    files[f"{BLOCK}/{CACHE}/bcache/nbuckets"] = f"{_BUCKETS}\n"
    files[f"{DATA}/b{_DEV[0]}:{_DEV[1]}"] = (
        "S:disk/by-label/backup\nE:ID_FS_TYPE=ext4\nE:ID_FS_LABEL=backup\n"
    )
    links = {node: f"../../devices/virtual/block/{NAME}"}
    if is_attached(kernel):
        links[f"{node}/bcache/cache"] = f"../../../fs/bcache/{_SET}"
    for name in (BACKING, CACHE) if is_attached(kernel) else (BACKING,):
        files[f"{node}/slaves/{name}"] = ""
        files[f"{BLOCK}/{name}/holders/{NAME}"] = ""
    return files, links


def bcache_live_files(kernel: SimKernel) -> dict[str, str]:
    """Return its files that change all the time: path -> text."""
    if not is_there(kernel) or NAME not in kernel.counters:
        return {}
    own, cache = kernel.counters[NAME], kernel.counters[CACHE]
    back = is_attached(kernel) and _chosen(kernel, "cache_mode") == "writeback"
    state = _NO_CACHE if not is_attached(kernel) else "dirty" if back else "clean"
    folder = f"{BLOCK}/{NAME}/bcache"
    hits = int((812_000 + int(cache.reads / _HITS)) * _HITS)
    misses = int(hits * (1 - _HITS) / _HITS)
    return {
        f"{folder}/state": f"{state}\n",
        f"{folder}/dirty_data": f"{2 + int(own.writes) % 700 / 1000:.1f}G\n" if back else "0.0k\n",
        f"{folder}/stats_total/cache_hits": f"{hits}\n",
        f"{folder}/stats_total/cache_misses": f"{misses}\n",
        f"{BLOCK}/{CACHE}/bcache/written": f"{118 + cache.written_sectors / (1 << 21):.1f}G\n",
        f"{BLOCK}/{NAME}/stat": " ".join(own.line(_DEV, NAME).split()[3:]) + "\n",
    }


def _chosen(kernel: SimKernel, attribute: str) -> str:
    return kernel.knobs.get(f"{NAME}/bcache/{attribute}", _FIRST[attribute])


def write_bcache(kernel: SimKernel, attribute: str, word: str) -> None:
    """Write to one of its files.

    Args:
        kernel: the simulated kernel.
        attribute: below the device's folder: bcache/cache_mode.
        word: what is written.

    Raises:
        OSError: EINVAL for a value that it has not, EACCES for a file that is only read, ENOENT for a set of
            caches that is not there.
    """
    name = attribute.removeprefix("bcache/")
    if name == "detach":
        kernel.knobs[_DETACHED] = "1"
        return
    if name == "attach":
        if word != _SET:
            raise OSError(errno.ENOENT, os.strerror(errno.ENOENT))
        kernel.knobs.pop(_DETACHED, None)
        return
    if name not in _FIRST:
        raise OSError(errno.EACCES, os.strerror(errno.EACCES))
    number = int(word) if word.isascii() and word.isdigit() and len(word) < 12 else None
    if name == "cache_mode":
        valid = word in _MODES
    elif name == "writeback_percent":
        valid = number is not None and number <= _MOST_PERCENT
    else:
        valid = number is not None
        word = (
            f"{(number or 0) / (1 << 20):.1f}M"
            if (number or 0) >= 1 << 20
            else f"{(number or 0) / 1024:.1f}k"
        )
    if not valid:
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
    kernel.knobs[f"{NAME}/bcache/{name}"] = word
