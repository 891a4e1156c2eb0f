"""Another shape for a simulated array: what ``mdadm --grow`` has the kernel do, and what it refuses.

Sources: raid5_takeover_raid1, raid6_takeover and raid5_takeover_raid6 of drivers/md/raid5.c,
raid0_takeover_raid10 of raid0.c, reshape_array and set_new_data_offset of mdadm's Grow.c.
"""

from __future__ import annotations

from msgspec import Struct

from raidtui.demo.control import add_member
from raidtui.demo.kernel import SimKernel
from raidtui.demo.sim_array import SimArray, SimReshape, release_slots
from raidtui.model.levels import LEFT_SYMMETRIC, PARITY_LAST, PARITY_LAYOUTS, SIX

_FIRST_CHUNKS = (64, 32, 16, 8, 4)


class SimRefusedError(Exception):
    """What mdadm says when it refuses."""


class GrowWords(Struct, frozen=True, kw_only=True):
    """What a call of ``mdadm --grow`` asks for; "" or 0 leaves it as it is.

    Args:
        level: the kernel's word.
        layout: a layout of RAID 5 or 6 by name, or ``preserve``.
        size: of each member: KiB.
        array_size: KiB, or ``max``.
    """

    level: str = ""
    disks: int = 0
    layout: str = ""
    chunk_kib: int = 0
    size_kib: int = 0
    array_size: str = ""
    bitmap: str = ""
    adds: tuple[str, ...] = ()


def grow(kernel: SimKernel, array: SimArray, words: GrowWords) -> None:
    """Do what a call of ``mdadm --grow`` does.

    Raises:
        SimRefusedError: mdadm or md refuses it, or it is not simulated.
    """
    if array.reshape is not None or array.sync is not None:
        raise SimRefusedError(f"{array.name} is performing resync/recovery and cannot be reshaped")
    if words.array_size:
        array.clip_kib = None if words.array_size == "max" else int(words.array_size)
    if words.size_kib:
        array.component_kib = words.size_kib
    if words.bitmap:
        array.bitmap = words.bitmap != "none"
    if words.adds or array.level == "raid0":
        raise SimRefusedError("the demo does not reshape a raid0")
    if words.level and words.level != array.level:
        _convert(array, words)
    elif words.disks or words.layout or words.chunk_kib:
        _reshape(array, words)
    kernel.emit(array.name, "change", source="uevent")
    kernel.settle(array)


def _convert(array: SimArray, words: GrowWords) -> None:
    """Give an array another level; only from 5 to 6 data move."""
    change = (array.level, words.level)
    if change == ("raid1", "raid5") and array.raid_disks == 2:
        array.chunk_kib = next((kib for kib in _FIRST_CHUNKS if not array.component_kib % kib), 4)
        array.level, array.layout = "raid5", LEFT_SYMMETRIC
    elif change == ("raid5", "raid6"):
        layout = array.layout
        array.level, array.layout, array.raid_disks = "raid6", layout + SIX, words.disks
        filled = _place(array)
        if words.layout != "preserve":
            _begin(array, (array.raid_disks, layout + SIX, array.chunk_kib), filled)
            array.layout = layout
    elif change == ("raid6", "raid5") and array.layout >= SIX:
        array.level, array.layout, array.raid_disks = "raid5", array.layout - SIX, array.raid_disks - 1
        release_slots(array)
    elif change == ("raid5", "raid0") and array.layout == PARITY_LAST:
        array.level, array.layout, array.raid_disks = "raid0", 0, array.raid_disks - 1
        array.members = [
            each for each in array.members if each.slot is not None and each.slot < array.raid_disks
        ]
    elif change == ("raid10", "raid0") and array.raid_disks % 2 == 0:
        array.members = [each for each in array.members if each.slot is not None and each.slot % 2 == 0]
        for member in array.members:
            member.slot = (member.slot or 0) // 2
        array.level, array.layout, array.raid_disks = "raid0", 0, array.raid_disks // 2
    else:
        raise SimRefusedError(f"the demo does not make a {words.level} of a {array.level}")


def _reshape(array: SimArray, words: GrowWords) -> None:
    """Give an array more or fewer slots, another layout or chunk."""
    old = (array.raid_disks, array.layout, array.chunk_kib)
    spares = sum(member.is_spare for member in array.members)
    if words.disks > array.raid_disks + spares:
        raise SimRefusedError(
            f"Need {words.disks - array.raid_disks - spares} spare(s) to avoid degraded array"
        )
    if words.layout:
        array.layout = next(key for key, name in PARITY_LAYOUTS.items() if name == words.layout)
    array.raid_disks = words.disks or array.raid_disks
    array.chunk_kib = words.chunk_kib or array.chunk_kib
    if array.level == "raid1":
        release_slots(array)
        return  # new members are recovered
    filled = _place(array) if array.raid_disks > old[0] else frozenset()
    for member in array.members:
        member.in_sync = member.in_sync or member.number in filled  # new slots hold nothing that could be old
    _begin(array, old, filled)


def _place(array: SimArray) -> frozenset[int]:
    """Give spares the new slots; return their numbers."""
    held = {member.slot for member in array.members}
    empty = [slot for slot in range(array.raid_disks) if slot not in held]
    filled = set()
    for slot, member in zip(empty, [each for each in array.members if each.is_spare], strict=False):
        member.slot, member.recovered_sectors = slot, 0
        filled.add(member.number)
    return frozenset(filled)


def _begin(array: SimArray, old: tuple[int, int, int], filled: frozenset[int]) -> None:
    disks, layout, chunk_kib = old
    move = 2 * max(chunk_kib, array.chunk_kib) * max(disks, array.raid_disks)
    array.reshape = SimReshape(
        raid_disks=disks,
        layout=layout,
        chunk_kib=chunk_kib,
        shift_sectors=move if array.raid_disks < disks else -move,
        filled=filled,
    )


def add_spare(kernel: SimKernel, array: SimArray, device: str) -> None:
    """Add a device as a spare.

    Raises:
        OSError: as ``add_member``.
    """
    disk = next((each for each in kernel.disks if device == each or device.startswith(each)), "")
    add_member(kernel, array, device, disk)
