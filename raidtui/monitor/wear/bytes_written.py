"""What hosts have written to a disk in its life, with its source, its witnesses and its confidence.

Order of the sources: smartctl's ``host_writes`` (8.0), NVMe, device statistics page 1, SCSI, an attribute.
What another figure of the disk contradicts (``raidtui.monitor.wear.witnesses``) is used for nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from raidtui.model.smart import Attribute, Counted, SmartReading
from raidtui.monitor.wear.attribute_names import BARE, HIGH, LBA, LOW, host_unit, is_decimal
from raidtui.monitor.wear.endurance import is_known, source_words, why_not_read
from raidtui.monitor.wear.witnesses import (
    Confidence,
    Witness,
    confidence_of,
    doubt_words,
    is_named,
    is_refuted,
    size_witnesses,
)

_MOST_BYTES = (1 << 63) - 1
_LOW_BITS = 56
_USUAL_ID = 241
_NEW_HOURS = 24  # a disk that is not older may have been written nothing
_SURE = frozenset({Confidence.STANDARD, Confidence.NAMED})


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
        """Whether it is not a guess, and nothing contradicts it."""
        return not self.guessed and not is_refuted(self.witnesses)

    @property
    def known_bytes(self) -> int | None:
        """``size_bytes`` where it is usable."""
        return self.size_bytes if self.usable else None


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
            note="its counter is 0: it may not count",
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
    if unit == BARE or not is_known(reading, attribute):
        return 3
    if unit == LBA:
        return 1
    return 2 if is_decimal(attribute.name) else 0


def _from_attribute(reading: SmartReading, attribute: Attribute) -> Written:
    unit = host_unit(attribute.name)
    bare = Written(
        size_bytes=None,
        count=attribute.raw,
        source=source_words(attribute),
        raw=attribute.raw_text or str(attribute.raw),
    )
    if not is_known(reading, attribute):
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
    if why := why_not_read(reading):
        return why
    if reading.all_counters_zero:
        return "all counters in its log are 0, reads too: the disk keeps none"
    return "the disk does not count what is written to it"
