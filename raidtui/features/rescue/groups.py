"""Devices by the array that they belong to, how these stand to each other, and how far behind. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain, combinations

from msgspec import Struct, field
from msgspec.structs import replace

from raidtui.features.rescue.loose_devices import (
    SECTOR_BYTES,
    hidden_superblock,
    loose_devices,
    signed_devices,
)
from raidtui.features.rescue.mdadm_words import find_backup
from raidtui.features.rescue.records import MediumState, RescueFacts
from raidtui.host.backup_files import ReshapeBackup
from raidtui.model.array import Array
from raidtui.model.geometry import copy_groups, losses_left, slots_words
from raidtui.model.survey import Device, MemberRole, Superblock
from raidtui.plans.whole import StaleMember, Standing, standing
from raidtui.view.units import binary_size, counted, duration

_OLD_SUPERBLOCK_SECTORS = 128  # 0.90: 64 KiB at a multiple of 64 KiB (MD_RESERVED_SECTORS)


class MemberGroup(Struct, frozen=True, kw_only=True):
    """The devices of one array.

    Args:
        uuid: of the array.
        blocks: their superblocks by the kernel's name of the device; each superblock once.
        standing: which of them hold whole data; those that md does not take are left out.
        unusable: members that md does not take as they are: too small, or with a wrong checksum.
        same_as: device -> the one of ``blocks`` that has the same superblock.
        starts: device -> where the member begins on it, in sectors, if that is not the device's start.
        lost: devices without a superblock that may have been members of it.
        array: the array where it is assembled.
    """

    uuid: str
    blocks: Mapping[str, Superblock]
    standing: Standing
    facts: RescueFacts
    unusable: tuple[str, ...] = ()
    same_as: Mapping[str, str] = field(default_factory=dict)
    starts: Mapping[str, int] = field(default_factory=dict)
    lost: tuple[str, ...] = ()
    array: Array | None = None

    @property
    def newest(self) -> Superblock:
        """The superblock with the most events of those in a slot: a spare's says nothing of the data."""
        return self.standing.newest

    @property
    def disks(self) -> int:
        """The number of slots; 0 where it is not known."""
        return self.newest.raid_disks or 0

    @property
    def usable(self) -> Mapping[str, Superblock]:
        """The superblocks of the members that md takes as they are."""
        return {name: block for name, block in self.blocks.items() if name not in self.unusable}

    @property
    def backup(self) -> ReshapeBackup | None:
        """The backup file of its reshape; None where none was found."""
        return find_backup(self.facts.backups, self.uuid)

    @property
    def young(self) -> bool:
        """Whether it was created shortly before it was last written: maybe over another array."""
        return self.newest.young and not self.external

    @property
    def external(self) -> bool:
        """Whether it is a container of external metadata."""
        return self.newest.metadata in {"ddf", "imsm"}

    @property
    def lacking_disks(self) -> int:
        """How many disks of a container were not found."""
        return max(0, self.disks - len(self.blocks)) if self.external else 0

    @property
    def halves(self) -> tuple[tuple[str, str], ...]:
        """Pairs of members that each take the other for failed: both have run without the other."""
        return tuple(
            (one, other)
            for one, other in combinations(sorted(self.blocks), 2)
            if self.blocks[one].takes_for_failed(self.blocks[other])
            and self.blocks[other].takes_for_failed(self.blocks[one])
        )

    @property
    def stale(self) -> tuple[StaleMember, ...]:
        """Members with data of an earlier time, the freshest first; not those of a slot that is filled."""
        left = [
            each
            for each in self.standing.not_whole
            if not each.rebuilding and each.slot not in self.standing.whole
        ]
        return tuple(sorted(left, key=lambda each: self.age(each.name)))

    def age(self, name: str) -> tuple[int, ...]:
        """Return what sorts members by when they left, the last one first.

        A mirror keeps its last copy in use, whatever it answers: what the newest has still in use was written
        to after what it has as failed.
        """
        block = self.blocks[name]
        failed, events = self.newest.takes_for_failed(block), -(block.events or 0)
        return (failed, events) if self.newest.level in {"raid1", "raid10"} else (events, failed)

    @property
    def rebuilding(self) -> tuple[StaleMember, ...]:
        """Members that were being rebuilt."""
        return tuple(each for each in self.standing.not_whole if each.rebuilding)

    @property
    def absent(self) -> tuple[int, ...]:
        """Slots of which nothing was found."""
        known = {self.blocks[name].slot for name in self.unusable}
        return () if self.external else tuple(slot for slot in self.standing.absent if slot not in known)

    @property
    def journal(self) -> str:
        """The kernel's name of its journal; "" where it is not here."""
        return next((name for name, block in self.blocks.items() if block.role is MemberRole.JOURNAL), "")

    def events_behind(self, name: str) -> int:
        """Return how many events a member is behind the newest."""
        return self.events_behind_of(self.blocks[name])

    def events_behind_of(self, block: Superblock) -> int:
        """Return how many events a superblock is behind the newest."""
        return (self.standing.latest.events or 0) - (block.events or 0)

    def seconds_behind(self, name: str) -> float | None:
        """Return how much earlier a member was last written to than the newest."""
        then, now = self.blocks[name].updated_s, self.standing.latest.updated_s
        return None if then is None or now is None else now - then

    def enough(self, slots: set[int]) -> bool | None:
        """Whether members in these slots are enough to start; None where level or layout does not say."""
        left = losses_left(self.newest.level, self.newest.layout, self.disks, set(range(self.disks)) - slots)
        return None if left is None else left >= 0

    @property
    def forced(self) -> tuple[StaleMember, ...] | None:
        """The fewest stale members that are enough with the whole ones; None where all are too few."""
        slots = set(self.standing.whole)
        groups = copy_groups(self.newest.level, self.newest.layout, self.disks)
        chosen: list[StaleMember] = []
        for each in self.stale:
            if self.enough(slots):
                break
            needed = not groups or any(each.slot in group and not slots & set(group) for group in groups)
            if each.slot not in slots and needed:
                slots.add(each.slot)
                chosen.append(each)
        return tuple(chosen) if self.enough(slots) else None

    @property
    def wanted(self) -> str:
        """The disks without which it cannot start, in words; "" where no absent one would be enough."""
        slots = {*self.standing.whole, *(each.slot for each in self.stale)}
        for count in range(1, len(self.absent) + 1):
            found = [each for each in combinations(self.absent, count) if self.enough(slots | set(each))]
            if len(found) == 1:
                several = "s" if count > 1 else ""
                return f"the disk{several} of slot{several} {slots_words(found[0])}"
            if found and count == 1:
                return f"the disk of slot {' or of slot '.join(str(slot) for (slot,) in found)}"
            if found:
                return f"{count} of the disks of slots {slots_words(sorted({*chain(*found)}))}"
        return ""

    @property
    def former(self) -> tuple[str, ...]:
        """Spares that may have been members: data stay where a superblock alone is rewritten."""
        if not self.absent:
            return ()
        return tuple(
            name
            for name, block in self.blocks.items()
            if block.role is MemberRole.SPARE and not self.medium(name).blank
        )

    @property
    def enough_with_lost(self) -> bool:
        """Whether all devices that may hold data are enough: those without a superblock, and spares, too."""
        partial = {each.name for each in self.rebuilding}
        known = {
            block.slot
            for name, block in self.blocks.items()
            if block.slot is not None and name not in partial
        }
        full = [name for name in self.lost if not self.medium(name).blank]
        return bool(self.enough(self._filled(known, len(full) + len(self.former))))

    def _filled(self, slots: set[int], count: int) -> set[int]:
        """Return slots with as many absent ones as there are devices for them, where these are needed."""
        groups = copy_groups(self.newest.level, self.newest.layout, self.disks)
        filled = set(slots)
        for slot in self.absent:
            needed = not groups or any(slot in group and not filled & set(group) for group in groups)
            if needed and count:
                filled.add(slot)
                count -= 1
        return filled

    def medium(self, name: str) -> MediumState:
        """Return what a device says of itself besides its superblock."""
        return self.facts.medium(name)


def group_members(facts: RescueFacts) -> tuple[MemberGroup, ...]:
    """Return the arrays of which superblocks were found, in the order of their first device."""
    found: dict[str, dict[str, Superblock]] = {}
    starts: dict[str, int] = {}
    for name, device in facts.survey.devices.items():
        block = device.superblock
        if block is None and (block := hidden_superblock(name, facts)) is not None:
            starts[name] = facts.medium(name).hidden_sectors
        named = block is not None and (block.uuid is not None or block.volumes)
        if block is not None and named and (name in starts or not _is_below(device, block, facts)):
            found.setdefault(block.uuid or "", {})[name] = block
    arrays = {array.uuid: array for array in facts.survey.snapshot.arrays if array.uuid is not None}
    groups = []
    for uuid, blocks in found.items():
        kept, same_as = _without_copies(blocks, facts, starts)
        unusable = tuple(
            name
            for name, block in kept.items()
            if block.checksum_ok is False or is_too_small(name, block, facts, starts.get(name, 0))
        )
        usable = {name: block for name, block in kept.items() if name not in unusable}
        groups.append(
            MemberGroup(
                uuid=uuid,
                blocks=kept,
                standing=standing(usable) if usable else replace(standing(kept), whole={}, not_whole=()),
                facts=facts,
                unusable=unusable,
                same_as=same_as,
                starts={name: starts[name] for name in kept if name in starts},
                array=arrays.get(uuid),
            )
        )
    return tuple(_with_lost(groups, facts))


def _is_below(device: Device, block: Superblock, facts: RescueFacts) -> bool:
    """Whether a map that stands on a device shows the same superblock: it is a path of a multipath device."""
    devices = facts.survey.devices
    holders = [devices.get(use.what) for use in device.disk.uses if use.kind == "holder"]
    blocks = [each.superblock for each in holders if each is not None and each.superblock is not None]
    return any(_is_same(block, each) for each in blocks)


def is_too_small(name: str, block: Superblock, facts: RescueFacts, start_sectors: int = 0) -> bool:
    """Whether a device is smaller than its superblock says."""
    needed, size = needed_sectors(block), facts.survey.devices[name].disk.size_bytes
    return needed is not None and size is not None and size < (start_sectors + needed) * SECTOR_BYTES


def _without_copies(
    blocks: Mapping[str, Superblock], facts: RescueFacts, starts: Mapping[str, int]
) -> tuple[dict[str, Superblock], dict[str, str]]:
    """Return each superblock once, and which device shows the same as which.

    A superblock at the end of a partition at the end of a disk is also at the end of the disk: it is the
    partition's. That of a lost partition is on its map and on the disk: it is the map's. A disk and its copy
    have one device UUID; 0.90 has none, and the same row of its table. Of those that are equally new, the one
    that can be relied on is kept: the copy that was made to its end, the disk that gives no read errors.
    """
    kept: dict[str, Superblock] = {}
    same_as: dict[str, str] = {}

    def worth(name: str) -> tuple[object, ...]:
        copy, medium = facts.copies.get(name), facts.medium(name)
        fails = bool(medium.error or medium.dying)
        doubtful = (copy is not None and not copy.complete, name in facts.copied, fails)
        is_part = facts.survey.devices[name].disk.disk != name
        return (-(blocks[name].events or 0), *doubtful, name in starts, not is_part, name)

    for name in sorted(blocks, key=worth):
        block = blocks[name]
        twin = next((other for other in kept if _is_same(block, kept[other])), None)
        if twin is None:
            kept[name] = block
        else:
            same_as[name] = twin
    return {name: kept[name] for name in blocks if name in kept}, same_as


def _is_same(one: Superblock, other: Superblock) -> bool:
    if one.volumes or other.volumes:
        return False
    if one.device_uuid is not None or other.device_uuid is not None:
        return one.device_uuid == other.device_uuid
    return one.slot is not None and (one.slot, one.events, one.updated_s, one.role) == (
        other.slot, other.events, other.updated_s, other.role
    )  # fmt: skip


def _with_lost(groups: list[MemberGroup], facts: RescueFacts) -> Iterator[MemberGroup]:
    """Give each array the devices that may have been its members: those that fit where a member is absent."""
    loose = dict.fromkeys((*loose_devices(facts), *signed_devices(facts)))
    for group in groups:
        fits = [name for name in loose if group.absent and _fits(name, group)]
        yield replace(group, lost=tuple(fits))


def _fits(name: str, group: MemberGroup) -> bool:
    """Whether a device is large enough, and as large as a member's disk unless it was asked for by name."""
    device = group.facts.survey.devices[name]
    needed = needed_sectors(group.newest)
    if needed is not None and (device.disk.size_bytes or 0) < needed * SECTOR_BYTES:
        return False
    sizes = {group.facts.survey.devices[member].disk.size_bytes for member in group.blocks}
    return name in group.facts.named or device.disk.size_bytes in sizes


def needed_sectors(block: Superblock) -> int | None:
    """Return how large a member's device has to be by its superblock, in sectors; None where not known."""
    used = block.used_sectors if block.level not in {"raid0", "linear"} else block.avail_sectors
    if used is None or block.volumes:
        return None
    if (block.metadata or "").startswith("0.9"):
        return used + _OLD_SUPERBLOCK_SECTORS
    if block.metadata == "1.0":
        return block.super_sectors
    return None if block.offset_sectors is None else block.offset_sectors + used


def say_behind(group: MemberGroup, name: str) -> str:
    """Return how far a member is behind the newest: ``3 events and 14 s behind, at most 64 MiB``."""
    events, seconds = group.events_behind(name), group.seconds_behind(name)
    words = [counted(events, "event")]
    if seconds is not None and seconds >= 1:
        words.append(duration(seconds))
    ahead = ""
    if seconds is not None and seconds <= -1:
        ahead = f" (the clock said {duration(-seconds)} later then: events decide, not times)"
    return f"{' and '.join(words)} behind the newest{ahead}; {_data_words(group, name)}"


def _data_words(group: MemberGroup, name: str) -> str:
    """Return how much was written since a member left, at most: by the bitmaps of the fresh members."""
    events = group.blocks[name].events or 0
    known = [
        block.dirty_bytes
        for other, block in group.blocks.items()
        if other in group.standing.whole.values()
        and block.dirty_bytes is not None
        and (block.cleared_events is None or block.cleared_events <= events)
    ]
    if not known:
        return (
            "how much was written since then is not known: no bitmap records it, and events do not count data"
        )
    return f"at most {binary_size(max(known))} of each member was written since then (bitmap)"
