"""Counts of bad sectors and failed transfers: by how many there are, and by whether they grow."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from raidtui.app.cli import run
from raidtui.model.finding import Finding, Severity
from raidtui.model.smart import SmartMeasurement, SmartReading
from raidtui.monitor.wear.disk_wear import judge_disk
from raidtui.monitor.wear.ledger_entries import DAY_S, LedgerEntry
from tests.monitor.wear.disks import facts, parsed, reading_of, smartctl_json, ssd

NOW_S = 1_795_046_400.0
WELL, ATTENTION, DYING = 0, 1, 2
INFO, ATTENTIVE, DEGRADED = Severity.INFO, Severity.ATTENTION, Severity.DEGRADED
TRANSFERS = "3118119 transfers failed in its life (CRC errors): a cable or connector fault at some time"
DEFAULT = "; the attribute's name is a default: smartctl does not know this disk"


def _hdd(*attributes: str, **known: Any) -> SmartReading:
    return ssd(*attributes, **{"model": "Example HDD 4T", "rotation_rpm": 7200, **known})


def _nvme(**log: int) -> dict[str, Any]:
    known = json.loads(json.dumps(facts("samsung-970-evo-plus")))
    known["nvme"].update(log)
    known["passed"] = not known["nvme"]["critical_warning"]
    return dict(known)


def _sas(uncorrected: int = 0, grown_defects: int = 0, **known: Any) -> SmartReading:
    base = facts("hitachi-h109060-hdd")
    scsi = {**base["scsi"], "uncorrected": uncorrected, "grown_defects": grown_defects}
    return replace(reading_of({**base, "scsi": scsi}), **known)


def _found(now: SmartReading, *history: LedgerEntry) -> tuple[Finding, ...]:
    return judge_disk(SmartMeasurement(result=now), NOW_S, history).findings


def _rows(now: SmartReading, *history: LedgerEntry) -> list[tuple[Severity, str, str]]:
    return [(each.severity, each.code, each.sentence) for each in _found(now, *history)]


def _entry(now: SmartReading, days_ago: float, **counts: int | None) -> LedgerEntry:
    entry = judge_disk(SmartMeasurement(result=replace(now, **counts)), NOW_S - days_ago * DAY_S).entry
    assert entry is not None
    return entry


@pytest.mark.parametrize(
    ("disk", "expected"),
    [
        (
            _hdd("5 Reallocated_Sector_Ct 95 36 304"),
            (DEGRADED, "reallocated", "has reallocated 304 sectors (attribute 5 Reallocated_Sector_Ct)"),
        ),
        (
            _hdd("5 Reallocated_Sector_Ct 100 36 1"),
            (
                ATTENTIVE,
                "reallocated",
                "has reallocated 1 sector (attribute 5 Reallocated_Sector_Ct)",
            ),
        ),
        (
            ssd("5 Reallocated_Sector_Ct 100 10 4"),
            (INFO, "reallocated", "has reallocated 4 sectors (attribute 5 Reallocated_Sector_Ct)"),
        ),
        (
            ssd("5 Reallocated_Sector_Ct 98 10 304"),
            (
                ATTENTIVE,
                "reallocated",
                "has reallocated 304 sectors (attribute 5 Reallocated_Sector_Ct)",
            ),
        ),
        (
            ssd("5 Reallocated_Sector_Ct 98 10 304", in_database=False),
            (
                ATTENTIVE,
                "reallocated",
                f"has reallocated 304 sectors (attribute 5 Reallocated_Sector_Ct){DEFAULT}",
            ),
        ),
        (
            _hdd("197 Current_Pending_Sector 100 0 8"),
            (
                ATTENTIVE,
                "pending",
                "has 8 sectors that cannot be read now (attribute 197 Current_Pending_Sector)",
            ),
        ),
        (
            _hdd("197 Current_Pending_Sector 100 0 800"),
            (
                DEGRADED,
                "pending",
                "has 800 sectors that cannot be read now (attribute 197 Current_Pending_Sector)",
            ),
        ),
        (
            _hdd("187 Reported_Uncorrect 99 0 1"),
            (
                ATTENTIVE,
                "uncorrectable",
                "has reported 1 uncorrectable error (attribute 187 Reported_Uncorrect)",
            ),
        ),
        (
            _hdd("198 Offline_Uncorrectable 100 0 16"),
            (
                ATTENTIVE,
                "uncorrectable",
                "has reported 16 uncorrectable errors (attribute 198 Offline_Uncorrectable)",
            ),
        ),
        (
            reading_of(_nvme(media_errors=3)),
            (ATTENTIVE, "media-errors", "has counted 3 media errors (NVMe health log)"),
        ),
        (
            _sas(uncorrected=2),
            (ATTENTIVE, "media-errors", "has counted 2 media errors (SCSI error counter log)"),
        ),
        (
            _sas(grown_defects=47),
            (ATTENTIVE, "reallocated", "has reallocated 47 sectors (grown defect list)"),
        ),
        (
            _sas(nonmedium_errors=12),
            (
                INFO,
                "non-medium-errors",
                "has counted 12 non-medium errors: link, enclosure or aborted commands",
            ),
        ),
        (
            _sas(nonmedium_errors=1445),
            (
                ATTENTIVE,
                "non-medium-errors",
                "has counted 1445 non-medium errors: link, enclosure or aborted commands",
            ),
        ),
        (
            ssd("199 UDMA_CRC_Error_Count 100 0 24"),
            (
                INFO,
                "crc-errors",
                "24 transfers failed in its life (CRC errors): a cable or connector fault at some time",
            ),
        ),
        (
            _hdd("199 UDMA_CRC_Error_Count 1 0 3118119"),
            (
                ATTENTIVE,
                "crc-errors",
                TRANSFERS,
            ),
        ),
    ],
)
def test_how_many_decide(disk: SmartReading, expected: tuple[Severity, str, str]) -> None:
    assert _rows(disk) == [expected]


def test_many_failed_transfers_ask_for_a_cable() -> None:
    (found,) = _found(_hdd("199 UDMA_CRC_Error_Count 1 0 3118119"))
    assert "replace the cable" in found.remedy


def test_a_cable_that_was_changed_is_forgiven_once_the_history_shows_it() -> None:
    now = _hdd("199 UDMA_CRC_Error_Count 1 0 3118119")
    old = _entry(now, 30, crc_errors=1_000_000)
    assert _rows(now, old, _entry(now, 6))[0][0] is ATTENTIVE
    assert _rows(now, old, _entry(now, 8))[0][0] is INFO
    assert _rows(now, _entry(now, 30), _entry(now, 8, crc_errors=None))[0][0] is INFO


def test_non_medium_errors_are_forgiven_alike_and_growth_is_news() -> None:
    now = _sas(nonmedium_errors=5000)
    assert _rows(now, _entry(now, 8))[0][0] is INFO
    (grown,) = _rows(now, _entry(now, 3, nonmedium_errors=3900))
    assert grown == (
        ATTENTIVE,
        "non-medium-errors",
        "has counted 5000 non-medium errors, 1100 of them within a week: link, enclosure or aborted commands",
    )


def test_a_bad_place_is_never_forgiven() -> None:
    now = _hdd("187 Reported_Uncorrect 99 0 1")
    assert _rows(now, _entry(now, 300))[0][0] is ATTENTIVE


def test_one_block_more_of_an_ssd_wants_attention_and_is_no_death() -> None:
    now = ssd("5 Reallocated_Sector_Ct 100 10 3")
    assert _rows(now, _entry(now, 3, reallocated=2)) == [
        (
            ATTENTIVE,
            "reallocated",
            "has reallocated 3 sectors, 1 of them within a week (attribute 5 Reallocated_Sector_Ct)",
        )
    ]
    assert _rows(now, _entry(now, 30))[0][0] is INFO


def test_growth_of_bad_places_is_reported_once() -> None:
    now = _hdd("5 Reallocated_Sector_Ct 95 36 304", "197 Current_Pending_Sector 100 0 8")
    found = _rows(now, _entry(now, 3, reallocated=300))
    assert [(severity, code) for severity, code, _ in found] == [
        (Severity.FAILED, "dying"),
        (ATTENTIVE, "pending"),
    ]


@pytest.mark.parametrize(
    ("bits", "codes"),
    [
        (1, ["spare-low"]),
        (2, ["hot"]),
        (2 | 4, ["dying", "hot"]),
        (8, ["dying"]),
        (16, ["backup-failed"]),
        (32, ["memory-region"]),
        (64 | 128, ["critical-warning"]),
    ],
)
def test_every_critical_warning_is_a_finding(bits: int, codes: list[str]) -> None:
    found = _found(reading_of(_nvme(critical_warning=bits)))
    assert [each.code for each in found] == codes
    assert all(each.severity > INFO for each in found)


def test_an_attribute_at_its_limit_that_foretells_no_failure_wants_attention() -> None:
    whole = _ata("190 Airflow_Temperature_Cel 45 45 55", "5 Reallocated_Sector_Ct 100 36 0")
    whole["ata_smart_attributes"]["table"][0]["flags"]["prefailure"] = False
    whole["smartctl"]["exit_status"] = 32
    assert _rows(parsed(whole)) == [
        (ATTENTIVE, "attribute-at-limit", "Airflow_Temperature_Cel is at 45; its threshold is 45")
    ]


def test_several_figures_in_one_number_are_no_count() -> None:
    packed = ("5 Reallocated_Sector_Ct 100 36 0x100000005", "187 Reported_Uncorrect 99 0 0x200000000")
    assert _rows(_hdd(*packed)) == []


def test_counts_of_logs_where_there_is_no_attribute() -> None:
    whole = smartctl_json({"model": "X", "serial": "S1", "rotation_rpm": 7200, "passed": True})
    whole["ata_device_statistics"] = {
        "pages": [
            {"number": 3, "table": [{"offset": 0x20, "name": "Reallocated", "value": 9}]},
            {"number": 4, "table": [{"offset": 8, "name": "Reported Uncorrectable", "value": 2}]},
        ]
    }
    whole["ata_pending_defects_log"] = {"size": 100, "count": 6}
    assert [(code, text) for _, code, text in _rows(parsed(whole))] == [
        ("reallocated", "has reallocated 9 sectors (device statistics)"),
        ("pending", "has 6 sectors that cannot be read now (device statistics)"),
        ("uncorrectable", "has reported 2 uncorrectable errors (device statistics)"),
    ]


def _status(tmp_path: Path, capsys: pytest.CaptureFixture[str], whole: dict[str, Any]) -> int:
    file = tmp_path / "disk.json"
    file.write_text(json.dumps(whole))
    status = run(["wear", "--from", str(file)])
    capsys.readouterr()
    return status


def _ata(*attributes: str) -> dict[str, Any]:
    known = {"model": "X", "serial": "S1", "rotation_rpm": 7200, "in_database": True, "passed": True}
    return smartctl_json({**known, "attributes": list(attributes)})


@pytest.mark.parametrize(
    ("whole", "status"),
    [
        (_ata("5 Reallocated_Sector_Ct 100 36 0", "199 UDMA_CRC_Error_Count 100 0 3"), WELL),
        (_ata("5 Reallocated_Sector_Ct 95 36 304"), ATTENTION),
        (_ata("197 Current_Pending_Sector 100 0 1"), ATTENTION),
        (_ata("187 Reported_Uncorrect 99 0 5"), ATTENTION),
        (_ata("199 UDMA_CRC_Error_Count 1 0 3118119"), ATTENTION),
        (_ata("5 Reallocated_Sector_Ct 20 36 2000"), DYING),
        (smartctl_json(_nvme(media_errors=1)), ATTENTION),
        (smartctl_json(_nvme(critical_warning=1)), ATTENTION),
        (smartctl_json(_nvme(critical_warning=8)), DYING),
    ],
)
def test_the_exit_status_says_it(
    whole: dict[str, Any], status: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _status(tmp_path, capsys, whole) == status


COUNTS = ("reallocated", "pending", "uncorrectable", "media_errors", "crc_errors", "nonmedium_errors")


@given(st.lists(st.integers(0, 2000), min_size=6, max_size=6), st.sampled_from([_hdd(), ssd()]))
def test_worse_counts_are_never_judged_milder(counts: Sequence[int], base: SmartReading) -> None:
    low = replace(base, **dict(zip(COUNTS, counts, strict=True)))
    high = replace(base, **dict(zip(COUNTS, (2 * each for each in counts), strict=True)))
    mild = {each.code: each.severity for each in _found(low)}
    grave = {each.code: each.severity for each in _found(high)}
    assert set(mild) == set(grave)
    assert all(grave[code] >= severity for code, severity in mild.items())
    assert len(mild) == sum(map(bool, counts))
