"""Disks that were reached and said nothing of their health: none of them is well."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from raidtui.app.cli import run
from raidtui.features.wear.wear_report import wear_of_text
from raidtui.model.smart import SmartReading
from raidtui.monitor.wear.array_wear import judge_array
from raidtui.monitor.wear.disk_wear import DiskWear
from raidtui.monitor.wear.faults import MANY_TIMEOUTS
from tests.monitor.wear.disks import facts, parsed, smartctl_json, ssd

ABORTED = "Read SMART Data failed: scsi error aborted command"
BASE = {"model": "Samsung SSD 860 EVO 500GB", "serial": "S1", "rotation_rpm": 0}


def _disk(known: dict[str, Any], **more: Any) -> DiskWear:
    return wear_of_text(json.dumps({**smartctl_json(known), **more}), "x")


def _smartctl(*errors: str, status: int = 4) -> dict[str, Any]:
    said = [{"string": text, "severity": "error"} for text in errors]
    return {"version": [7, 3], "exit_status": status, "messages": said}


def _found(disk: DiskWear) -> list[tuple[str, str]]:
    return [(each.severity.word, each.code) for each in disk.findings]


def test_reads_that_failed() -> None:
    disk = _disk(BASE, smartctl=_smartctl(ABORTED))
    assert _found(disk) == [("attention", "read-failed")]
    assert disk.findings[0].sentence == (f"did not answer, so its health is not known: smartctl: {ABORTED}")
    assert (disk.percent.note, disk.written.note) == ("it was not read", "it was not read")


@pytest.mark.parametrize(("more", "severity"), [({}, "attention"), ({"passed": True}, "info")])
def test_some_reads_that_failed(more: dict[str, Any], severity: str) -> None:
    known = {**BASE, **more, "attributes": ["5 Reallocated_Sector_Ct 100 10 0"]}
    assert _found(_disk(known, smartctl=_smartctl("Read SMART Error Log failed"))) == [
        (severity, "read-failed")
    ]


def test_an_optional_log_that_is_missing_is_no_finding() -> None:
    """Bit 2 is also set by disks without a log, and then smartctl calls nothing an error."""
    assert _found(_disk({**BASE, "passed": True, "status": 4})) == []


def test_smart_that_is_disabled() -> None:
    disk = _disk(
        BASE,
        smart_support={"available": True, "enabled": False},
        smartctl=_smartctl("SMART Disabled. Use option -s with argument 'on' to enable it."),
    )
    assert _found(disk) == [("attention", "smart-disabled")]
    assert disk.findings[0].remedy == "smartctl -s on /dev/sda"


@pytest.mark.parametrize("more", [{}, {"smart_status": {"passed": True}}])
def test_a_volume_of_a_controller(more: dict[str, Any]) -> None:
    whole = smartctl_json({"kind": "scsi", "model": "DELL PERC H730 Mini", "rotation_rpm": 7200})
    del whole["smart_support"]
    disk = wear_of_text(json.dumps({**whole, **more}), "x")
    assert _found(disk) == [("attention", "no-smart")]
    assert disk.findings[0].sentence.startswith("is a volume of a RAID controller")
    assert disk.percent.note == "the disks behind the RAID controller are not seen"


def test_a_disk_without_any_smart() -> None:
    assert _found(_disk({"kind": "scsi", "model": "QEMU HARDDISK"})) == [("attention", "no-smart")]


# -- critical attributes, and what the drive database says


@pytest.mark.parametrize(
    ("attribute", "expected"),
    [
        ("10 Spin_Retry_Count 100 97 1", ("attention", "spin-retries")),
        ("184 End-to-End_Error 99 0 2", ("attention", "end-to-end")),
        ("188 Command_Timeout 100 0 3", ("info", "command-timeouts")),
        (f"188 Command_Timeout 100 0 {MANY_TIMEOUTS}", ("attention", "command-timeouts")),
        ("188 Command_Timeout 100 0 4295032833", ("info", "command-timeouts")),  # three counts of 16 bits
        ("196 Reallocated_Event_Count 100 0 7", ("attention", "reallocated")),
    ],
)
def test_critical_attributes(attribute: str, expected: tuple[str, str]) -> None:
    known = {**BASE, "passed": True, "rotation_rpm": 7200, "in_database": True, "attributes": [attribute]}
    found = [each for each in _found(_disk(known)) if each[1] != "attribute-at-limit"]
    assert found == [expected]


def test_the_default_name_of_an_unknown_ssd_is_no_warning() -> None:
    known = {**BASE, "passed": True, "in_database": False, "attributes": ["184 End-to-End_Error 100 0 40"]}
    assert _found(_disk(known)) == [("info", "end-to-end")]


def test_packed_counts_of_commands() -> None:
    assert ssd("188 Command_Timeout 100 0 4295032833").command_timeouts == 1


def test_time_above_the_critical_temperature() -> None:
    known = facts("micron-7400")
    known["nvme"]["critical_comp_time"] = 3
    disk = _disk(known)
    assert ("attention", "overheated") in _found(disk)
    assert "was above its critical temperature for 3 minutes in its life" in [
        each.sentence for each in disk.findings
    ]
    whole = smartctl_json({**BASE, "passed": True})
    whole["ata_device_statistics"] = {"pages": [{"number": 5, "table": [{"offset": 0x50, "value": 9}]}]}
    assert parsed(whole).critical_minutes == 9


def test_shingled_disks() -> None:
    whole = smartctl_json({**BASE, "passed": True, "rotation_rpm": 5400})
    disk = wear_of_text(json.dumps({**whole, "model_family": "Western Digital Red (SMR)"}), "x")
    assert _found(disk) == [("info", "shingled")]
    (finding,) = judge_array("data", "key", [disk]).findings
    assert (finding.severity.word, finding.code) == ("attention", "shingled")


# -- a SAS disk's grown defects


@pytest.mark.parametrize(
    ("version", "printed", "count", "least"),
    [
        ([7, 1], 56, 7, None),
        ([7, 2], 56, 56, None),
        (None, 56, 7, 56),
        (None, 57, 57, None),
        ([7, 0], 0, 0, None),
    ],
)
def test_grown_defects(version: list[int] | None, printed: int, count: int, least: int | None) -> None:
    whole = smartctl_json({"kind": "scsi", "model": "ST4000NM0043", "passed": True, "rotation_rpm": 7200})
    whole["scsi_grown_defect_list"] = printed
    whole["smartctl"] = {"exit_status": 0} | ({} if version is None else {"version": version})
    found = parsed(whole)
    assert (found.reallocated, found.defects_printed) == (count, least)
    said = [each.sentence for each in wear_of_text(json.dumps(whole), "x").findings]
    assert any("at least 7 sectors" in each for each in said) == (least is not None)


def test_a_time_before_smartctl_had_json_is_none() -> None:
    whole = smartctl_json({**BASE, "passed": True})
    whole["local_time"]["time_t"] = 86_400
    assert parsed(whole).taken_s is None
    assert isinstance(parsed(whole), SmartReading)


def test_the_exit_status_of_a_disk_that_said_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a.json"
    file.write_text(json.dumps({**smartctl_json(BASE), "smartctl": _smartctl(ABORTED)}))
    assert run(["wear", "--from", str(file)]) == 3
    assert "did not answer" in capsys.readouterr().out
