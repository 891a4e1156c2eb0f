"""Reads the caches below a run: their state before and after it, and their counters about once a second.

bcache is read from sysfs and /proc/diskstats; what the device mapper knows comes from ``dmsetup status``,
which needs root and is asked in a thread of its own. No device is opened.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from raidtui.features.bench.cache_figures import CacheCount, CacheReading, CacheRun, is_cold
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
from raidtui.model.stack import CacheState, StackKind, StackNode

TOOL_S = 5.0
"""A tool that takes longer is given up; what it would say is not known."""


class CacheWatch:
    """Watches the caches below a place; one thread at a time may use it.

    Args:
        root: the host.
        place: where the run is.
    """

    def __init__(self, root: HostReader, place: Place) -> None:
        self._root = root
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
        nodes = read_nodes(self._root, facts).values()
        found = [node for node in nodes if node.name in self._layers and node.cache is not None]
        return tuple(reversed(found))

    def _ask(self, argv: tuple[str, ...]) -> Mapping[str, list[MapLine]]:
        output = self._root.ask(*argv, timeout_s=TOOL_S)
        return parse_maps(output.stdout) if output.status == 0 else {}

    def _is_cold(self, node: StackNode, work_bytes: int) -> bool | None:
        cache = node.cache
        if cache is None or node.kind is StackKind.WRITECACHE:  # it holds what was written, whatever is read
            return None
        if node.kind is not StackKind.BCACHE:
            return is_cold(cache.used_bytes, cache.total_bytes, work_bytes)
        # What is not written to it is not in it; but that counter begins anew when the set is registered,
        # and how much is filled is known in whole percents, and since the last garbage collection.
        filled = bcache_filled_percent(self._root, cache.devices[0]) if cache.devices else None
        cold = is_cold(cache.written_bytes, cache.total_bytes, work_bytes)
        if cold and filled != 0:
            return None if filled is None else False
        return cold

    def _by_map(self, node: StackNode, statuses: Mapping[str, list[MapLine]]) -> CacheCount | None:
        lines = statuses.get((self._root.text(f"{BLOCK}/{node.name}/dm/name") or "").strip(), [])
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
        counters = read_io(self._root, (node.name, backing))
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
