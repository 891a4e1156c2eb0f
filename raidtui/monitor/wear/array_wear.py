"""The wear of an array's members compared: outliers, and disks that may fail together."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from raidtui.model.finding import Finding, Severity
from raidtui.model.smart import SmartReading
from raidtui.monitor.wear.disk_wear import DiskWear
from raidtui.monitor.wear.faults import DiskCode
from raidtui.view.text import visible
from raidtui.view.units import decimal_size, three_digits


class ArrayWear(Struct, frozen=True, kw_only=True):
    """The members of one array, compared.

    Args:
        name: the array's name for people.
        key: ``Array.key``.
        disks: the names of its members' disks.
        odd: those of them that are out of line.
    """

    name: str
    key: str
    disks: tuple[str, ...]
    odd: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()


def judge_array(name: str, key: str, disks: Sequence[DiskWear]) -> ArrayWear:
    """Compare the members of an array.

    Args:
        name: the array's name for people.
        key: ``Array.key``.
        disks: the wear of its members' disks.
    """
    readings = [disk.reading for disk in disks if disk.reading is not None]
    written = {disk.name: disk.written.known_bytes for disk in disks}
    hours = {reading.name: reading.power_on_hours for reading in readings}
    odd = out_of_line(written, hours)
    blank = Finding(severity=Severity.INFO, code="", subject=key, name=name, sentence="")
    remedy = "find out what wrote to it: another array, a benchmark, a recovery"
    advice = "replace one of them early, or keep a spare of another make"
    findings = [
        replace(
            blank,
            severity=Severity.ATTENTION,
            code=DiskCode.OUT_OF_LINE,
            sentence=f"{each.sentence}, {decimal_size(each.excess_bytes)} more written",
            remedy=remedy,
        )
        for each in odd
    ]
    if shingled := [reading.name for reading in readings if reading.shingled]:
        text = f"{', '.join(shingled)} {'is' if len(shingled) == 1 else 'are'} shingled (SMR)"
        findings.append(
            replace(
                blank,
                severity=Severity.ATTENTION,
                code=DiskCode.SHINGLED,
                sentence=f"{text}: a recovery may take days, and md may drop a disk that pauses for too long",
                remedy="replace it with a disk that is not, before a recovery is needed",
            )
        )
    findings += [
        replace(blank, code=DiskCode.SAME_FATE, sentence=text, remedy=advice) for text in same_fate(readings)
    ]
    return ArrayWear(
        name=name,
        key=key,
        disks=tuple(disk.name for disk in disks),
        odd=tuple(each.name for each in odd),
        findings=tuple(findings),
    )


OUT_OF_LINE = 2.0
"""How many times what the others took is out of line. Equal members of RAID-1, 5, 6 and 10 differ by less."""
_LEAST_BYTES = 10 * 10**9
_MOST_TIMES = 1000.0
_SAME_AGE_HOURS = 168
_SAME_AGE = 0.02


class OutOfLine(Struct, frozen=True, kw_only=True):
    """A member with far more writes than the others.

    Args:
        name: the kernel's name of the disk.
        times: its writes as a multiple of the median of the others.
        excess_bytes: its writes above that median.
    """

    name: str
    times: float
    excess_bytes: int

    @property
    def sentence(self) -> str:
        """The comparison in words."""
        times = f"{three_digits(self.times)} x" if self.times < _MOST_TIMES else "far above"
        return visible(f"{self.name} is out of line: {times} the others")


def out_of_line(
    written_bytes: Mapping[str, int | None], hours: Mapping[str, int | None] | None = None
) -> tuple[OutOfLine, ...]:
    """Return the members with at least twice the writes of the others, the worst first.

    Args:
        written_bytes: what was written to each member's disk in its life; None where it is not known.
        hours: their ages; a disk that is merely older than the others is not out of line.
    """
    known = {name: size for name, size in written_bytes.items() if size is not None}
    ages = hours or {}
    found = []
    for name, size in known.items():
        others = [other for other in known if other != name]
        if not others:
            continue
        median = statistics.median(known[other] for other in others)
        if size < OUT_OF_LINE * median or size - median < _LEAST_BYTES:
            continue
        if _older(name, others, known, ages):
            continue
        times = size / median if median else _MOST_TIMES
        found.append(OutOfLine(name=name, times=times, excess_bytes=int(size - median)))
    return tuple(sorted(found, key=lambda each: -each.times))


def _older(
    name: str, others: Sequence[str], written_bytes: Mapping[str, int], hours: Mapping[str, int | None]
) -> bool:
    """Whether a member's age explains its writes: its writes per hour are in line."""
    rates = {each: written_bytes[each] / age for each in (name, *others) if (age := hours.get(each))}
    of_others = [rates[each] for each in others if each in rates]
    return name in rates and bool(of_others) and rates[name] < OUT_OF_LINE * statistics.median(of_others)


def same_fate(readings: Sequence[SmartReading]) -> Iterator[str]:
    """Yield a sentence for each group of disks of one model, firmware and age: they may fail together.

    SSDs of one batch have failed within hours of each other, from wear and from firmware faults that depend
    on the hours in service.
    """
    groups: dict[tuple[str, str], list[SmartReading]] = {}
    for reading in readings:
        if reading.model and reading.firmware and reading.power_on_hours is not None and not reading.rotates:
            groups.setdefault((reading.model, reading.firmware), []).append(reading)
    for (model, firmware), group in groups.items():
        for together in _split_by_age(group):
            names = [each.name for each in together]
            ages = [each.power_on_hours or 0 for each in together]
            span = f"{min(ages)}" if min(ages) == max(ages) else f"{min(ages)} to {max(ages)}"
            yield visible(
                f"{', '.join(names[:-1])} and {names[-1]} are {model} with firmware {firmware}, {span} hours"
                " in service: they may fail at the same time"
            )


def _split_by_age(group: Sequence[SmartReading]) -> Iterator[list[SmartReading]]:
    ordered = sorted(group, key=lambda each: each.power_on_hours or 0)
    together: list[SmartReading] = []
    for reading in ordered:
        age = reading.power_on_hours or 0
        if together and age - (together[0].power_on_hours or 0) > max(_SAME_AGE_HOURS, _SAME_AGE * age):
            if len(together) > 1:
                yield together
            together = []
        together.append(reading)
    if len(together) > 1:
        yield together
