"""What fixes a reason why a machine does not boot: a plan of raidtui, or what to do by hand."""

from __future__ import annotations

from raidtui.monitor.boot.boot_reasons import BootCode, Reason

_OF_LOADERS = frozenset(
    {
        BootCode.NO_LOADER,
        BootCode.LOADER_STALE,
        BootCode.LOADER_CANNOT_READ,
        BootCode.LOADER_NO_CONFIG,
        BootCode.LOADER_NOT_TRIED,
        BootCode.LOADER_ORDER,
        BootCode.ESP_EMPTY,
    }
)
_OF_INITRAMFS = frozenset(
    {
        BootCode.NO_INITRAMFS,
        BootCode.INITRAMFS_NO_MODULE,
        BootCode.INITRAMFS_NO_PROGRAM,
        BootCode.INITRAMFS_STALE,
        BootCode.INITRAMFS_REFUSES,
        BootCode.NO_DEGRADED_START,
    }
)
_OF_MENU = frozenset({BootCode.ROOT_NAME, BootCode.ROOT_OTHER, BootCode.ENTRY_NO_INITRAMFS})
_OF_TABLE = frozenset({BootCode.FSTAB_WAITS, BootCode.ARRAY_FOREIGN, BootCode.ARRAY_NOT_STARTED})
_REMEDIES = {
    BootCode.NO_ESP: "make an EFI system partition on another disk, and put a boot loader there",
    BootCode.ESP_METADATA: "create that array again with --metadata=1.0",
    BootCode.BOOT_LOST: "put /boot on the array of the root file system, or on one of its own",
    BootCode.ROOT_DELAY: "remove rootdelay= from /etc/default/grub, then regenerate GRUB's menu",
    BootCode.USR_LOST: "put /usr on the array of the root file system, or on one of its own",
    BootCode.BTRFS_DEGRADED: "make btrfs on an array, or boot with rootflags=degraded when a disk is gone",
    BootCode.DIRTY_DEGRADED: "wait until the resync has ended; md_mod.start_dirty_degraded=1 on the kernel's"
    " command line starts it all the same, with wrong data where parity was stale",
    BootCode.MODULE_BLACKLIST: "remove module_blacklist= from /etc/default/grub, then regenerate GRUB's menu",
    BootCode.INITRAMFS_DEVICE: (
        "remove DEVICE from mdadm.conf, or name all members, then update the initramfs"
    ),
    BootCode.RD_MD: "name all arrays of the root file system in rd.md.uuid, or give rd.auto=1",
}


def remedy_of(reason: Reason) -> tuple[str, tuple[str, ...]]:
    """Return what to do, and the words after ``raidtui`` that print the plan; ("", ()) for nothing."""
    code, about = reason.code, reason.about
    if code in _OF_LOADERS and about:
        return f"install a boot loader on {about}", ("plan", "boot", "loader", about)
    if code in _OF_INITRAMFS and about:
        return f"rebuild the initramfs of {about}", ("plan", "boot", "initramfs", about)
    if code in _OF_MENU:
        return "correct root= in /etc/default/grub, then regenerate GRUB's menu", ("plan", "boot", "menu")
    if code in _OF_TABLE and about.startswith("/etc/fstab:"):
        return "add nofail to that line", ("plan", "boot", "fstab", about.rpartition(":")[2])
    return _REMEDIES.get(code, ""), ()
