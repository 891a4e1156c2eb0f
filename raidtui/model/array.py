"""An md array and its members, in the kernel's own words."""

from __future__ import annotations

from msgspec import Struct

from raidtui.model.array_sync import Phase, Reshape, SpeedLimit, Stale, Sync
from raidtui.model.geometry import copy_groups, loss_sentence, losses_left, unfilled_slots
from raidtui.model.levels import NO_REDUNDANCY, PARITY_LEVELS, Raid10Layout

NO_SUPERBLOCK = "no superblock"
"""``Member.waits`` of a device that the kernel still holds and udev finds nothing on."""


_COUNTER_BYTES = 2
"""md counts the writes to each chunk in 16 bits (drivers/md/md-bitmap.h, bitmap_counter_t)."""


class Bitmap(Struct, frozen=True, kw_only=True):
    """The write-intent bitmap: its location, its chunk size, and how many of its pages are in use.

    A page is in use while one of its chunks is marked, and ``used_bytes`` is what those take in memory.
    """

    location: str
    chunk_bytes: int | None
    used_pages: int | None = None
    pages: int | None = None
    used_bytes: int | None = None

    @property
    def marked_at_most_bytes(self) -> int | None:
        """How much can be marked as written, by the pages in use; None where that says nothing.

        All pages in use say nothing: a lockless bitmap never has others. That a page could not be allocated
        is not known: md then counts for all of its chunks, and prints the page as unused.
        """
        if self.chunk_bytes is None or self.used_bytes is None or (self.used_pages or 0) >= (self.pages or 0):
            return None
        return self.used_bytes // _COUNTER_BYTES * self.chunk_bytes


class Member(Struct, frozen=True, kw_only=True):
    """One device of an array.

    Args:
        name: the kernel's name, ``sda2``.
        number: the number in the superblock (``sda2[5]``); not the slot.
        slot: the slot in the array; None for spares and where the kernel does not say.
        states: the words of ``dev-X/state``, or of mdstat's flags where there is no sysfs; None: unknown.
        waits: its state in an array that does not run, where the kernel calls every member a spare:
            ``not started``, ``no superblock`` or ``in container``; "" in an array that runs.
        present: whether the kernel still has its block device; None where that is not known. md does not
            look: of a disk that was pulled, ``states`` says in_sync until something is written to it.
        foreign: mdstat's flags that Linux does not print: Synology's E, a member with read errors.
        errors: corrected read errors.
        size_kib, offset_sectors: the part of the device that is used.
        bad_blocks: (first sector, sectors) that md has recorded as bad, counted from the start of the data;
            None where it is not known.
    """

    name: str
    number: int | None
    slot: int | None
    states: tuple[str, ...] | None
    errors: int | None = None
    size_kib: int | None = None
    offset_sectors: int | None = None
    bad_blocks: tuple[tuple[int, int], ...] | None = None
    waits: str = ""
    present: bool | None = None
    foreign: str = ""

    def has(self, word: str) -> bool:
        """Whether the kernel gives the member this state word."""
        return self.states is not None and word in self.states

    @property
    def detached(self) -> bool:
        """Whether its device is no longer in the kernel (mdadm's word), though md has not failed it."""
        return self.present is False and not self.has("faulty")

    @property
    def role(self) -> str:
        """faulty, detached, journal, rebuilding, spare, in_sync, replacement, ``waits``; ?: not known."""
        if self.detached:
            return "detached"
        for word in ("faulty", "journal"):
            if self.has(word):
                return word
        if self.waits or self.states is None:
            return self.waits or "?"
        if "replacement" in self.states:
            return "replacement"
        if "in_sync" in self.states:
            return "in_sync"
        if "spare" in self.states:
            return "rebuilding" if self.slot is not None else "spare"
        return ",".join(self.states) or "?"


class Array(Struct, frozen=True, kw_only=True):
    """One md array. ``None`` means "the kernel does not say"; the identity is ``uuid``, never ``name``.

    Args:
        up: mdstat's ``U_UU``: which slots have an in-sync member.
        active: False for an array that mdstat calls inactive.
        read_only: "", "read-only" or "auto-read-only".
        sync_action: ``md/sync_action`` verbatim, so also idle and frozen.
        sync_min_sectors: where the next check starts.
        sync_max_sectors: where a sync stops by itself; None where it does not. Both count as its progress.
        sync_kept_sectors: from where a check that is stopped now goes on (``sync_completed``); None where no
            sync runs.
        container: the container's name, for a volume with external metadata.
        reshape: what a reshape that is not finished does; None without one. ``layout`` and ``chunk_bytes``
            are those before it, ``raid_disks`` is the number afterwards.
        awaited_slots: slots that are not in sync because a reshape gives the array what it did not have: see
            ``raidtui.model.geometry.awaited_slots``.
        understood: False where its lines in /proc/mdstat have never been understood.
        twin: whether another array of the snapshot has the same UUID (a mirror that came apart).
    """

    name: str
    path: str
    uuid: str | None = None
    label: str | None = None
    homehost: str | None = None
    link: str | None = None
    level: str | None = None
    layout: int | None = None
    chunk_bytes: int | None = None
    metadata: str | None = None
    size_bytes: int | None = None
    component_kib: int | None = None
    array_state: str | None = None
    active: bool = True
    read_only: str = ""
    raid_disks: int | None = None
    old_raid_disks: int | None = None
    up: str | None = None
    degraded: int | None = None
    consistency_policy: str | None = None
    bitmap: Bitmap | None = None
    mismatch_count: int | None = None
    sync_action: str | None = None
    last_sync_action: str | None = None
    sync: Sync | None = None
    sync_min_sectors: int | None = None
    sync_max_sectors: int | None = None
    sync_kept_sectors: int | None = None
    resync_start: str | None = None
    reshape_position: str | None = None
    reshape: Reshape | None = None
    awaited_slots: tuple[int, ...] = ()
    speed_limit: SpeedLimit | None = None
    members: tuple[Member, ...] = ()
    container: str | None = None
    stale: Stale | None = None
    understood: bool = True
    twin: bool = False

    @property
    def key(self) -> str:
        """Its identity, also after a rename: the UUID where there is one."""
        if self.twin:
            return f"{self.uuid}@{self.name}"
        return self.uuid or self.name

    @property
    def title(self) -> str:
        """The name to show: the label, else the kernel's name."""
        return self.label or self.name

    @property
    def is_container(self) -> bool:
        """Whether this is an IMSM or DDF container, which is always inactive and holds no data itself."""
        return (self.metadata or "").startswith("external:") and self.container is None

    @property
    def redundant(self) -> bool:
        """Whether the level has redundancy at all; a RAID 0 that md shows as a raid4 has none."""
        known = self.level is not None and self.level not in NO_REDUNDANCY and self.level != "container"
        return known and not self.as_raid4

    @property
    def why_not_redundant(self) -> str:
        """Why there is no redundancy, as a clause; "" where there is."""
        if self.redundant:
            return ""
        if self.is_container:
            return f"{self.title} is a container of volumes"
        if not self.active:
            return f"{self.title} is not started"
        if self.level is None:
            return f"the level of {self.title} is not known"
        return f"{'raid0' if self.as_raid4 else self.level} has no redundancy"

    @property
    def missing_slots(self) -> tuple[int, ...] | None:
        """Slots without an in-sync member that is there, not awaited and not unfilled; None: not known."""
        if self.up is None:
            return None
        excess = self.unfilled_slots
        return tuple(each for each in self.not_up if each not in self.awaited_slots and each not in excess)

    @property
    def unfilled_slots(self) -> tuple[int, ...]:
        """Slots that never had a member: see ``raidtui.model.geometry.unfilled_slots``."""
        failed = sum(member.has("faulty") and not member.has("journal") for member in self.members)
        return unfilled_slots(self.level, self.up, failed, self.size_bytes and self.size_bytes // 1024)

    @property
    def not_up(self) -> tuple[int, ...]:
        """Slots without an in-sync member that is there: by mdstat, and by the devices in the kernel."""
        gone = self.detached_slots
        return tuple(slot for slot, mark in enumerate(self.up or "") if mark != "U" or slot in gone)

    @property
    def detached_slots(self) -> tuple[int, ...]:
        """Slots that md counts as in sync, though the device of their member is no longer in the kernel."""
        if all(member.present is not False for member in self.members):
            return ()
        serving = [each for each in self.members if each.slot is not None and each.has("in_sync")]
        there = {each.slot for each in serving if not (each.detached or each.has("faulty"))}
        return tuple(sorted({each.slot or 0 for each in serving if each.detached} - there))

    @property
    def in_sync_words(self) -> str:
        """``1 of 2 in sync``; of slots, where mdstat counts them."""
        total = len(self.up or "")
        return f"{total - len(self.not_up)} of {total} in sync"

    @property
    def detached(self) -> tuple[Member, ...]:
        """Members whose device is no longer in the kernel, and that md has not marked as failed."""
        return tuple(member for member in self.members if member.detached)

    @property
    def as_raid4(self) -> bool:
        """Whether this raid4 is a RAID 0 that gets more devices, as md shows it meanwhile."""
        return self.level == "raid4" and bool(self.awaited_slots)

    @property
    def losses_left(self) -> int | None:
        """How many more members may fail, whichever they are; negative: too many are gone."""
        if self.up is None:
            return None
        if self.as_raid4:
            return losses_left("raid0", None, len(self.up) - 1, self.missing_slots or ())
        return losses_left(self.level, self.layout, len(self.up), self.not_up)

    @property
    def loss_words(self) -> str:
        """The effect of the next failures in one line; "" where it is not known."""
        if self.up is None:
            return ""
        if self.as_raid4:
            return loss_sentence("raid0", None, len(self.up) - 1, self.missing_slots or ())
        return loss_sentence(self.level, self.layout, len(self.up), self.not_up)

    @property
    def parity_unfinished(self) -> bool:
        """Whether parity is not yet computed everywhere: until then a lost member may mean lost data."""
        resyncing = self.sync is not None and self.sync.action == "resync"
        return self.level in PARITY_LEVELS and resyncing

    @property
    def mirror_sets(self) -> tuple[tuple[int, ...], ...]:
        """The sets of slots that hold the same data."""
        return copy_groups(self.level, self.layout, self.raid_disks or 0)

    @property
    def sync_counts_array(self) -> bool:
        """Whether progress and speed count the array's KiB: RAID-10, except for recover and reshape."""
        return (
            self.level == "raid10"
            and self.sync is not None
            and self.sync.action in {"resync", "check", "repair"}
        )

    @property
    def member_share(self) -> float | None:
        """A member's share of the speed that the kernel reports: 0.5 for RAID-10 near 2 on four disks."""
        if not self.sync_counts_array:
            return 1.0
        decoded = Raid10Layout.decode(self.layout) if self.layout is not None else None
        if decoded is None or not self.raid_disks:
            return None
        return decoded.copies / self.raid_disks

    @property
    def reshaped_bytes(self) -> int | None:
        """The array's size after a running reshape to more devices (raid5_size, raid10_size)."""
        if not self.component_kib or not self.raid_disks or self.raid_disks <= (self.old_raid_disks or 0):
            return None
        chunk_kib = max(1, (self.chunk_bytes or 0) // 1024)
        chunks = self.component_kib // chunk_kib
        if self.level in PARITY_LEVELS:
            return chunks * (self.raid_disks - PARITY_LEVELS[self.level]) * chunk_kib * 1024
        decoded = Raid10Layout.decode(self.layout) if self.layout is not None else None
        if self.level != "raid10" or decoded is None:
            return None
        return chunks // decoded.far * self.raid_disks // decoded.near * chunk_kib * 1024

    @property
    def halts_at_kib(self) -> int | None:
        """Where its sync stops by itself, in the KiB of its progress; None where it does not."""
        return None if self.sync_max_sectors is None else self.sync_max_sectors // 2

    @property
    def replacing(self) -> bool:
        """Whether a replacement is still to be filled."""
        return any(
            member.has("replacement") and not member.has("in_sync") and not member.has("faulty")
            for member in self.members
        )

    @property
    def work_waits(self) -> bool:
        """Whether something is left to sync, recover or reshape while nothing runs."""
        spare_for_hole = bool(self.degraded) and any(
            member.has("spare") and not (member.has("faulty") or member.detached) for member in self.members
        )
        unsynced = self.resync_start not in (None, "none") and self.redundant
        reshaping = self.reshape_position not in (None, "none")
        pending = self.sync is not None and self.sync.phase is Phase.PENDING
        return spare_for_hole or self.replacing or unsynced or reshaping or pending
