"""Advice about the next boot: what keeps the machine from coming up without one of its disks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from raidtui.features.advice.advice import Advice
from raidtui.model.finding import Severity
from raidtui.monitor.boot.boot_reasons import BootCode, DiskVerdict, Reason
from raidtui.monitor.boot.boot_remedies import remedy_of


def advise_on_boot(verdicts: Sequence[DiskVerdict]) -> Iterator[Advice]:
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
        remedy, order = remedy_of(reason)
        yield Advice(
            code=reason.code,
            severity=Severity.ATTENTION,
            subject=disks[0].name,
            text=f"without {names} the machine does not boot: {reason.text}",
            why="The mirror protects the data, but not the boot, which shows only after"
            " the disk has failed (docs/boot-check.md).",
            remedy=remedy,
            detail=f"{reason.about} {' '.join(each.serial for each in disks[1:])}".strip(),
            order=order,
        )
