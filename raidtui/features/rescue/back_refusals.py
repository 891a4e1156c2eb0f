"""What keeps a way back from being possible, whichever it is; and the members that are whole. Pure."""

from __future__ import annotations

from raidtui.features.rescue.groups import MemberGroup
from raidtui.view.units import joined


def blocked(group: MemberGroup) -> str:
    """Return why no members of an array can be assembled at present; "" where they can."""
    if group.starts:
        return f"{joined(sorted(group.starts))} must first be mapped where the partition was"
    return ""


DIRTY = " The kernel is told to start it although its parity may not fit (start_dirty_degraded)."


def bitmap_refusal(group: MemberGroup) -> str:
    """Return that a bitmap keeps the array from starting; "" where none does."""
    damaged = [name for name in group.standing.whole.values() if group.blocks[name].bitmap_damaged]
    return "the kernel does not start it if it reads a bitmap that is damaged" if damaged else ""


def whole_members(group: MemberGroup, *, rebuilding: bool = True) -> tuple[str, ...]:
    """Return the members to name: the whole ones by slot, those that are being rebuilt, and the journal.

    mdadm waits for a replacement as for a member.
    """
    whole = [name for _, name in sorted(group.standing.whole.items())]
    others = [*(each.name for each in group.rebuilding), *group.standing.replacing] if rebuilding else []
    return (*whole, *others, *((group.journal,) if group.journal else ()))


def journal_refusal(group: MemberGroup) -> str:
    """Return that a lost journal keeps it from starting; "" where none does."""
    lost = (group.newest.features or 0) & 0x200 and not group.journal
    return "mdadm does not start it without its journal, unless by force" if lost else ""
