"""Why a machine comes up without a disk, or does not."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct


class BootCode(StrEnum):
    """What a reason says, for programs; docs/boot-check.md documents each."""

    NO_LOADER = "no-loader"
    LOADER_STALE = "loader-stale"
    LOADER_CANNOT_READ = "loader-cannot-read"
    LOADER_NO_CONFIG = "loader-no-config"
    LOADER_NOT_TRIED = "loader-not-tried"
    LOADER_ORDER = "loader-order"
    LOADER_UNKNOWN = "loader-unknown"
    NO_ESP = "no-esp"
    ESP_EMPTY = "esp-empty"
    ESP_METADATA = "esp-metadata"
    NOT_READ = "not-read"
    BOOT_LOST = "boot-lost"
    ROOT_LOST = "root-lost"
    USR_LOST = "usr-lost"
    BTRFS_DEGRADED = "btrfs-degraded"
    DIRTY_DEGRADED = "dirty-degraded"
    JOURNAL_LOST = "journal-lost"
    OLD_COPY = "old-copy"
    ROOT_UNKNOWN = "root-unknown"
    ROOT_OTHER = "root-other"
    ROOT_NAME = "root-name"
    NEXT_UNKNOWN = "next-unknown"
    RD_MD = "rd-md"
    MODULE_BLACKLIST = "module-blacklist"
    RESUME_LOST = "resume-lost"
    ENTRY_NO_INITRAMFS = "entry-no-initramfs"
    NO_INITRAMFS = "no-initramfs"
    INITRAMFS_NOT_READ = "initramfs-not-read"
    INITRAMFS_NO_MODULE = "initramfs-no-module"
    INITRAMFS_NO_PROGRAM = "initramfs-no-program"
    INITRAMFS_STALE = "initramfs-stale"
    INITRAMFS_REFUSES = "initramfs-refuses"
    INITRAMFS_DEVICE = "initramfs-device"
    NO_DEGRADED_START = "no-degraded-start"
    ROOT_DELAY = "root-delay"
    FSTAB_WAITS = "fstab-waits"
    FSTAB_UNKNOWN = "fstab-unknown"
    FSTAB_MOVES = "fstab-moves"
    ARRAY_FOREIGN = "array-foreign"
    ARRAY_NOT_STARTED = "array-not-started"
    SWAP_WAITS = "swap-waits"
    CRYPT_WAITS = "crypt-waits"


class Reason(Struct, frozen=True, kw_only=True):
    """A reason.

    Args:
        code: what it says.
        text: a sentence without its full stop.
        boots: False: it does not come up; None: that is not known; True: it does, and this is worth
            knowing.
        about: what a plan that fixes it is about: a disk, a kernel, a line of fstab; "" for nothing.
    """

    code: BootCode
    text: str
    boots: bool | None = False
    about: str = ""


class DiskVerdict(Struct, frozen=True, kw_only=True):
    """Whether the machine comes up without a disk.

    Args:
        name: kernel name.
        serial: "" where it is not known.
        reasons: the worst first.
    """

    name: str
    serial: str = ""
    reasons: tuple[Reason, ...] = ()

    @property
    def boots_without(self) -> bool | None:
        """The answer; None where it is not known."""
        found = {reason.boots for reason in self.reasons}
        return False if False in found else None if None in found else True
