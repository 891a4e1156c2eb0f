"""The request for a new array, and for what goes on top of it."""

from __future__ import annotations

from msgspec import Struct

from raidtui.model.geometry import MISSING

LEVELS = ("raid0", "raid1", "raid4", "raid5", "raid6", "raid10")
BLOCK_KIB = 4
"""The blocks of the file systems that are made."""


class OnTop(Struct, frozen=True, kw_only=True):
    """What is wanted on top.

    Args:
        file_system: ext4 or xfs; "" for none.
        mount: where it is mounted, in fstab too; "" for nowhere.
        group: the LVM volume group to make on the array; "" for no LVM.
        volume: its logical volume, which takes all of it.
        uuid: what the file system will be known by, made up by the caller.
        others: kernel names of further empty devices that join the group, other arrays for instance.
        stripes: over how many physical volumes LVM stripes; 0 and 1: one is filled after the other.
        stripe_kib: KiB that go to one of them at a time.
        trim_weekly: whether fstrim.timer is switched on.
    """

    file_system: str = ""
    mount: str = ""
    group: str = ""
    volume: str = "data"
    uuid: str = ""
    others: tuple[str, ...] = ()
    stripes: int = 0
    stripe_kib: int = 64
    trim_weekly: bool = False


class Geometry(Struct, frozen=True, kw_only=True):
    """The geometry of the array, for a file system on it.

    Args:
        stride: the chunk in blocks of 4 KiB; 0 where there is none.
        width: data disks.
    """

    stride: int
    width: int

    @property
    def stripe_kib(self) -> int:
        """A full stripe's data: chunk times data disks; 0 where there is none."""
        return self.stride * BLOCK_KIB * self.width


class Below(Struct, frozen=True, kw_only=True):
    """The new array.

    Args:
        path: its node.
        level: raid10.
        shape: its geometry.
        size_bytes: what fits on it; 0 is not known.
        members: kernel names of the devices that hold data: no spares, no journal.
        sector_bytes: the members' logical sector size.
    """

    path: str
    level: str
    shape: Geometry
    size_bytes: int = 0
    members: tuple[str, ...] = ()
    sector_bytes: int = 512


class CreateRequest(Struct, frozen=True, kw_only=True):
    """The requested array.

    Args:
        name: its name; a number of up to three digits is its md number too.
        uuid: its UUID, made by the caller.
        level: raid0, raid1, raid4, raid5, raid6 or raid10; the number alone will do.
        devices: kernel names by slot, or "missing".
        layout: n2, f2, o2 for RAID-10, ls and so on for RAID-5 and -6; "" is n2 or left-symmetric.
        chunk_kib: 0 is 512, and none for RAID-1.
        bitmap: none or internal; "" is internal for levels with parity, where nothing else guards it.
        consistency_policy: "", resync, bitmap, ppl or journal.
        spares: further devices.
        write_mostly: of the devices, those that are read only where no other is left.
        failfast: whether a member fails at once instead of being asked again.
        assume_clean: whether the first sync is left out.
        size_kib: used size of each member; 0 is all.
        number: the md number; None is the name's, or the kernel's choice.
        on_top: LVM and a file system, if wanted.
        journal: the device that takes the journal of RAID-4, -5 or -6.
        destroys: names of arrays that do not run and may be destroyed, as typed.
    """

    name: str
    uuid: str
    level: str
    devices: tuple[str, ...]
    layout: str = ""
    chunk_kib: int = 0
    bitmap: str = ""
    consistency_policy: str = ""
    metadata: str = "1.2"
    spares: tuple[str, ...] = ()
    write_mostly: tuple[str, ...] = ()
    failfast: bool = False
    assume_clean: bool = False
    size_kib: int = 0
    number: int | None = None
    on_top: OnTop = OnTop()
    journal: str = ""
    destroys: tuple[str, ...] = ()

    @property
    def named(self) -> tuple[str, ...]:
        """All devices and spares, without empty slots, and the journal's."""
        names = (*self.devices, *self.spares, *((self.journal,) if self.journal else ()))
        return tuple(name for name in names if name != MISSING)

    @property
    def holes(self) -> tuple[int, ...]:
        """The slots that stay empty."""
        return tuple(slot for slot, name in enumerate(self.devices) if name == MISSING)


def canonical_level(word: str) -> str | None:
    """Return the kernel's word for a level ("10" is raid10), or None where none such can be created."""
    level = "raid" + word.lower().removeprefix("raid")
    return level if level in LEVELS else None
