"""Disks for tests: those of ``tests/fixtures/smart`` as smartctl would print them, and made-up ones."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from raidtui.host.smart.smartctl_json import parse_smart
from raidtui.model.smart import SmartReading
from tests.places import FIXTURES

FOLDER = FIXTURES / "smart"
NAMES = tuple(sorted(path.stem for path in FOLDER.glob("*.json")))
_PROTOCOLS = {"sat": "ATA", "nvme": "NVMe", "scsi": "SCSI"}


def facts(name: str) -> dict[str, Any]:
    """Return a fixture as its file has it."""
    loaded: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text())
    return loaded


def smartctl_json(known: Mapping[str, Any], device: str = "sda") -> dict[str, Any]:
    """Return what ``smartctl --json`` prints of a disk; what a fixture does not have is left out."""
    kind = known.get("kind", "sat")
    whole: dict[str, Any] = {
        "json_format_version": [1, 0],
        "smartctl": {"version": known.get("version", [7, 3]), "exit_status": known.get("status", 0)},
        "local_time": {"time_t": 1_795_209_900, "asctime": "Fri Nov 20 21:25:00 2026 UTC"},
        "device": {"name": f"/dev/{device}", "type": kind, "protocol": _PROTOCOLS[kind]},
        "smart_support": {"available": True, "enabled": True},
    }
    for key, path in (
        ("model", ("scsi_model_name" if kind == "scsi" else "model_name",)),
        ("serial", ("serial_number",)),
        ("firmware", ("scsi_revision" if kind == "scsi" else "firmware_version",)),
        ("capacity_bytes", ("user_capacity", "bytes")),
        ("total_capacity_bytes", ("nvme_total_capacity",)),
        ("sector_bytes", ("logical_block_size",)),
        ("rotation_rpm", ("rotation_rate",)),
        ("in_database", ("in_smartctl_database",)),
        ("passed", ("smart_status", "passed")),
        ("hours", ("power_on_time", "hours")),
        ("temperature_c", ("temperature", "current")),
        ("trim_zeroed", ("trim", "zeroed")),
        ("endurance", ("endurance_used", "current_percent")),
        ("nvme", ("nvme_smart_health_information_log",)),
    ):
        if key in known:
            _put(whole, path, known[key])
    if "attributes" in known:
        whole["ata_smart_attributes"] = {"table": [_row(text) for text in known["attributes"]]}
    if "scsi" in known:
        _scsi(whole, known["scsi"])
    return whole


def _put(whole: dict[str, Any], path: Sequence[str], value: object) -> None:
    for key in path[:-1]:
        whole = whole.setdefault(key, {})
    whole[path[-1]] = value


def _row(text: str) -> dict[str, Any]:
    number, name, value, threshold, raw, *printed = text.split(" ", 5)
    level, limit = int(value), int(threshold)
    return {
        "id": int(number),
        "name": name,
        "value": level,
        "worst": level,
        "thresh": limit,
        "when_failed": "now" if level <= limit and limit else "",
        "flags": {"value": 3, "prefailure": bool(limit)},
        "raw": {"value": int(raw, 0), "string": printed[0] if printed else raw},
    }


def _scsi(whole: dict[str, Any], known: Mapping[str, Any]) -> None:
    whole["scsi_error_counter_log"] = {
        "read": {"total_uncorrected_errors": known["uncorrected"], "gigabytes_processed": "48.639"},
        "write": {"total_uncorrected_errors": 0, "gigabytes_processed": known["gigabytes_written"]},
    }
    if "grown_defects" in known:
        whole["scsi_grown_defect_list"] = known["grown_defects"]
    if "nonmedium" in known:
        whole["smartctl"]["output"] = ["", f"Non-medium error count: {known['nonmedium']:8}", ""]
    if "percent" in known:
        whole["scsi_percentage_used_endurance_indicator"] = known["percent"]


def text_of(name: str, device: str = "sda") -> str:
    """Return smartctl's output for a disk of ``tests/fixtures/smart``."""
    return json.dumps(smartctl_json(facts(name), device))


def parsed(whole: Mapping[str, Any]) -> SmartReading:
    """Return the reading that is in smartctl's output."""
    found = parse_smart(json.dumps(whole))
    assert isinstance(found, SmartReading)
    return found


def reading_of(known: Mapping[str, Any], device: str = "sda") -> SmartReading:
    """Return the reading of a disk."""
    return parsed(smartctl_json(known, device))


def reading(name: str, device: str = "sda") -> SmartReading:
    """Return the reading of a disk of ``tests/fixtures/smart``."""
    return reading_of(facts(name), device)


def ssd(*attributes: str, **known: Any) -> SmartReading:
    """Return a made-up SATA SSD with these attributes, which smartctl's database knows."""
    base: dict[str, Any] = {
        "model": "Example SSD 480",
        "serial": "EX0001",
        "firmware": "1.0",
        "sector_bytes": 512,
        "rotation_rpm": 0,
        "in_database": True,
        "passed": True,
        "hours": 1000,
    }
    return reading_of({**base, "attributes": list(attributes), **known})
