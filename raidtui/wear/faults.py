"""What a disk counts of its own faults and its link's, judged by how many there are and whether they grow.

Bad sectors are the disk's: pending and uncorrectable ones want attention from the first, and so do
reallocated ones of a hard disk. An SSD retires a few blocks in a sound life: a handful is reported, and no
more. Failed transfers (CRC) and a SAS disk's non-medium errors are the link's or the enclosure's; they
count over the whole life and stay after the cable was changed, so that many of them are a warning only
until the history shows that they have not grown for a week.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from raidtui.model.finding import Severity
from raidtui.model.smart import Attribute, SmartReading
from raidtui.view.units import counted
from raidtui.wear.entries import DAY_S, Entry

HANDFUL = 5
"""So many reallocated sectors of an SSD are worth attention."""
MANY_PLACES = 100
"""From so many on, a disk is to be replaced before it fails."""
MANY_TRANSFERS, MANY_NONMEDIUM = 100, 1000
STILL_S = 7 * DAY_S

_MEDIUM = frozenset({"reallocated", "pending", "uncorrectable", "media_errors"})
_IDS: Mapping[str, tuple[int, ...]] = {
    "reallocated": (5,),
    "pending": (197,),
    "uncorrectable": (187, 198),
}
_GUESSED = "; the name is a default: smartctl does not know this disk"


class Fault(Struct, frozen=True, kw_only=True):
    """One count that is not 0.

    Args:
        field: of ``SmartReading``.
        count: as it stands.
        grown: by how much more than a week ago, or than at the first reading since.
        still_s: for how long the history shows the same count; None where it has no earlier reading of it.
    """

    field: str
    count: int
    grown: int = 0
    still_s: float | None = None

    @property
    def medium(self) -> bool:
        """Whether it is the disk's own, and not its link's."""
        return self.field in _MEDIUM


class Told(Struct, frozen=True, kw_only=True):
    """A count in words: what makes a finding of it."""

    severity: Severity
    code: str
    sentence: str
    remedy: str = ""


_FIELDS = (
    "reallocated", "pending", "uncorrectable", "media_errors", "crc_errors", "nonmedium_errors",
)  # fmt: skip


def faults_of(
    reading: SmartReading, before: SmartReading | None, earlier: Sequence[Entry], now_s: float
) -> Iterator[Fault]:
    """Yield the counts of a disk that are not 0.

    Args:
        reading: what it says now.
        before: what it said a week ago.
        earlier: its readings in the history without this one, the oldest first.
        now_s: epoch seconds.
    """
    for field in _FIELDS:
        count = getattr(reading, field)
        if not count:
            continue
        old = getattr(before, field) if before is not None else None
        grown = max(0, count - old) if old is not None else 0
        yield Fault(field=field, count=count, grown=grown, still_s=_still_s(field, count, earlier, now_s))


def _still_s(field: str, count: int, earlier: Sequence[Entry], now_s: float) -> float | None:
    same = None
    for entry in reversed(earlier):
        known = getattr(entry, field)
        if known is not None and known != count:
            break
        same = entry if known is not None else same
    return None if same is None else max(0.0, now_s - same.at_s)


def told_of(reading: SmartReading, fault: Fault) -> Told:
    """Return a count in words, and how bad it is."""
    if fault.field == "crc_errors":
        return _of_link(fault, MANY_TRANSFERS, _transfers(fault))
    if fault.field == "nonmedium_errors":
        return _of_link(fault, MANY_NONMEDIUM, _nonmedium(fault))
    return _of_places(reading, fault)


def _of_places(reading: SmartReading, fault: Fault) -> Told:
    source, guessed = _source(reading, fault)
    few = fault.field == "reallocated" and not _turns(reading) and fault.count < HANDFUL
    many = fault.count >= MANY_PLACES and (_turns(reading) or fault.field != "reallocated")
    if few and not fault.grown:
        severity = Severity.INFO
    else:
        severity = Severity.DEGRADED if many and not guessed else Severity.ATTENTION
    more = f", {fault.grown} of them within a week" if 0 < fault.grown < fault.count else ""
    code, sentence, remedy = _words(fault)
    return Told(
        severity=severity,
        code=code,
        sentence=f"{sentence}{more} ({source}){_GUESSED if guessed else ''}",
        remedy="" if severity is Severity.INFO else "replace it soon" if many and not guessed else remedy,
    )


def _words(fault: Fault) -> tuple[str, str, str]:
    number = fault.count
    watch = "replace it if that grows; raidtui wear --record keeps count"
    if fault.field == "reallocated":
        return "reallocated", f"has reallocated {counted(number, 'sector')}", watch
    if fault.field == "pending":
        remedy = "a check of its array writes them anew from the other members; replace it if they come back"
        return "pending", f"has {counted(number, 'sector')} that it cannot read now", remedy
    if fault.field == "uncorrectable":
        return "uncorrectable", f"has reported {counted(number, 'uncorrectable error')}", watch
    return "media-errors", f"has counted {counted(number, 'media error')}", watch


def _of_link(fault: Fault, many: int, told: Told) -> Told:
    """Few, or what has stood still for a week, is history; many, or growth by many, is a warning."""
    still = fault.still_s is not None and fault.still_s >= STILL_S
    if (fault.count < many or still) and fault.grown < many:
        return told
    return Told(
        severity=Severity.ATTENTION,
        code=told.code,
        sentence=told.sentence,
        remedy="reseat or change the cable and look at power and backplane; "
        "once the count has stood still for a week it is no warning any more",
    )


def _transfers(fault: Fault) -> Told:
    text = f"{counted(fault.count, 'transfer')} failed on the way in its life (CRC errors): "
    return Told(
        severity=Severity.INFO, code="crc-errors", sentence=f"{text}a cable or connector, at some time"
    )


def _nonmedium(fault: Fault) -> Told:
    more = f", {fault.grown} of them within a week" if 0 < fault.grown < fault.count else ""
    text = (
        f"has counted {counted(fault.count, 'non-medium error')}{more}: link, enclosure or aborted commands"
    )
    return Told(severity=Severity.INFO, code="non-medium-errors", sentence=text)


def _turns(reading: SmartReading) -> bool:
    """Whether it is judged as a hard disk: by its own word, or where it does not say and is no NVMe disk."""
    return reading.rotates or (reading.rotation_rpm is None and reading.protocol == "SCSI")


def _source(reading: SmartReading, fault: Fault) -> tuple[str, bool]:
    """Return where a count of places comes from, and whether its name is a guess."""
    attribute = _attribute(reading, fault)
    if attribute is not None:
        guessed = reading.in_database is False and not _turns(reading)
        return f"attribute {attribute.id} {attribute.name}", guessed
    if reading.protocol == "NVMe":
        return "NVMe health log", False
    if reading.protocol == "SCSI":
        logs = {"reallocated": "grown defect list", "pending": "pending defects log"}
        return logs.get(fault.field, "SCSI error counter log"), False
    return "device statistics", False


def _attribute(reading: SmartReading, fault: Fault) -> Attribute | None:
    wanted = _IDS.get(fault.field, ())
    fitting = [each for each in reading.attributes if each.count == fault.count]
    named = [each for each in fitting if "ncorrect" in each.name] if fault.field == "uncorrectable" else []
    return next((each for each in fitting if each.id in wanted), next(iter(named), None))
