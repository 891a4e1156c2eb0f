"""Simulated volumes of LVM and dm-crypt on the demo's arrays: their files, their load, and what tools say.

Sources: the states that the device mapper of Linux 6.1 prints, and the kernel's
admin-guide/device-mapper/writecache.rst.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import pairwise

from msgspec.structs import replace

from raidtui.demo.disks import SimCounters
from raidtui.demo.kernel import SimKernel
from raidtui.demo.sim_grow import SimRefusedError
from raidtui.demo.sim_maps import (
    BLOCK_SECTORS,
    CACHE_BLOCKS,
    DATA,
    FRESH_BLOCKS,
    MAIL,
    MAJOR,
    MAPS,
    PHYSICAL,
    SimMap,
)
from raidtui.host.block import BLOCK
from raidtui.host.udev import DATA as UDEV

VOLUME_TOOLS = frozenset({"lvchange", "lvconvert"})
"""The programs that change volumes here."""
_CACHED = {"vg0/data": DATA, "vg0/mail": MAIL}
_KNOBS = {"--cachemode": "dm-1/mode", "--cachepolicy": "dm-1/policy"}
_FIRST = ("writeback", "smq")
_THRESHOLD, _FIRST_THRESHOLD = "dm-1/migration_threshold", "2048"
_CLEANER = f"dm-{MAIL}/cleaner"
_SHARES = {DATA: 0.3, MAIL: 0.02, 12: 0.03}
"""How much of what goes through the array under the caches and the thin pool is theirs."""
_OF_MAIL = 0.03
"""How much of what goes through the array under the cached volumes is the mail's."""
_HITS = 0.9
_CONSTANT = {
    "striped": "2 9:124 9:125 1 AA",
    "thin": "50331648 83886079",
    "thin-pool": "1 1184/32768 409600/983040 - rw no_discard_passdown queue_if_no_space - 1024",
}
"""The status of targets that have no counters."""
_READS, _READ_HITS, _WRITES = 310_000, 190_000, 140_000
"""What the dm-writecache had counted when the story begins."""


def has_volumes(kernel: SimKernel) -> bool:
    """Whether the arrays that the volumes are on are there."""
    return all(kernel.array(name) is not None for name in PHYSICAL)


def maps_of(kernel: SimKernel) -> tuple[SimMap, ...]:
    """Return the maps that are loaded: without the parts of a cache that was removed."""
    if not has_volumes(kernel):
        return ()
    bare = {minor for minor in (DATA, MAIL) if f"dm-{minor}/bare" in kernel.knobs}
    return tuple(_bare(each) if each.minor in bare else each for each in MAPS if each.serves not in bare)


def _bare(each: SimMap) -> SimMap:
    table, slaves = each.bare or (each.table, each.slaves)
    return replace(each, table=table, slaves=slaves, bare=None)


def _is_cached(kernel: SimKernel, minor: int) -> bool:
    return f"dm-{minor}/bare" not in kernel.knobs


def map_counters(kernel: SimKernel) -> dict[int, SimCounters]:
    """Return the counters of the maps by minor number: what an array does, its volumes do."""
    vm, data = kernel.counters["md125"], kernel.counters["md127"]
    shares = {
        minor: 0.0 if minor in (DATA, MAIL) and not _is_cached(kernel, minor) else share
        for minor, share in _SHARES.items()
    }
    cached, fresh, vault = (_scaled(vm, shares[minor]) for minor in (DATA, MAIL, 12))
    origin, mail = _scaled(data, 1 - _OF_MAIL), _scaled(data, _OF_MAIL)
    idle = SimCounters()
    return {
        0: _scaled(vm, 1 - sum(shares.values())),
        DATA: _sum(cached, origin),
        2: cached,
        3: cached,
        4: idle,
        5: origin,
        6: idle,
        7: idle,
        8: vault,
        9: vault,
        10: idle,
        11: vault,
        12: vault,
        MAIL: _sum(fresh, mail),
        14: fresh,
        15: mail,
    }


def _scaled(counters: SimCounters, factor: float) -> SimCounters:
    return SimCounters(**{name: getattr(counters, name) * factor for name in counters.__struct_fields__})


def _sum(one: SimCounters, other: SimCounters) -> SimCounters:
    return SimCounters(**{name: getattr(one, name) + getattr(other, name) for name in one.__struct_fields__})


def stat_lines(kernel: SimKernel) -> list[str]:
    """Return the maps' lines of /proc/diskstats."""
    maps = maps_of(kernel)
    counters = map_counters(kernel) if maps else {}
    return [counters[each.minor].line((MAJOR, each.minor), f"dm-{each.minor}") for each in maps]


def volume_files(kernel: SimKernel) -> tuple[dict[str, str], dict[str, str]]:
    """Return the files and links of the maps: path -> text, path -> target."""
    files: dict[str, str] = {}
    links: dict[str, str] = {}
    for each in maps_of(kernel):
        node = f"{BLOCK}/dm-{each.minor}"
        links[node] = f"../../devices/virtual/block/dm-{each.minor}"
        links[f"/dev/mapper/{each.name}"] = f"../dm-{each.minor}"
        words = {
            "dev": f"{MAJOR}:{each.minor}",
            "size": str(each.sectors),
            "ro": "0",
            "removable": "0",
            "dm/name": each.name,
            "dm/uuid": each.uuid,
            "dm/suspended": "0",
            "queue/rotational": "0",
            "queue/logical_block_size": "512",
        }
        files |= {f"{node}/{attribute}": f"{text}\n" for attribute, text in words.items()}
        for slave in each.slaves:
            files[f"{node}/slaves/{slave}"] = ""
            files[f"{BLOCK}/{slave}/holders/dm-{each.minor}"] = ""
        lines = [f"S:mapper/{each.name}", f"E:DM_NAME={each.name}", f"E:DM_UUID={each.uuid}"]
        lines += [f"E:ID_FS_TYPE={each.kind}"] if each.kind else []
        files[f"{UDEV}/b{MAJOR}:{each.minor}"] = "\n".join(lines) + "\n"
    return files, links


def stat_files(kernel: SimKernel) -> Iterator[tuple[str, str]]:
    """Yield (path, text) of the maps' files that change all the time."""
    for line in stat_lines(kernel):
        words = line.split()
        yield f"{BLOCK}/{words[2]}/stat", " ".join(words[3:]) + "\n"


def tool_output(kernel: SimKernel, argv: tuple[str, ...]) -> str:
    """Return what dmsetup or lvs prints."""
    maps = maps_of(kernel)
    if argv[0] == "lvs":
        rows = [_row(each) for each in maps if each.uuid.startswith("LVM-")]
        return json.dumps({"report": [{"lv": rows}]})
    if "table" in argv:
        return "".join(f"{line}\n" for each in maps for line in _table(each, kernel))
    one = next((each for each in maps if each.name == argv[-1]), None)
    if one is not None:
        return "".join(f"{line.partition(': ')[2]}\n" for line in _status(one, kernel))
    return "".join(f"{line}\n" for each in maps for line in _status(each, kernel))


def change_volume(kernel: SimKernel, argv: tuple[str, ...]) -> str:
    """Carry out lvchange or lvconvert on a volume with a cache, and return what it prints.

    Raises:
        SimRefusedError: there is no such volume, or it has no cache.
    """
    title = argv[-1]
    minor = _CACHED.get(title)
    if minor is None or not has_volumes(kernel) or not _is_cached(kernel, minor):
        raise SimRefusedError(f"{title} is not a volume with a cache")
    if argv[0] == "lvconvert":
        kernel.knobs[f"dm-{minor}/bare"] = "1"
        kernel.emit(f"dm-{minor}", "change")
        return f"  Logical volume {title} is not cached.\n"
    for option, value in pairwise(argv):
        name, _, setting = value.partition("=")
        if option in _KNOBS:
            kernel.knobs[_KNOBS[option]] = value
        elif option == "--cachesettings":
            kernel.knobs[f"dm-{minor}/{name}"] = setting
    kernel.emit(f"dm-{minor}", "change")
    return f"  Logical volume {title} changed.\n"


def _settings(kernel: SimKernel) -> tuple[str, str, str]:
    """Return mode, policy and migration threshold of the dm-cache."""
    mode, policy = (kernel.knobs.get(key, text) for key, text in zip(_KNOBS.values(), _FIRST, strict=True))
    return mode, policy, kernel.knobs.get(_THRESHOLD, _FIRST_THRESHOLD)


def _table(each: SimMap, kernel: SimKernel) -> Iterator[str]:
    mode, policy, _ = _settings(kernel)
    cleaner = " 4096 1 cleaner" if kernel.knobs.get(_CLEANER) == "1" else " 4096 0"
    for line in each.lines():
        yield line.replace(" writeback smq ", f" {mode} {policy} ").replace(" 4096 0", cleaner)


def _row(each: SimMap) -> Mapping[str, str]:
    group, _, volume = each.name.partition("-")
    return {"lv_uuid": each.uuid[36:68], "lv_name": volume, "vg_name": group, "lv_health_status": ""}


def _status(each: SimMap, kernel: SimKernel) -> Iterator[str]:
    counters = map_counters(kernel)
    for line in each.lines():
        head, _, words = line.partition(": ")
        first, length, target, *_ = words.split()
        said = {
            "cache": _cache_status,
            "writecache": _writecache_status,
            "thin": lambda *_: "50331648 83886079",
            "thin-pool": lambda *_: (
                "1 1184/32768 409600/983040 - rw no_discard_passdown queue_if_no_space - 1024"
            ),
            "striped": lambda *_: "2 9:124 9:125 1 AA",
        }.get(target)
        yield f"{head}: {first} {length} {target} {said(kernel, counters) if said is not None else ''}"


def _cache_status(kernel: SimKernel, counters: Mapping[int, SimCounters]) -> str:
    mode, policy, threshold = _settings(kernel)
    reads, writes = counters[3].reads, counters[3].writes
    used = min(CACHE_BLOCKS, 1_204_000 + int(writes) // 400)
    numbers = (
        int(reads * _HITS),
        int(reads * (1 - _HITS)) + int(counters[5].reads),
        int(writes * _HITS),
        int(writes * (1 - _HITS)),
        int(writes) // 900,
        int(writes) // 300,
        4096 + int(writes) % 1000 if mode == "writeback" and policy != "cleaner" else 0,
    )
    return (
        f"8 611/2048 {BLOCK_SECTORS} {used}/{CACHE_BLOCKS} {' '.join(map(str, numbers))} 2 metadata2 {mode}"
        f" 2 migration_threshold {threshold} {policy} 0 rw - "
    )


def _writecache_status(kernel: SimKernel, counters: Mapping[int, SimCounters]) -> str:
    cleans = kernel.knobs.get(_CLEANER) == "1"
    cache, origin = counters[14], counters[15]
    reads, hits = _READS + int(cache.reads + origin.reads), _READ_HITS + int(cache.reads)
    writes = _WRITES + int(cache.writes)
    held = 0 if cleans else 96_000 + writes % 4000
    again = writes // 5
    return (
        f"0 {FRESH_BLOCKS} {FRESH_BLOCKS - held} 0 {reads} {hits} {writes} {again} 0 0"
        f" {writes - again} 0 {writes // 40} 0"
    )
