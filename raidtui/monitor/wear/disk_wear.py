"""The verdict on one disk: its figures in the measured unit, its trouble and its findings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from raidtui.model.finding import Finding, Severity
from raidtui.model.smart import NoReading, SmartMeasurement, SmartReading, Unread, smart_words
from raidtui.monitor.wear.bytes_written import Written, with_unit, without_guess, written
from raidtui.monitor.wear.counter_units import (
    UnitState,
    UnitVerdict,
    is_impossible,
    unit_words,
    verdict_words,
    verify_unit,
)
from raidtui.monitor.wear.endurance import Percent, life_used
from raidtui.monitor.wear.faults import (
    SCSI_HOT,
    DiskCode,
    Fault,
    Trouble,
    TroubleKind,
    disk_finding,
    fault_finding,
    faults_of,
    find_trouble,
    too_hot,
)
from raidtui.monitor.wear.forecast import Forecast, forecast, rated_bytes
from raidtui.monitor.wear.ledger_entries import DAY_S, FAULT_COUNTS, LedgerEntry, samples_of
from raidtui.monitor.wear.self_test_words import failed_words
from raidtui.monitor.wear.temperatures import DayTemperature, day_temperatures
from raidtui.monitor.wear.unanswered import unanswered
from raidtui.monitor.wear.witnesses import Confidence

WORN_OUT_PERCENT, WORN_PERCENT = 100, 90
HIGHEST_PERCENT = 255
"""The figures of the standards end there: so much or more."""
_SPARE, _HOT, _BACKUP, _PMR, _KNOWN = 1, 2, 16, 32, 63
_AT_LIMIT, _FAILED_ONCE, _ERROR_LOG, _TEST_LOG = 16, 32, 64, 128
_SCSI_TEST = (0x5D, 0xFF)
_TROUBLE_CODES = {
    TroubleKind.DYING: DiskCode.DYING,
    TroubleKind.CABLE: DiskCode.CABLE,
    TroubleKind.HOT: DiskCode.HOT,
}
_BEFORE_S = 7 * DAY_S
_WARM_DAYS = 30


class DiskWear(Struct, frozen=True, kw_only=True):
    """All that is known about one disk's wear.

    Args:
        name: the kernel's name, or the file that was read.
        reading: None if it could not be read: ``unread`` says why.
        percent, written: its figures, the unit corrected where it was measured.
        promised: its counter with the unit of its name, as the ledger keeps it.
        verdict: whether that unit agrees with the kernel's count.
        rated_bytes: the manufacturer's rating (TBW) from the user's settings.
        faults: the counts of bad sectors and failed transfers that are not 0.
        temperatures: of the last days, this reading included.
        entry: for the ledger; None where the disk has no serial number and no WWN.
    """

    name: str
    reading: SmartReading | None = None
    unread: NoReading | None = None
    percent: Percent = Percent(percent=None)
    written: Written = Written(size_bytes=None)
    promised: Written = Written(size_bytes=None)
    verdict: UnitVerdict = UnitVerdict(kind=UnitState.OPEN, unit_bytes=None)
    rated_bytes: int | None = None
    trouble: Trouble | None = None
    faults: tuple[Fault, ...] = ()
    forecast: Forecast | None = None
    temperatures: tuple[DayTemperature, ...] = ()
    findings: tuple[Finding, ...] = ()
    entry: LedgerEntry | None = None


def judge_disk(
    measured: SmartMeasurement,
    at_s: float,
    history: Sequence[LedgerEntry] = (),
    ratings: Mapping[str, int] | None = None,
    *,
    outage_s: float | None = None,
) -> DiskWear:
    """Return the verdict on one disk.

    Args:
        measured: the reading of now.
        at_s: epoch seconds of that.
        history: its earlier readings from the ledger, the oldest first.
        ratings: the manufacturers' ratings in bytes, by the beginning of a model's name; see ``rated_bytes``.
        outage_s: how long it was away, if it has come back.
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
        temperatures=day_temperatures(entries)[-_WARM_DAYS:],
        entry=entry if entry.disk else None,
    )
    return replace(disk, findings=tuple(findings_of(disk)))


def _entry(
    reading: SmartReading, promised: Written, percent: Percent, measured: SmartMeasurement, at_s: float
) -> LedgerEntry:
    return LedgerEntry(
        disk=reading.identity,
        at_s=at_s,
        name=reading.name,
        model=reading.model or "",
        firmware=reading.firmware or "",
        hours=reading.power_on_hours,
        percent=percent.known,
        size_bytes=promised.size_bytes,
        source=promised.source,
        count=promised.count,
        unit_bytes=promised.unit_bytes,
        since=measured.since,
        low_bytes=measured.low_bytes,
        high_bytes=measured.high_bytes,
        **{count: getattr(reading, count) for count in FAULT_COUNTS},
        temperature_c=reading.temperature_c,
        passed=reading.passed,
    )


def _verdict(promised: Written, entries: Sequence[LedgerEntry]) -> UnitVerdict:
    """A standard's unit needs no proof; without a counter there is nothing to measure."""
    if promised.confidence is Confidence.STANDARD or promised.count is None:
        return UnitVerdict(kind=UnitState.OPEN, unit_bytes=promised.unit_bytes)
    return verify_unit(samples_of(entries), promised.unit_bytes)


def _corrected(promised: Written, verdict: UnitVerdict, measured: SmartMeasurement) -> Written:
    if (
        verdict.kind in {UnitState.WRONG, UnitState.MEASURED, UnitState.CONFIRMED}
        and verdict.unit_bytes is not None
    ):
        measured_now = with_unit(without_guess(promised), verdict.unit_bytes, Confidence.MEASURED)
        return replace(measured_now, witnesses=())
    if promised.confidence is Confidence.STANDARD or promised.unit_bytes is None or promised.count is None:
        return promised
    least = measured.low_bytes
    if least is not None and is_impossible(promised.count, promised.unit_bytes, least):
        why = f"in {unit_words(promised.unit_bytes)} it would be less than what the kernel has written"
        return replace(promised, size_bytes=None, confidence=Confidence.UNKNOWN, note=why, guessed=False)
    return promised


def _before(entries: Sequence[LedgerEntry]) -> SmartReading | None:
    """Return the counts of a week ago, or of the first reading since, as a reading."""
    now, earlier = entries[-1], entries[:-1]
    recent = [entry for entry in earlier if entry.at_s >= now.at_s - _BEFORE_S]
    found = recent[0] if recent else (earlier[-1] if earlier else None)
    if found is None:
        return None
    counts = {count: getattr(found, count) for count in FAULT_COUNTS}
    return SmartReading(name=found.name, serial=found.disk, **counts)


def _forecast(
    reading: SmartReading, corrected: Written, entries: Sequence[LedgerEntry], ratings: Mapping[str, int]
) -> Forecast | None:
    rated = rated_bytes(reading.model, ratings) if corrected.size_bytes is not None else None
    unit = corrected.unit_bytes if corrected.confidence is Confidence.MEASURED else None
    return forecast(entries, rated, unit)


def findings_of(disk: DiskWear) -> Iterator[Finding]:
    """Yield the findings of one disk."""
    if disk.unread is not None:
        yield _unread(disk.unread)
    if disk.reading is None:
        return
    if (trouble := disk.trouble) is not None:
        severity = Severity.FAILED if trouble.kind is TroubleKind.DYING else Severity.ATTENTION
        yield disk_finding(
            disk.reading, severity, _TROUBLE_CODES[trouble.kind], trouble.reason, trouble.remedy
        )
    yield from unanswered(disk.reading)
    if disk.reading.shingled:
        text = "is shingled (SMR): a recovery onto it may take days, and md may drop it for its pauses"
        yield disk_finding(disk.reading, Severity.INFO, DiskCode.SHINGLED, text)
    yield from _wear(disk.reading, disk.percent)
    yield from _warnings(disk.reading, disk.trouble)
    yield from _faults(disk.reading, disk)
    yield from _errors(disk.reading, disk.trouble)
    yield from _unit(disk.reading, disk)


def _unread(unread: NoReading) -> Finding:
    asleep = unread.why in {Unread.STANDBY, Unread.POWER_UNKNOWN}
    return Finding(
        severity=Severity.INFO if asleep else Severity.ATTENTION,
        code=DiskCode.STANDBY if asleep else DiskCode.SMART_UNREAD,
        subject="",
        name=unread.name,
        sentence=unread.reason,
        remedy=unread.remedy,
    )


def _wear(reading: SmartReading, percent: Percent) -> Iterator[Finding]:
    used = percent.percent
    if used is not None and used >= WORN_PERCENT:
        out = used >= WORN_OUT_PERCENT
        more = " or more" if used == HIGHEST_PERCENT else ""
        yield disk_finding(
            reading,
            Severity.DEGRADED if out else Severity.ATTENTION,
            DiskCode.WORN_OUT if out else DiskCode.WORN,
            f"has used {used} %{more} of its rated life ({percent.source})",
            "replace it in good time, and not all members on the same day",
        )
    spare, limit = reading.spare_percent, reading.spare_threshold_percent or 0
    reserved = limit > 100  # NVM Express 1.3d, SMART log: values above 100 mean nothing
    if reading.protocol != "ATA" and spare is not None and not reserved and spare < limit:
        text = f"has {spare} % of its spare blocks left; its threshold is {limit} %"
        yield disk_finding(reading, Severity.DEGRADED, DiskCode.SPARE_LOW, text, "replace it")
    elif (reading.critical_warning or 0) & _SPARE:
        left = f" ({spare} % left)" if spare is not None else ""
        text = f"reports that its spare blocks are running low{left}"
        yield disk_finding(reading, Severity.DEGRADED, DiskCode.SPARE_LOW, text, "replace it")


def _warnings(reading: SmartReading, trouble: Trouble | None) -> Iterator[Finding]:
    """The disk's own warnings, except those of ``_wear`` and ``find_trouble``."""
    warning = reading.critical_warning or 0
    if trouble is not None and trouble.kind is not TroubleKind.HOT and (hot := too_hot(reading)):
        yield disk_finding(reading, Severity.ATTENTION, DiskCode.HOT, hot, "check its airflow")
    if reading.passed is None and reading.exception_code not in {None, SCSI_HOT}:
        test = reading.exception_code == _SCSI_TEST
        severity = Severity.INFO if test else Severity.ATTENTION
        text = (
            f'reports "{reading.exception}"{": the test message of its failure prediction" if test else ""}'
        )
        yield disk_finding(reading, severity, DiskCode.CRITICAL_WARNING, text)
    if warning & _BACKUP:
        text = "can no longer save its cache on a power failure"
        yield disk_finding(reading, Severity.ATTENTION, DiskCode.BACKUP_FAILED, text, "replace it")
    if warning & _PMR:
        text = "has a persistent memory region that is read-only or unreliable"
        yield disk_finding(reading, Severity.ATTENTION, DiskCode.MEMORY_REGION, text)
    if unknown := warning & ~_KNOWN:
        text = f"reports an unknown critical warning (0x{unknown:02x})"
        yield disk_finding(
            reading, Severity.ATTENTION, DiskCode.CRITICAL_WARNING, text, "see its manufacturer's manual"
        )


def _faults(reading: SmartReading, disk: DiskWear) -> Iterator[Finding]:
    """Counts of faults, except those whose growth is already the disk's trouble."""
    kind = disk.trouble.kind if disk.trouble is not None else None
    for fault in disk.faults:
        if (kind is TroubleKind.DYING and fault.medium and fault.grown) or (
            kind is TroubleKind.CABLE and fault.field == "crc_errors"
        ):
            continue
        yield fault_finding(reading, fault)


def _errors(reading: SmartReading, trouble: Trouble | None) -> Iterator[Finding]:
    """Findings over the disk's whole life: bits 5 to 7 of smartctl's exit status."""
    for each in reading.attributes:
        if each.when_failed.casefold() == "now" and not each.prefailure:
            text = f"{each.name} is at {each.value}; its threshold is {each.threshold}"
            yield disk_finding(reading, Severity.ATTENTION, DiskCode.ATTRIBUTE_AT_LIMIT, text)
    dying = trouble is not None and trouble.kind is TroubleKind.DYING
    if reading.exit_status & _AT_LIMIT and not dying and not _at_limit(reading):
        text = "has an attribute at its threshold, according to smartctl"
        yield disk_finding(reading, Severity.ATTENTION, DiskCode.ATTRIBUTE_AT_LIMIT, text)
    once = [each.name for each in reading.attributes if each.when_failed.casefold() == "past"]
    if once:
        text = f"{', '.join(once)} reached its threshold once"
        yield disk_finding(reading, Severity.ATTENTION, DiskCode.ATTRIBUTE_FAILED_ONCE, text)
    elif reading.exit_status & _FAILED_ONCE and trouble is None and not _at_limit(reading):
        text = "had an attribute at its threshold once, according to smartctl"
        yield disk_finding(reading, Severity.INFO, DiskCode.ATTRIBUTE_FAILED_ONCE, text)
    yield from _self_test(reading)
    if reading.exit_status & _ERROR_LOG:
        remedy = f"smartctl -l error {smart_words(reading.name)}"
        yield disk_finding(reading, Severity.INFO, DiskCode.ERROR_LOG, "has entries in its error log", remedy)


def _self_test(reading: SmartReading) -> Iterator[Finding]:
    failed = reading.self_tests.failed if reading.self_tests is not None else None
    if failed is not None:
        text = f"has failed {failed_words(reading, failed)}"
        remedy = "replace it"
        if failed.lba is not None:
            remedy = "a check of its array rewrites what cannot be read; replace it if it fails once more"
        severity = Severity.DEGRADED if failed.lba is None else Severity.ATTENTION
        yield disk_finding(reading, severity, DiskCode.SELFTEST_FAILED, text, remedy)
    elif reading.exit_status & _TEST_LOG:
        remedy = f"smartctl -l selftest {smart_words(reading.name)}"
        yield disk_finding(
            reading, Severity.ATTENTION, DiskCode.SELFTEST_FAILED, "has failed a self-test", remedy
        )


def _at_limit(reading: SmartReading) -> bool:
    return any(each.when_failed.casefold() == "now" for each in reading.attributes)


def _unit(reading: SmartReading, disk: DiskWear) -> Iterator[Finding]:
    promised: Written = disk.promised
    if words := verdict_words(disk.verdict, promised.source, promised.unit_bytes):
        code = DiskCode.UNIT_MEASURED if promised.unit_bytes is None else DiskCode.UNIT_WRONG
        yield disk_finding(reading, Severity.INFO, code, words)
    elif disk.written.size_bytes is None and promised.count and promised.unit_bytes is not None:
        remedy = "its unit can be measured when more has been written to it"
        text = f"{promised.source}: {disk.written.note}"
        yield disk_finding(reading, Severity.INFO, DiskCode.UNIT_IMPOSSIBLE, text, remedy)
