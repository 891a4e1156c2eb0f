"""One array's wear: its members side by side."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from raidtui.model.finding import Finding, Severity
from raidtui.wear.members import out_of_line, same_fate
from raidtui.wear.record import DiskWear
from raidtui.wear.sizes import decimal_size


class ArrayWear(Struct, frozen=True, kw_only=True):
    """The members of one array side by side.

    Args:
        name: the array's, for the eye.
        key: ``Array.key``.
        disks: the names of its members' disks.
    """

    name: str
    key: str
    disks: tuple[str, ...]
    findings: tuple[Finding, ...] = ()


def judge_array(name: str, key: str, disks: Sequence[DiskWear]) -> ArrayWear:
    """Return what there is to say of an array's members together.

    Args:
        name: the array's, for the eye.
        key: ``Array.key``.
        disks: the wear of its members' disks.
    """
    readings = [disk.reading for disk in disks if disk.reading is not None]
    written = {disk.name: disk.written.known_bytes for disk in disks}
    hours = {reading.name: reading.power_on_hours for reading in readings}
    remedy = "what was it used for: a former member, a single-disk test, a recovery?"
    found = [
        Finding(
            severity=Severity.ATTENTION,
            code="out-of-line",
            subject=key,
            name=name,
            sentence=f"{each.sentence}: {decimal_size(each.excess_bytes)} more were written to it",
            remedy=remedy,
        )
        for each in out_of_line(written, hours)
    ]
    advice = "replace one of them early, or have a spare of another make"
    found += [
        Finding(
            severity=Severity.INFO, code="same-fate", subject=key, name=name, sentence=text, remedy=advice
        )
        for text in same_fate(readings)
    ]
    return ArrayWear(name=name, key=key, disks=tuple(disk.name for disk in disks), findings=tuple(found))
