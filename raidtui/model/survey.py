"""What planning has to know beyond a snapshot: devices with what is on them, and the host's own files."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from raidtui.model.disk import Disk
from raidtui.model.plan import NotYetRead, Refusal, RefusalCode
from raidtui.model.snapshot import Snapshot

PACKAGES = {
    "sfdisk": "fdisk",
    "wipefs": "util-linux",
    "mkfs.ext4": "e2fsprogs",
    "mkfs.xfs": "xfsprogs",
    "pvcreate": "lvm2",
    "ledctl": "ledmon",
    "fstrim": "util-linux",
}
"""Tools that plans use, and the Debian package of each."""


class Superblock(Struct, frozen=True, kw_only=True):
    """What ``mdadm --examine --export`` says of a member or former member.

    Args:
        uuid: the array's, in mdadm's form 8:8:8:8; None for external metadata.
        name: as it is stored, "host:name" or "name".
        events: the event count; the higher one of two is the newer.
        updated_s: epoch seconds of the last change.
        slot: the place that it had; None for spares, and where it is not known.
        layout: md's number of a RAID-10 layout.
        offset_sectors: where data begin on this member; in 512-byte sectors.
        spare_sectors: what is free before the data: room for a reshape without a backup file.
        recovery_sectors: up to where its data are whole, where it was being rebuilt; None: all of them are.
        roles: the array as this member knew it, a letter per slot: A active, "." missing, R being replaced.
        dirty: whether the array was being written to when this was stored; None where it is not known.
        dirty_bytes: what its bitmap says may have been written since a member went away; None without one.
    """

    uuid: str | None
    name: str | None = None
    level: str | None = None
    raid_disks: int | None = None
    metadata: str | None = None
    device_uuid: str | None = None
    events: int | None = None
    updated_s: float | None = None
    slot: int | None = None
    layout: int | None = None
    offset_sectors: int | None = None
    spare_sectors: int | None = None
    recovery_sectors: int | None = None
    roles: str | None = None
    dirty: bool | None = None
    dirty_bytes: int | None = None

    @property
    def label(self) -> str:
        """The name without the host, else the UUID's beginning."""
        return (self.name or "").rpartition(":")[2] or (self.uuid or "unknown")[:8]


class Device(Struct, frozen=True, kw_only=True):
    """A block device as something that could become a member.

    Args:
        superblock: md's, if there is one.
        digest: SHA-256 of its first and last MiB; None where it cannot be read.
        busy: why it cannot be opened for oneself alone, or who else has it open, if so.
        sector_bytes: the logical sector size.
        start_bytes: where a partition begins on its disk; 0 for a whole disk.
        optimal_bytes: the disk's optimal I/O size; 0 where it says none.
        discards: whether the device takes discards (TRIM).
        wear_percent: how much of its rated life the disk has used; None where that is not known.
        life_bytes: what may be written to the disk in its whole life; None where that is not known.
        trouble: what is wrong with the disk, or with its cable: a sentence without its subject.
        links: its other names under /dev, "disk/by-path/pci-0000:00:17.0-ata-1" and so on.
        appearance: the boot, and the kernel's number for this appearance of its disk, "UUID/17": a disk that
            takes its name later has another one. "" where the kernel (before 5.15) counts none.
    """

    disk: Disk
    superblock: Superblock | None = None
    digest: str | None = None
    busy: str = ""
    read_only: bool = False
    sector_bytes: int = 512
    start_bytes: int = 0
    optimal_bytes: int = 0
    discards: bool = False
    links: tuple[str, ...] = ()
    appearance: str = ""
    wear_percent: float | None = None
    life_bytes: int | None = None
    trouble: str = ""

    @property
    def path(self) -> str:
        """The kernel's node."""
        return f"/dev/{self.disk.name}"

    @property
    def aligned(self) -> bool:
        """Whether it begins at a whole MiB, or at a multiple of the disk's optimal I/O size."""
        return self.start_bytes % max(1 << 20, self.optimal_bytes) == 0


class Named(Struct, frozen=True, kw_only=True):
    """A place where a device is named that is to be mounted, swapped to or opened at the next boot.

    Args:
        path: of fstab, crypttab or one of systemd's units.
        line: counted from 1.
        text: as it is spelled there: a path, or LABEL=my data.
        devices: the kernel's names of what that means now.
    """

    path: str
    line: int
    text: str
    devices: tuple[str, ...]


class Survey(Struct, frozen=True, kw_only=True):
    """All that a plan is made from.

    Args:
        devices: by kernel name; those that were asked for.
        texts: the files that a plan may change, or that may name an array, by path; without missing ones.
            Bytes as characters (latin-1), so that what a plan does not touch stays as it is.
        named: where devices of the survey, and arrays, are named for the next boot.
        conf_path: the mdadm.conf that this distribution's mdadm reads.
        initramfs: the command that makes the initramfs anew, if the host has one.
        mdadm: its version, (4, 2); None where it is not installed.
        homehost: what mdadm writes before the names of new arrays.
        above: the arrays, their partitions, and what is stacked on these (LVM, encryption), by kernel name.
        missing: tools that a plan may need and that are not installed.
        groups: the LVM volume groups that are there, where they were asked for.
        nodes: the names in /dev, where they were asked for: no volume group can have one of them.
        issue_discards: lvm.conf's setting; None where it was not asked for, or there is no LVM.
        systemd: whether systemd is PID 1.
        trim_timer: what systemd says of fstrim.timer: enabled, disabled, masked; "" where it has none.
        raid456_discards: whether raid456 hands discards on; None where it is not loaded.
        pending: devices that are still being read.
        silent: devices that were asked for and have not answered.
    """

    snapshot: Snapshot
    devices: Mapping[str, Device] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    named: tuple[Named, ...] = ()
    conf_path: str = "/etc/mdadm/mdadm.conf"
    initramfs: tuple[str, ...] = ()
    mdadm: tuple[int, ...] | None = None
    homehost: str = ""
    missing: tuple[str, ...] = ()
    above: Mapping[str, Disk] = field(default_factory=dict)
    groups: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    issue_discards: bool | None = None
    systemd: bool = False
    trim_timer: str = ""
    raid456_discards: bool | None = None
    pending: frozenset[str] = frozenset()
    silent: frozenset[str] = frozenset()

    def refuse_unread(self, *names: str) -> Refusal | None:
        """Return which of these devices has not been read, or None."""
        for name in names:
            if name in self.pending:
                return NotYetRead(device=name, why=f"{name} is still being read", remedy="wait a moment")
            if name in self.silent:
                return Refusal(
                    code=RefusalCode.UNKNOWN,
                    why=f"{name} does not answer: what is on it is not known",
                    remedy="see the kernel log",
                )
        return None

    def is_pending(self, name: str, made: object) -> bool:
        """Whether a device is refused for nothing but that it, or a partition of it, is still being read.

        Args:
            name: the device.
            made: the refusal, or what was made of the device instead.
        """
        if not isinstance(made, NotYetRead):
            return False
        device = self.devices.get(name)
        uses = device.disk.uses if device is not None else ()
        return made.device in {name, *(use.what for use in uses if use.kind == "partition")}

    def no_device(self, name: str) -> Refusal:
        """Return why nothing is known of a device: it is not there, or was not read."""
        return self.refuse_unread(name) or Refusal(
            code=RefusalCode.NOT_FOUND, why=f"there is no device {name}"
        )

    def refuse_pending(self) -> Refusal | None:
        """Return that not all devices have been read: any of those left may matter; or None."""
        if not self.pending:
            return None
        be = "device is" if len(self.pending) == 1 else "devices are"
        return Refusal(
            code=RefusalCode.BUSY, why=f"{len(self.pending)} {be} still being read", remedy="wait a moment"
        )

    def refuse_tool(self, *tools: str) -> Refusal | None:
        """Return which of these tools is not installed, and how to get it, or None."""
        for tool in tools:
            if tool in self.missing:
                return Refusal(
                    code=RefusalCode.NO_TOOL,
                    why=f"{tool} is not installed",
                    remedy=f"apt install {PACKAGES[tool]}",
                )
        return None
