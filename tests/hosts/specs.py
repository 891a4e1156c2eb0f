"""Arrays described in a few words, and the /proc/mdstat that the kernel would print of them.

Everything is made of the description alone, nothing is random.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from raidtui.model.levels import PARITY_LEVELS, Raid10Layout

COMPONENT_KIB = 220_200_960
"""210 GiB of each member."""

_LAYOUTS = {"ls": 2, "la": 0, "ra": 1, "rs": 3, "pl": 5, "ls6": 18}
_PERSONALITIES = "[raid0] [raid1] [raid4] [raid5] [raid6] [raid10] "
_HEX_LENGTH = 32


class Syncing(Struct, frozen=True, kw_only=True):
    """A sync in mdstat and sysfs.

    Args:
        action: as in ``sync_action``: resync, recover, check, repair, reshape.
        done_kib, total_kib: progress; a total of None is what the kernel counts for the level.
        waiting: "", DELAYED, PENDING or REMOTE.
    """

    action: str
    done_kib: int = 0
    total_kib: int | None = None
    speed_kib_s: int = 0
    waiting: str = ""


class ArraySpec(Struct, frozen=True, kw_only=True):
    """One array. Members are named by slot; None is an empty slot.

    Args:
        label: the superblock's name without the host; "" for none.
        members: by slot. The superblock number of a member is its slot unless ``numbers`` says otherwise.
        failed: members that lost their slot and are still there, ``(F)``; named in ``members`` too, they are
            taken out of their slot.
        rebuilding: of ``members``, those that are not in sync yet.
        spares, journal: further devices; a journal named in ``failed`` has failed.
        replacements: device -> slot that it will take over.
        states: member -> its state words, where they are others than what follows from the rest.
        pulled: devices that the kernel does not have any more, though md has not noticed.
        errors: member -> corrected read errors.
        bad_blocks: member -> the file of its bad blocks; without one it has none.
        frozen: ``sync_action`` is frozen and mdstat shows no sync.
        resync_start, reshape_position, mismatches, last_sync_action, sync_min: the attributes.
        old_raid_disks: during a reshape.
        shift: by how many sectors it moves the data of each member; None where the kernel does not say.
        limits: (min, max) of this array alone, KiB/s; None is the system's.
        bitmap: (used, all) pages, or None.
        attributes: further or other attributes under md/, name -> text; None takes one away.
    """

    name: str = "md127"
    label: str = ""
    level: str = "raid1"
    layout: str = ""
    members: tuple[str | None, ...] = ()
    failed: tuple[str, ...] = ()
    rebuilding: tuple[str, ...] = ()
    spares: tuple[str, ...] = ()
    journal: str = ""
    replacements: Mapping[str, int] = field(default_factory=dict)
    numbers: Mapping[str, int] = field(default_factory=dict)
    states: Mapping[str, str] = field(default_factory=dict)
    pulled: tuple[str, ...] = ()
    errors: Mapping[str, int] = field(default_factory=dict)
    bad_blocks: Mapping[str, str] = field(default_factory=dict)
    sync: Syncing | None = None
    frozen: bool = False
    resync_start: str = "none"
    reshape_position: str = "none"
    mismatches: int = 0
    last_sync_action: str = "none"
    sync_min: int = 0
    old_raid_disks: int | None = None
    shift: int | None = None
    state: str = "active"
    array_state: str = ""
    read_only: str = ""
    component_kib: int = COMPONENT_KIB
    chunk_kib: int = 512
    metadata: str = "1.2"
    bitmap: tuple[int, int] | None = None
    bitmap_chunk_kib: int = 65536
    limits: tuple[int | None, int | None] = (None, None)
    uuid: str = ""
    consistency_policy: str = ""
    attributes: Mapping[str, str | None] = field(default_factory=dict)

    @property
    def slots(self) -> tuple[str | None, ...]:
        """Members by slot, without those that failed."""
        return tuple(None if name in self.failed else name for name in self.members)

    @property
    def devices(self) -> tuple[str, ...]:
        """All devices, in the order in which they were given."""
        named = [name for name in (*self.members, *self.failed, *self.spares, *self.replacements) if name]
        return tuple(dict.fromkeys([*named, *([self.journal] if self.journal else [])]))

    @property
    def up(self) -> str:
        """``U_UU``."""
        return "".join("U" if name and name not in self.rebuilding else "_" for name in self.slots)

    @property
    def redundant(self) -> bool:
        """Whether there is a sync family of attributes."""
        return self.level in {"raid1", "raid10", *PARITY_LEVELS}

    @property
    def layout_number(self) -> int:
        """``md/layout``."""
        if self.level != "raid10":
            return _LAYOUTS.get(self.layout, 0)
        near, far, offset = 1, 1, 0
        for letter, count in zip(self.layout[::2], self.layout[1::2], strict=True):
            near, far = (int(count), far) if letter == "n" else (near, int(count))
            offset = 0x10000 if letter == "o" else offset
        return near | far << 8 | offset

    @property
    def size_kib(self) -> int:
        """The array's size."""
        count = len(self.members)
        if self.level in PARITY_LEVELS:
            return self.component_kib * ((self.old_raid_disks or count) - PARITY_LEVELS[self.level])
        if self.level == "raid10":
            copies = Raid10Layout.decode(self.layout_number)
            return self.component_kib * count // (copies.copies if copies else 1)
        return self.component_kib * (count if self.level in {"raid0", "linear"} else 1)

    @property
    def array_uuid(self) -> str:
        """In mdadm's form."""
        digits = self.uuid or hashlib.sha256((self.label or self.name).encode()).hexdigest()[:_HEX_LENGTH]
        return ":".join(digits[start : start + 8] for start in range(0, _HEX_LENGTH, 8))

    def number(self, device: str) -> int:
        """The superblock number."""
        if device in self.numbers:
            return self.numbers[device]
        if device in self.members:
            return self.members.index(device)
        later = [name for name in self.devices if name not in self.members]
        return len(self.members) + later.index(device)

    def slot(self, device: str) -> str:
        """``dev-X/slot``."""
        if device == self.journal:
            return "journal"
        if device in self.replacements:
            return str(self.replacements[device])
        return str(self.slots.index(device)) if device in self.slots else "none"

    def state_words(self, device: str) -> str:
        """``dev-X/state``."""
        if device in self.states:
            return self.states[device]
        if device == self.journal:
            return "faulty,journal" if device in self.failed else "journal"
        if device in self.failed:
            return "faulty"
        if device in self.replacements:
            return "spare,replacement"
        in_place = device in self.slots and device not in self.rebuilding and self.state != "inactive"
        wanted = ",want_replacement" if self.slot(device) in map(str, self.replacements.values()) else ""
        return f"in_sync{wanted}" if in_place else "spare"

    def counted_kib(self, sync: Syncing) -> int:
        """What the kernel counts a sync against."""
        if sync.total_kib is not None:
            return sync.total_kib
        whole = self.level == "raid10" and sync.action in {"resync", "check", "repair"}
        return self.size_kib if whole else self.component_kib


def raid10(
    name: str = "md127",
    label: str = "data",
    *,
    members: Sequence[str | None] = ("sda", "sdb", "sdc", "sdd"),
    layout: str = "n2",
    chunk_kib: int = 32,
    **more: object,
) -> ArraySpec:
    """Return a RAID-10; ``layout`` as mdadm takes it: n2, f2, o2, n2f2."""
    array = ArraySpec(
        name=name, label=label, level="raid10", members=tuple(members), layout=layout, chunk_kib=chunk_kib
    )
    return replace(array, **more)


def raid1(
    name: str = "md126",
    label: str = "root",
    *,
    members: Sequence[str | None] = ("sde", "sdf"),
    **more: object,
) -> ArraySpec:
    """Return a mirror."""
    return replace(ArraySpec(name=name, label=label, level="raid1", members=tuple(members)), **more)


def raid5(
    name: str = "md125",
    label: str = "media",
    *,
    members: Sequence[str | None] = ("sdg", "sdh", "sdi"),
    **more: object,
) -> ArraySpec:
    """Return a RAID-5, left-symmetric."""
    array = ArraySpec(name=name, label=label, level="raid5", members=tuple(members), layout="ls")
    return replace(array, **more)


def raid6(
    name: str = "md124",
    label: str = "backup",
    *,
    members: Sequence[str | None] = ("sdj", "sdk", "sdl", "sdm"),
    **more: object,
) -> ArraySpec:
    """Return a RAID-6, left-symmetric."""
    array = ArraySpec(name=name, label=label, level="raid6", members=tuple(members), layout="ls")
    return replace(array, **more)


def raid0(
    name: str = "md123", label: str = "scratch", *, members: Sequence[str] = ("sdn", "sdo"), **more: object
) -> ArraySpec:
    """Return a RAID-0."""
    return replace(ArraySpec(name=name, label=label, level="raid0", members=tuple(members)), **more)


def growing_raid0(name: str = "md123", label: str = "scratch", **more: object) -> ArraySpec:
    """Return a RAID-0 of two that gets a device, as Linux 6.1 shows ``mdadm --grow -n3 --add``."""
    array = ArraySpec(
        name=name,
        label=label,
        level="raid4",
        layout="pl",
        members=("sdn", "sdo", "sdp", None),
        rebuilding=("sdp",),
        old_raid_disks=3,
        reshape_position="1920",
        shift=-384,
        sync=Syncing(action="reshape", done_kib=5),
    )
    return replace(array, **more)


def inactive(array: ArraySpec) -> ArraySpec:
    """Return the array as it is before it is started: all members are spares."""
    return replace(array, state="inactive")


def container(
    name: str = "md127", *, members: Sequence[str] = ("sda", "sdb"), kind: str = "imsm"
) -> ArraySpec:
    """Return an IMSM or DDF container; its volumes are arrays with metadata ``external:/md127/0``."""
    return ArraySpec(
        name=name, level="container", members=tuple(members), state="inactive", metadata=f"external:{kind}"
    )


def mdstat_text(*arrays: ArraySpec) -> str:
    """Return /proc/mdstat, newest array first as they are given."""
    parts = [f"Personalities : {_PERSONALITIES}\n", *map(_mdstat_entry, arrays), "unused devices: <none>\n"]
    return "".join(parts)


def _mdstat_entry(array: ArraySpec) -> str:
    head = f"{array.name} : {array.state}"
    if array.state != "inactive":
        head += f" ({array.read_only})" if array.read_only else ""
        head += f" {array.level}"
    ordered = sorted(array.devices, key=lambda name: -array.number(name))
    head += "".join(f" {name}[{array.number(name)}]{_flags(array, name)}" for name in ordered)
    if array.state == "inactive":
        blocks = array.component_kib * len(array.devices)
        return f"{head}\n      {blocks} blocks{_super(array)}\n       \n"
    lines = f"{head}\n      {array.size_kib} blocks{_super(array)}{_personality(array)}\n      "
    if array.sync is not None:
        lines += f"{_progress(array, array.sync)}\n      "
    if array.bitmap is not None:
        used, pages = array.bitmap
        lines += f"bitmap: {used}/{pages} pages [{used * 4}KB], {array.bitmap_chunk_kib}KB chunk\n"
    return lines + "\n"


def _flags(array: ArraySpec, device: str) -> str:
    words = array.state_words(device).split(",")
    flags = "(W)" if "write_mostly" in words else ""
    flags += "(J)" if "journal" in words else ""
    if "faulty" in words:
        return flags + "(F)"
    flags += "(S)" if array.slot(device) == "none" or array.state == "inactive" else ""
    return flags + ("(R)" if "replacement" in words else "")


def _super(array: ArraySpec) -> str:
    if array.metadata == "none":
        return " super non-persistent"
    return "" if array.metadata == "0.90" else f" super {array.metadata}"


def _personality(array: ArraySpec) -> str:
    count = len(array.members)
    marks = f" [{count}/{array.up.count('U')}] [{array.up}]"
    if array.level == "raid1":
        return marks
    if array.level in PARITY_LEVELS:
        text = f" level {array.level[4:]}, {array.chunk_kib}k chunk, algorithm {array.layout_number}"
        return text + marks
    if array.level == "raid10":
        number = array.layout_number
        near, far = number & 0xFF, number >> 8 & 0xFF
        text = f" {array.chunk_kib}K chunks"
        text += f" {near} near-copies" if near > 1 else ""
        text += f" {far} {'offset' if number & 0x10000 else 'far'}-copies" if far > 1 else ""
        return text + marks
    return f" {array.chunk_kib}k chunks" if array.level == "raid0" else " 0k rounding"


def _progress(array: ArraySpec, sync: Syncing) -> str:
    word = {"recover": "recovery", "repair": "resync"}.get(sync.action, sync.action)
    if sync.waiting:
        return f"\t{'recover' if word == 'recovery' else word}={sync.waiting}"
    total = array.counted_kib(sync)
    permille = sync.done_kib * 1000 // total
    bar = "=" * (permille // 50) + ">" + "." * (20 - permille // 50)
    tenths = (total - sync.done_kib) // max(1, sync.speed_kib_s) // 6
    return (
        f"[{bar}]  {word} ={permille // 10:3d}.{permille % 10}% ({sync.done_kib}/{total})"
        f" finish={tenths // 10}.{tenths % 10}min speed={sync.speed_kib_s}K/sec"
    )
