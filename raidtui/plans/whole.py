"""Which members of an array that is not running hold whole data, and whether these are enough to start it.

The rules are those of mdadm's Assemble.c and of the kernel: a member counts where it is at most one event
behind the newest, neither of the two takes the other for failed, and it was not being rebuilt. A spare is no
measure of that: it has no data. But where it is newer than all members, the array went on without them.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from raidtui.model.geometry import copy_groups, losses_left, slots_words
from raidtui.model.levels import PARITY_LEVELS
from raidtui.model.plan import Refusal, RefusalCode
from raidtui.model.start_obstacle import obstacle_of
from raidtui.model.survey import MemberRole, Superblock
from raidtui.view.units import SECTOR_BYTES, binary_size, counted

MARGIN_EVENTS = 1
"""A crash leaves members one event apart: mdadm takes both."""


class StaleMember(Struct, frozen=True, kw_only=True):
    """A member of which not all data are those of the array.

    Args:
        verb: with the rest a clause without its subject: "is".
        rest: "2 events behind".
        rebuilding: whether it was being rebuilt: mdadm waits for it, and md continues the rebuild.
    """

    name: str
    slot: int
    verb: str
    rest: str
    rebuilding: bool = False

    @property
    def why(self) -> str:
        """The clause."""
        return f"{self.verb} {self.rest}"

    @property
    def words(self) -> str:
        """The member, its slot, and why."""
        return f"{self.name} (slot {self.slot}) {self.why}"


class Standing(Struct, frozen=True, kw_only=True):
    """What there is of an array.

    Args:
        newest: the superblock with the most events of those in a slot.
        latest: the superblock with the most events, spares' included.
        whole: slot -> the member that holds whole data.
        not_whole: the members whose data are not whole.
        replacing: replacements that were being made: each in a slot whose member is there, too.
    """

    newest: Superblock
    latest: Superblock
    whole: Mapping[int, str]
    not_whole: tuple[StaleMember, ...] = ()
    replacing: tuple[str, ...] = ()

    @property
    def absent(self) -> tuple[int, ...]:
        """Slots of which nothing was found."""
        there = {*self.whole, *(each.slot for each in self.not_whole)}
        return tuple(slot for slot in range(self.newest.raid_disks or 0) if slot not in there)

    @property
    def rebuilding(self) -> int:
        """How many members are there that were being rebuilt: mdadm counts them where it waits for all."""
        return sum(each.rebuilding for each in self.not_whole)

    @property
    def enough(self) -> bool | None:
        """Whether the whole members are enough; None where level or layout leaves that open."""
        newest = self.newest
        if not newest.raid_disks or (newest.slot is None and not self.whole):
            return None
        missing = set(range(newest.raid_disks)) - self.whole.keys()
        left = losses_left(newest.level, newest.layout, newest.raid_disks, missing)
        return None if left is None else left >= 0

    @property
    def unwritten(self) -> bool:
        """Whether parity may not fit the data: the kernel starts no such array with members missing."""
        newest = self.newest
        whole = len(self.whole) >= (newest.raid_disks or 0)
        return newest.level in PARITY_LEVELS and bool(newest.dirty) and not whole

    @property
    def lacks_parity_alone(self) -> bool:
        """Whether it is a RAID 4 whose data are whole, as a RAID 0 is while it gets more devices."""
        count = self.newest.raid_disks or 0
        return self.newest.level == "raid4" and set(range(count)) - self.whole.keys() == {count - 1}

    @property
    def complete(self) -> bool:
        """Whether all are there that the newest superblock counts on: then mdadm starts it without --run."""
        roles = self.newest.roles
        if roles is None:
            return len(self.whole) + self.rebuilding >= (self.newest.raid_disks or 0)
        wanted = len(roles.replace(".", "")) + roles.count("R")
        return len(self.whole) + self.rebuilding + len(self.replacing) >= wanted


def standing(blocks: Mapping[str, Superblock]) -> Standing:
    """Return the states of the members of one array.

    Args:
        blocks: the superblocks by the names of their devices; at least one.
    """
    last = max(blocks, key=lambda name: blocks[name].events or 0)
    first = max(blocks, key=lambda name: (_measures(blocks[name]), blocks[name].events or 0))
    newest = blocks[first]
    gone_on = (blocks[last].events or 0) - (newest.events or 0) > MARGIN_EVENTS
    whole: dict[int, str] = {}
    others: list[StaleMember] = []
    for name in sorted(blocks, key=lambda each: (-(blocks[each].events or 0), each != first)):
        block = blocks[name]
        if block.slot is None:
            continue
        why = _why_stale(block, newest, first)
        if not why and gone_on and block.recovery_sectors is None:
            behind = (blocks[last].events or 0) - (block.events or 0)
            why = "is", f"{counted(behind, 'event')} behind {last}, which holds no whole data"
        if why:
            others.append(StaleMember(name=name, slot=block.slot, verb=why[0], rest=why[1]))
        elif block.recovery_sectors is not None:
            rest = f"being rebuilt{_up_to(block.recovery_sectors)}"
            others.append(StaleMember(name=name, slot=block.slot, verb="was", rest=rest, rebuilding=True))
        else:
            whole.setdefault(block.slot, name)
    replacing = tuple(
        name
        for name, block in sorted(blocks.items())
        if block.role is MemberRole.REPLACEMENT
        and (newest.events or 0) - (block.events or 0) <= MARGIN_EVENTS
    )
    return Standing(
        newest=newest, latest=blocks[last], whole=whole, not_whole=tuple(others), replacing=replacing
    )


def _measures(block: Superblock) -> int:
    """Return how much a superblock says of the data: a spare's nothing, that of one being rebuilt little."""
    if block.slot is None:
        return 0
    return 1 if block.recovery_sectors is not None else 2


def _why_stale(block: Superblock, newest: Superblock, first: str) -> tuple[str, str] | None:
    behind = (newest.events or 0) - (block.events or 0)
    if behind > MARGIN_EVENTS:
        return "is", f"{counted(behind, 'event')} behind"
    if block is not newest and newest.takes_for_failed(block):
        return "is", f"marked as failed by {first}"
    if block is not newest and block.takes_for_failed(newest):
        return "marks", f"{first}, which is newer, as failed"
    return None


def _up_to(sectors: int) -> str:
    return f", up to {binary_size(sectors * SECTOR_BYTES)}" if sectors else ""


def refuse_start(blocks: Mapping[str, Superblock], *, run: bool) -> Refusal | None:
    """Return why mdadm would not start an array of these members, and which disk to reconnect; or None.

    Args:
        blocks: the superblocks of the members that are given, by the names of their devices.
        run: whether it is to be started also where members are missing.
    """
    found = standing(blocks)
    newest = found.newest
    if all(block.slot is None for block in blocks.values()) and any(
        block.role is not MemberRole.SPARE for block in blocks.values()
    ):  # so old a mdadm does not say who is in which
        return None if run or len(blocks) >= (newest.raid_disks or 0) else _incomplete(found, len(blocks))
    if found.enough is False:
        return Refusal(
            code=RefusalCode.NOT_REDUNDANT,
            why=f"{newest.label} does not have enough members to start: {_state_words(found)}",
            remedy=_back_words(found),
        )
    if found.unwritten:
        return Refusal(
            code=RefusalCode.NOT_REDUNDANT,
            why=f"{newest.label} was being written to when it stopped, and its parity cannot be corrected"
            f" without {_lack_words(found)}: the kernel does not start it",
            remedy=_back_words(found),
        )
    if obstacle := obstacle_of(blocks.values()):
        return Refusal(
            code=RefusalCode.WRONG_STATE,
            why=f"{newest.label}: {obstacle}",
            remedy="to recover it: raidtui rescue",
        )
    if not run and not found.complete:
        return _incomplete(found, len(found.whole))
    return None


def _incomplete(found: Standing, count: int) -> Refusal:
    newest, be = found.newest, "is" if count == 1 else "are"
    return Refusal(
        code=RefusalCode.INVALID,
        why=f"{newest.label} has {newest.raid_disks} members, and only {count} of those given {be} up to"
        " date",
        remedy=f"{'name all of them, or ' if found.absent else ''}start it degraded with --run",
    )


def _state_words(found: Standing) -> str:
    parts = [f"slot {slot} ({name}) is up to date" for slot, name in sorted(found.whole.items())]
    parts += [each.words for each in found.not_whole]
    if found.absent:
        be = "is" if len(found.absent) == 1 else "are"
        parts.append(f"{_slots(found.absent)} {be} missing")
    return ", ".join(parts)


def _slots(slots: tuple[int, ...]) -> str:
    return f"slot{'s' if len(slots) > 1 else ''} {slots_words(slots)}"


def _lack_words(found: Standing) -> str:
    lack = {*found.absent, *(each.slot for each in found.not_whole)} - found.whole.keys()
    return _slots(tuple(sorted(lack)))


def _back_words(found: Standing) -> str:
    """Return the disks to reconnect: of mirror sets, those without an up-to-date member."""
    newest = found.newest
    groups = copy_groups(newest.level, newest.layout, newest.raid_disks or 0)
    dead = [group for group in groups if not found.whole.keys() & set(group)]
    wanted = tuple(sorted({slot for group in dead for slot in group})) if dead else found.absent
    absent = tuple(slot for slot in wanted if slot in found.absent)
    if absent:
        one = "one of the disks" if dead and len(absent) > len(dead) else "the disk"
        some = f"{one}{'s' if one == 'the disk' and len(absent) > 1 else ''}"
        return f"reconnect {some} of {_slots(absent)}"
    return (
        "restore the disks as they were; as a last resort, mdadm --assemble --force accepts outdated data as"
        " current"
    )
