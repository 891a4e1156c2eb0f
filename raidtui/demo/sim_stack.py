"""Simulated volumes of LVM on the demo's arrays: a linear one over two of them, and one with a cache.

Sources: the tables and states that the device mapper of Linux 6.1 prints.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import pairwise

from msgspec import Struct

from raidtui.demo.disks import SimCounters
from raidtui.demo.kernel import SimKernel
from raidtui.host.block import BLOCK
from raidtui.host.udev import DATA

PHYSICAL = ("md124", "md125", "md127")
"""The arrays that are physical volumes."""
_MAJOR, _START = 253, 2048
_GIB = 1 << 21
_IMAGES, _MORE, _CACHE, _META, _DATA = 1200 * _GIB, 180 * _GIB, 100 * _GIB, 16384, 400 * _GIB
_BLOCK_SECTORS = 128
_GROUP = "Xv0dQmG2ePq7sT4uWzB1cE5fH8jK3nR6"
_FAST = "Lc9QBrZzyLK5whpJfssWPftwtsRQfy45"
_KNOBS = {"--cachemode": "dm-1/mode", "--cachepolicy": "dm-1/policy"}
_FIRST = ("writeback", "smq")
_THRESHOLD, _FIRST_THRESHOLD = "dm-1/migration_threshold", "2048"
_SHARE = 0.3
"""How much of what goes through the array under the cache is the cache's."""
_HITS = 0.9


class SimMap(Struct, frozen=True, kw_only=True):
    """A map of the device mapper.

    Args:
        minor: dm-MINOR.
        table: its lines, each from the target on, with their lengths.
        slaves: what it stands on.
        kind: the file system on it; "" for none.
    """

    minor: int
    name: str
    uuid: str
    table: tuple[tuple[int, str], ...]
    slaves: tuple[str, ...]
    kind: str = ""

    @property
    def sectors(self) -> int:
        """Its size."""
        return sum(length for length, _ in self.table)

    def lines(self) -> Iterator[str]:
        """Yield its table as dmsetup prints it."""
        at = 0
        for length, words in self.table:
            yield f"{self.name}: {at} {length} {words}"
            at += length


def _uuid(volume: str, suffix: str = "") -> str:
    return f"LVM-{_GROUP}{volume}{suffix}"


MAPS = (
    SimMap(
        minor=0,
        name="vg0-images",
        uuid=_uuid("a0PpQ2rS3tU4vW5xY6zA7bC8dE9fG0hJ"),
        table=((_IMAGES, f"linear 9:125 {_START}"), (_MORE, f"linear 9:124 {_START}")),
        slaves=("md124", "md125"),
        kind="xfs",
    ),
    SimMap(
        minor=1,
        name="vg0-data",
        uuid=_uuid("b1QqR3sT4uV5wX6yZ7aB8cD9eF0gH1jK"),
        table=((_DATA, f"cache 253:4 253:3 253:5 {_BLOCK_SECTORS} 2 metadata2 writeback smq 0"),),
        slaves=("dm-3", "dm-4", "dm-5"),
        kind="ext4",
    ),
    SimMap(
        minor=2,
        name="vg0-fast_cvol",
        uuid=_uuid(_FAST, "-cvol"),
        table=((_CACHE, f"linear 9:125 {_START + _IMAGES}"),),
        slaves=("md125",),
    ),
    SimMap(
        minor=3,
        name="vg0-fast_cvol-cdata",
        uuid=_uuid(_FAST, "-cdata"),
        table=((_CACHE - _META, f"linear 253:2 {_META}"),),
        slaves=("dm-2",),
    ),
    SimMap(
        minor=4,
        name="vg0-fast_cvol-cmeta",
        uuid=_uuid(_FAST, "-cmeta"),
        table=((_META, "linear 253:2 0"),),
        slaves=("dm-2",),
    ),
    SimMap(
        minor=5,
        name="vg0-data_corig",
        uuid=_uuid("b1QqR3sT4uV5wX6yZ7aB8cD9eF0gH1jK", "-real"),
        table=((_DATA, f"linear 9:127 {_START}"),),
        slaves=("md127",),
    ),
)


def has_volumes(kernel: SimKernel) -> bool:
    """Whether the arrays that the volumes are on are there."""
    return all(kernel.array(name) is not None for name in PHYSICAL)


def map_counters(kernel: SimKernel) -> dict[int, SimCounters]:
    """Return the counters of the maps by minor number: what an array does, its volumes do."""
    vm, data = kernel.counters["md125"], kernel.counters["md127"]
    cached = _scaled(vm, _SHARE)
    return {
        0: _scaled(vm, 1 - _SHARE),
        1: _sum(cached, data),
        2: cached,
        3: cached,
        4: SimCounters(),
        5: data,
    }


def _scaled(counters: SimCounters, factor: float) -> SimCounters:
    return SimCounters(**{name: getattr(counters, name) * factor for name in counters.__struct_fields__})


def _sum(one: SimCounters, other: SimCounters) -> SimCounters:
    return SimCounters(**{name: getattr(one, name) + getattr(other, name) for name in one.__struct_fields__})


def stat_lines(kernel: SimKernel) -> list[str]:
    """Return the maps' lines of /proc/diskstats."""
    if not has_volumes(kernel):
        return []
    return [counters.line((_MAJOR, minor), f"dm-{minor}") for minor, counters in map_counters(kernel).items()]


def volume_files(kernel: SimKernel) -> tuple[dict[str, str], dict[str, str]]:
    """Return the files and links of the maps: path -> text, path -> target."""
    files: dict[str, str] = {}
    links: dict[str, str] = {}
    for each in MAPS if has_volumes(kernel) else ():
        node = f"{BLOCK}/dm-{each.minor}"
        links[node] = f"../../devices/virtual/block/dm-{each.minor}"
        links[f"/dev/mapper/{each.name}"] = f"../dm-{each.minor}"
        words = {
            "dev": f"{_MAJOR}:{each.minor}",
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
        files[f"{DATA}/b{_MAJOR}:{each.minor}"] = "\n".join(lines) + "\n"
    return files, links


def stat_files(kernel: SimKernel) -> Iterator[tuple[str, str]]:
    """Yield (path, text) of the maps' files that change all the time."""
    if has_volumes(kernel):
        for line in stat_lines(kernel):
            words = line.split()
            yield f"{BLOCK}/{words[2]}/stat", " ".join(words[3:]) + "\n"


def tool_output(kernel: SimKernel, argv: tuple[str, ...]) -> str:
    """Return what dmsetup, lvs or lvchange prints; what lvchange sets is the cache's from then on."""
    maps = MAPS if has_volumes(kernel) else ()
    if argv[0] == "lvchange":
        _change(kernel, argv)
        return f"  Logical volume {argv[-1]} changed.\n"
    if argv[0] == "lvs":
        rows = [_row(each) for each in maps]
        return json.dumps({"report": [{"lv": rows}]})
    if "table" in argv:
        return "".join(f"{line}\n" for each in maps for line in _table(each, kernel))
    one = next((each for each in maps if each.name == argv[-1]), None)
    if one is not None:
        return "".join(f"{line.partition(': ')[2]}\n" for line in _status(one, kernel))
    return "".join(f"{line}\n" for each in maps for line in _status(each, kernel))


def _change(kernel: SimKernel, argv: tuple[str, ...]) -> None:
    """Take the cache's settings from the arguments of lvchange: --cachemode writeback."""
    for option, value in pairwise(argv):
        if option == "--cachesettings":
            kernel.knobs[_THRESHOLD] = value.rpartition("=")[2]
        elif option in _KNOBS:
            kernel.knobs[_KNOBS[option]] = value


def _settings(kernel: SimKernel) -> tuple[str, str, str]:
    """Return mode, policy and migration threshold of the cache."""
    mode, policy = (kernel.knobs.get(key, text) for key, text in zip(_KNOBS.values(), _FIRST, strict=True))
    return mode, policy, kernel.knobs.get(_THRESHOLD, _FIRST_THRESHOLD)


def _table(each: SimMap, kernel: SimKernel) -> Iterator[str]:
    mode, policy, _ = _settings(kernel)
    for line in each.lines():
        yield line.replace(" writeback smq ", f" {mode} {policy} ")


def _row(each: SimMap) -> Mapping[str, str]:
    group, _, volume = each.name.partition("-")
    return {"lv_uuid": each.uuid[36:68], "lv_name": volume, "vg_name": group, "lv_health_status": ""}


def _status(each: SimMap, kernel: SimKernel) -> Iterator[str]:
    if each.minor != 1:
        for line in each.lines():
            head, _, _ = line.partition(" linear")
            yield f"{head} linear "
        return
    mode, policy, threshold = _settings(kernel)
    counters = map_counters(kernel)
    reads, writes = counters[3].reads, counters[3].writes
    blocks = (_CACHE - _META) // _BLOCK_SECTORS
    used = min(blocks, 1_204_000 + int(writes) // 400)
    numbers = (
        int(reads * _HITS),
        int(reads * (1 - _HITS)) + int(counters[5].reads),
        int(writes * _HITS),
        int(writes * (1 - _HITS)),
        int(writes) // 900,
        int(writes) // 300,
        4096 + int(writes) % 1000 if mode == "writeback" and policy != "cleaner" else 0,
    )
    yield (
        f"{each.name}: 0 {each.sectors} cache 8 611/2048 {_BLOCK_SECTORS} {used}/{blocks}"
        f" {' '.join(map(str, numbers))} 2 metadata2 {mode}"
        f" 2 migration_threshold {threshold} {policy} 0 rw - "
    )
