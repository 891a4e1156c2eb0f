"""Tables of the device mapper: an array without superblocks. Pure.

Linux, Documentation/admin-guide/device-mapper/dm-raid.rst. Its RAID 6 layouts are not those of md.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from raidtui.features.rescue.search.results import RescueGeometry
from raidtui.model.geometry import MISSING
from raidtui.view.units import SECTOR_BYTES

_PARITY = {
    "left-symmetric": "raid5_ls",
    "left-asymmetric": "raid5_la",
    "right-symmetric": "raid5_rs",
    "right-asymmetric": "raid5_ra",
    "parity-last": "raid5_n",
    "parity-first": "raid5_0",
}


class MapsRefusal(Struct, frozen=True, kw_only=True):
    """Why the device mapper cannot make an array."""

    why: str


def data_sectors(geometry: RescueGeometry, sizes: Mapping[str, int]) -> int:
    """Return how many sectors of each member hold data: whole chunks.

    Args:
        geometry: the array.
        sizes: the sectors of each device.
    """
    room = min(sizes[name] for name in geometry.present) - geometry.data_offset_sectors
    found = min(geometry.size_sectors or room, room)
    chunk = max(1, geometry.chunk_bytes // SECTOR_BYTES)
    return max(0, found - found % chunk)


def array_table(geometry: RescueGeometry, sectors: int, maps: Mapping[str, str]) -> str | MapsRefusal:
    """Return the table of the array, or why there is none.

    Args:
        geometry: the array.
        sectors: how many sectors of each member hold data.
        maps: by member, the path of the map of its data.
    """
    level, slots = geometry.level, len(geometry.order)
    chunk = geometry.chunk_bytes // SECTOR_BYTES
    lost = slots - len(geometry.present)
    if sectors <= 0 or (level != 1 and chunk <= 0):
        return MapsRefusal(why="nothing is left of the members for data")
    if level == 1:
        return f"0 {sectors} linear {maps[geometry.present[0]]} 0"
    if level == 0:
        if lost:
            return MapsRefusal(why="RAID 0 without a member holds no whole file system")
        parts = " ".join(f"{maps[name]} 0" for name in geometry.order)
        return f"0 {sectors * slots} striped {slots} {chunk} {parts}"
    pairs = " ".join("- -" if name == MISSING else f"- {maps[name]}" for name in geometry.order)
    if level in {4, 5}:
        # dm's raid4 has its parity first, md's last.
        kind = _PARITY.get("parity-last" if level == 4 else geometry.layout)
        if kind is None:
            return MapsRefusal(why=f"the device mapper has no layout {geometry.layout}")
        if lost > 1:
            return MapsRefusal(why=f"RAID {level} misses {lost} members")
        return f"0 {sectors * (slots - 1)} raid {kind} 2 {chunk} nosync {slots} {pairs}"
    if level == 10:
        return _near(geometry, sectors, maps)
    return MapsRefusal(why=f"the device mapper has no RAID {level} as md has it")


def _near(geometry: RescueGeometry, sectors: int, maps: Mapping[str, str]) -> str | MapsRefusal:
    """A stripe over one copy of each: dm-raid knows no layout of RAID 10 without superblocks of its own."""
    word, slots = geometry.layout, len(geometry.order)
    copies = int(word[1:]) if word[:1] == "n" and word[1:].isdigit() and int(word[1:]) > 0 else 0
    if not copies or slots % copies:
        return MapsRefusal(why=f"the device mapper cannot stripe over the layout {word} of {slots} members")
    sets = [geometry.order[first : first + copies] for first in range(0, slots, copies)]
    there = [next((name for name in each if name != MISSING), "") for each in sets]
    if not all(there):
        return MapsRefusal(why="all copies of a part are missing")
    parts = " ".join(f"{maps[name]} 0" for name in there)
    chunk = geometry.chunk_bytes // SECTOR_BYTES
    return f"0 {sectors * len(sets)} striped {len(sets)} {chunk} {parts}"
