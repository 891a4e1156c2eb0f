"""What is wrong or worth knowing of one disk, as findings. Red: a dying disk, no life or no spare left."""

from __future__ import annotations

from collections.abc import Iterator

from raidtui.model.finding import Finding, Severity
from raidtui.model.smart import NoReading, SmartReading, Unread
from raidtui.wear.endurance import Percent, Written
from raidtui.wear.faults import told_of
from raidtui.wear.record import DiskWear
from raidtui.wear.trouble import Trouble
from raidtui.wear.units import verdict_words

WORN_OUT_PERCENT, WORN_PERCENT = 100, 90
_SPARE, _HOT, _BACKUP, _PMR, _KNOWN = 1, 2, 16, 32, 63
_FAILED_ONCE, _ERROR_LOG, _TEST_LOG = 32, 64, 128
_TROUBLE_CODES = {"dying": "dying", "cable?": "cable", "hot": "hot"}


def findings_of(disk: DiskWear) -> Iterator[Finding]:
    """Yield the findings of one disk."""
    if disk.unread is not None:
        yield _unread(disk.unread)
    if disk.reading is None:
        return
    if (trouble := disk.trouble) is not None:
        severity = Severity.FAILED if trouble.word == "dying" else Severity.ATTENTION
        yield _finding(disk.reading, severity, _TROUBLE_CODES[trouble.word], trouble.reason, trouble.remedy)
    yield from _wear(disk.reading, disk.percent)
    yield from _warnings(disk.reading, disk.trouble)
    yield from _faults(disk.reading, disk)
    yield from _errors(disk.reading, disk.trouble)
    yield from _unit(disk.reading, disk)


def _unread(unread: NoReading) -> Finding:
    asleep = unread.why in {Unread.STANDBY, Unread.UNTOLD}
    return Finding(
        severity=Severity.INFO if asleep else Severity.ATTENTION,
        code="standby" if asleep else "smart-unread",
        subject="",
        name=unread.name,
        sentence=unread.reason,
        remedy=unread.remedy,
    )


def _wear(reading: SmartReading, percent: Percent) -> Iterator[Finding]:
    used = percent.percent
    if used is not None and used >= WORN_PERCENT:
        out = used >= WORN_OUT_PERCENT
        yield _finding(
            reading,
            Severity.DEGRADED if out else Severity.ATTENTION,
            "worn-out" if out else "worn",
            f"has used {used} % of its rated life ({percent.source})",
            "replace it in good time, and not all members on one day",
        )
    spare, limit = reading.spare_percent, reading.spare_threshold_percent
    if reading.protocol != "ATA" and spare is not None and limit and spare < limit:
        text = f"has {spare} % of its spare blocks left; {limit} % is the least"
        yield _finding(reading, Severity.DEGRADED, "spare-low", text, "replace it")
    elif (reading.critical_warning or 0) & _SPARE:
        left = f" ({spare} % are left)" if spare is not None else ""
        text = f"warns that its spare blocks run short{left}"
        yield _finding(reading, Severity.DEGRADED, "spare-low", text, "replace it")


def _warnings(reading: SmartReading, trouble: Trouble | None) -> Iterator[Finding]:
    """NVMe's critical warnings, but for those that ``_wear`` and ``find_trouble`` tell."""
    warning = reading.critical_warning or 0
    if warning & _HOT and trouble is not None and trouble.word != "hot":
        text = "is too hot by its own limits"
        yield _finding(reading, Severity.ATTENTION, "hot", text, "look at its airflow")
    if warning & _BACKUP:
        text = "can no longer save its cache at a power failure"
        yield _finding(reading, Severity.ATTENTION, "backup-failed", text, "replace it")
    if warning & _PMR:
        text = "has a persistent memory region that is read-only or has become unreliable"
        yield _finding(reading, Severity.ATTENTION, "memory-region", text)
    if unknown := warning & ~_KNOWN:
        text = f"raises a critical warning that is not known here (0x{unknown:02x})"
        yield _finding(reading, Severity.ATTENTION, "critical-warning", text, "see its maker's manual")


def _faults(reading: SmartReading, disk: DiskWear) -> Iterator[Finding]:
    """Counts of faults, but for those whose growth is the disk's trouble already."""
    word = disk.trouble.word if disk.trouble is not None else ""
    for fault in disk.faults:
        if (word == "dying" and fault.medium and fault.grown) or (
            word == "cable?" and fault.field == "crc_errors"
        ):
            continue
        told = told_of(reading, fault)
        yield _finding(reading, told.severity, told.code, told.sentence, told.remedy)


def _errors(reading: SmartReading, trouble: Trouble | None) -> Iterator[Finding]:
    """What counts over the disk's whole life: bits 5 to 7 of smartctl's status."""
    for each in reading.attributes:
        if each.when_failed.casefold() == "now" and not each.prefailure:
            text = f"{each.name} is at {each.value}, and its limit is {each.threshold}"
            yield _finding(reading, Severity.ATTENTION, "attribute-at-limit", text)
    once = [each.name for each in reading.attributes if each.when_failed.casefold() == "past"]
    if once:
        text = f"{', '.join(once)} reached its limit once"
        yield _finding(reading, Severity.ATTENTION, "attribute-failed-once", text)
    elif reading.exit_status & _FAILED_ONCE and trouble is None and not _at_limit(reading):
        text = "had an attribute at its limit once, says smartctl"
        yield _finding(reading, Severity.INFO, "attribute-failed-once", text)
    if reading.exit_status & _TEST_LOG:
        remedy = f"smartctl -l selftest /dev/{reading.name}"
        yield _finding(reading, Severity.ATTENTION, "selftest-failed", "has failed a self-test", remedy)
    if reading.exit_status & _ERROR_LOG:
        remedy = f"smartctl -l error /dev/{reading.name}"
        yield _finding(reading, Severity.INFO, "error-log", "has entries in its error log", remedy)


def _at_limit(reading: SmartReading) -> bool:
    return any(each.when_failed.casefold() == "now" for each in reading.attributes)


def _unit(reading: SmartReading, disk: DiskWear) -> Iterator[Finding]:
    promised: Written = disk.promised
    if words := verdict_words(disk.verdict, promised.source, promised.unit_bytes):
        code = "unit-measured" if promised.unit_bytes is None else "unit-wrong"
        yield _finding(reading, Severity.INFO, code, words)
    elif disk.written.size_bytes is None and promised.size_bytes is not None:
        remedy = "once more is written to it, its unit can be measured"
        text = f"{promised.source}: {disk.written.note}"
        yield _finding(reading, Severity.INFO, "unit-impossible", text, remedy)


def _finding(
    reading: SmartReading, severity: Severity, code: str, sentence: str, remedy: str = ""
) -> Finding:
    return Finding(
        severity=severity,
        code=code,
        subject=reading.identity,
        name=reading.name,
        sentence=sentence,
        remedy=remedy,
    )
