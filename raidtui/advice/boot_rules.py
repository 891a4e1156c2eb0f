"""Advice about the next boot: what keeps the machine from coming up without one of its disks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from raidtui.advice.advice import Advice
from raidtui.boot.boot_reasons import BootCode, DiskVerdict, Reason
from raidtui.model.finding import Severity

_OF_LOADERS = frozenset(
    {
        BootCode.NO_LOADER,
        BootCode.LOADER_STALE,
        BootCode.LOADER_CANNOT_READ,
        BootCode.LOADER_NO_CONFIG,
        BootCode.LOADER_NOT_TRIED,
        BootCode.ESP_EMPTY,
    }
)
_OF_INITRAMFS = frozenset(
    {
        BootCode.NO_INITRAMFS,
        BootCode.INITRAMFS_NO_MODULE,
        BootCode.INITRAMFS_NO_PROGRAM,
        BootCode.INITRAMFS_REFUSES,
        BootCode.NO_DEGRADED_START,
    }
)
_REMEDIES = {
    BootCode.NO_ESP: "make an EFI system partition on another disk, and install GRUB there",
    BootCode.ESP_METADATA: "create that array again with --metadata=1.0",
    BootCode.BOOT_LOST: "put /boot on the array of the root file system, or on one of its own",
    BootCode.ROOT_NAME: "name the root file system by its UUID (/etc/default/grub), and run update-grub",
    BootCode.ROOT_OTHER: "run update-grub",
    BootCode.RD_MD: "name all arrays in rd.md.uuid, or none",
    BootCode.ARRAY_FOREIGN: "name the array in mdadm.conf, and renew the initramfs",
}


def of_boot(verdicts: Sequence[DiskVerdict]) -> Iterator[Advice]:
    """Yield a card for each fact that keeps the machine from booting without some disk.

    A disk without which nothing is left to boot is no matter of the boot: it is left out.
    """
    found: dict[Reason, list[DiskVerdict]] = {}
    for verdict in verdicts:
        reasons = [reason for reason in verdict.reasons if reason.boots is False]
        if not any(reason.code is BootCode.ROOT_LOST for reason in reasons):
            for reason in reasons:
                found.setdefault(reason, []).append(verdict)
    for reason, disks in found.items():
        names = ", ".join(each.name for each in disks)
        remedy, order = _mended(reason)
        yield Advice(
            code=reason.code,
            severity=Severity.ATTENTION,
            subject=disks[0].name,
            text=f"without {names} the machine does not boot: {reason.text}",
            why="The mirror keeps the data, but not the boot, and that shows only after the disk has failed"
            " (docs/boot-check.md).",
            remedy=remedy,
            detail=f"{reason.about} {' '.join(each.serial for each in disks[1:])}".strip(),
            order=order,
        )


def _mended(reason: Reason) -> tuple[str, tuple[str, ...]]:
    """Return what to do, and the words after ``raidtui`` that print the plan."""
    if reason.code in _OF_LOADERS and reason.about:
        return f"install GRUB on {reason.about}", ("plan", "boot", "loader", reason.about)
    if reason.code in _OF_INITRAMFS and reason.about:
        return f"make the initramfs of {reason.about} again", ("plan", "boot", "initramfs", reason.about)
    if reason.code is BootCode.FSTAB_WAITS and reason.about.startswith("/etc/fstab:"):
        return "give that line nofail", ("plan", "boot", "fstab", reason.about.rpartition(":")[2])
    return _REMEDIES.get(reason.code, ""), ()
