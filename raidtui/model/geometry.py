"""What an array survives: losses, judged by level and, for RAID-10, by mirror sets."""

from __future__ import annotations

from raidtui.model.levels import NO_REDUNDANCY, PARITY_LEVELS, Raid10Layout
from raidtui.view.units import joined

TYPE_CHECKING = False  # as in raidtui/__main__.py: the first frame imports this
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

_MOST_NAMED = 4


def losses_left(
    level: str | None, layout: int | None, raid_disks: int, missing: Collection[int]
) -> int | None:
    """Return how many more members may fail, whichever they are; negative: data are gone already.

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


def copy_groups(level: str | None, layout: int | None, raid_disks: int) -> tuple[tuple[int, ...], ...]:
    """Return the sets of slots that mirror each other; empty for levels without mirrors."""
    if level == "raid1":
        return (tuple(range(raid_disks)),) if raid_disks > 0 else ()
    if level != "raid10" or layout is None:
        return ()
    decoded = Raid10Layout.decode(layout)
    return decoded.copy_groups(raid_disks) if decoded else ()


def separate_groups(level: str | None, layout: int | None, raid_disks: int) -> tuple[tuple[int, ...], ...]:
    """Return the sets of slots that mirror each other where no two of them overlap; else nothing."""
    groups = copy_groups(level, layout, raid_disks)
    return groups if sum(len(group) for group in groups) == raid_disks else ()


def set_letters(level: str | None, layout: int | None, raid_disks: int) -> dict[int, str]:
    """Return the letter that ``mdadm --detail`` prints of a slot (``set-A``); nothing where it prints none.

    All slots of one letter hold one whole copy of the data, so those of different letters mirror each other
    (Detail.c): near 2 on four disks has A on slots 0 and 2, B on 1 and 3. What may fail is told by slots
    (``loss_sentence``), never by these letters.
    """
    decoded = Raid10Layout.decode(layout) if level == "raid10" and layout is not None else None
    if decoded is None or decoded.far != 1 or not 1 < decoded.near <= 26 or raid_disks % decoded.near:
        return {}
    return {slot: chr(ord("A") + slot % decoded.near) for slot in range(raid_disks)}


def loss_sentence(level: str | None, layout: int | None, raid_disks: int, missing: Collection[int]) -> str:
    """Return what the next failures would do, in one line; empty where it is not known."""
    left = losses_left(level, layout, raid_disks, missing)
    if left is None:
        return ""
    if left < 0:
        return "more members are missing than the level survives"
    if level in NO_REDUNDANCY:
        return "no redundancy: if one goes, all is gone"
    if left == 0 and level == "raid10":
        return _raid10_edge(layout, raid_disks, missing)
    if left == 0:
        return "if one goes: all is gone"
    words = ("one", "two", "three", "four")
    safe = words[left - 1] if left <= len(words) else str(left)
    text = f"if {safe} {'goes' if left == 1 else 'go'}: safe"
    if level == "raid10":
        return text + _raid10_beyond(layout, raid_disks, missing, left)
    return f"{text} · one more: all is gone"


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
    text = f"slot{'s' if len(last) > 1 else ''} {named} must not fail: the last copy"
    return text if len(last) + len(set(missing)) == raid_disks else f"{text} · others may"


def _raid10_beyond(layout: int | None, raid_disks: int, missing: Collection[int], left: int) -> str:
    more = {1: "two", 2: "three"}.get(left, str(left + 1))
    if raid_disks - len(set(missing)) == left + 1:
        return " · one more: all is gone"
    groups = copy_groups("raid10", layout, raid_disks)
    alive = [tuple(slot for slot in group if slot not in missing) for group in groups]
    deadly = sorted({slots for slots in alive if len(slots) == left + 1})
    if len(deadly) > _MOST_NAMED and not separate_groups("raid10", layout, raid_disks):
        return f" · {more}: safe unless they hold the same chunks"
    return f" · {more}: safe, unless {_slot_sets(deadly)}"


def _slot_sets(sets: Sequence[tuple[int, ...]]) -> str:
    """Return ``0 and 1, or 2 and 3``; of many sets the first two and the last."""
    words = [slots_words(slots) for slots in sets]
    if len(words) > _MOST_NAMED:
        words = [*words[:2], f"… {words[-1]}"]
        return ", ".join(words)
    return ", or ".join((", ".join(words[:-1]), words[-1])) if len(words) > 1 else "".join(words)


def slots_words(slots: Sequence[int]) -> str:
    """Return ``0, 1 and 2``."""
    return joined([str(slot) for slot in slots])
