"""Judging one disk: its figures with the unit as measured, its trouble, and what the ledger keeps of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from raidtui.model.smart import MeasuredReading, NoReading, SmartReading
from raidtui.wear.endurance import Confidence, Percent, Written, life_used, with_unit, without_guess, written
from raidtui.wear.entries import DAY_S, Entry, samples_of
from raidtui.wear.faults import faults_of
from raidtui.wear.findings import findings_of
from raidtui.wear.forecast import Forecast, forecast, rated_bytes
from raidtui.wear.record import DiskWear
from raidtui.wear.trouble import find_trouble
from raidtui.wear.units import Kind, UnitVerdict, is_impossible, unit_words, verify_unit

_BEFORE_S = 7 * DAY_S


def judge_disk(
    measured: MeasuredReading,
    at_s: float,
    history: Sequence[Entry] = (),
    ratings: Mapping[str, int] | None = None,
    *,
    outage_s: float | None = None,
) -> DiskWear:
    """Return what there is to say of one disk.

    Args:
        measured: what it said just now.
        at_s: epoch seconds of that.
        history: its earlier readings from the ledger, the oldest first.
        ratings: the makers' ratings by model, bytes; see ``rated_bytes``.
        outage_s: for how long it was away, where it has come back.
    """
    reading = measured.result
    if isinstance(reading, NoReading):
        disk = DiskWear(name=reading.name, unread=reading)
        return replace(disk, findings=tuple(findings_of(disk)))
    found, percent = written(reading), life_used(reading)
    promised = without_guess(found)
    entry = _entry(reading, promised, percent, measured, at_s)
    entries = [*history, entry]
    verdict = _verdict(promised, entries)
    corrected = _corrected(found, verdict, measured)
    before = _before(entries)
    disk = DiskWear(
        name=reading.name,
        reading=reading,
        percent=percent,
        written=corrected,
        promised=promised,
        verdict=verdict,
        rated_bytes=rated_bytes(reading.model, ratings or {}),
        trouble=find_trouble(reading, before, outage_s=outage_s),
        faults=tuple(faults_of(reading, before, history, at_s)),
        forecast=_forecast(reading, corrected, entries, ratings or {}),
        entry=entry if entry.disk else None,
    )
    return replace(disk, findings=tuple(findings_of(disk)))


def _entry(
    reading: SmartReading, promised: Written, percent: Percent, measured: MeasuredReading, at_s: float
) -> Entry:
    return Entry(
        disk=reading.identity,
        at_s=at_s,
        name=reading.name,
        model=reading.model or "",
        firmware=reading.firmware or "",
        hours=reading.power_on_hours,
        percent=percent.percent,
        size_bytes=promised.size_bytes,
        source=promised.source,
        count=promised.count,
        unit_bytes=promised.unit_bytes,
        since=measured.since,
        low_bytes=measured.low_bytes,
        high_bytes=measured.high_bytes,
        crc_errors=reading.crc_errors,
        reallocated=reading.reallocated,
        pending=reading.pending,
        uncorrectable=reading.uncorrectable,
        media_errors=reading.media_errors,
        nonmedium_errors=reading.nonmedium_errors,
        passed=reading.passed,
    )


def _verdict(promised: Written, entries: Sequence[Entry]) -> UnitVerdict:
    """A standard's unit needs no proof, and a counter that is none cannot be measured."""
    if promised.confidence is Confidence.STANDARD or promised.count is None:
        return UnitVerdict(kind=Kind.OPEN, unit_bytes=promised.unit_bytes)
    return verify_unit(samples_of(entries), promised.unit_bytes)


def _corrected(promised: Written, verdict: UnitVerdict, measured: MeasuredReading) -> Written:
    if verdict.kind in {Kind.WRONG, Kind.MEASURED, Kind.CONFIRMED} and verdict.unit_bytes is not None:
        return with_unit(without_guess(promised), verdict.unit_bytes, Confidence.MEASURED)
    if promised.confidence is Confidence.STANDARD or promised.unit_bytes is None or promised.count is None:
        return promised
    least = measured.low_bytes
    if least is not None and is_impossible(promised.count, promised.unit_bytes, least):
        why = f"in {unit_words(promised.unit_bytes)} it would be less than the kernel alone has written"
        return replace(promised, size_bytes=None, confidence=Confidence.UNKNOWN, note=why, guessed=False)
    return promised


def _before(entries: Sequence[Entry]) -> SmartReading | None:
    """Return the counts of a week ago, or of the first reading since, as a reading."""
    now, earlier = entries[-1], entries[:-1]
    recent = [entry for entry in earlier if entry.at_s >= now.at_s - _BEFORE_S]
    found = recent[0] if recent else (earlier[-1] if earlier else None)
    if found is None:
        return None
    return SmartReading(
        name=found.name,
        serial=found.disk,
        crc_errors=found.crc_errors,
        reallocated=found.reallocated,
        pending=found.pending,
        uncorrectable=found.uncorrectable,
        media_errors=found.media_errors,
        nonmedium_errors=found.nonmedium_errors,
    )


def _forecast(
    reading: SmartReading, corrected: Written, entries: Sequence[Entry], ratings: Mapping[str, int]
) -> Forecast | None:
    rated = rated_bytes(reading.model, ratings) if corrected.size_bytes is not None else None
    unit = corrected.unit_bytes if corrected.confidence is Confidence.MEASURED else None
    return forecast(entries, rated, unit)
