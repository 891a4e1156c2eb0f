"""A disk's counts of its own faults and of its link's, judged by number and by growth.

Bad sectors are the disk's: the first pending or uncorrectable sector deserves attention, and so does the
first reallocated one of a hard disk. A healthy SSD retires a few blocks: they are reported as information.
CRC errors and a SAS disk's non-medium errors are the link's or the enclosure's. These counts are never reset,
so many of them are a warning only until the history shows no growth for a week.

A bad cable is distinguished from a dying disk by the growth of these counts, by link resets, and by what the
disk says of itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from raidtui.model.finding import Finding, Severity
from raidtui.model.smart import Attribute, SmartReading
from raidtui.monitor.wear.ledger_entries import DAY_S, FAULT_COUNTS, LedgerEntry
from raidtui.view.units import counted, duration

HANDFUL = 5
"""So many reallocated sectors of an SSD are worth attention."""
MANY_PLACES = 100
"""From so many on, a disk is to be replaced before it fails."""
MANY_TRANSFERS, MANY_NONMEDIUM, MANY_TIMEOUTS = 100, 1000, 100
STILL_S = 7 * DAY_S
SHORT_OUTAGE_S = 600.0
"""A disk that is back so soon was not gone: its link was."""

_SPARE, _HOT, _UNRELIABLE, _READ_ONLY, _BACKUP, _PMR = (1 << bit for bit in range(6))

SCSI_HOT = (0x0B, 0x01)
"""ASC and ASCQ of SCSI's warning that the specified temperature is exceeded."""

_MEDIUM = frozenset(
    {
        "reallocated", "pending", "uncorrectable", "media_errors",
        "spin_retries", "end_to_end_errors", "reallocation_events",
    }
)  # fmt: skip
_IDS: Mapping[str, tuple[int, ...]] = {
    "reallocated": (5,),
    "pending": (197,),
    "uncorrectable": (187, 198),
    "spin_retries": (10,),
    "end_to_end_errors": (184,),
    "reallocation_events": (196,),
}
_CABLE = "reseat or replace the cable, and check power and backplane"
_GUESSED = "; the attribute's name is a default: smartctl does not know this disk"


class DiskCode(StrEnum):
    """What a finding about a disk says, for programs. docs/wear.md documents each; none changes."""

    ATTRIBUTE_AT_LIMIT = "attribute-at-limit"
    ATTRIBUTE_FAILED_ONCE = "attribute-failed-once"
    BACKUP_FAILED = "backup-failed"
    CABLE = "cable"
    COMMAND_TIMEOUTS = "command-timeouts"
    CRC_ERRORS = "crc-errors"
    CRITICAL_WARNING = "critical-warning"
    DYING = "dying"
    END_TO_END = "end-to-end"
    ERROR_LOG = "error-log"
    HOT = "hot"
    MEDIA_ERRORS = "media-errors"
    MEMORY_REGION = "memory-region"
    NON_MEDIUM_ERRORS = "non-medium-errors"
    NO_SMART = "no-smart"
    OUT_OF_LINE = "out-of-line"
    OVERHEATED = "overheated"
    PENDING = "pending"
    READ_FAILED = "read-failed"
    REALLOCATED = "reallocated"
    SAME_FATE = "same-fate"
    SELFTEST_FAILED = "selftest-failed"
    SHINGLED = "shingled"
    SMART_DISABLED = "smart-disabled"
    SMART_UNREAD = "smart-unread"
    SPARE_LOW = "spare-low"
    SPIN_RETRIES = "spin-retries"
    STANDBY = "standby"
    UNCORRECTABLE = "uncorrectable"
    UNIT_IMPOSSIBLE = "unit-impossible"
    UNIT_MEASURED = "unit-measured"
    UNIT_WRONG = "unit-wrong"
    WORN = "worn"
    WORN_OUT = "worn-out"


def disk_finding(
    reading: SmartReading, severity: Severity, code: DiskCode, sentence: str, remedy: str = ""
) -> Finding:
    """Return a finding about a disk; its subject is the disk's identity."""
    return Finding(
        severity=severity,
        code=code,
        subject=reading.identity,
        name=reading.name,
        sentence=sentence,
        remedy=remedy,
    )


class Fault(Struct, frozen=True, kw_only=True):
    """One count that is not 0.

    Args:
        field: of ``SmartReading``.
        count: the present count.
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


def faults_of(
    reading: SmartReading, before: SmartReading | None, earlier: Sequence[LedgerEntry], now_s: float
) -> Iterator[Fault]:
    """Yield the counts of a disk that are not 0.

    Args:
        reading: the present reading.
        before: the reading a week ago.
        earlier: its readings in the history without this one, the oldest first.
        now_s: epoch seconds.
    """
    for field in FAULT_COUNTS:
        count = getattr(reading, field)
        if not count or (field == "reallocation_events" and reading.reallocated):
            continue  # events are those of the sectors that are counted
        old = getattr(before, field) if before is not None else None
        grown = max(0, count - old) if old is not None else 0
        yield Fault(field=field, count=count, grown=grown, still_s=_still_s(field, count, earlier, now_s))


def _still_s(field: str, count: int, earlier: Sequence[LedgerEntry], now_s: float) -> float | None:
    same = None
    for entry in reversed(earlier):
        known = getattr(entry, field)
        if known is not None and known != count:
            break
        same = entry if known is not None else same
    return None if same is None else max(0.0, now_s - same.at_s)


def fault_finding(reading: SmartReading, fault: Fault) -> Finding:
    """Return the finding that a count makes, however harmless it is."""
    if fault.field == "crc_errors":
        return _until_still(fault, MANY_TRANSFERS, _transfers(reading, fault))
    if fault.field == "nonmedium_errors":
        return _until_still(fault, MANY_NONMEDIUM, _nonmedium(reading, fault))
    if fault.field == "command_timeouts":
        text = f"did not answer {counted(fault.count, 'command')} in time: disk, cable or power"
        finding = disk_finding(reading, Severity.INFO, DiskCode.COMMAND_TIMEOUTS, text)
        return _until_still(fault, MANY_TIMEOUTS, finding)
    if fault.field == "critical_minutes":
        text = f"was above its critical temperature for {counted(fault.count, 'minute')} in its life"
        finding = disk_finding(reading, Severity.INFO, DiskCode.OVERHEATED, text)
        return _until_still(fault, 1, finding, "check its airflow")
    return _judge_places(reading, fault)


def _judge_places(reading: SmartReading, fault: Fault) -> Finding:
    source, guessed = _source(reading, fault)
    moved = fault.field in {"reallocated", "reallocation_events"}
    few = moved and not _turns(reading) and fault.count < HANDFUL
    many = fault.count >= MANY_PLACES and (_turns(reading) or not moved)
    unsure = guessed and fault.field in {"spin_retries", "end_to_end_errors", "reallocation_events"}
    if (few and not fault.grown) or unsure:
        severity = Severity.INFO
    else:
        severity = Severity.DEGRADED if many and not guessed else Severity.ATTENTION
    more = f", {fault.grown} of them within a week" if 0 < fault.grown < fault.count else ""
    code, sentence, remedy = _words(reading, fault)
    text = f"{sentence}{more} ({source}){_GUESSED if guessed else ''}"
    if severity is Severity.INFO:
        return disk_finding(reading, severity, code, text)
    return disk_finding(reading, severity, code, text, "replace it soon" if many and not guessed else remedy)


def _words(reading: SmartReading, fault: Fault) -> tuple[DiskCode, str, str]:
    number = fault.count
    watch = "replace it if the count grows; raidtui wear --record keeps the history"
    if fault.field == "reallocated" and reading.defects_printed is not None:
        text = (
            f"has reallocated at least {counted(number, 'sector')}: {reading.defects_printed} is printed,"
            " which smartctl before 7.2 counts in bytes, eight for each"
        )
        return DiskCode.REALLOCATED, text, watch
    if fault.field == "reallocated":
        return DiskCode.REALLOCATED, f"has reallocated {counted(number, 'sector')}", watch
    if fault.field == "reallocation_events":
        return DiskCode.REALLOCATED, f"has counted {counted(number, 'reallocation event')}", watch
    if fault.field == "spin_retries":
        return DiskCode.SPIN_RETRIES, f"needed {counted(number, 'further attempt')} to spin up", watch
    if fault.field == "end_to_end_errors":
        text = f"has counted {counted(number, 'end-to-end error')}: data changed on their way through it"
        return DiskCode.END_TO_END, text, watch
    if fault.field == "pending":
        remedy = (
            "a check of its array rewrites them from the other members; replace the disk if they come back"
        )
        return DiskCode.PENDING, f"has {counted(number, 'sector')} that cannot be read now", remedy
    if fault.field == "uncorrectable":
        return DiskCode.UNCORRECTABLE, f"has reported {counted(number, 'uncorrectable error')}", watch
    return DiskCode.MEDIA_ERRORS, f"has counted {counted(number, 'media error')}", watch


def _until_still(fault: Fault, many: int, finding: Finding, remedy: str = _CABLE) -> Finding:
    """Few, or what has stood still for a week, is history; many, or growth by many, is a warning."""
    still = fault.still_s is not None and fault.still_s >= STILL_S
    if (fault.count < many or still) and fault.grown < many:
        return finding
    return replace(
        finding,
        severity=Severity.ATTENTION,
        remedy=f"{remedy}; the warning ends when the count has not grown for a week",
    )


def _transfers(reading: SmartReading, fault: Fault) -> Finding:
    text = f"{counted(fault.count, 'transfer')} failed in its life (CRC errors): "
    return disk_finding(
        reading, Severity.INFO, DiskCode.CRC_ERRORS, f"{text}a cable or connector fault at some time"
    )


def _nonmedium(reading: SmartReading, fault: Fault) -> Finding:
    more = f", {fault.grown} of them within a week" if 0 < fault.grown < fault.count else ""
    text = (
        f"has counted {counted(fault.count, 'non-medium error')}{more}: link, enclosure or aborted commands"
    )
    return disk_finding(reading, Severity.INFO, DiskCode.NON_MEDIUM_ERRORS, text)


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


class TroubleKind(StrEnum):
    """What is wrong with a disk or its link, as ``--json`` has it."""

    DYING = "dying"
    CABLE = "cable?"
    HOT = "hot"


class Trouble(Struct, frozen=True, kw_only=True):
    """What is wrong with a disk or its link.

    Args:
        reason: one sentence without its subject.
        remedy: what to do.
    """

    kind: TroubleKind
    reason: str
    remedy: str


def find_trouble(
    now: SmartReading,
    before: SmartReading | None = None,
    *,
    link_resets: int = 0,
    outage_s: float | None = None,
) -> Trouble | None:
    """Return what is wrong with a disk or its link, or None where nothing speaks for either.

    Args:
        now: what the disk says now.
        before: what it said before whatever happened to it; that of another disk is passed over.
        link_resets: how often the kernel reset its link meanwhile.
        outage_s: how long it was away, where it came back.
    """
    if before is not None and before.identity != now.identity:
        before = None
    if reasons := [*_says_itself(now), *_medium(now, before)]:
        return Trouble(
            kind=TroubleKind.DYING, reason="; ".join(reasons), remedy="replace it while it can still be read"
        )
    if reasons := list(_link(now, before, link_resets, outage_s)):
        well = "; its own SMART verdict is PASSED" if now.passed else ""
        remedy = f"{_CABLE}; the disk itself may be sound"
        return Trouble(kind=TroubleKind.CABLE, reason="; ".join(reasons) + well, remedy=remedy)
    if hot := too_hot(now):
        return Trouble(kind=TroubleKind.HOT, reason=hot, remedy="check its airflow")
    return None


def too_hot(now: SmartReading) -> str:
    """Return that a disk is too hot by its own word or limit, a sentence without its subject; else ""."""
    warm, limit = now.temperature_c, now.temperature_limit_c
    if now.exception_code == SCSI_HOT:
        return f'reports "{now.exception}"'
    if (now.critical_warning or 0) & _HOT:
        return f"is too hot{f' ({warm} °C)' if warm is not None else ''} by its own limits"
    if warm is not None and limit is not None and warm > limit:
        return f"is too hot ({warm} °C) by its own limits: it is made for {limit} °C"
    return ""


def _says_itself(now: SmartReading) -> Iterator[str]:
    """The disk's own verdict. NVMe's is one for all warnings, heat among them: its bits say which."""
    warning = now.critical_warning or 0
    if now.passed is False and not warning:
        yield f"its own SMART verdict is FAILED{f' ({now.exception})' if now.exception else ''}"
    if warning & _UNRELIABLE:
        yield "it reports that it has become unreliable"
    if warning & _READ_ONLY:
        yield "it accepts no more writes (read-only)"
    for each in now.attributes:
        if each.when_failed.casefold() == "now" and each.prefailure:
            yield f"{each.name} is at {each.value}; its threshold is {each.threshold}"


def _medium(now: SmartReading, before: SmartReading | None) -> Iterator[str]:
    """An SSD that retires a block or two is not a dying disk."""
    if before is None:
        return
    remapped = _growth(before.reallocated, now.reallocated)
    if remapped >= (HANDFUL if now.rotation_rpm == 0 else 1):
        yield f"{remapped} more {'sector was' if remapped == 1 else 'sectors were'} reallocated"
    for old, new, one, many in (
        (before.pending, now.pending, "sector cannot be read", "sectors cannot be read"),
        (before.uncorrectable, now.uncorrectable, "error was uncorrectable", "errors were uncorrectable"),
        (before.media_errors, now.media_errors, "media error", "media errors"),
    ):
        if more := _growth(old, new):
            yield f"{more} more {one if more == 1 else many}"


def _link(
    now: SmartReading, before: SmartReading | None, link_resets: int, outage_s: float | None
) -> Iterator[str]:
    failed = _growth(before.crc_errors, now.crc_errors) if before is not None else 0
    happened = bool(link_resets) or outage_s is not None
    if failed:
        yield f"{counted(failed, 'transfer')} failed (CRC errors)"
    elif happened and before is None and now.crc_errors:
        yield f"{counted(now.crc_errors, 'transfer')} failed so far (CRC errors)"
    if link_resets:
        yield f"its link was reset {counted(link_resets, 'time')}"
    if outage_s is not None and outage_s <= SHORT_OUTAGE_S:
        yield f"it disappeared for {duration(outage_s)} and came back"


def _growth(old: int | None, new: int | None) -> int:
    """A count that fell began again (other firmware, other disk): nothing can be said of it."""
    return max(0, new - old) if old is not None and new is not None else 0
