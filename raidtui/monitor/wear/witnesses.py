"""What else a disk reports that bears a figure of wear out, or contradicts it.

A figure rests on one counter; firmware may reset, wrap or mislabel it. So the word for how sure it is follows
from its own source and from at least one other: a second counter, what was written to flash, erase counts,
the number of commands, the percentage of life used, age and capacity. The kernel's own count is compared over
time (``raidtui.monitor.wear.counter_units``). Bounds are wide: they tell units apart, not workloads.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum

from msgspec import Struct

from raidtui.model.smart import Attribute, SmartReading
from raidtui.monitor.wear.attribute_names import (
    BARE,
    DEFAULT_NAMES,
    LBA,
    contradicts,
    flash_unit,
    host_unit,
    is_decimal,
    percent_used,
)
from raidtui.view.units import decimal_size, three_digits

_SPAN = 1 << 32
"""Sectors, after which a counter of 32 bits begins again."""
_NEAR, _SAME_REMAINDER = 0.02, 0.001
_FLASH_AGREES, _FLASH_POSSIBLE = (0.1, 10.0), (0.02, 20.0)
"""Bytes written to flash for each that a host wrote."""
_COMMAND_BYTES = (512, 32 << 20)
_FILLS = (10.0, 100_000.0)
"""How often a disk may be written full in its rated life, from the poorest to Optane."""
_ERASES = (100.0, 200_000.0)
_FILLS_A_DAY = (0.000_01, 50.0)
LEAST_BYTES_PER_HOUR = 10**6
"""A disk in use takes more: a smaller figure is in another unit."""
_ERASED = re.compile(r"av(?:e|g|erage)_(?:block-|write/|program/)?erase_(?:count|cnt|ct)")
_MOST_ERASES = 10**6
PERCENT_OF_NVME = "NVMe health log: percentage used"
_ALIKE_PERCENT, _UNLIKE_PERCENT = 2, 10


class Confidence(StrEnum):
    """How sure a figure is."""

    MEASURED = "measured"
    """Its unit was compared with what the kernel wrote."""
    STANDARD = "standard"
    """A standard (NVMe, ATA device statistics, SCSI) says what it is, and a second witness confirms it."""
    NAMED = "named"
    """smartctl's drive database names it for this model, and a second witness confirms it."""
    ASSUMED = "assumed"
    """One witness alone, an ambiguous name, or a witness that contradicts it."""
    UNKNOWN = "unknown"


class Witness(Struct, frozen=True, kw_only=True):
    """Another figure of the same disk.

    Args:
        source: "attribute 241 Lifetime_Writes_GiB", "age and capacity".
        says: in words, "40.8 TB".
        agrees: whether the figure in question is possible beside it.
    """

    source: str
    says: str
    agrees: bool

    @property
    def sentence(self) -> str:
        """Source and figure."""
        return f"{self.source}: {self.says}"


def confidence_of(claimed: Confidence, witnesses: Sequence[Witness]) -> Confidence:
    """Return how sure a figure is: what its source claims, as far as other witnesses bear it out."""
    refuted = is_refuted(witnesses)
    if claimed in {Confidence.STANDARD, Confidence.NAMED}:
        return claimed if witnesses and not refuted else Confidence.ASSUMED
    return Confidence.UNKNOWN if refuted else claimed


def is_refuted(witnesses: Sequence[Witness]) -> bool:
    """Whether a witness contradicts."""
    return any(not each.agrees for each in witnesses)


def doubt_words(claimed: Confidence, witnesses: Sequence[Witness]) -> str:
    """Return why a figure is less sure than its source claims; "" where it is not."""
    against = [each.sentence for each in witnesses if not each.agrees]
    if against:
        return f"contradicted by {', '.join(against)}"
    return "nothing else confirms it" if not witnesses and claimed is not Confidence.ASSUMED else ""


class _Counter(Struct, frozen=True, kw_only=True):
    source: str
    count: int
    unit_bytes: int
    size_bytes: int


def size_witnesses(
    reading: SmartReading, source: str, size_bytes: int, unit_bytes: int, *, unit_doubtful: bool = False
) -> Iterator[Witness]:
    """Yield what bears out or contradicts a figure of bytes written.

    Args:
        reading: the disk.
        source: where the figure comes from; the same is not a witness.
        size_bytes: the figure.
        unit_bytes: its unit.
        unit_doubtful: whether too small a figure refutes the unit.
    """
    if not size_bytes:
        return
    for other in _counters(reading):
        if other.source != source:
            says = f"{other.count} x {other.unit_bytes} bytes"
            agrees = _agree(size_bytes, unit_bytes, other)
            yield Witness(source=other.source, says=says, agrees=agrees)
    yield from _by_default_names(reading, source, size_bytes)
    yield from _by_flash(reading, size_bytes)
    if commands := reading.write_commands:
        least, most = _COMMAND_BYTES
        agrees = least <= size_bytes / commands <= most
        yield Witness(source="write commands", says=str(commands), agrees=agrees)
    if (capacity := reading.capacity_bytes) and not reading.rotates:
        for other_source, percent in _percentages(reading):
            if percent and source != other_source:
                agrees = _overlap(_rated(size_bytes / capacity, percent), _FILLS)
                yield Witness(source=other_source, says=f"{percent} % used", agrees=agrees)
    yield from _by_age(reading, size_bytes, unit_doubtful=unit_doubtful)


def percent_witnesses(reading: SmartReading, source: str, percent: int) -> Iterator[Witness]:
    """Yield what bears out or contradicts a percentage of life used.

    Args:
        reading: the disk.
        source: where the percentage comes from; the same is not a witness.
        percent: of the rated life.
    """
    for other_source, other in _percentages(reading):
        apart = abs(other - percent)
        if other_source != source and not _ALIKE_PERCENT < apart <= _UNLIKE_PERCENT:
            agrees = apart <= _ALIKE_PERCENT
            yield Witness(source=other_source, says=f"{other} % used", agrees=agrees)
    if capacity := reading.capacity_bytes:
        judged = [
            Witness(
                source=each.source,
                says=decimal_size(each.size_bytes),
                agrees=_overlap(_rated(each.size_bytes / capacity, percent), _FILLS),
            )
            for each in _counters(reading)
            if each.size_bytes
        ]
        yield from [each for each in judged if each.agrees] or judged  # one of two counters may be wrong
    for attribute, erases in _erase_counts(reading):
        agrees = _overlap(_rated(erases, percent), _ERASES)
        yield Witness(source=_source(attribute), says=f"{erases} erases", agrees=agrees)


def wraps(size_bytes: int, counter_bytes: int, sector_bytes: int, unit_bytes: int) -> bool:
    """Whether a counter of 32 bits shows less than was written by a whole number of turns.

    Args:
        size_bytes: what was written, by another counter.
        counter_bytes: what this one shows.
        sector_bytes: its unit.
        unit_bytes: that of the other counter.
    """
    span = _SPAN * sector_bytes
    turns = round((size_bytes - counter_bytes) / span)
    rest = abs(size_bytes - counter_bytes - turns * span)
    return turns > 0 and counter_bytes < span and rest <= 2 * unit_bytes + _SAME_REMAINDER * size_bytes


def _counters(reading: SmartReading) -> Iterator[_Counter]:
    """Yield the counters of host writes whose unit a standard or the drive database gives for this model."""
    for counted, source in (
        (reading.nvme_written, "NVMe health log"),
        (reading.statistics_written, "device statistics page 1"),
        (reading.scsi_written, "SCSI error counter log"),
    ):
        if counted is not None:
            yield _Counter(
                source=source,
                count=counted.count,
                unit_bytes=counted.unit_bytes,
                size_bytes=counted.size_bytes,
            )
    for each in reading.attributes:
        unit = host_unit(each.name)
        if each.raw and unit is not None and unit != BARE and is_named(each) and not is_decimal(each.name):
            unit = (reading.sector_bytes or 512) if unit == LBA else unit
            yield _Counter(source=_source(each), count=each.raw, unit_bytes=unit, size_bytes=each.raw * unit)


def _agree(size_bytes: int, unit_bytes: int, other: _Counter) -> bool:
    """A counter that has wrapped agrees with the larger one, and not the other way round."""
    apart = abs(size_bytes - other.size_bytes)
    if apart <= 2 * max(unit_bytes, other.unit_bytes) + _NEAR * max(size_bytes, other.size_bytes):
        return True
    sectors = other.unit_bytes in {512, 4096}
    return sectors and wraps(size_bytes, other.size_bytes, other.unit_bytes, unit_bytes)


def _by_default_names(reading: SmartReading, source: str, size_bytes: int) -> Iterator[Witness]:
    """An attribute with a default name counts where it shows the same, or whole turns more; else not."""
    sector = reading.sector_bytes or 512
    for each in reading.attributes:
        if is_named(each) or host_unit(each.name) != LBA or not each.raw or _source(each) == source:
            continue
        other, says = each.raw * sector, f"{each.raw} x {sector} bytes"
        if abs(other - size_bytes) <= _NEAR * size_bytes:
            yield Witness(source=_source(each), says=says, agrees=True)
        elif wraps(other, size_bytes, sector, sector):
            yield Witness(source=_source(each), says=says, agrees=False)


def _by_flash(reading: SmartReading, size_bytes: int) -> Iterator[Witness]:
    found = [
        (each, each.raw * unit)
        for each in reading.attributes
        if each.raw and (unit := flash_unit(each.name)) is not None
    ]
    capacity = reading.capacity_bytes or 0
    found += [(each, erases * capacity) for each, erases in _erase_counts(reading)]
    for each, flash_bytes in found:
        ratio = flash_bytes / size_bytes
        agrees = _FLASH_AGREES[0] <= ratio <= _FLASH_AGREES[1]
        if flash_bytes and (agrees or not _FLASH_POSSIBLE[0] <= ratio <= _FLASH_POSSIBLE[1]):
            says = f"{decimal_size(flash_bytes)} to flash"
            yield Witness(source=_source(each), says=says, agrees=agrees)


def _erase_counts(reading: SmartReading) -> Iterator[tuple[Attribute, int]]:
    for each in reading.attributes:
        erases = each.count
        if erases and erases < _MOST_ERASES and _ERASED.fullmatch(each.name.casefold()):
            yield each, erases


def _percentages(reading: SmartReading) -> Iterator[tuple[str, int]]:
    for percent, source in (
        (reading.statistics_percent, "device statistics page 7"),
        (reading.nvme_percent, PERCENT_OF_NVME),
        (reading.scsi_percent, "SCSI endurance indicator"),
    ):
        if percent is not None:
            yield source, percent
    for each in reading.attributes:
        if is_named(each) and not contradicts(each) and (used := percent_used(each)) is not None:
            yield _source(each), used


def _by_age(reading: SmartReading, size_bytes: int, *, unit_doubtful: bool) -> Iterator[Witness]:
    hours, capacity = reading.power_on_hours, reading.capacity_bytes
    if not hours:
        return
    if size_bytes < LEAST_BYTES_PER_HOUR * hours:
        if unit_doubtful:
            yield Witness(source="age", says=f"{hours} hours in service", agrees=False)
    elif capacity:
        fills = size_bytes / capacity / (hours / 24)
        if _FILLS_A_DAY[0] <= fills <= _FILLS_A_DAY[1]:
            says = f"{three_digits(fills)} of its capacity a day"
            yield Witness(source="age and capacity", says=says, agrees=True)


def _rated(fills: float, percent: int) -> tuple[float, float]:
    """Return how much a whole life would be, at the least and at the most: a percentage is rounded."""
    return fills * 100 / (percent + 1), fills * 100 / (percent - 1) if percent > 1 else float("inf")


def _overlap(span: tuple[float, float], limits: tuple[float, float]) -> bool:
    return span[0] <= limits[1] and span[1] >= limits[0]


def is_named(attribute: Attribute) -> bool:
    """Whether the drive database names this attribute of the disk's model, and not by default of all disks.

    drivedb.h has a default name again only in a comment: to say that no one found a better one.
    """
    return DEFAULT_NAMES.get(attribute.id) != attribute.name


def _source(attribute: Attribute) -> str:
    return f"attribute {attribute.id} {attribute.name}"
