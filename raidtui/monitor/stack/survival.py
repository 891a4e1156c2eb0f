"""How many disks may fail before what stands on them is lost: each layer asked for itself."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

from raidtui.model.array import Array
from raidtui.model.levels import NO_REDUNDANCY
from raidtui.model.stack import Stack, StackKind, StackNode

MOST_LOST = 3
"""More failed disks than this are not tried."""
_MOST_DISKS = 40
_MAP_LOSSES = {"raid1": None, "raid10": 1, "raid4": 1, "raid5": 1, "raid6": 2}
"""Targets of dm-raid by the beginning of their names; of raid1 one image is enough."""


class Survival:
    """One host's layers.

    Args:
        stack: the layers.
        arrays: md's arrays by kernel name.
    """

    def __init__(self, stack: Stack, arrays: Mapping[str, Array]) -> None:
        self._stack = stack
        self._arrays = arrays

    def disks(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Return the disks under some devices, themselves if they are disks."""
        nodes = self._stack.nodes
        found = dict.fromkeys(each for name in names for each in (name, *self._stack.below(name)))
        return tuple(each for each in found if each in nodes and not nodes[each].parents)

    def losses(self, *names: str) -> int | None:
        """Return how many disks may fail, whichever they are, before one of these devices is lost.

        Returns:
            At most ``MOST_LOST``; -1 where one is lost already; None where it is not known.
        """
        disks = self.disks(names)
        if not disks or len(disks) > _MOST_DISKS:
            return None
        for count in range(MOST_LOST + 1):
            for lost in combinations(disks, count):
                alive = [self._alive(name, frozenset(lost)) for name in names]
                if None in alive:
                    return None
                if not all(alive):
                    return count - 1
        return MOST_LOST

    def alive(self, name: str, lost: frozenset[str]) -> bool | None:
        """Whether a device still has its data when these disks are gone; None where it is not known."""
        return self._alive(name, lost)

    def _alive(self, name: str, lost: frozenset[str]) -> bool | None:
        node = self._stack.nodes.get(name)
        if node is None:
            return None
        if not node.parents:
            return name not in lost
        if node.kind is StackKind.MD:
            return self._array_alive(node, lost)
        parents = {parent: self._alive(parent, lost) for parent in node.parents}
        if None in parents.values():
            return None
        if node.kind is StackKind.MULTIPATH:
            return any(parents.values())
        if node.kind is StackKind.RAID:
            return _map_alive(node, parents)
        if node.cache is not None and node.cache.backing in parents and not node.cache.keeps_writes:
            return parents[node.cache.backing]
        return all(parents.values())

    def _array_alive(self, node: StackNode, lost: frozenset[str]) -> bool | None:
        array = self._arrays.get(node.name)
        if array is None or any(member.states is None for member in array.members):
            return None
        left = array.losses_left
        if array.level in NO_REDUNDANCY:
            left = -1 if array.detached else 0
        if left is None:
            return None
        counted = {member.name for member in array.members if member.has("in_sync") and not member.detached}
        members = {each: self._alive(each, lost) for each in node.parents if each in counted}
        if None in members.values():
            return None
        if sum(not alive for alive in members.values()) <= left:
            return True
        slots = {member.slot for member in array.members if members.get(member.name)}
        sets = array.mirror_sets if array.level == "raid10" else ()
        return bool(sets) and all(any(slot in slots for slot in group) for group in sets)


def _map_alive(node: StackNode, parents: Mapping[str, bool | None]) -> bool | None:
    """Of dm-raid: pairs of a device for metadata and an image."""
    segment = node.segments[0] if len(node.segments) == 1 else None
    if segment is None or segment.target != "raid" or not segment.options:
        return None
    images = [parents.get(name) for name, _ in segment.parts[1::2]] or [None]
    kind = segment.options[0]
    level = next((word for word in sorted(_MAP_LOSSES, reverse=True) if kind.startswith(word)), "")
    if not level or None in images:
        return None
    allowed = _MAP_LOSSES[level]
    gone = sum(not alive for alive in images)
    return gone <= (len(images) - 1 if allowed is None else allowed)
