"""Wear for other programs and for people."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from raidtui.features.wear.wear_report import metric_lines, wear_dict, wear_lines, wear_of_text
from raidtui.monitor.wear.array_wear import judge_array
from raidtui.monitor.wear.disk_wear import DiskWear
from raidtui.view.units import decimal_size
from tests.monitor.wear.disks import NAMES, facts, smartctl_json, text_of

KEYS = (
    "name", "model", "serial", "percent_used", "bytes_written", "unit_bytes", "source", "confidence",
    "smart_passed", "findings",
)  # fmt: skip


def _disk(name: str, device: str = "sda") -> DiskWear:
    return wear_of_text(text_of(name, device), "file.json")


def test_a_disk_as_json() -> None:
    (found,) = wear_dict([_disk("micron-5300", "sdc")])["disks"]
    assert {key: found[key] for key in KEYS} == {
        "name": "sdc",
        "model": "Micron_5300_MTFDDAK1T9TDS",
        "serial": "RT0024",
        "percent_used": 0,
        "bytes_written": 66563546746880,
        "unit_bytes": 512,
        "source": "attribute 246 Total_LBAs_Written",
        "confidence": "named",
        "smart_passed": True,
        "findings": [
            {
                "severity": "info",
                "code": "crc-errors",
                "sentence": "sdc: 24 transfers failed in its life (CRC errors): "
                "a cable or connector fault at some time",
                "remedy": None,
            },
            {
                "severity": "attention",
                "code": "end-to-end",
                "sentence": "sdc: has counted 1 end-to-end error: data changed on their way through it "
                "(attribute 184 End-to-End_Error)",
                "remedy": "replace it if the count grows; raidtui wear --record keeps the history",
            },
        ],
    }
    assert found["percent"] == {
        "source": "attribute 202 Percent_Lifetime_Remain",
        "confidence": "named",
        "raw": "value 100, raw 0",
        "note": None,
        "witnesses": [
            {"source": "attribute 246 Total_LBAs_Written", "says": "66.6 TB", "agrees": True},
            {"source": "attribute 173 Avg_Block-Erase_Count", "says": "83 erases", "agrees": True},
        ],
    }
    assert found["written"] == {
        "source": "attribute 246 Total_LBAs_Written",
        "confidence": "named",
        "raw": "130006927240",
        "note": None,
        "witnesses": [
            {"source": "attribute 173 Avg_Block-Erase_Count", "says": "159 TB to flash", "agrees": True},
            {"source": "age and capacity", "says": "0.2 of its capacity a day", "agrees": True},
        ],
        "promised_unit_bytes": 512,
        "unit_verdict": "open",
    }


def test_what_nobody_knows_is_null() -> None:
    (found,) = wear_dict([_disk("wd-red-hdd")])["disks"]
    assert {key: found[key] for key in KEYS[3:]} == {
        "percent_used": None,
        "bytes_written": None,
        "unit_bytes": None,
        "source": None,
        "confidence": "unknown",
        "smart_passed": True,
        "findings": [],
    }


@pytest.mark.parametrize(("text", "reason"), [("", "nothing"), ("{", "no JSON (Input data was truncated)")])
def test_a_file_that_holds_nothing_is_named(text: str, reason: str) -> None:
    (found,) = wear_dict([wear_of_text(text, "odd.json")])["disks"]
    assert (found["name"], found["model"], found["smart_passed"], found["confidence"]) == (
        "odd.json",
        None,
        None,
        "unknown",
    )
    assert found["unread"] == {"why": "broken", "reason": f"smartctl printed {reason}"}
    assert [finding["code"] for finding in found["findings"]] == ["smart-unread"]


def test_all_of_them_are_json() -> None:
    disks = [_disk(name) for name in NAMES]
    whole = wear_dict(disks, [judge_array("data", "key", disks[:2])])
    assert json.loads(json.dumps(whole)) == whole
    assert (whole["format_version"], len(whole["disks"]), whole["arrays"][0]["disks"]) == (
        1,
        27,
        ["sda", "sda"],
    )


def test_metrics() -> None:
    labels = 'device="sdc",model="Micron_5300_MTFDDAK1T9TDS",serial="RT0024"'
    assert list(metric_lines([_disk("micron-5300", "sdc"), wear_of_text("", "odd.json")])) == [
        "# HELP raidtui_disk_life_used_ratio Used part of the rated life.",
        "# TYPE raidtui_disk_life_used_ratio gauge",
        f'raidtui_disk_life_used_ratio{{{labels},confidence="named"}} 0',
        "# HELP raidtui_disk_written_bytes_total Host writes in the disk's life.",
        "# TYPE raidtui_disk_written_bytes_total counter",
        f'raidtui_disk_written_bytes_total{{{labels},confidence="named"}} 66563546746880',
        "# HELP raidtui_disk_power_on_seconds Age in service.",
        "# TYPE raidtui_disk_power_on_seconds gauge",
        f"raidtui_disk_power_on_seconds{{{labels}}} 15030000",
        "# HELP raidtui_disk_temperature_celsius Temperature.",
        "# TYPE raidtui_disk_temperature_celsius gauge",
        f"raidtui_disk_temperature_celsius{{{labels}}} 24",
        "# HELP raidtui_disk_smart_passed The disk's own verdict.",
        "# TYPE raidtui_disk_smart_passed gauge",
        f"raidtui_disk_smart_passed{{{labels}}} 1",
        "# HELP raidtui_disk_crc_errors_total Failed transfers.",
        "# TYPE raidtui_disk_crc_errors_total counter",
        f"raidtui_disk_crc_errors_total{{{labels}}} 24",
        "# HELP raidtui_disk_reallocated_total Remapped places.",
        "# TYPE raidtui_disk_reallocated_total counter",
        f"raidtui_disk_reallocated_total{{{labels}}} 0",
        "# HELP raidtui_disk_pending Unreadable places.",
        "# TYPE raidtui_disk_pending gauge",
        f"raidtui_disk_pending{{{labels}}} 0",
        "# HELP raidtui_disk_uncorrectable_total Uncorrectable errors.",
        "# TYPE raidtui_disk_uncorrectable_total counter",
        f"raidtui_disk_uncorrectable_total{{{labels}}} 0",
        "# HELP raidtui_disk_findings Worst finding: 0 none or info, 1 attention, 2 degraded, 3 failed.",
        "# TYPE raidtui_disk_findings gauge",
        f"raidtui_disk_findings{{{labels}}} 1",
    ]


_SAMPLE = re.compile(r'[a-z_]+\{([a-z]+="(?:[^"\\\n]|\\[\\"n])*",?)+\} [0-9]+')


@given(st.text(), st.text())
def test_metrics_hold_whatever_a_disk_is_called(model: str, serial: str) -> None:
    disk = _disk("micron-5300")
    assert disk.reading is not None
    odd = replace(disk, reading=replace(disk.reading, model=model, serial=serial))
    for line in metric_lines([odd]):
        assert line.startswith("# ") or _SAMPLE.fullmatch(line)


def test_sentences() -> None:
    known = {**facts("samsung-sm843t"), "status": 128}
    disk = wear_of_text(json.dumps(smartctl_json(known)), "x")
    assert list(wear_lines([disk, _disk("wd-red-hdd", "sdb"), wear_of_text("", "odd.json")])) == [
        "sda: SAMSUNG MZ7WD240HAFV-00003, serial RT0004",
        "  life used  9 % (attribute 177 Wear_Leveling_Count, assumed: value 91, raw 1661)",
        "  written    111 TB (attribute 241 Total_LBAs_Written, assumed: 216456537880 x 512 bytes)",
        "  ends       not within 50 years, by the disk's percentage, 31.4 GB a day",
        "  attention: has failed a self-test; smartctl -l selftest /dev/sda",
        "sdb: WDC WD20EFRX-68EUZN0, serial RT0006",
        "  life used  unknown: a hard disk has no such figure",
        "  written    unknown: the disk does not count what is written to it",
        "odd.json: not read",
        "  attention: smartctl printed nothing",
    ]


def test_sentences_with_a_date() -> None:
    lines = list(wear_lines([_disk("intel-s3500-240")]))
    assert lines[3] == (
        "  ends       about 2029-01 (not before 2028-12, at the latest 2029-02), by the disk's percentage, "
        "178 GB a day"
    )
    worn = facts("intel-s3500-240")
    worn["attributes"] = ["202 Percent_Lifetime_Used 1 0 120"]
    lines = list(wear_lines([wear_of_text(json.dumps(smartctl_json(worn)), "x")]))
    assert lines[3] == "  ends       its rated life is used up, by the disk's percentage"


def test_nothing_of_a_disk_reaches_the_terminal_as_it_is() -> None:
    known = {**facts("samsung-sm843t"), "model": "evil\x1b[31m\nmodel"}
    (first, *_) = wear_lines([wear_of_text(json.dumps(smartctl_json(known)), "x")])
    assert first == r"sda: evil\x1b[31m\x0amodel, serial RT0004"


@pytest.mark.parametrize(
    ("size", "words"),
    [(0, "0 B"), (999, "999 B"), (12_400_000_000_000, "12.4 TB"), (10**15, "1 PB"), (8_569_344, "8.6 MB")],
)
def test_sizes_as_the_makers_write_them(size: int, words: str) -> None:
    assert decimal_size(size) == words
