"""Findings about disks: their codes, and how one is made."""

from __future__ import annotations

from enum import StrEnum

from raidtui.model.finding import Finding, Severity
from raidtui.model.smart import SmartReading


class DiskCode(StrEnum):
    """What a finding about a disk says, for programs. docs/wear.md documents each; none changes."""

    ATTRIBUTE_AT_LIMIT = "attribute-at-limit"
    ATTRIBUTE_FAILED_ONCE = "attribute-failed-once"
    BACKUP_FAILED = "backup-failed"
    CABLE = "cable"
    CRC_ERRORS = "crc-errors"
    CRITICAL_WARNING = "critical-warning"
    DYING = "dying"
    ERROR_LOG = "error-log"
    HOT = "hot"
    MEDIA_ERRORS = "media-errors"
    MEMORY_REGION = "memory-region"
    NON_MEDIUM_ERRORS = "non-medium-errors"
    OUT_OF_LINE = "out-of-line"
    PENDING = "pending"
    REALLOCATED = "reallocated"
    SAME_FATE = "same-fate"
    SELFTEST_FAILED = "selftest-failed"
    SMART_UNREAD = "smart-unread"
    SPARE_LOW = "spare-low"
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
