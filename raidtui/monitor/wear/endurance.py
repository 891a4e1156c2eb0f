"""How much of its rated life a disk has used, with its source, its witnesses and its confidence.

What no standard and no known attribute name gives is unknown, and what another figure of the disk contradicts
(``witnesses.py``) is used for nothing. Order of the sources: smartctl's ``endurance_used`` (7.5),
ATA device statistics page 7, NVMe's and SCSI's own figures, a vendor's attribute by its name.
"""

from __future__ import annotations

import re
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from raidtui.model.smart import Attribute, SmartReading
from raidtui.monitor.wear.attribute_names import contradicts, percent_used, rank
from raidtui.monitor.wear.unanswered import is_volume
from raidtui.monitor.wear.witnesses import (
    PERCENT_OF_NVME,
    Confidence,
    Witness,
    confidence_of,
    doubt_words,
    is_named,
    is_refuted,
    percent_witnesses,
)

_SMARTCTL_GUESS = re.compile(r"SSD_Life_Left.*|Wear_Leveling.*")  # ataprint.cpp, from the normalized value
_MOST_PERCENT = 255


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
    if named.percent is not None and named.percent != percent and named.source != source_words(guess):
        return replace(named, note=f"smartctl takes {percent} % from {source_words(guess)}")
    known = is_known(reading, guess)
    if not known and percent == 0:
        return named  # a value that stands at 100 may be one that does not count
    return Percent(
        percent=percent,
        source=source_words(guess),
        confidence=Confidence.NAMED if is_named(guess) else Confidence.ASSUMED,
        raw=raw_words(guess),
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
    known = [each for each in reading.attributes if is_known(reading, each)]
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
        source=source_words(attribute),
        confidence=Confidence.NAMED if sure else Confidence.ASSUMED,
        raw=raw_words(attribute),
        note=note,
        attribute=attribute.id,
        normalized=attribute.value is not None and percent == 100 - attribute.value,
    )


def why_not_read(reading: SmartReading) -> str:
    """Return why nothing of a disk was read; "" where something was."""
    if reading.smart_available is False:
        return "the disk has no SMART data"
    lacks = reading.protocol == "ATA" and not reading.attributes and bool(reading.errors)
    return "it was not read" if lacks or not reading.health_known else ""


def _why_no_percent(reading: SmartReading) -> str:
    if why := why_not_read(reading):
        return why
    if (two := next(filter(contradicts, reading.attributes), None)) is not None:
        return f"{source_words(two)} contradicts itself: {raw_words(two)}"
    if reading.attributes and reading.in_database is False:
        return "smartctl does not know this disk, and an attribute's id alone says nothing"
    return "the disk does not report it"


def is_known(reading: SmartReading, attribute: Attribute) -> bool:
    """Whether the name is reliable: smartctl's default name for an unknown disk is not."""
    return reading.in_database is not False or is_named(attribute)


def source_words(attribute: Attribute) -> str:
    """Return an attribute as a source: its number and its name."""
    return f"attribute {attribute.id} {attribute.name}"


def raw_words(attribute: Attribute) -> str:
    """Return an attribute's value and raw value."""
    value = "none" if attribute.value is None else attribute.value
    return f"value {value}, raw {attribute.raw_text or attribute.raw}"
