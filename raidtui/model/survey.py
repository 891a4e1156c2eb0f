"""What planning needs besides a snapshot: devices with their contents, and the host's configuration."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct, field

from raidtui.model.answer import Answer, AnswerKind
from raidtui.model.disk import Disk, Use
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
    "resize2fs": "e2fsprogs",
    "tune2fs": "e2fsprogs",
    "pkill": "procps",
    "xfs_growfs": "xfsprogs",
    "pvresize": "lvm2",
    "cryptsetup": "cryptsetup-bin",
    "btrfs": "btrfs-progs",
    "mkfs.vfat": "dosfstools",
    "efibootmgr": "efibootmgr",
    "grub-install": "grub2-common",
    "grub2-install": "grub2-common",
    "grub-mkconfig": "grub2-common",
    "grub2-mkconfig": "grub2-common",
}
"""Tools that plans use, with the Debian package of each."""


NOT_ASKED: Answer[tuple[int, ...]] = Answer(
    kind=AnswerKind.NOT_ASKED, why="mdadm was not asked for its version"
)
_NO_GROUPS: Answer[tuple[str, ...]] = Answer(
    kind=AnswerKind.NOT_ASKED, source="vgs", why="LVM was not asked for its volume groups"
)
_REPLAYED = 0x200 | 0x400 | 0x800  # MD_FEATURE_JOURNAL, _PPL, _MULTIPLE_PPLS (md_p.h); 0x1000 is RAID0_LAYOUT


class MemberRole(StrEnum):
    """What a superblock says its device is. A failed member looks like a spare (super1.c)."""

    ACTIVE = "active"
    SPARE = "spare"
    JOURNAL = "journal"
    REPLACEMENT = "replacement"


class PendingReshape(Struct, frozen=True, kw_only=True):
    """A reshape that has not ended. Without "new", a value stays as it is.

    Args:
        position_kib: how far it is, in KiB of the array; a reshape that goes backwards counts down.
        delta_disks: slots that come (or, negative, go).
        new_offset_sectors: where data will begin on this member; None where that stays.
        backwards: whether it goes from the end of the array to its start.
    """

    position_kib: int
    new_level: str | None = None
    new_layout: str | None = None
    new_chunk_bytes: int | None = None
    delta_disks: int = 0
    new_offset_sectors: int | None = None
    backwards: bool = False

    @property
    def in_place(self) -> bool:
        """Whether data are moved onto themselves: mdadm then backs up what is being moved."""
        return self.new_offset_sectors is None and self.delta_disks <= 0


class ContainerVolume(Struct, frozen=True, kw_only=True):
    """An array in a container of external metadata (DDF, Intel's), as one of its disks records it.

    Args:
        level: the kernel's word; None where it is not known.
        state: in the words of the metadata; "" where they have none.
    """

    name: str
    level: str | None = None
    raid_disks: int | None = None
    state: str = ""


_YOUNG_S, _YOUNG_EVENTS = 86_400.0, 100


class Superblock(Struct, frozen=True, kw_only=True):
    """What ``mdadm --examine`` says of a member or former member.

    What is None or empty is not known, or the metadata do not have it. Of the fields after ``updated_s``,
    ``--export`` has none.

    Args:
        uuid: the array's, or the container's, in mdadm's form 8:8:8:8; None for Intel's metadata.
        name: as it is stored, "host:name" or "name".
        metadata: 0.90.00, 1.0, 1.1, 1.2, ddf, imsm.
        events: the event count; of two superblocks, the higher count is the newer. DDF and Intel have a count
            of their own.
        updated_s: epoch seconds of the last change.
        created_s: epoch seconds at which the array was created.
        role: what the device is.
        slot: its slot; None for spares and where it is not known.
        replaces: the slot of the member that this one replaces.
        layout: md's number of a RAID-10 layout.
        layout_name: the layout in the form that ``mdadm --layout`` takes: left-symmetric, n2.
        offset_sectors: the data offset on this member, in 512-byte sectors.
        super_sectors: where the superblock is, in sectors; None for 0.90.
        avail_sectors: how much of this device can hold data.
        used_sectors: how much of it does, parity included.
        spare_sectors: free space before the data: room for a reshape without a backup file.
        tail_sectors: free space after the data.
        recovery_sectors: how much of it had been rebuilt; None where all of its data are up to date.
        roles: the state of the array as this member recorded it, a letter per slot: A active, "." missing,
            R being replaced.
        dirty: whether the array was being written to when this was stored; None where it is not known.
        dirty_bytes: how much the bitmap marks as written since a member was lost; None without a bitmap.
        cleared_events: the event count from which on the bitmap records everything that was written.
        features: the feature map (MD_FEATURE_* of md_p.h).
        bad_log_sectors: how far after the superblock the log of bad blocks begins; None without one.
        checksum_ok: whether the superblock's checksum is right.
        bitmap_damaged: whether the superblock refers to a write-intent bitmap that is not valid.
        bad_blocks: whether bad blocks are recorded.
        own_host: whether mdadm takes the array for this host's; None where it does not say.
        volumes: of external metadata.
    """

    uuid: str | None
    name: str | None = None
    level: str | None = None
    raid_disks: int | None = None
    metadata: str | None = None
    device_uuid: str | None = None
    events: int | None = None
    updated_s: float | None = None
    created_s: float | None = None
    role: MemberRole | None = None
    slot: int | None = None
    replaces: int | None = None
    layout: int | None = None
    layout_name: str = ""
    chunk_bytes: int | None = None
    offset_sectors: int | None = None
    super_sectors: int | None = None
    avail_sectors: int | None = None
    used_sectors: int | None = None
    spare_sectors: int | None = None
    tail_sectors: int | None = None
    bad_log_sectors: int | None = None
    recovery_sectors: int | None = None
    roles: str | None = None
    dirty: bool | None = None
    dirty_bytes: int | None = None
    cleared_events: int | None = None
    features: int | None = None
    checksum_ok: bool | None = None
    bitmap_damaged: bool = False
    bad_blocks: bool = False
    own_host: bool | None = None
    reshape: PendingReshape | None = None
    volumes: tuple[ContainerVolume, ...] = ()

    @property
    def replays(self) -> bool:
        """Whether md writes to the members as it starts the array, also read-only: it replays a log."""
        return bool((self.features or 0) & _REPLAYED)

    @property
    def young(self) -> bool:
        """Whether the array was created shortly before this was written."""
        if self.created_s is None or self.updated_s is None:
            return False
        return self.updated_s - self.created_s < _YOUNG_S and (self.events or 0) < _YOUNG_EVENTS

    def takes_for_failed(self, other: Superblock) -> bool:
        """Whether it records the slot of another member as failed or missing."""
        if self.roles is None or other.slot is None:
            return False
        return self.roles[other.slot : other.slot + 1] == "."

    @property
    def label(self) -> str:
        """The name without the host, else the first part of the UUID."""
        return (self.name or "").rpartition(":")[2] or (self.uuid or "unknown")[:8]


class Device(Struct, frozen=True, kw_only=True):
    """A block device as something that could become a member.

    Args:
        superblock: md's superblock, if there is one.
        digest: SHA-256 of its first and last MiB; None where it cannot be read.
        busy: why it cannot be opened exclusively, or who has it open; "" if free.
        sector_bytes: the logical sector size.
        start_bytes: the offset of a partition on its disk; 0 for a whole disk.
        optimal_bytes: the disk's optimal I/O size; 0 where it reports none.
        discards: whether the device takes discards (TRIM).
        wear_percent: the used part of the disk's rated endurance; None where it is not known.
        life_bytes: how much may be written to the disk over its life; None where it is not known.
        probed: the signatures that were found on the device itself.
        trouble: what is wrong with the disk or its cable, a sentence without its subject; "" for nothing.
        unjudged: why its wear and health are not known; "" where they are, or SMART was not asked.
        retries: for how long a hard disk retries a bad sector, where the kernel waits for less; "" elsewhere,
            and where that is not known.
        links: its other names under /dev, "disk/by-path/pci-0000:00:17.0-ata-1" and so on.
        appearance: the boot ID and the disk's ``diskseq``, "UUID/17": a disk that gets the same name later
            has another number. "" where the kernel (before 5.15) has none.
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
    unjudged: str = ""
    retries: str = ""
    probed: Answer[tuple[Use, ...]] = Answer(kind=AnswerKind.NOT_ASKED, why="its contents were not read")

    @property
    def path(self) -> str:
        """The device node."""
        return f"/dev/{self.disk.name}"

    @property
    def aligned(self) -> bool:
        """Whether it starts at a multiple of 1 MiB, or of the optimal I/O size where that is larger."""
        return self.start_bytes % max(1 << 20, self.optimal_bytes) == 0


class Reference(Struct, frozen=True, kw_only=True):
    """A line that names a device to be mounted, swapped to or opened at the next boot.

    Args:
        path: fstab, crypttab or a systemd unit.
        line: the line's number, from 1.
        text: the text on that line: a path, or a tag such as LABEL=my data.
        devices: the kernel's names of the devices that it means now.
    """

    path: str
    line: int
    text: str
    devices: tuple[str, ...]


class Survey(Struct, frozen=True, kw_only=True):
    """Everything that a plan is made from.

    Args:
        devices: by kernel name; those that were asked for.
        texts: the files that a plan may change or that may name an array, by path, as far as they exist.
            Bytes as characters (latin-1), so that a plan keeps what it does not change.
        named: the lines that name devices of the survey, or arrays, for the next boot.
        conf_path: the mdadm.conf that this distribution's mdadm reads.
        initramfs: the command that rebuilds the initramfs, if the host has one.
        mdadm: its version, (4, 2), or why that is not known.
        homehost: the host name that mdadm puts before the names of new arrays.
        above: the arrays, their partitions and the devices on top of them (LVM, encryption), by kernel name.
        missing: tools that a plan may need and that are not installed.
        groups: the LVM volume groups, or why they are not known.
        nodes: the names in /dev, where they were read: a volume group cannot have one of them.
        issue_discards: lvm.conf's setting; None where it was not read or there is no LVM.
        systemd: whether systemd is PID 1.
        trim_timer: the state of fstrim.timer: enabled, disabled, masked; "" where systemd has none.
        raid456_discards: whether raid456 passes discards to its members; None where it is not loaded.
        pending: devices that are still being read.
        silent: by the device, of which it is not known what they hold: why, a clause.
    """

    snapshot: Snapshot
    devices: Mapping[str, Device] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    named: tuple[Reference, ...] = ()
    conf_path: str = "/etc/mdadm/mdadm.conf"
    initramfs: tuple[str, ...] = ()
    mdadm: Answer[tuple[int, ...]] = NOT_ASKED
    homehost: str = ""
    missing: tuple[str, ...] = ()
    above: Mapping[str, Disk] = field(default_factory=dict)
    groups: Answer[tuple[str, ...]] = _NO_GROUPS
    nodes: tuple[str, ...] = ()
    issue_discards: bool | None = None
    systemd: bool = False
    trim_timer: str = ""
    raid456_discards: bool | None = None
    pending: frozenset[str] = frozenset()
    silent: Mapping[str, str] = field(default_factory=dict)

    def refuse_unread(self, *names: str) -> Refusal | None:
        """Return a refusal if one of these devices has not been read, else None."""
        for name in names:
            if name in self.pending:
                return NotYetRead(device=name, why=f"{name} is still being read", remedy="wait a moment")
            if name in self.silent:
                return Refusal(
                    code=RefusalCode.UNKNOWN,
                    why=f"what is on {name} is not known: {self.silent[name]}",
                    remedy="see the kernel log",
                )
        return None

    def is_pending(self, name: str, made: object) -> bool:
        """Whether a device is refused for nothing but that it, or a partition of it, is still being read.

        Args:
            name: the device.
            made: the refusal, or the result.
        """
        if not isinstance(made, NotYetRead):
            return False
        device = self.devices.get(name)
        uses = device.disk.uses if device is not None else ()
        return made.device in {name, *(use.what for use in uses if use.kind == "partition")}

    def no_device(self, name: str) -> Refusal:
        """Return why nothing is known of a device: it is absent, or has not been read."""
        return self.refuse_unread(name) or Refusal(
            code=RefusalCode.NOT_FOUND, why=f"there is no device {name}"
        )

    def refuse_pending(self) -> Refusal | None:
        """Return a refusal while devices are still being read: each may matter; else None."""
        if not self.pending:
            return None
        be = "device is" if len(self.pending) == 1 else "devices are"
        return Refusal(
            code=RefusalCode.BUSY, why=f"{len(self.pending)} {be} still being read", remedy="wait a moment"
        )

    def refuse_tool(self, *tools: str) -> Refusal | None:
        """Return a refusal if one of these tools is not installed, else None."""
        for tool in tools:
            if tool in self.missing:
                return Refusal(
                    code=RefusalCode.NO_TOOL,
                    why=f"{tool} is not installed",
                    remedy=f"apt install {PACKAGES[tool]}",
                )
        return None
