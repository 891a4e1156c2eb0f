"""Blocks that md has recorded as bad on members, and data without a good copy. Pure.

Each member has a list of its own: md reads and writes these sectors on the other members alone. A member that
the level could do without may then hold the only copy (Documentation/admin-guide/md.rst, md(4)).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from msgspec import Struct

from raidtui.model.array import Array, Member
from raidtui.model.geometry import copy_groups
from raidtui.model.levels import NO_REDUNDANCY, PARITY_LEVELS, Raid10Layout
from raidtui.view.units import SECTOR_BYTES, binary_size

Spans = Sequence[tuple[int, int]]
"""(first sector, sectors), counted from the start of a member's data, in order."""


class Lost(Struct, frozen=True, kw_only=True):
    """Sectors without a good copy.

    Args:
        sectors: how many.
        exact: False where ``sectors`` is an upper bound: in far layouts copies have different offsets.
        names: the members with the bad blocks.
    """

    sectors: int = 0
    exact: bool = True
    names: tuple[str, ...] = ()

    @property
    def size(self) -> str:
        """``4.0 KiB``, ``up to 4.0 KiB``."""
        return f"{'' if self.exact else 'up to '}{binary_size(self.sectors * SECTOR_BYTES)}"


def bad_sectors(member: Member) -> int:
    """Return how many sectors of a member are recorded as bad."""
    return sum(length for _, length in member.bad_blocks or ())


def bad_members(array: Array) -> tuple[Member, ...]:
    """Return the members in service that have bad blocks."""
    return tuple(
        each for each in array.members if each.bad_blocks and not (each.has("faulty") or each.detached)
    )


def lost(array: Array, gone: Collection[int] = ()) -> Lost:
    """Return the sectors of an array that have no good copy among the members in sync.

    Args:
        array: the array.
        gone: slots to leave out, besides those that are empty already. Where the level does not survive
            that, nothing is returned: then bad blocks do not matter.
    """
    if not any(member.bad_blocks for member in array.members):
        return Lost()
    spans: dict[int, Spans] = {
        member.slot: member.bad_blocks or ()
        for member in array.members
        if member.slot is not None
        and member.slot not in gone
        and member.has("in_sync")
        and not (member.has("faulty") or member.detached)
        and not member.has("replacement")
    }
    found = _lost_of_mirrors(array, spans) or _lost_of_parity(array, spans) or (0, True)
    names = tuple(each.name for each in array.members if each.slot in spans and each.bad_blocks)
    return Lost(sectors=found[0], exact=found[1], names=names) if found[0] else Lost()


def _lost_of_mirrors(array: Array, spans: dict[int, Spans]) -> tuple[int, bool] | None:
    groups = copy_groups(array.level, array.layout, array.raid_disks or 0)
    if not groups:
        return None
    alive = [[spans[slot] for slot in group if slot in spans] for group in groups]
    if not all(alive):
        return None
    if array.level == "raid1" or _is_aligned(array):
        return sum(_covered(each, len(each)) for each in alive), True
    least = [min(sum(length for _, length in each) for each in group) for group in alive]
    return min(sum(least), sum(length for each in spans.values() for _, length in each)), False


def _is_aligned(array: Array) -> bool:
    """Whether the copies of a sector have the same offset on all members of their set."""
    decoded = Raid10Layout.decode(array.layout) if array.layout is not None else None
    return decoded is not None and decoded.far == 1 and (array.raid_disks or 0) % decoded.near == 0


def _lost_of_parity(array: Array, spans: dict[int, Spans]) -> tuple[int, bool] | None:
    if array.level in NO_REDUNDANCY:
        return _covered(list(spans.values()), 1), True
    if array.level not in PARITY_LEVELS:
        return None
    spare = PARITY_LEVELS[array.level] - ((array.raid_disks or 0) - len(spans))
    return None if spare < 0 else (_covered(list(spans.values()), spare + 1), True)


def _covered(spans: Iterable[Spans], least: int) -> int:
    """Return how many sectors are in at least ``least`` of the lists."""
    edges = sorted(
        edge for each in spans for start, length in each for edge in ((start, 1), (start + length, -1))
    )
    total, depth, before = 0, 0, 0
    for at, step in edges:
        if depth >= least:
            total += at - before
        depth, before = depth + step, at
    return total


def only_holders(array: Array) -> tuple[tuple[Member, Lost], ...]:
    """Return the members that hold the only good copy of some sectors, and how many sectors."""
    now = lost(array).sectors
    found = []
    for member in array.members:
        if member.slot is None or not member.has("in_sync") or member.has("replacement"):
            continue
        then = lost(array, {member.slot})
        if then.sectors > now:
            found.append((member, Lost(sectors=then.sectors - now, exact=then.exact, names=then.names)))
    return tuple(found)
