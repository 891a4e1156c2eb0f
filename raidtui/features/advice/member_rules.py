"""Rules about members: disks that age together, spares, schedulers, write caches, fine bitmaps. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from raidtui.features.advice.advice import Advice, AdviceCode, HostFacts
from raidtui.model.array import Array
from raidtui.model.finding import Severity
from raidtui.model.knob import KnobScope
from raidtui.model.levels import BITMAP_BYTES, LONG_REBUILD_BYTES
from raidtui.model.stack import StackKind
from raidtui.monitor.wear.ledger_entries import LedgerEntry
from raidtui.view.units import KIB, binary_size, joined, short_binary

RUN_IN_HOURS, ALIKE_HOURS, WORN_PERCENT = 1000, 0.05, 70
FINE_BITMAP_BYTES = 16 << 20
_PAIR = 2
_BARRIERS_OFF = frozenset({"nobarrier", "barrier=0"})


def advise_on_members(facts: HostFacts, arrays: Sequence[Array]) -> Iterator[Advice]:
    """Yield what is to be said of the members of arrays that run.

    Args:
        facts: the host.
        arrays: those of its arrays that are judged.
    """
    yield from _advise_on_twins(facts, arrays)
    spare = any(member.role == "spare" for array in facts.snapshot.arrays for member in array.members)
    for array in arrays:
        if not spare:
            yield from _advise_on_spares(array)
        yield from _advise_on_fine_bitmap(facts, array)
    yield from _advise_on_schedulers(facts)
    yield from _advise_on_caches(facts)


def _advise_on_twins(facts: HostFacts, arrays: Sequence[Array]) -> Iterator[Advice]:
    """Yield pairs that hold the same data and have aged alike; each pair of disks once."""
    said = set()
    for array in sorted(arrays, key=lambda each: each.title):
        by_slot = {member.slot: member.name for member in array.members if member.role == "in_sync"}
        for slots in array.mirror_sets:
            names = [by_slot[slot] for slot in slots if slot in by_slot]
            pair = [facts.ages[serial] for name in names if (serial := _serial(facts, name)) in facts.ages]
            key = frozenset(each.disk for each in pair)
            alike = len(slots) == len(pair) == len(key) == _PAIR and key not in said
            if alike and (found := _twins(facts, array, pair[0], pair[1])) is not None:
                said.add(key)
                yield found


def _serial(facts: HostFacts, name: str) -> str:
    disk = facts.snapshot.disks.get(name)
    return disk.identity if disk is not None else ""


def _twins(facts: HostFacts, array: Array, one: LedgerEntry, other: LedgerEntry) -> Advice | None:
    if not one.model or (one.model, one.firmware) != (other.model, other.firmware):
        return None
    hours = sorted((one.hours or 0, other.hours or 0))
    if hours[0] < RUN_IN_HOURS or hours[1] - hours[0] > ALIKE_HOURS * hours[1]:
        return None
    first = max(one, other, key=lambda each: (each.percent or 0, each.hours or 0, each.disk))
    worn = [each.percent for each in (one, other) if each.percent is not None]
    late = len(worn) == _PAIR and min(worn) >= WORN_PERCENT
    names = joined(sorted(_name_of(facts, each) for each in (one, other)))
    service = joined([f"{each:,}" for each in dict.fromkeys(hours)])
    used = joined([f"{each} %" for each in sorted(set(worn))])
    differ = len({(each.percent, each.hours) for each in (one, other)}) == _PAIR
    which = f": first {_name_of(facts, first)} (serial number {first.disk})" if differ else ""
    return Advice(
        code=AdviceCode.AGED_ALIKE,
        severity=Severity.ATTENTION if late else Severity.INFO,
        subject=array.title,
        text=f"{names}, copies of each other in {array.title}, have aged alike: {one.model}, firmware"
        f" {one.firmware or 'not known'}, {service} hours in service"
        + (f", {used} of their endurance used" if len(worn) == _PAIR else ""),
        detail=" ".join(sorted((one.disk, other.disk))),
        why="Copies get the same writes, so disks of one kind wear out, or hit a fault of"
        " their firmware, at the same time: both copies are lost.",
        remedy=f"replace one of them {'soon' if late else 'when convenient'}with another model or"
        f" a new disk{which}",
    )


def _name_of(facts: HostFacts, entry: LedgerEntry) -> str:
    """Return the present name of a disk: its own, not a partition's."""
    found = (disk.disk for disk in facts.snapshot.disks.values() if disk.identity == entry.disk)
    return next(found, entry.name or entry.disk)


def _advise_on_spares(array: Array) -> Iterator[Advice]:
    size = (array.component_kib or 0) * KIB
    if array.level in {"raid4", "raid5"} and size > LONG_REBUILD_BYTES and array.losses_left == 1:
        yield Advice(
            code=AdviceCode.NO_SPARE,
            severity=Severity.INFO,
            subject=array.title,
            text=f"{array.title} has no spare, and {binary_size(size)} of each member to rebuild",
            why="Until a new disk has been installed and rebuilt, one more failed disk loses the"
            " array; a spare takes over at once (md(4), mdadm(8)).",
            remedy=f"raidtui plan add {array.title} DEVICE",
        )


def _advise_on_fine_bitmap(facts: HostFacts, array: Array) -> Iterator[Advice]:
    bitmap = array.bitmap
    ours = array.level in {"raid1", "raid10"} and not array.container
    if bitmap is None or not ours or (array.component_kib or 0) * KIB < BITMAP_BYTES:
        return
    disks = [facts.snapshot.disks.get(member.name) for member in array.members]
    all_ssds = bool(disks) and all(disk is not None and disk.rotational is False for disk in disks)
    if all_ssds and bitmap.chunk_bytes and bitmap.chunk_bytes < FINE_BITMAP_BYTES:
        yield Advice(
            code=AdviceCode.FINE_BITMAP,
            severity=Severity.INFO,
            subject=array.title,
            text=f"the bitmap of {array.title} has a bit for each {short_binary(bitmap.chunk_bytes)}",
            why="The first write to each such part waits until the bitmap is written: a cost"
            " of up to 30 % of sequential writes was measured; today's mdadm uses 64 MiB (mdadm's super1.c).",
            remedy=f"remove it and create it again: raidtui plan bitmap {array.title} none, then internal",
        )


def _advise_on_schedulers(facts: HostFacts) -> Iterator[Advice]:
    for disk in facts.tuning.of(KnobScope.DISK) if facts.tuning is not None else ():
        value = disk.values.get("scheduler")
        if disk.kind == "nvme" and disk.arrays and value is not None and value.text == "bfq":
            yield Advice(
                code=AdviceCode.BFQ_ON_NVME,
                severity=Severity.ATTENTION,
                subject=disk.name,
                text=f"the scheduler of {disk.name} is bfq",
                why="It handles each request under one lock: an NVMe SSD can serve more requests than it lets"
                " through (Documentation/block/bfq-iosched.rst). Where ionice or io.weight are in use, they"
                " depend on it.",
                remedy=f"raidtui tune set {disk.name} scheduler=none",
            )


def _advise_on_caches(facts: HostFacts) -> Iterator[Advice]:
    for cache in facts.drive_caches:
        if cache.loses_writes:
            yield Advice(
                code=AdviceCode.NO_FLUSHES,
                severity=Severity.ATTENTION,
                subject=cache.name,
                text=f"{cache.name} caches writes, and the kernel never tells it to flush them: its"
                " queue/write_cache is write through",
                why="A power cut can lose what a file system or md believes to be on the disk, unless the"
                " disk's cache is protected against that (Documentation/ABI/stable/sysfs-block).",
                remedy=f"write back into /sys/block/{cache.name}/queue/write_cache, and find what has set it",
            )
    flushed = {cache.name for cache in facts.drive_caches if cache.flushed}
    for node in facts.stack.nodes.values():
        below = [
            facts.stack.nodes[name] for name in facts.stack.below(node.name) if name in facts.stack.nodes
        ]
        on_array = any(each.kind is StackKind.MD for each in (node, *below))
        caching = sorted(each.name for each in below if each.name in flushed)
        for place in node.file_system.mounts if on_array and caching else ():
            off = _BARRIERS_OFF.intersection(facts.options.get(place, "").split(","))
            if off:
                yield Advice(
                    code=AdviceCode.NO_FLUSHES,
                    severity=Severity.ATTENTION,
                    subject=place,
                    text=f"{place} is mounted with {joined(sorted(off))}, and {joined(caching)}"
                    f" {'caches' if len(caching) == 1 else 'cache'} writes",
                    why="The file system sends no flushes: a power cut can lose its"
                    " journal, and with it the consistency of the file system (ext4(5)).",
                    remedy=f"remove it from the line of {place} in /etc/fstab, then mount -o remount,barrier"
                    f" {place}",
                )
