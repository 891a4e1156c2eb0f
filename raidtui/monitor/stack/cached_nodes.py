"""The caches of a host, for their knobs. A host without a cache runs no tool; one that hangs is given up."""

from __future__ import annotations

from collections.abc import Collection

from raidtui.host.block import BLOCK
from raidtui.host.knobs.cache_knobs import FoundCache
from raidtui.host.readers.host_reader import HostReader
from raidtui.model.array import Array
from raidtui.model.stack import Stack, StackKind, StackNode
from raidtui.monitor.stack.stack_findings import thinner_cache
from raidtui.monitor.stack.stack_reader import StackReader
from raidtui.monitor.stack.survival import Survival

_CACHED = frozenset({StackKind.BCACHE, StackKind.CACHE, StackKind.WRITECACHE})
_INNER = ("-cdata", "-cvol", "-cpool")
"""What the UUIDs of the inner volumes of LVM's caches end with."""


class CacheReader:
    """Reads them; one thread at a time may call it.

    Args:
        reader: the host.
    """

    def __init__(self, reader: HostReader) -> None:
        self._reader = reader
        self._stack_reader: StackReader | None = None
        self._fresh = True
        self.unknown: tuple[str, ...] = ()
        """What could not be read, a sentence each."""

    def forget(self) -> None:
        """Ask the tools next time, and wait for them."""
        self._fresh = True

    def read(self, arrays: Collection[Array]) -> tuple[FoundCache, ...]:
        """Return the caches, as far as they are known by now.

        Args:
            arrays: md's.
        """
        self.unknown = ()
        if not self._has_cache():
            return ()
        if self._stack_reader is None:
            self._stack_reader = StackReader(self._reader, only_maps=True)
        wait, self._fresh = self._fresh, False
        look = self._stack_reader.look({array.name: array for array in arrays}, wait=wait)
        stack = look.meter.now
        self.unknown = tuple(f"{each[0].upper()}{each[1:]}." for each in stack.unknown)
        survival = Survival(stack, look.arrays)
        return tuple(
            FoundCache(node=node, volume=_volume(stack, node), alone=_alone(node, survival))
            for node in stack.nodes.values()
            if node.kind in _CACHED and not node.hidden
        )

    def _has_cache(self) -> bool:
        for name in self._reader.names(BLOCK):
            if name.startswith("bcache"):
                return True
            if name.startswith("dm-"):
                uuid = (self._reader.text(f"{BLOCK}/{name}/dm/uuid") or "").strip()
                if uuid.startswith("LVM-") and uuid.endswith(_INNER):
                    return True
        return False


def _volume(stack: Stack, node: StackNode) -> str:
    """Return the label of the inner volume that the blocks of a cache of LVM are on."""
    devices = node.cache.devices if node.cache is not None else ()
    labels = (stack.nodes[each].label for each in devices if each in stack.nodes)
    return next((label for label in labels if label.endswith(("cdata", "cvol"))), "")


def _alone(node: StackNode, survival: Survival) -> str:
    thin = thinner_cache(node, survival)
    return f"the cache of {node.title} is {thin.words}" if thin is not None else ""
