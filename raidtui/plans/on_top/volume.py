"""How large a volume over all of a group is, and which geometry a file system on it has. Pure arithmetic.

Sources: lvcreate(8)'s rounding as it was seen (LVM 2.03), pvcreate(8) and lvm.conf(5) for where data begin.
"""

from __future__ import annotations

import math

from raidtui.model.geometry import data_disks
from raidtui.model.survey import Survey
from raidtui.plans.on_top.stack import BLOCK_KIB, Below, Geometry, OnTop
from raidtui.view.units import KIB

EXTENT_KIB = 4096
_FIRST_KIB = 1024
"""LVM's metadata are before it; data begin here, or at the next whole stripe."""


def volume_bytes(wanted: OnTop, survey: Survey, below: Below) -> int:
    """Return the size of the volume that takes all of the group; 0 where the array's is not known.

    Striped, it ends where fewer than ``stripes`` physical volumes have extents left.
    """
    extents = extents_of(wanted, survey, below)
    stripes = max(1, wanted.stripes)
    each = sum(extents) // stripes
    while (found := sum(min(count, each) for count in extents) // stripes) < each:
        each = found
    return each * stripes * EXTENT_KIB * KIB if below.size_bytes else 0


def extents_of(wanted: OnTop, survey: Survey, below: Below) -> list[int]:
    """Return how many extents each physical volume has, the array's first."""
    sizes = [(below.size_bytes, below.shape.stripe_kib)]
    sizes += [
        (device.disk.size_bytes or 0, whole_stripe_kib(name, survey))
        for name in wanted.others
        if (device := survey.devices.get(name)) is not None
    ]
    return [max(0, size // KIB - _begins_kib(whole)) // EXTENT_KIB for size, whole in sizes]


def _begins_kib(whole_kib: int) -> int:
    return -(-_FIRST_KIB // whole_kib) * whole_kib if whole_kib else _FIRST_KIB


def whole_stripe_kib(name: str, survey: Survey) -> int:
    """Return the full stripe of another array; 0 for a mirror, and for what is no array."""
    array = next((each for each in survey.snapshot.arrays if each.name == name), None)
    if array is None or array.level in {None, "raid1"} or not array.chunk_bytes or not array.raid_disks:
        return 0
    return array.chunk_bytes // KIB * data_disks(array.level or "", array.layout, array.raid_disks)


def on_volume(wanted: OnTop, shape: Geometry) -> Geometry:
    """Return the geometry of a striped volume: whole stripes of the array below, on all stripes of LVM."""
    if wanted.stripes < 2:
        return shape
    if not shape.stride:
        return Geometry(stride=wanted.stripe_kib // BLOCK_KIB, width=wanted.stripes)
    whole_kib = math.lcm(shape.stripe_kib, wanted.stripe_kib) * wanted.stripes
    return Geometry(stride=shape.stride, width=whole_kib // (shape.stride * BLOCK_KIB))
