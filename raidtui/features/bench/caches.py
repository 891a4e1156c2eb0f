"""Caches under a run: their state before and after it, and their hits over time.

bcache is read from sysfs and /proc/diskstats; what the device mapper knows comes from ``dmsetup status``,
which needs root and is asked in a thread of its own. No device is opened.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from raidtui.features.bench.place import Place
from raidtui.host.block import BLOCK
from raidtui.host.diskstats import read_io
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.stack.bcache_files import bcache_filled_percent
from raidtui.host.stack.device_mapper import (
    STATUS,
    TABLE,
    MapLine,
    cache_of,
    parse_maps,
    writecache_of,
)
from raidtui.host.stack.stack_nodes import MapFacts, read_nodes
from raidtui.model.stack import CacheState, StackKind, StackNode, hit_ratio
from raidtui.view.units import binary_size

COLD_SHARE = 0.1
"""Of the smaller of cache and workload: with less than that in it, a cache is cold."""


class CacheCount(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Counters of one cache; they only count on, from an arbitrary beginning."""

    name: str
    hits: int
    misses: int


class CacheReading(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The counters of all caches under a run at one moment.

    Args:
        t_s: seconds of the run, by the clock of its samples.
        counts: the uppermost cache first; one that could not be read is left out.
    """

    t_s: float
    counts: tuple[CacheCount, ...] = ()


class CacheRun(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A cache under a run.

    Args:
        name, label: the kernel's name, and what people call it: vc/slow.
        kind: lvm-cache, lvm-writecache or bcache.
        before, after: its state as the run began and after it ended, with the kernel's own counters; those
            of bcache lag by up to 23 s. ``after`` is None where the worker was killed, or nothing answered.
        cold: whether it began with next to nothing in it, see ``is_cold``; None where that is not known.
        hits, misses: of the time that was measured; None where that is not known.
        by_requests: whether these are reads of the cached device and those of them that reached the backing
            device, since the kernel's counters lag; else they are the kernel's counters.
    """

    name: str
    kind: str
    label: str = ""
    before: CacheState = CacheState()
    after: CacheState | None = None
    cold: bool | None = None
    hits: int | None = None
    misses: int | None = None
    by_requests: bool = False

    @property
    def title(self) -> str:
        """What it is called."""
        return self.label or self.name

    @property
    def hit_ratio(self) -> float | None:
        """The share of hits in the time that was measured, 0 to 1; None for no requests."""
        return hit_ratio(self.hits, self.misses)

    @property
    def promotions(self) -> int | None:
        """Blocks that were copied into it from before the run until after it."""
        return _more(self.before.promotions, self.after.promotions if self.after is not None else None)

    @property
    def line(self) -> str:
        """It and all about it: vc/slow: lvm-cache, writeback, used 3.0 % of 1 GiB, and so on."""
        return f"{self.title}: {self.words}{', began cold' if self.cold else ''}"

    @property
    def words(self) -> str:
        """What is known of it."""
        states = [self.before, *([self.after] if self.after is not None else [])]
        used = [_used_percent(state) for state in states]
        dirty = [binary_size(state.dirty_bytes) for state in states if state.dirty_bytes is not None]
        modes = [state.mode for state in states if state.mode]
        parts = [self.kind, " → ".join(dict.fromkeys(modes)) or "mode not known"]
        if self.before.total_bytes and all(used):
            parts.append(
                f"used {' → '.join(dict.fromkeys(used))} % of {binary_size(self.before.total_bytes)}"
            )
        parts += [f"not written back {' → '.join(dict.fromkeys(dirty))}"] if dirty else []
        parts += [f"{self.promotions:,} promotions"] if self.promotions is not None else []
        parts += [self.before.trouble] if self.before.trouble else []
        return ", ".join((*parts, self.hits_words))

    @property
    def hits_words(self) -> str:
        """The hits of the run in words."""
        ratio = self.hit_ratio
        if ratio is None:
            return "hits not known" if self.hits is None else "no requests"
        of = (self.hits or 0) + (self.misses or 0)
        what = "reads, by those that did not reach the backing device" if self.by_requests else "requests"
        return f"hits {percent_words(ratio)} of {of:,} {what}"


def percent_words(ratio: float) -> str:
    """Return a ratio in percent: 87.3 %; what is not quite all is never 100 %."""
    return f"{percent_number(ratio)} %"


def percent_number(ratio: float) -> str:
    """Return the same without the sign."""
    shown = f"{ratio * 100:.1f}"
    return "99.9" if shown == "100.0" and ratio < 1 else shown


def _used_percent(state: CacheState) -> str:
    if state.used_bytes is None or not state.total_bytes:
        return ""
    return f"{100 * state.used_bytes / state.total_bytes:.1f}"


def _more(before: int | None, after: int | None) -> int | None:
    """Return how far a counter continued; None where it is not known, or began again."""
    return None if before is None or after is None or after < before else after - before


def is_cold(used_bytes: int | None, total_bytes: int | None, work_bytes: int) -> bool | None:
    """Whether so little is in a cache that it can serve next to nothing of a workload.

    Args:
        used_bytes: what is in it.
        total_bytes: its size.
        work_bytes: what the run works on; 0 where that is not known.

    Returns:
        None where it is not known. What else is in a cache is not known: one that is full of other data is
        not cold, but of no use to the run.
    """
    if used_bytes is None or not total_bytes:
        return None
    return used_bytes < COLD_SHARE * (min(total_bytes, work_bytes) if work_bytes else total_bytes)


def hit_points(readings: Sequence[CacheReading], name: str) -> tuple[tuple[float, float], ...]:
    """Return the hits of a cache over time, oldest first; spans without requests are left out.

    Returns:
        (second at which it was read, share of hits since the reading before, 0 to 1).
    """
    steps = ((t_s, hit_ratio(hits, misses)) for t_s, hits, misses in _steps(readings, name))
    return tuple((t_s, ratio) for t_s, ratio in steps if ratio is not None)


def hits_of(readings: Sequence[CacheReading], name: str) -> tuple[int, int] | None:
    """Return hits and misses of a cache from the first to the last reading; None for fewer than two."""
    steps = list(_steps(readings, name))
    return (sum(hits for _, hits, _ in steps), sum(misses for _, _, misses in steps)) if steps else None


def _steps(readings: Sequence[CacheReading], name: str) -> Iterator[tuple[float, int, int]]:
    """Yield (seconds, hits, misses) between readings; where counters began again, nothing is known."""
    last: CacheCount | None = None
    for reading in readings:
        count = next((each for each in reading.counts if each.name == name), None)
        if count is None:
            continue
        if last is not None and count.hits >= last.hits and count.misses >= last.misses:
            yield reading.t_s, count.hits - last.hits, count.misses - last.misses
        last = count


TOOL_S = 5.0
"""A tool that takes longer is given up; what it would say is not known."""


class CacheWatch:
    """Watches the caches below a place; one thread at a time may use it.

    Args:
        reader: the host.
        place: where the run is.
    """

    def __init__(self, reader: HostReader, place: Place) -> None:
        self._reader = reader
        self._layers = frozenset(place.layers)
        self._nodes: tuple[StackNode, ...] = ()
        self._reads: dict[str, tuple[int, int]] = {}
        self._counted: dict[str, tuple[int, int]] = {}

    def begin(self, work_bytes: int) -> tuple[CacheRun, ...]:
        """Return the caches as they are before a run, the uppermost first; () where there are none.

        Args:
            work_bytes: what the run works on; 0 where that is not known.
        """
        self._nodes = self._find()
        return tuple(
            CacheRun(
                name=node.name,
                label=node.label,
                kind=node.kind,
                before=node.cache or CacheState(),
                cold=self._is_cold(node, work_bytes),
                by_requests=node.kind is StackKind.BCACHE,
            )
            for node in self._nodes
        )

    def end(self, caches: tuple[CacheRun, ...]) -> tuple[CacheRun, ...]:
        """Return caches with their state after a run; what is not known any more has none."""
        states = {node.name: node.cache for node in self._find()} if caches else {}
        return tuple(replace(each, after=states.get(each.name)) for each in caches)

    def read(self, t_s: float) -> CacheReading:
        """Return the counters now.

        Args:
            t_s: the second of the run.
        """
        maps = any(node.kind is not StackKind.BCACHE for node in self._nodes)
        statuses = self._ask(STATUS) if maps else {}
        counts = []
        for node in self._nodes:
            count = self._by_requests(node) if node.kind is StackKind.BCACHE else self._by_map(node, statuses)
            if count is not None:
                counts.append(count)
        return CacheReading(t_s=t_s, counts=tuple(counts))

    def _find(self) -> tuple[StackNode, ...]:
        if not self._layers:
            return ()
        maps = any(name.startswith("dm-") for name in self._layers)
        facts = MapFacts(tables=self._ask(TABLE), statuses=self._ask(STATUS)) if maps else MapFacts()
        nodes = read_nodes(self._reader, facts).values()
        found = [node for node in nodes if node.name in self._layers and node.cache is not None]
        return tuple(reversed(found))

    def _ask(self, argv: tuple[str, ...]) -> Mapping[str, list[MapLine]]:
        output = self._reader.ask(*argv, timeout_s=TOOL_S)
        return parse_maps(output.stdout) if output.status == 0 else {}

    def _is_cold(self, node: StackNode, work_bytes: int) -> bool | None:
        cache = node.cache
        if cache is None or node.kind is StackKind.WRITECACHE:  # it holds what was written, whatever is read
            return None
        if node.kind is not StackKind.BCACHE:
            return is_cold(cache.used_bytes, cache.total_bytes, work_bytes)
        # What is not written to it is not in it; but that counter begins again when the set is registered,
        # and how much is filled is known in whole percents, and since the last garbage collection.
        filled = bcache_filled_percent(self._reader, cache.devices[0]) if cache.devices else None
        cold = is_cold(cache.written_bytes, cache.total_bytes, work_bytes)
        if cold and filled != 0:
            return None if filled is None else False
        return cold

    def _by_map(self, node: StackNode, statuses: Mapping[str, list[MapLine]]) -> CacheCount | None:
        lines = statuses.get((self._reader.text(f"{BLOCK}/{node.name}/dm/name") or "").strip(), [])
        if len(lines) != 1 or len(node.segments) != 1:
            return None
        state_of = writecache_of if node.kind is StackKind.WRITECACHE else cache_of
        state = state_of(node.segments[0], lines[0].args)
        if state is None or state.hits is None or state.misses is None:
            return None
        return CacheCount(name=node.name, hits=state.hits, misses=state.misses)

    def _by_requests(self, node: StackNode) -> CacheCount | None:
        """Count the reads, and those of them that reach the backing device: bcache's own counters lag."""
        backing = node.cache.backing if node.cache is not None else ""
        counters = read_io(self._reader, (node.name, backing))
        if node.name not in counters or backing not in counters:
            return None
        now = (counters[node.name].reads, counters[backing].reads)
        before = self._reads.get(node.name, now)
        self._reads[node.name] = now
        reads, missed = (max(0, each - old) for each, old in zip(now, before, strict=True))
        hits, misses = self._counted.get(node.name, (0, 0))
        counted = (hits + max(0, reads - missed), misses + min(reads, missed))
        self._counted[node.name] = counted
        return CacheCount(name=node.name, hits=counted[0], misses=counted[1])
