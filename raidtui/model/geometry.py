"""What an array survives, and how much fits on one: md's and mdadm's own arithmetic.

Sources: mdadm's super1.c (validate_geometry1, choose_bm_space), drivers/md/raid10.c (raid10_size).
"""

from __future__ import annotations

from raidtui.model.levels import NO_REDUNDANCY, PARITY_LAST, PARITY_LEVELS, SIX, Raid10Layout
from raidtui.view.units import SECTOR_BYTES, joined

TYPE_CHECKING = False  # as in raidtui/__main__.py: the first frame imports this
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

MISSING = "missing"
"""Stands for a slot without a device (mdadm(8), --create)."""
_MOST_NAMED = 4
_MOST_COPIES = 200
_MIB_SECTORS = 2048
_HEADROOM_SECTORS = 128 * _MIB_SECTORS
_PPL_SECTORS = _MIB_SECTORS
_RAID1_STEP_KIB = 64
_MANY_SLOTS = 8
"""More copies of the same data than anyone makes by hand."""
_SYSTEM_ARRAY_KIB = 32 << 20
"""Room for the largest system array of NAS firmware; they have a few GiB."""


def losses_left(
    level: str | None, layout: int | None, raid_disks: int, missing: Collection[int]
) -> int | None:
    """Return how many more members may fail, whichever they are; negative where data are lost already.

    Args:
        level: the kernel's word, ``raid10``.
        layout: the kernel's number; only RAID-10 needs it.
        raid_disks: number of slots.
        missing: slots without an in-sync member.

    Returns:
        None where the level, or RAID-10's layout, is not known.
    """
    gone = len(set(missing))
    if level in PARITY_LEVELS:
        return PARITY_LEVELS[level] - gone
    if level in NO_REDUNDANCY:
        return -gone
    if level in {"raid1", "multipath"}:
        return raid_disks - gone - 1
    if level == "raid10":
        groups = copy_groups(level, layout, raid_disks)
        if not groups:
            return None
        return min(sum(slot not in missing for slot in group) for group in groups) - 1
    return None


def unfilled_slots(level: str | None, up: str | None, failed: int, size_kib: int | None) -> tuple[int, ...]:
    """Return the slots at the end of a small mirror that was made with more of them than its box has bays.

    NAS firmware makes its system arrays so: QNAP's have 24 slots or more, Synology's 12 or more, filled from
    the first bay on. A slot without a member before the last filled one is a lost member.

    Args:
        level: the kernel's word.
        up: mdstat's ``U_UU``.
        failed: how many members have failed: each has left a slot empty, maybe at the end.
        size_kib: the array's size; one that is not known, or is large, is not a system array's.
    """
    if level != "raid1" or up is None or len(up) < _MANY_SLOTS or up.count("U") < 2:
        return ()
    if size_kib is None or size_kib > _SYSTEM_ARRAY_KIB:
        return ()
    filled = up.rstrip("_")
    return tuple(range(len(filled) + max(0, failed - filled.count("_")), len(up)))


def awaited_slots(
    level: str | None,
    layouts: tuple[int | None, int | None],
    slots: tuple[int | None, int],
    missing: Sequence[int],
    filled: Collection[int],
) -> tuple[int, ...]:
    """Return slots that are not in sync because a reshape gives the array what it did not have.

    md reshapes a RAID 0 as a raid4 with the parity last, whose parity device is not there: the last slot is
    empty, and those before it that are new are not in sync until the end (raid45_takeover_raid0). A RAID 0
    that becomes a RAID 5, and a RAID 5 that becomes a RAID 6, have all of the new parity on the last disk
    first, and it is not in sync until the end.

    Args:
        level: the kernel's word, of an array that is being reshaped.
        layouts: the kernel's numbers before and afterwards; None where it does not change.
        slots: their number before, None where it does not change, and afterwards, as the kernel has it.
        missing: slots without an in-sync member.
        filled: those of them that have a member, none that failed.

    Returns:
        () where there are none, or others are not in sync, too.
    """
    (layout, new_layout), (before, count) = layouts, slots
    last, gone = count - 1, set(missing)
    if level == "raid4" and layout == PARITY_LAST and before is not None and 0 < before < count:
        return tuple(missing) if gone == set(range(before - 1, count)) and gone - {*filled} == {last} else ()
    if layout is None or new_layout in {None, layout} or gone != {last} or last not in filled:
        return ()
    gets = (level == "raid5" and layout == PARITY_LAST) or (level == "raid6" and layout >= SIX)
    return (last,) if gets else ()


def copy_groups(level: str | None, layout: int | None, raid_disks: int) -> tuple[tuple[int, ...], ...]:
    """Return the sets of slots that mirror each other; empty for levels without mirrors."""
    if level == "raid1":
        return (tuple(range(raid_disks)),) if raid_disks > 0 else ()
    if level != "raid10" or layout is None:
        return ()
    decoded = Raid10Layout.decode(layout)
    return decoded.copy_groups(raid_disks) if decoded else ()


def separate_groups(level: str | None, layout: int | None, raid_disks: int) -> tuple[tuple[int, ...], ...]:
    """Return the sets of slots that mirror each other if no two of them overlap; else ()."""
    groups = copy_groups(level, layout, raid_disks)
    return groups if sum(len(group) for group in groups) == raid_disks else ()


def set_letters(level: str | None, layout: int | None, raid_disks: int) -> dict[int, str]:
    """Return the letters that ``mdadm --detail`` prints for slots (``set-A``); {} where it prints none.

    All slots of one letter hold one whole copy of the data, so those of different letters mirror each other
    (Detail.c): near 2 on four disks has A on slots 0 and 2, B on 1 and 3. ``loss_sentence`` says what may
    fail, by slots.
    """
    decoded = Raid10Layout.decode(layout) if level == "raid10" and layout is not None else None
    if decoded is None or decoded.far != 1 or not 1 < decoded.near <= 26 or raid_disks % decoded.near:
        return {}
    return {slot: chr(ord("A") + slot % decoded.near) for slot in range(raid_disks)}


def loss_sentence(level: str | None, layout: int | None, raid_disks: int, missing: Collection[int]) -> str:
    """Return the effect of the next failures in one line; "" where it is not known."""
    left = losses_left(level, layout, raid_disks, missing)
    if left is None:
        return ""
    if left < 0:
        return "more members are missing than the level survives"
    if level in NO_REDUNDANCY:
        return "no redundancy: one failure loses the array"
    if left == 0 and level == "raid10":
        return _raid10_edge(layout, raid_disks, missing)
    if left == 0:
        return "the next failure loses the array"
    words = ("one", "two", "three", "four")
    safe = words[left - 1] if left <= len(words) else str(left)
    text = f"survives {safe} {'failure' if left == 1 else 'failures'}"
    if level == "raid10":
        return text + _raid10_beyond(layout, raid_disks, missing, left)
    return f"{text}; one more loses the array"


def _raid10_edge(layout: int | None, raid_disks: int, missing: Collection[int]) -> str:
    last = sorted(
        {
            slot
            for group in copy_groups("raid10", layout, raid_disks)
            if sum(each not in missing for each in group) == 1
            for slot in group
            if slot not in missing
        }
    )
    named = ", ".join(map(str, last))
    text = f"slots {named} hold last copies" if len(last) > 1 else f"slot {named} holds the last copy"
    others = len(last) + len(set(missing)) < raid_disks
    return f"{text}; others may fail" if others else f"{text}: the next failure loses the array"


def _raid10_beyond(layout: int | None, raid_disks: int, missing: Collection[int], left: int) -> str:
    more = {1: "two", 2: "three"}.get(left, str(left + 1))
    if raid_disks - len(set(missing)) == left + 1:
        return "; one more loses the array"
    groups = copy_groups("raid10", layout, raid_disks)
    alive = [tuple(slot for slot in group if slot not in missing) for group in groups]
    deadly = sorted({slots for slots in alive if len(slots) == left + 1})
    if len(deadly) > _MOST_NAMED and not separate_groups("raid10", layout, raid_disks):
        return f", and {more} unless they hold the same chunks"
    return f", and {more} except {_slot_sets(deadly)}"


def _slot_sets(sets: Sequence[tuple[int, ...]]) -> str:
    """Return ``0 and 1, or 2 and 3``; of many sets, the first two and the last."""
    words = [slots_words(slots) for slots in sets]
    if len(words) > _MOST_NAMED:
        words = [*words[:2], f"… {words[-1]}"]
        return ", ".join(words)
    return ", or ".join((", ".join(words[:-1]), words[-1])) if len(words) > 1 else "".join(words)


def slots_words(slots: Sequence[int]) -> str:
    """Return ``0, 1 and 2``."""
    return joined([str(slot) for slot in slots])


def raid10_layout(text: str) -> int | None:
    """Return md's number of a RAID-10 layout in mdadm's form (n2 is 0x102), or None where it is invalid."""
    letter, digits = text[:1], text[1:]
    if letter not in {"n", "f", "o"} or not digits.isascii() or not digits.isdigit() or len(digits) > 3:
        return None
    copies = int(digits)
    if not 1 <= copies <= _MOST_COPIES:
        return None
    return {"n": 0x100 | copies, "f": copies << 8 | 1, "o": 0x10000 | copies << 8 | 1}[letter]


def data_disks(level: str, layout: int | None, raid_disks: int) -> int:
    """Return the number of devices with data in a full stripe: the stripe width is the chunk times this.

    The kernel computes the optimal I/O size from it (raid10_nr_stripes). RAID-10 near 2 on four devices has
    2; far and offset layouts have all, and so has a near layout that does not divide the devices.
    """
    if level in PARITY_LEVELS:
        return max(1, raid_disks - PARITY_LEVELS[level])
    if level == "raid1":
        return 1
    if level == "raid10":
        decoded = Raid10Layout.decode(layout) if layout is not None else None
        if decoded is not None and raid_disks % decoded.near == 0:
            return max(1, raid_disks // decoded.near)
    return max(1, raid_disks)


def capacity_kib(level: str, layout: int | None, component_kib: int, raid_disks: int) -> int:
    """Return an array's size.

    Args:
        level: raid0, raid1, raid4, raid5, raid6 or raid10.
        layout: md's number; only RAID-10 needs it.
        component_kib: the used size of each member.
        raid_disks: number of slots.
    """
    if level == "raid1":
        return component_kib
    if level in PARITY_LEVELS:
        return component_kib * max(0, raid_disks - PARITY_LEVELS[level])
    if level == "raid10":
        decoded = Raid10Layout.decode(layout) if layout is not None else None
        if decoded is None:
            return 0
        return component_kib // decoded.far * raid_disks // decoded.near
    return component_kib * raid_disks


def usable_kib(
    sizes_bytes: Sequence[int], *, metadata: str = "1.2", chunk_kib: int = 0, ppl: bool = False
) -> tuple[int, ...]:
    """Return the size that a new array can use of each device; only RAID-0 uses more than the smallest.

    Args:
        sizes_bytes: the devices in mdadm's order: the first decides the data offset.
        metadata: 1.0, 1.1 or 1.2.
        chunk_kib: 0 for RAID-1.
        ppl: whether to reserve room for a partial parity log.
    """
    sectors = [size // SECTOR_BYTES for size in sizes_bytes]
    if not sectors:
        return ()
    step = chunk_kib or _RAID1_STEP_KIB
    if metadata == "1.0":
        free = [size // 8 * 8 - 24 - _log_sectors(size, ppl=ppl) for size in sectors]
    else:
        offset = _data_offset(sectors[0], chunk_kib=chunk_kib, ppl=ppl)
        free = [size - offset for size in sectors]
    return tuple(max(0, each) // 2 // step * step for each in free)


def _data_offset(sectors: int, *, chunk_kib: int, ppl: bool) -> int:
    """Superblock, bitmap and room for a reshape: about a thousandth of the device, at most 128 MiB."""
    headroom = _HEADROOM_SECTORS
    while headroom << 10 > sectors and (not chunk_kib or headroom // 2 >= chunk_kib * 4):
        headroom >>= 1
    whole = 24 + _log_sectors(sectors, ppl=ppl) + headroom
    return -(-whole // _MIB_SECTORS) * _MIB_SECTORS


def _log_sectors(sectors: int, *, ppl: bool) -> int:
    if ppl:
        return _PPL_SECTORS
    if sectors < 128:
        return 0
    if sectors - 128 >= 200 << 21:
        return 256
    return 128 if sectors - 8 > 8 << 21 else 8
