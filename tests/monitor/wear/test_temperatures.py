"""How warm a disk was, day by day, beside its own limits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from raidtui.features.wear.wear_report import wear_dict
from raidtui.host.smart.smartctl_json import parse_smart
from raidtui.model.smart import SmartMeasurement, SmartReading
from raidtui.monitor.wear.disk_wear import judge_disk
from raidtui.monitor.wear.ledger import Ledger
from raidtui.monitor.wear.ledger_entries import DAY_S, LedgerEntry
from raidtui.monitor.wear.temperatures import DayTemperature, day_temperatures, temperature_words
from tests.monitor.wear.disks import smartctl_json

WARM = SmartReading(name="sda", temperature_limit_c=60, temperature_critical_c=70)


def read(day: float, temperature_c: int | None) -> LedgerEntry:
    """Return a reading of a day, which is counted from 1970 on."""
    return LedgerEntry(disk="SER1", at_s=day * DAY_S, temperature_c=temperature_c)


def test_the_coolest_and_the_warmest_reading_of_each_day() -> None:
    entries = [read(5, 30), read(5.2, 41), read(5.9, 25), read(6.1, None), read(8.5, 33)]
    assert day_temperatures(entries) == (
        DayTemperature(day=5, low_c=25, high_c=41),
        DayTemperature(day=8, low_c=33, high_c=33),
    )


@pytest.mark.parametrize(
    ("readings", "reading", "words"),
    [
        ([], WARM, ""),
        ([30], None, "temperature: 30 °C"),
        ([30, 41], None, "temperature: 30 to 41 °C"),
        ([30, 60], WARM, "temperature: 30 to 60 °C, made for 60 °C, critical at 70 °C"),
        (
            [30, 61],
            WARM,
            "temperature: 30 to 61 °C, made for 60 °C, too hot on 1 of 2 days, critical at 70 °C",
        ),
    ],
)
def test_words(readings: list[int], reading: SmartReading | None, words: str) -> None:
    days = day_temperatures([read(day, each) for day, each in enumerate(readings)])
    assert temperature_words(days, reading) == words


@pytest.mark.parametrize(
    ("more", "limits"),
    [
        ({"op_limit_max": 60, "limit_max": 70}, (60, 70)),
        ({"limit_max": 70}, (70, None)),
        ({"op_limit_max": 70, "critical_limit_max": 100}, (70, 100)),  # NVMe, smartctl 7.5
        ({"op_limit_max": 60, "limit_max": 60}, (60, None)),
        ({"op_limit_max": 0, "limit_max": 0, "critical_limit_max": 0}, (None, None)),
        ({"drive_trip": 68}, (68, None)),
    ],
)
def test_the_disks_own_limits(more: dict[str, Any], limits: tuple[int | None, int | None]) -> None:
    whole = smartctl_json({"serial": "SER1"}) | {"temperature": {"current": 31, **more}}
    found = parse_smart(json.dumps(whole))
    assert isinstance(found, SmartReading)
    assert (found.temperature_limit_c, found.temperature_critical_c) == limits


def test_the_ledger_keeps_them(tmp_path: Path) -> None:
    with Ledger(tmp_path / "wear.sqlite") as ledger:
        ledger.add(read(5, 30), read(6, None))
        assert [each.temperature_c for each in ledger.entries("SER1")] == [30, None]


def test_the_report_has_a_month_of_them() -> None:
    whole = smartctl_json({"serial": "SER1"}) | {"temperature": {"current": 31, "op_limit_max": 60}}
    measured = SmartMeasurement(result=parse_smart(json.dumps(whole)))
    history = [read(20_000 + day, 25) for day in range(40)]
    (disk,) = wear_dict([judge_disk(measured, 20_040.5 * DAY_S, history)])["disks"]
    assert (disk["temperature_limit_c"], disk["temperature_critical_c"]) == (60, None)
    assert len(disk["temperatures"]) == 30
    assert disk["temperatures"][-2:] == [
        {"day": "2024-11-12", "low_c": 25, "high_c": 25},
        {"day": "2024-11-13", "low_c": 31, "high_c": 31},
    ]
