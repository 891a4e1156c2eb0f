"""The speed of a sync: the disks' speed, the limits, and a little reproducible noise."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence

from raidtui.demo.disks import SimCounters, SimDisk
from raidtui.demo.sim_array import SimArray, SimMember
from raidtui.model.geometry import copy_groups

_DISK_NOISE = 0.02
_LIMIT_NOISE = 0.006
_YIELD = 0.25
_CRAWL_KIB_S = 64.0  # one window of requests passes between two pauses, however low the limit
_SYNC_REQUEST_KIB = 128.0


def noise(seed: int, name: str, tick: int) -> float:
    """Return a number in [-1, 1] that depends only on the arguments."""
    return zlib.crc32(f"{tick}:{name}:{seed}".encode()) / 0x7FFFFFFF - 1.0


def running(arrays: Sequence[SimArray]) -> list[SimArray]:
    """Return the arrays with a sync that is not delayed."""
    return [array for array in arrays if array.sync is not None and not array.sync.delayed]


def share_of_member(array: SimArray) -> float:
    """Return a member's share of the sync's speed: 0.5 for RAID-10 near 2 on four disks."""
    counts = array.sync is not None and array.counts_array(array.sync.action)
    return array.copies / array.raid_disks if counts else 1.0


def io_of(array: SimArray) -> list[tuple[SimMember, bool]]:
    """Return the members that the sync uses, each with whether it is written to."""
    if array.sync is None:
        return []
    whole = [member for member in array.members if member.in_sync]
    if array.sync.action == "reshape":
        placed = [member for member in array.members if member.slot is not None and not member.faulty]
        return [(member, False) for member in whole] + [(member, True) for member in placed]
    if array.sync.action != "recover":
        if array.level == "raid1" and array.sync.action == "resync":
            return [(member, member is not whole[0]) for member in whole]
        return [(member, False) for member in whole]
    targets = [member for member in array.members if member.is_target]
    slots = {member.slot for member in targets}
    groups = copy_groups(array.level, array.layout, array.raid_disks)
    near = {slot for group in groups if slots & set(group) for slot in group}
    sources = [member for member in whole if not near or member.slot in near]
    if near:
        sources = sources[: len(targets)]
    return [(member, False) for member in sources] + [(member, True) for member in targets]


def natural_kib_s(array: SimArray, arrays: Sequence[SimArray], disks: Mapping[str, SimDisk]) -> float:
    """Return the speed of the slowest disk, in the unit of the sync's progress."""
    used: dict[str, int] = {}
    for other in running(arrays):
        for member, _ in io_of(other):
            used[member.disk] = used.get(member.disk, 0) + 1
    speeds = [
        (disks[member.disk].write_kib_s if writes else disks[member.disk].read_kib_s)
        / max(1, used.get(member.disk, 1))
        for member, writes in io_of(array)
        if member.disk in disks
    ]
    return min(speeds, default=_CRAWL_KIB_S) / share_of_member(array)


def speed_kib_s(
    array: SimArray,
    natural: float,
    limits: tuple[int, int],
    *,
    now_s: float,
    seed: int,
) -> float:
    """Return the speed of a running sync.

    Below min, md never waits; between min and max it yields to other I/O; above max it sleeps. If min is
    above max, min wins (md_do_sync).
    """
    low, high = limits
    tick = int(now_s)
    given = natural * (1 + _DISK_NOISE * noise(seed, array.name, tick))
    allowed = float(max(low, high))
    if array.load.bursting(now_s):
        allowed = min(allowed, max(float(low), natural * _YIELD))
    allowed *= 1 + _LIMIT_NOISE * noise(seed + 1, array.name, tick)
    return max(_CRAWL_KIB_S, min(given, allowed))


def account_sync(
    array: SimArray,
    moved_kib: float,
    *,
    disks: Mapping[str, SimDisk],
    counters: Mapping[str, SimCounters],
    busy_s: dict[str, float],
) -> None:
    """Count what a sync read and wrote while it moved by ``moved_kib``."""
    each_kib = moved_kib * share_of_member(array)
    for member, writes in io_of(array):
        disk = disks.get(member.disk)
        if disk is None:
            continue
        for name in (member.disk, member.device):
            counters[name].add(
                read_kib=0.0 if writes else each_kib,
                write_kib=each_kib if writes else 0.0,
                request_kib=_SYNC_REQUEST_KIB,
                request_ms=disk.request_ms,
            )
        speed = disk.write_kib_s if writes else disk.read_kib_s
        busy_s[member.disk] = busy_s.get(member.disk, 0.0) + each_kib / speed


def account_load(
    array: SimArray,
    now_s: float,
    elapsed_s: float,
    *,
    disks: Mapping[str, SimDisk],
    counters: Mapping[str, SimCounters],
    busy_s: dict[str, float],
) -> None:
    """Count what applications did on an array."""
    whole = [member for member in array.members if member.in_sync and member.disk in disks]
    load = array.load
    factor = load.burst_factor if load.bursting(now_s) else 1.0
    reads, writes = load.read_iops * factor * elapsed_s, load.write_iops * factor * elapsed_s
    size = load.request_kib
    counters[array.name].add(read_kib=reads * size, write_kib=writes * size, request_kib=size, request_ms=0.5)
    spread = array.copies if array.level != "raid5" else 2
    for member in whole:
        disk = disks[member.disk]
        own_reads, own_writes = reads / len(whole), writes * spread / len(whole)
        for name in (member.disk, member.device):
            counters[name].add(
                read_kib=own_reads * size,
                write_kib=own_writes * size,
                request_kib=size,
                request_ms=disk.request_ms,
            )
        spent_s = (own_reads + own_writes) * disk.request_ms / 4000
        busy_s[member.disk] = busy_s.get(member.disk, 0.0) + spent_s
