"""A simulated array: its geometry, members and the sync that runs on it, as drivers/md/md.c keeps them."""

from __future__ import annotations

from collections import deque

from msgspec import Struct, field

from raidtui.model.geometry import capacity_kib, losses_left
from raidtui.model.levels import NO_REDUNDANCY, Raid10Layout

_MARKS = 10
_MARK_STEP_S = 3.0
_CHECKPOINTS = 16
_BITMAP_CHUNK_KIB = 65536
_COUNTERS_IN_PAGE = 2048
_PAGE_DIRTIED_S = 120.0


class Load(Struct, frozen=True, kw_only=True):
    """The load of applications: requests per second, and bursts in which md yields down to the min limit."""

    read_iops: float = 0.0
    write_iops: float = 0.0
    request_kib: float = 16.0
    burst_every_s: float = 0.0
    burst_s: float = 0.0
    burst_factor: float = 1.0

    def bursting(self, now_s: float) -> bool:
        """Whether there is a burst now."""
        return self.burst_every_s > 0 and now_s % self.burst_every_s >= self.burst_every_s - self.burst_s


class SimMember(Struct, kw_only=True):
    """One device of an array. ``number`` is the superblock's, ``slot`` the place in the array."""

    device: str
    disk: str
    number: int
    slot: int | None
    in_sync: bool = False
    faulty: bool = False
    replacement: bool = False
    wanted_gone: bool = False
    write_mostly: bool = False
    failfast: bool = False
    recovered_sectors: int = 0
    saved_slot: int | None = None

    @property
    def state(self) -> str:
        """``dev-X/state``, words in md.c's order (state_show)."""
        words = {
            "faulty": self.faulty,
            "in_sync": self.in_sync,
            "write_mostly": self.write_mostly,
            "spare": not self.faulty and not self.in_sync,
            "want_replacement": self.wanted_gone,
            "replacement": self.replacement,
            "failfast": self.failfast,
        }
        return ",".join(word for word, holds in words.items() if holds)

    @property
    def is_target(self) -> bool:
        """Whether a recovery writes to it."""
        return self.slot is not None and not self.in_sync and not self.faulty

    @property
    def is_spare(self) -> bool:
        """Whether it is a spare without a slot."""
        return self.slot is None and not self.faulty


class SimSync(Struct, kw_only=True):
    """A running or DELAYED sync. Sectors: of the array for RAID-10's resync and check, else of a member."""

    action: str
    total_sectors: int
    done_sectors: float
    delayed: bool = False
    completed_sectors: int = 0
    marks: deque[tuple[float, float]] = field(default_factory=lambda: deque(maxlen=_MARKS))

    def begin(self, now_s: float) -> None:
        """Start: the speed counts from here."""
        self.delayed = False
        self.completed_sectors = int(self.done_sectors)
        self.marks.clear()
        self.marks.append((now_s, self.done_sectors))

    def move(self, now_s: float, sectors: float) -> None:
        """Advance by ``sectors`` until ``now_s``."""
        self.done_sectors = min(self.total_sectors, self.done_sectors + sectors)
        step = self.total_sectors // _CHECKPOINTS or 1
        if self.done_sectors >= self.completed_sectors + step:
            self.completed_sectors = int(self.done_sectors)
        if now_s - self.marks[-1][0] >= _MARK_STEP_S:
            self.marks.append((now_s, self.done_sectors))

    def window(self, now_s: float) -> tuple[int, int]:
        """Return (sectors, whole seconds) since the oldest mark: md's mean over 27 to 30 s."""
        if not self.marks:
            return 0, 1
        at_s, then = self.marks[0]
        return max(0, int(self.done_sectors) - int(then)), max(1, int(now_s - at_s))


class SimReshape(Struct, kw_only=True):
    """A reshape that is not finished: the shape before, and how far it is.

    Args:
        done_sectors: of each member.
        shift_sectors: by how much the data of each member move.
        filled: numbers of the members that the reshape fills.
    """

    raid_disks: int
    layout: int
    chunk_kib: int
    done_sectors: int = 0
    shift_sectors: int = 0
    filled: frozenset[int] = frozenset()


class SimArray(Struct, kw_only=True):
    """One array.

    Args:
        uuid: 32 hexadecimal digits.
        low_kib_s, high_kib_s: the local limits; None where the system's apply.
        recovery_cp: sectors that are known to be in sync; None for all.
        requested: a check or repair that has been requested and not started.
        latent_mismatches: sectors that the next check finds.
        knobs: attributes that are only stored (stripe_cache_size).
        reshape: a reshape that is not finished; level, layout, chunk and slots are the new ones then.
        clip_kib: the size to which the array was limited (array_size); None for none.
        offset_sectors: where the data of each member begin.
        left: members that mdadm has removed, and that still have their superblocks.
        holds: the file system on it, or "" for none.
        holds_uuid: that file system's UUID, "" where it has none.
    """

    name: str
    label: str
    uuid: str
    level: str
    layout: int
    chunk_kib: int
    component_kib: int
    raid_disks: int
    members: list[SimMember]
    bitmap: bool = False
    load: Load = Load()
    low_kib_s: int | None = None
    high_kib_s: int | None = None
    recovery_cp: int | None = None
    requested: str | None = None
    latent_mismatches: int = 0
    frozen: bool = False
    broken: bool = False
    parallel: bool = False
    sync: SimSync | None = None
    sync_min: int = 0
    sync_max: int | None = None
    mismatches: int = 0
    last_action: str = "none"
    degraded_since_s: float | None = None
    knobs: dict[str, str] = field(default_factory=dict)
    reshape: SimReshape | None = None
    backwards: bool = False
    clip_kib: int | None = None
    offset_sectors: int = 264192
    left: dict[str, SimMember] = field(default_factory=dict)
    metadata: str = "1.2"
    holds: str = "ext4"
    holds_uuid: str = ""

    @property
    def dev(self) -> tuple[int, int]:
        """Major and minor number."""
        return 9, int(self.name.removeprefix("md"))

    @property
    def redundant(self) -> bool:
        """Whether its level has redundancy."""
        return self.level not in NO_REDUNDANCY

    @property
    def copies(self) -> int:
        """The number of copies of a chunk."""
        if self.level == "raid10":
            layout = Raid10Layout.decode(self.layout)
            return layout.copies if layout else 1
        return self.raid_disks if self.level == "raid1" else 1

    @property
    def array_kib(self) -> int:
        """The array's size: it is larger when a reshape has ended, smaller before one begins."""
        disks = self.raid_disks if self.reshape is None else min(self.raid_disks, self.reshape.raid_disks)
        size_kib = capacity_kib(self.level, self.layout, self.component_kib, disks)
        return size_kib if self.clip_kib is None else min(size_kib, self.clip_kib)

    @property
    def up(self) -> str:
        """``U_UU``."""
        held = {member.slot for member in self.members if member.in_sync and not member.replacement}
        return "".join("U" if slot in held else "_" for slot in range(self.raid_disks))

    @property
    def degraded(self) -> int:
        """The number of slots without a member in sync."""
        return self.up.count("_")

    @property
    def action(self) -> str:
        """``md/sync_action``."""
        if self.frozen:
            return "frozen"
        return self.sync.action if self.sync else "idle"

    def counts_array(self, action: str) -> bool:
        """Whether progress counts the array's sectors."""
        return self.level == "raid10" and action not in {"recover", "reshape"}

    def total_sectors(self, action: str) -> int:
        """Return the length of a sync of this kind."""
        return 2 * (self.array_kib if self.counts_array(action) else self.component_kib)

    def member(self, device: str) -> SimMember | None:
        """Return the member on this device."""
        return next((member for member in self.members if member.device == device), None)

    def survives_without(self, slot: int) -> bool:
        """Whether the array survives the loss of this slot, too."""
        missing = {index for index, mark in enumerate(self.up) if mark == "_"} | {slot}
        left = losses_left(self.level, self.layout, self.raid_disks, missing)
        return left is not None and left >= 0

    def bitmap_pages(self, now_s: float) -> tuple[int, int]:
        """Return (used, all) pages of the bitmap; bits are not cleared while a member is missing."""
        pages = -(-self.component_kib // (_BITMAP_CHUNK_KIB * _COUNTERS_IN_PAGE))
        waited_s = 0.0 if self.degraded_since_s is None else now_s - self.degraded_since_s
        return min(pages, 1 + int(waited_s / _PAGE_DIRTIED_S)), pages


def place_spares(array: SimArray) -> None:
    """Give spares the empty slots, then use them to replace members marked want_replacement."""
    held = {m.slot for m in array.members if m.slot is not None and not m.replacement}
    spares = [member for member in array.members if member.is_spare]
    for slot in range(array.raid_disks):
        if slot not in held and spares:
            spare = spares.pop(0)
            spare.slot, spare.recovered_sectors = slot, 0
    replaced = {member.slot for member in array.members if member.replacement}
    for member in array.members:
        if member.wanted_gone and member.in_sync and member.slot not in replaced and spares:
            spare = spares.pop(0)
            spare.slot, spare.replacement, spare.recovered_sectors = member.slot, True, 0


def activate_spares(array: SimArray) -> None:
    """Complete a recovery: its targets are in sync, and the members that they replaced have failed."""
    for member in [member for member in array.members if member.is_target]:
        if member.replacement:
            for old in _holders(array, member):
                old.faulty, old.in_sync, old.wanted_gone = True, False, False
                old.saved_slot, old.slot = old.slot, None
        member.in_sync, member.replacement, member.recovered_sectors = True, False, 0


def _holders(array: SimArray, member: SimMember) -> list[SimMember]:
    return [each for each in array.members if each is not member and each.slot == member.slot]


def end_reshape(array: SimArray) -> None:
    """Complete a reshape: what it has filled is in sync, and members beyond the last slot are spares."""
    reshape, array.reshape, array.backwards = array.reshape, None, False
    if reshape is None:
        return
    array.offset_sectors += reshape.shift_sectors
    for member in array.members:
        if member.number in reshape.filled and member.slot is not None and not member.faulty:
            member.in_sync, member.recovered_sectors = True, 0
    release_slots(array)


def release_slots(array: SimArray) -> None:
    """Make spares of the members whose slots are no more."""
    for member in array.members:
        if member.slot is not None and member.slot >= array.raid_disks:
            member.slot, member.in_sync = None, False
