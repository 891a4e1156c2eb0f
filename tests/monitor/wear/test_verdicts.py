"""What a disk says of itself beside its counts: its verdict, SCSI's exceptions, its limit of temperature."""

from __future__ import annotations

from typing import Any

import pytest

from raidtui.model.finding import Severity
from raidtui.model.smart import SmartMeasurement
from raidtui.monitor.wear.disk_wear import judge_disk
from tests.monitor.wear.disks import parsed, smartctl_json

AT_LIMIT = "has an attribute at its threshold, according to smartctl"
DISK = {"model": "X", "serial": "S1", "rotation_rpm": 7200}


def _rows(whole: dict[str, Any]) -> list[tuple[Severity, str, str]]:
    findings = judge_disk(SmartMeasurement(result=parsed(whole)), 1e9).findings
    return [(each.severity, each.code, each.sentence) for each in findings]


def _sas_json(**more: Any) -> dict[str, Any]:
    whole = smartctl_json(
        {"kind": "scsi", "model": "SEAGATE ST4000NM0023", "serial": "C1", "rotation_rpm": 7200}
    )
    return {**whole, **more}


def _exception(asc: int, ascq: int, words: str) -> dict[str, Any]:
    return _sas_json(smart_status={"passed": False, "scsi": {"asc": asc, "ascq": ascq, "ie_string": words}})


@pytest.mark.parametrize(
    ("asc", "ascq", "severity", "code"),
    [
        (0x0B, 0x01, Severity.ATTENTION, "hot"),
        (0x0B, 0x03, Severity.ATTENTION, "critical-warning"),
        (0x5D, 0x10, Severity.FAILED, "dying"),
        (0x5D, 0xFF, Severity.INFO, "critical-warning"),
    ],
)
def test_exceptions_of_sas_disks(asc: int, ascq: int, severity: Severity, code: str) -> None:
    """Smartctl calls the verdict failed for each of them (scsiprint.cpp)."""
    ((found, its, text),) = _rows(_exception(asc, ascq, "IN ITS WORDS"))
    assert (found, its) == (severity, code)
    assert "IN ITS WORDS" in text


@pytest.mark.parametrize(
    ("more", "hot"),
    [
        ({"temperature": {"current": 75, "drive_trip": 68}}, 68),
        ({"temperature": {"current": 75}, "scsi_temperature": {"drive_trip": 68}}, 68),
        ({"temperature": {"current": 68, "drive_trip": 68}}, None),
        ({"temperature": {"current": 35, "drive_trip": 0}}, None),
        ({"temperature": {"current": 75, "op_limit_max": 60, "limit_max": 70}}, 60),
        ({"temperature": {"current": 75, "limit_max": 70}}, 70),
        ({"temperature": {"current": 60, "op_limit_max": 60, "limit_max": 70}}, None),
        ({"temperature": {"current": 75}}, None),
    ],
)
def test_a_disk_above_the_temperature_that_it_is_made_for(more: dict[str, Any], hot: int | None) -> None:
    said = [(Severity.ATTENTION, "hot", f"is too hot (75 °C) by its own limits: it is made for {hot} °C")]
    assert _rows(_sas_json(smart_status={"passed": True}, **more)) == (said if hot is not None else [])


@pytest.mark.parametrize(
    ("status", "found"),
    [
        (8, [(Severity.FAILED, "dying", "its own SMART verdict is FAILED")]),
        (
            16,
            [
                (
                    Severity.ATTENTION,
                    "attribute-at-limit",
                    "has an attribute at its threshold, according to smartctl",
                )
            ],
        ),
        (0, []),
    ],
)
def test_what_only_smartctls_exit_status_says(status: int, found: list[Any]) -> None:
    whole = smartctl_json({**DISK, "in_database": True, "attributes": ["5 Reallocated_Sector_Ct 200 140 0"]})
    whole["smartctl"]["exit_status"] = status
    assert _rows(whole) == found
