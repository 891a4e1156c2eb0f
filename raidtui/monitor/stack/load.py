"""Load of each layer, and the share that each volume below has of it, from counters at several moments."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from raidtui.model.disk import DiskIo
from raidtui.model.stack import VOLUMES, CacheState, Stack, StackKind, StackNode
from raidtui.view.units import SECTOR_BYTES

SECONDS_S, MINUTES_S = 10.0, 300.0
"""The two spans over which shares are shown."""
_COARSE_S = 5.0
_STRIPES = frozenset({"raid0", "linear"})


class LayerLoad(Struct, frozen=True, kw_only=True):
    """What went through a layer in a span of time.

    Args:
        over_s: the span.
        read_bytes, written_bytes: in all of it.
        read_ms, write_ms: mean time of a request; None for no requests.
        queue: the mean number of requests in flight (iostat's aqu-sz).
    """

    over_s: float
    reads: int = 0
    writes: int = 0
    read_bytes: int = 0
    written_bytes: int = 0
    read_ms: float | None = None
    write_ms: float | None = None
    queue: float = 0.0

    @property
    def read_bytes_s(self) -> float:
        """Bytes read in a second."""
        return self.read_bytes / self.over_s

    @property
    def written_bytes_s(self) -> float:
        """Bytes written in a second."""
        return self.written_bytes / self.over_s

    @property
    def requests_s(self) -> float:
        """Requests in a second."""
        return (self.reads + self.writes) / self.over_s


class PartShare(Struct, frozen=True, kw_only=True):
    """What one of several devices under a volume did; shares are 0 to 1, None for no requests at all.

    Args:
        reads, writes, total: of the bytes that all of them read, wrote, and both.
        requests: of the requests.
    """

    reads: float | None
    writes: float | None
    total: float | None
    requests: float | None


class CacheDelta(Struct, frozen=True, kw_only=True):
    """What a cache did in a span of time."""

    over_s: float
    hits: int
    misses: int
    promotions: int | None = None
    written_bytes: int | None = None


def layer_load(before: DiskIo, after: DiskIo, over_s: float) -> LayerLoad | None:
    """Return the load between two readings; None where the device was remade between them."""
    reads, writes = after.reads - before.reads, after.writes - before.writes
    read, written = (
        after.read_sectors - before.read_sectors,
        after.written_sectors - before.written_sectors,
    )
    if over_s <= 0 or min(reads, writes, read, written) < 0:
        return None
    return LayerLoad(
        over_s=over_s,
        reads=reads,
        writes=writes,
        read_bytes=read * SECTOR_BYTES,
        written_bytes=written * SECTOR_BYTES,
        read_ms=(after.read_ms - before.read_ms) / reads if reads else None,
        write_ms=(after.write_ms - before.write_ms) / writes if writes else None,
        queue=max(0, after.queued_ms - before.queued_ms) / 1000 / over_s,
    )


class StackMeter:
    """Keeps readings for some minutes, and says what continued between them."""

    def __init__(self) -> None:
        self._kept: list[Stack] = []

    def add(self, stack: Stack) -> None:
        """Take a reading; those of more than some seconds ago are thinned out."""
        now_s = stack.clock_s
        kept: list[Stack] = []
        for each in self._kept:
            fresh = now_s - SECONDS_S - 2 <= each.clock_s < now_s
            if fresh or (each.clock_s < now_s and (not kept or each.clock_s - kept[-1].clock_s >= _COARSE_S)):
                kept.append(each)
        while len(kept) > 1 and now_s - kept[1].clock_s >= MINUTES_S:
            del kept[0]
        self._kept = [*kept, stack]

    @property
    def now(self) -> Stack:
        """The newest reading."""
        return self._kept[-1]

    def over_s(self, span_s: float) -> float:
        """Return how much of a span has been seen."""
        before = self._before(span_s)
        return self.now.clock_s - before.clock_s if before is not None else 0.0

    def load(self, name: str, span_s: float = SECONDS_S) -> LayerLoad | None:
        """Return the load of a layer over the last seconds; None where that is not known."""
        before = self._before(span_s)
        if before is None or name not in before.counters or name not in self.now.counters:
            return None
        over_s = self.now.clock_s - before.clock_s
        return layer_load(before.counters[name], self.now.counters[name], over_s)

    def shares(self, name: str, span_s: float) -> Mapping[str, PartShare]:
        """Return the share of each device under a volume.

        It is counted on these devices, so with what others do there.

        Returns:
            {} where it stands on one, is idle, or nothing is known.
        """
        parts, own = spread_over(self.now, name), self.load(name, span_s)
        if own is None or not own.reads + own.writes:
            return {}
        loads = {part: load for part in parts if (load := self.load(part, span_s)) is not None}
        if len(parts) < 2 or len(loads) < len(parts):
            return {}
        read = sum(load.read_bytes for load in loads.values())
        written = sum(load.written_bytes for load in loads.values())
        requests = sum(load.reads + load.writes for load in loads.values())
        return {
            part: PartShare(
                reads=load.read_bytes / read if read else None,
                writes=load.written_bytes / written if written else None,
                total=(load.read_bytes + load.written_bytes) / (read + written) if read + written else None,
                requests=(load.reads + load.writes) / requests if requests else None,
            )
            for part, load in loads.items()
        }

    def cache(self, name: str, span_s: float = SECONDS_S) -> CacheDelta | None:
        """Return what a cache did; None where that is not known.

        Its counters begin again when LVM loads its table again: that is not known, too.
        """
        before = self._before(span_s)
        old, new = (_cache_in(stack, name) for stack in (before, self.now))
        if before is None or old is None or new is None:
            return None
        hits, misses = _less(new.hits, old.hits), _less(new.misses, old.misses)
        if hits is None or misses is None or hits < 0 or misses < 0:
            return None
        promotions, written = (
            _less(new.promotions, old.promotions),
            _less(new.written_bytes, old.written_bytes),
        )
        return CacheDelta(
            over_s=self.now.clock_s - before.clock_s,
            hits=hits,
            misses=misses,
            promotions=promotions if promotions is not None and promotions >= 0 else None,
            written_bytes=written if written is not None and written >= 0 else None,
        )

    def _before(self, span_s: float) -> Stack | None:
        """Return the newest reading that is at least so old, or the oldest; None for fewer than two."""
        if len(self._kept) < 2:
            return None
        latest = self.now.clock_s - span_s
        old = [stack for stack in self._kept if stack.clock_s <= latest]
        return old[-1] if old else self._kept[0]


def _less(new: int | None, old: int | None) -> int | None:
    return None if new is None or old is None else new - old


def _cache_in(stack: Stack | None, name: str) -> CacheState | None:
    node = stack.nodes.get(name) if stack is not None else None
    return node.cache if node is not None else None


def spread_over(stack: Stack, name: str) -> tuple[str, ...]:
    """Return the devices over which a volume or an array without redundancy spreads its data, by kernel name.

    Of a volume these are the physical volumes under it. What a cache lies on is not among them, as it holds
    no part of the data, but some of them again; nor are the copies of LVM's own RAID.
    """
    node = stack.nodes.get(name)
    if node is None:
        return ()
    if node.kind is StackKind.MD:
        return node.parents if node.level in _STRIPES else ()
    if node.kind not in VOLUMES:
        return spread_over(stack, node.parents[0]) if len(node.parents) == 1 else ()
    return tuple(dict.fromkeys(_physical(stack, node, frozenset())))


def _physical(stack: Stack, node: StackNode, seen: frozenset[str]) -> list[str]:
    found: list[str] = []
    cached = node.cache.devices if node.cache is not None else ()
    for parent in node.parents if node.kind is not StackKind.RAID else ():
        below = stack.nodes[parent]
        if parent in cached or parent in seen or is_metadata(below) or _is_part_of_cache(below):
            continue
        if below.kind in VOLUMES:
            found += _physical(stack, below, seen | {parent})
        else:
            found.append(parent)
    return found


def is_metadata(node: StackNode) -> bool:
    """Whether an inner volume holds metadata."""
    return node.label.endswith(("_tmeta", "_cmeta", "-cmeta")) or "_rmeta_" in node.label


def _is_part_of_cache(node: StackNode) -> bool:
    """Whether a volume is a cache's: without a table, its name alone says so."""
    return node.label.endswith(("_cvol", "_cdata", "-cdata"))
