"""What is wanted on top of a new array, and the array that it goes on."""

from __future__ import annotations

from msgspec import Struct

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
        stripe_kib: what goes to one of them at a time, KiB.
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
    """What a file system is told of the array below.

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
