"""What a cache costs the disks that it lies on."""

from __future__ import annotations

from collections.abc import Mapping

from raidtui.model.stack import Stack, StackKind
from raidtui.monitor.stack.load import MINUTES_S, SECONDS_S, StackMeter

_YEAR_S = 365.25 * 86_400


def cache_disks(stack: Stack) -> tuple[str, ...]:
    """Return the disks on which caches lie and to each of which all is written that a cache gets."""
    found: dict[str, None] = {}
    for node in stack.nodes.values():
        for device in node.cache.devices if node.cache is not None else ():
            found |= dict.fromkeys(_written_whole(stack, device))
    return tuple(found)


def yearly_wear(meter: StackMeter, name: str, lives: Mapping[str, int]) -> dict[str, float]:
    """Return the share of each disk's life that a cache takes in a year at the present rate.

    Args:
        meter: the readings.
        name: of the cached layer.
        lives: how much may be written to a disk over its life, bytes by kernel name.

    Returns:
        By disk, 0 to 1 and more; those of which it is not known are left out.
    """
    delta, node = meter.cache(name, MINUTES_S), meter.now.nodes.get(name)
    cache = node.cache if node is not None else None
    if delta is None or delta.written_bytes is None or delta.over_s < SECONDS_S or cache is None:
        return {}
    a_year = delta.written_bytes / delta.over_s * _YEAR_S
    disks = dict.fromkeys(disk for device in cache.devices for disk in _written_whole(meter.now, device))
    return {disk: a_year / lives[disk] for disk in disks if lives.get(disk)}


def _written_whole(stack: Stack, name: str) -> tuple[str, ...]:
    """Return the disks that get all that is written to a device.

    None where it is spread over several, or where it is not there: a cache may lack its device.
    """
    node = stack.nodes.get(name)
    if node is None:
        return ()
    if not node.parents:
        return (name,)
    if len(node.parents) > 1 and not (node.kind is StackKind.MD and node.level == "raid1"):
        return ()
    return tuple(disk for parent in node.parents for disk in _written_whole(stack, parent))
