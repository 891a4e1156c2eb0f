"""Life used and bytes written of a disk, each with its source, its witnesses and its confidence.

What no standard and no known attribute name gives is unknown, and what another figure of the disk contradicts
(``raidtui.wear.witnesses``) is used for nothing. Order of the sources: for life smartctl's
``endurance_used`` (7.5), ATA device statistics page 7, NVMe's and SCSI's own figures, a vendor's attribute by
its name; for writes smartctl's ``host_writes`` (8.0), NVMe, device statistics page 1, SCSI, an attribute.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from raidtui.model.smart import Attribute, Counted, SmartReading
from raidtui.wear.attribute_names import (
    BARE,
    HIGH,
    LBA,
    LOW,
    contradicts,
    host_unit,
    is_decimal,
    percent_used,
    rank,
)
from raidtui.wear.unanswered import is_volume
from raidtui.wear.witnesses import (
    PERCENT_OF_NVME,
    Confidence,
    Witness,
    confidence_of,
    doubt_words,
    is_named,
    is_refuted,
    percent_witnesses,
    size_witnesses,
)

_SMARTCTL_GUESS = re.compile(r"SSD_Life_Left.*|Wear_Leveling.*")  # ataprint.cpp, from the normalized value
_MOST_PERCENT = 255
_MOST_BYTES = (1 << 63) - 1
_LOW_BITS = 56
_USUAL_ID = 241
_NEW_HOURS = 24  # a disk that is not older may have been written nothing
_SURE = frozenset({Confidence.STANDARD, Confidence.NAMED})


class FigureSource(StrEnum):
    """Where the percentage of a disk's life comes from, if not from an attribute."""

    STATISTICS = "device statistics page 7"
    NVME_LOG = "NVMe health log"
    SCSI_INDICATOR = "SCSI endurance indicator"
    SMARTCTL = "smartctl endurance_used"


class Percent(Struct, frozen=True, kw_only=True):
    """How much of its rated life a disk has used.

    Args:
        percent: may exceed 100; None if unknown.
        source: "attribute 177 Wear_Leveling_Count"; "" where there is none.
        raw: the figure as the disk gave it.
        note: a remark, or why it is unknown.
        attribute: the id of the attribute that it comes from, if it does.
        normalized: whether it is that attribute's normalized value, counted down from 100; else the raw one.
        witnesses: what bears it out or contradicts it.
    """

    percent: int | None
    source: str = ""
    confidence: Confidence = Confidence.UNKNOWN
    raw: str = ""
    note: str = ""
    attribute: int | None = None
    normalized: bool = False
    witnesses: tuple[Witness, ...] = ()

    @property
    def known(self) -> int | None:
        """``percent`` where nothing contradicts it."""
        return None if is_refuted(self.witnesses) else self.percent


class Written(Struct, frozen=True, kw_only=True):
    """What hosts have written to a disk in its life.

    Args:
        size_bytes: None where the unit is not known.
        unit_bytes: bytes of one unit.
        count: the counter, in units.
        source: "attribute 241 Total_LBAs_Written"; "" where the disk counts no writes.
        raw: the counter as it was printed.
        note: a remark, or why it is unknown.
        guessed: whether the unit is a guess: the figure is shown and used for nothing else.
        witnesses: what bears it out or contradicts it.
    """

    size_bytes: int | None
    unit_bytes: int | None = None
    count: int | None = None
    source: str = ""
    confidence: Confidence = Confidence.UNKNOWN
    raw: str = ""
    note: str = ""
    guessed: bool = False
    witnesses: tuple[Witness, ...] = ()

    @property
    def usable(self) -> bool:
        """Whether it is no guess, and nothing contradicts it."""
        return not self.guessed and not is_refuted(self.witnesses)

    @property
    def known_bytes(self) -> int | None:
        """``size_bytes`` where it is usable."""
        return self.size_bytes if self.usable else None


def life_used(reading: SmartReading) -> Percent:
    """Return how much of its rated life a disk has used."""
    found = _life_used(reading)
    if found.percent is None:
        return found
    source = PERCENT_OF_NVME if found.source == FigureSource.NVME_LOG else found.source
    seen = tuple(percent_witnesses(reading, source, found.percent))
    confidence, doubt = confidence_of(found.confidence, seen), doubt_words(found.confidence, seen)
    return replace(
        found,
        percent=None if confidence is Confidence.UNKNOWN else found.percent,
        confidence=confidence,
        note="; ".join(filter(None, (found.note, doubt))),
        witnesses=seen,
    )


def _life_used(reading: SmartReading) -> Percent:
    if is_volume(reading):
        return Percent(percent=None, note="the disks behind the RAID controller are not seen")
    if reading.rotates:
        return Percent(percent=None, note="a hard disk has no such figure")
    if reading.endurance_percent is not None and reading.endurance_percent <= _MOST_PERCENT:
        return _by_smartctl(reading, reading.endurance_percent)
    for percent, source in (
        (reading.statistics_percent, FigureSource.STATISTICS),
        (reading.nvme_percent, FigureSource.NVME_LOG),
        (reading.scsi_percent, FigureSource.SCSI_INDICATOR),
    ):
        if percent is not None and percent <= _MOST_PERCENT:
            return _standard(percent, source)
    return _by_attribute(reading)


def _standard(percent: int, source: str) -> Percent:
    note = f"{percent} % or more: the figure ends there" if percent == _MOST_PERCENT else ""
    return Percent(
        percent=percent, source=source, confidence=Confidence.STANDARD, raw=str(percent), note=note
    )


def _by_smartctl(reading: SmartReading, percent: int) -> Percent:
    """``endurance_used``: the standards' figure, or for ATA a guess by the name of an attribute."""
    for own, source in (
        (reading.statistics_percent, FigureSource.STATISTICS),
        (reading.nvme_percent, FigureSource.NVME_LOG),
        (reading.scsi_percent, FigureSource.SCSI_INDICATOR),
    ):
        if own == percent:
            return _standard(percent, source)
    if reading.protocol not in {"", "ATA"}:
        return _standard(percent, FigureSource.SMARTCTL)
    guess = _guessed(reading, percent)
    if guess is None:
        return Percent(
            percent=percent, source=FigureSource.SMARTCTL, confidence=Confidence.NAMED, raw=str(percent)
        )
    named = _by_attribute(reading)
    if contradicts(guess):
        return named
    if named.percent is not None and named.percent != percent and named.source != _source(guess):
        return replace(named, note=f"smartctl takes {percent} % from {_source(guess)}")
    known = _is_known(reading, guess)
    if not known and percent == 0:
        return named  # a value that stands at 100 may be one that does not count
    return Percent(
        percent=percent,
        source=_source(guess),
        confidence=Confidence.NAMED if is_named(guess) else Confidence.ASSUMED,
        raw=_raw(guess),
        attribute=guess.id,
        normalized=True,
        note="" if known else "smartctl does not know this disk: the name is a default",
    )


def _guessed(reading: SmartReading, percent: int) -> Attribute | None:
    """Return the attribute that smartctl's figure was taken from, if it was."""
    for each in reversed(reading.attributes):
        if each.id >= 100 and each.value is not None and _SMARTCTL_GUESS.fullmatch(each.name):
            return each if percent == max(0, 100 - each.value) else None
    return None


def _by_attribute(reading: SmartReading) -> Percent:
    known = [each for each in reading.attributes if _is_known(reading, each)]
    figures = [(each, percent) for each in known if (percent := percent_used(each)) is not None]
    if not figures:
        return Percent(percent=None, note=_why_no_percent(reading))
    best = min(rank(each) for each, _ in figures)
    of_best = [(each, percent) for each, percent in figures if rank(each) == best]
    attribute, percent = max(of_best, key=lambda pair: pair[1])
    others = sorted({other for _, other in of_best} - {percent})
    note = f"other attributes say {', '.join(f'{other} %' for other in others)}" if others else ""
    sure = is_named(attribute)
    if contradicts(attribute):
        sure, note = False, f"by its raw value: the normalized value stays at {attribute.value}"
    return Percent(
        percent=percent,
        source=_source(attribute),
        confidence=Confidence.NAMED if sure else Confidence.ASSUMED,
        raw=_raw(attribute),
        note=note,
        attribute=attribute.id,
        normalized=attribute.value is not None and percent == 100 - attribute.value,
    )


def _why_not_read(reading: SmartReading) -> str:
    if reading.smart_available is False:
        return "the disk has no SMART data"
    lacks = reading.protocol == "ATA" and not reading.attributes and bool(reading.errors)
    return "it was not read" if lacks or not reading.health_known else ""


def _why_no_percent(reading: SmartReading) -> str:
    if why := _why_not_read(reading):
        return why
    if (two := next(filter(contradicts, reading.attributes), None)) is not None:
        return f"{_source(two)} contradicts itself: {_raw(two)}"
    if reading.attributes and reading.in_database is False:
        return "smartctl does not know this disk, and an attribute's id alone says nothing"
    return "the disk does not report it"


def _is_known(reading: SmartReading, attribute: Attribute) -> bool:
    """Whether the name is reliable: smartctl's default name for an unknown disk is not."""
    return reading.in_database is not False or is_named(attribute)


def _source(attribute: Attribute) -> str:
    return f"attribute {attribute.id} {attribute.name}"


def _raw(attribute: Attribute) -> str:
    value = "none" if attribute.value is None else attribute.value
    return f"value {value}, raw {attribute.raw_text or attribute.raw}"


def written(reading: SmartReading) -> Written:
    """Return the writes that a disk reports; ``wear.counter_units`` compares them with the kernel's.

    Where another counter contradicts the first one, and everything else bears the other out, that one counts.
    """
    found = [_witnessed(reading, each) for each in _counters(reading)]
    if not found:
        return Written(size_bytes=None, note=_why_not_written(reading))
    sound = (each for each in found if each.usable and each.confidence in _SURE)
    return found[0] if found[0].usable else next(sound, found[0])


def _counters(reading: SmartReading) -> Iterator[Written]:
    """Yield the figures of the standards, then that of the best attribute."""
    for counted, source in (
        (reading.host_writes, "smartctl host_writes"),
        (reading.nvme_written, "NVMe health log"),
        (reading.statistics_written, "device statistics page 1"),
        (reading.scsi_written, "SCSI error counter log"),
    ):
        if counted is not None:
            yield _counted(counted, source)
    counters = [
        each for each in reading.attributes if each.raw is not None and host_unit(each.name) is not None
    ]
    if (joined := _joined(reading)) is not None:
        yield joined
    elif counters:
        best = min(counters, key=lambda each: (_doubt(reading, each), -(each.raw or 0), each.id != _USUAL_ID))
        yield _from_attribute(reading, best)


def _witnessed(reading: SmartReading, found: Written) -> Written:
    if found.size_bytes is None or found.unit_bytes is None:
        return found
    new = reading.power_on_hours is not None and reading.power_on_hours < _NEW_HOURS
    if not found.size_bytes and not (new and found.confidence is Confidence.STANDARD):
        return replace(
            found,
            size_bytes=None,
            confidence=Confidence.UNKNOWN,
            note="its counter stands at 0: it may count none",
        )
    doubtful = found.confidence is Confidence.ASSUMED
    seen = tuple(
        size_witnesses(reading, found.source, found.size_bytes, found.unit_bytes, unit_doubtful=doubtful)
    )
    confidence, doubt = confidence_of(found.confidence, seen), doubt_words(found.confidence, seen)
    unknown = confidence is Confidence.UNKNOWN
    return replace(
        found,
        size_bytes=None if unknown else found.size_bytes,
        confidence=confidence,
        note="; ".join(filter(None, (found.note, doubt))),
        guessed=found.guessed and not unknown,
        witnesses=seen,
    )


def _counted(counted: Counted, source: str) -> Written:
    found = Written(size_bytes=None, count=counted.count, source=source, raw=counted.text)
    return with_unit(found, counted.unit_bytes, Confidence.STANDARD, size_bytes=counted.size_bytes)


def with_unit(
    found: Written, unit_bytes: int, confidence: Confidence, *, size_bytes: int | None = None, note: str = ""
) -> Written:
    """Return a counter with a unit and its bytes; unknown if they exceed what any disk can take."""
    total = size_bytes if size_bytes is not None else (found.count or 0) * unit_bytes
    if total > _MOST_BYTES:
        why = f"{found.raw} units of {unit_bytes} bytes exceed what any disk can take"
        return replace(found, size_bytes=None, unit_bytes=unit_bytes, confidence=Confidence.UNKNOWN, note=why)
    return replace(found, size_bytes=total, unit_bytes=unit_bytes, confidence=confidence, note=note)


def _doubt(reading: SmartReading, attribute: Attribute) -> int:
    """Order the counters of one disk: a unit in the name, sectors, a unit in doubt, none."""
    unit = host_unit(attribute.name)
    if unit == BARE or not _is_known(reading, attribute):
        return 3
    if unit == LBA:
        return 1
    return 2 if is_decimal(attribute.name) else 0


def _from_attribute(reading: SmartReading, attribute: Attribute) -> Written:
    unit = host_unit(attribute.name)
    bare = Written(
        size_bytes=None,
        count=attribute.raw,
        source=_source(attribute),
        raw=attribute.raw_text or str(attribute.raw),
    )
    if not _is_known(reading, attribute):
        return _guess(reading, attribute, bare)
    if unit == BARE or unit is None:
        return replace(bare, note=f"the name {attribute.name} gives no unit")
    if unit == LBA:
        confidence = Confidence.NAMED if is_named(attribute) else Confidence.ASSUMED
        return with_unit(bare, reading.sector_bytes or 512, confidence)
    if is_decimal(attribute.name):
        note = "the unit is 10^9 bytes by its name; many manufacturers mean 2^30"
        return with_unit(bare, unit, Confidence.ASSUMED, note=note if unit == 10**9 else "")
    return with_unit(bare, unit, Confidence.NAMED)


def _guess(reading: SmartReading, attribute: Attribute, bare: Written) -> Written:
    """The default name says logical sectors, which hard disks count: a guess. An SSD may count anything."""
    why = f"smartctl does not know this disk: the unit of attribute {attribute.id} is unknown"
    if not attribute.raw or not reading.rotates:
        return replace(bare, note=why)
    unit = reading.sector_bytes or 512
    found = with_unit(bare, unit, Confidence.ASSUMED, note=f"a guess: {why}; most hard disks count sectors")
    return replace(found, guessed=found.size_bytes is not None)


def without_guess(found: Written) -> Written:
    """Return a counter without a unit where that is a guess, without bytes where they are contradicted."""
    if found.guessed:
        return replace(found, size_bytes=None, unit_bytes=None, guessed=False)
    return found if found.usable else replace(found, size_bytes=None)


def _joined(reading: SmartReading) -> Written | None:
    """Swissbit's counter in two attributes: 56 bits and the rest."""
    parts = {each.name: each.raw for each in reading.attributes if each.name in {LOW, HIGH}}
    low, high = parts.get(LOW), parts.get(HIGH)
    if low is None or low >> _LOW_BITS:
        return None
    count = ((high or 0) << _LOW_BITS) + low
    found = Written(size_bytes=None, count=count, source=f"attributes {LOW} and _High", raw=str(count))
    return with_unit(found, reading.sector_bytes or 512, Confidence.NAMED)


def _why_not_written(reading: SmartReading) -> str:
    if why := _why_not_read(reading):
        return why
    if reading.all_counters_zero:
        return "all counters of its log, reads too, stand at 0: the disk keeps none"
    return "the disk does not count what is written to it"
