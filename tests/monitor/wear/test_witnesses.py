"""How sure a figure is follows from what else the disk reports."""

from __future__ import annotations

import json
from typing import Any

import pytest

from raidtui.features.wear.wear_report import wear_dict, wear_of_text
from raidtui.monitor.wear.bytes_written import Written, written
from raidtui.monitor.wear.disk_wear import findings_of
from raidtui.monitor.wear.endurance import life_used
from raidtui.monitor.wear.witnesses import (
    Confidence,
    Witness,
    _rated,
    confidence_of,
    doubt_words,
    wraps,
)
from tests.monitor.wear.disks import facts, parsed, reading_of, smartctl_json, ssd, text_of

GIB, SECTORS = 1 << 30, 1 << 32
FOR, AGAINST = (Witness(source="a", says="1", agrees=each) for each in (True, False))


@pytest.mark.parametrize(
    ("claimed", "witnesses", "confidence"),
    [
        ("standard", (), "assumed"),
        ("standard", (FOR,), "standard"),
        ("named", (FOR,), "named"),
        ("named", (FOR, AGAINST), "assumed"),
        ("assumed", (), "assumed"),
        ("assumed", (FOR,), "assumed"),
        ("assumed", (FOR, AGAINST), "unknown"),
    ],
)
def test_the_word_follows_from_the_witnesses(
    claimed: str, witnesses: tuple[Witness, ...], confidence: str
) -> None:
    assert confidence_of(Confidence(claimed), witnesses) == confidence


def test_a_doubt_is_given_in_words() -> None:
    assert doubt_words(Confidence.NAMED, (FOR, AGAINST)) == "contradicted by a: 1"
    assert doubt_words(Confidence.STANDARD, ()) == "nothing else confirms it"
    assert doubt_words(Confidence.ASSUMED, ()) == doubt_words(Confidence.NAMED, (FOR,)) == ""


def _dom(sectors: int, *attributes: str, percent: int = 11) -> Written:
    """A SATA DOM of 64 GB with these attributes and device statistics."""
    whole = smartctl_json(
        {
            "model": "DOM",
            "sector_bytes": 512,
            "rotation_rpm": 0,
            "capacity_bytes": 64 * 10**9,
            "in_database": True,
            "passed": True,
            "hours": 40_000,
            "attributes": list(attributes),
        }
    )
    rows = [{"offset": 24, "value": sectors}, {"offset": 32, "value": 500_000_000}]
    life = [{"offset": 8, "value": percent}]
    whole["ata_device_statistics"] = {"pages": [{"number": 1, "table": rows}, {"number": 7, "table": life}]}
    return written(parsed(whole))


def test_statistics_that_wrapped_yield_to_a_named_attribute() -> None:
    gib = 20_000
    found = _dom(gib * GIB // 512 % SECTORS, f"241 Lifetime_Writes_GiB 100 0 {gib}")
    assert (found.source, found.size_bytes) == ("attribute 241 Lifetime_Writes_GiB", gib * GIB)
    assert found.confidence == "named"


def test_two_counters_that_disagree_otherwise_are_no_standard() -> None:
    found = _dom((20_000 * GIB // 512 + 10**9) % SECTORS, "241 Lifetime_Writes_GiB 100 0 20000")
    assert (found.source, found.confidence) == ("device statistics page 1", "assumed")
    assert "contradicted by attribute 241 Lifetime_Writes_GiB: 20000 x 1073741824 bytes" in found.note
    assert found.known_bytes is None
    same = _dom(20_000 * GIB // 512, "241 Lifetime_Writes_GiB 100 0 20000")
    assert (same.source, same.confidence) == ("device statistics page 1", "standard")


@pytest.mark.parametrize(
    "attribute", ["233 NAND_Writes_1GiB 100 0 40000", "173 Average_Erase_Count 100 0 700"]
)
def test_statistics_that_wrapped_are_no_standard_beside_what_flash_took(attribute: str) -> None:
    found = _dom(1_000_000_000, attribute)
    assert (found.size_bytes, found.confidence) == (512 * 10**9, "assumed")
    assert found.known_bytes is None


def test_statistics_that_wrapped_are_no_standard_beside_the_same_sectors_in_an_attribute() -> None:
    """The name 241 has by default is no name; that it shows whole turns more is no accident."""
    sectors = 3 * SECTORS + 10**9
    found = _dom(10**9, f"241 Total_LBAs_Written 100 0 {sectors}")
    assert (found.source, found.confidence, found.known_bytes) == (
        "device statistics page 1",
        "assumed",
        None,
    )
    assert _dom(10**9, f"241 Total_LBAs_Written 100 0 {sectors // 2}").confidence == "standard"
    assert _dom(10**9, f"241 Total_LBAs_Written 100 0 {10**9}").confidence == "standard"


@pytest.mark.parametrize(("hours", "expected"), [(3, (0, "assumed")), (9000, (None, "unknown"))])
def test_a_counter_at_zero(hours: int, expected: tuple[int | None, str]) -> None:
    known = facts("micron-7400")
    known["nvme"] |= {"data_units_read": 9, "data_units_written": 0}
    found = written(reading_of({**known, "hours": hours}))
    assert (found.size_bytes, found.confidence) == expected


def test_a_whole_number_of_turns() -> None:
    turn = SECTORS * 512
    assert wraps(3 * turn + 5, 5, 512, GIB)
    assert not wraps(5, 5, 512, GIB)
    assert not wraps(3 * turn + turn // 2, 5, 512, GIB)
    assert not wraps(3 * turn, turn, 512, GIB)  # a counter of more bits


def test_a_default_name_of_a_known_disk_is_refuted_by_its_age() -> None:
    """drivedb.h knows the model and has no entry for 241, which counts GiB."""
    disk = ssd("241 Total_LBAs_Written 100 0 5617", "208 Avg_Erase_Cnt 200 0 100", capacity_bytes=128 * 10**9)
    found = written(disk)
    assert (found.size_bytes, found.confidence, found.count) == (None, "unknown", 5617)
    assert [each.source for each in found.witnesses if not each.agrees] == [
        "attribute 208 Avg_Erase_Cnt",
        "age",
    ]
    (finding,) = findings_of(wear_of_text(_text(disk_of=5617), "x"))
    assert finding.code == "unit-impossible"


def _text(disk_of: int) -> str:
    known: dict[str, Any] = {"model": "X", "sector_bytes": 512, "rotation_rpm": 0, "in_database": True}
    attributes = [f"241 Total_LBAs_Written 100 0 {disk_of}"]
    return json.dumps(smartctl_json({**known, "passed": True, "hours": 3453, "attributes": attributes}))


def test_a_percentage_needs_a_second_witness_too() -> None:
    alone = life_used(ssd("202 Percent_Lifetime_Remain 81 1 19"))
    assert (alone.percent, alone.confidence, alone.note) == (19, "assumed", "nothing else confirms it")
    erased = life_used(ssd("202 Percent_Lifetime_Remain 81 1 19", "173 Ave_Block-Erase_Count 100 0 570"))
    assert erased.confidence == "named"
    unlike = life_used(ssd("202 Percent_Lifetime_Remain 81 1 19", "231 Perc_Rated_Life_Remain 40 0 40"))
    assert (unlike.confidence, unlike.known) == ("assumed", None)


def test_a_percentage_that_its_writes_cannot_have_caused() -> None:
    """99 % of a terabyte's life by 10 GB."""
    found = life_used(
        ssd("202 Percent_Lifetime_Remain 1 1 99", "241 Lifetime_Writes_GiB 100 0 10", capacity_bytes=10**12)
    )
    assert (found.percent, found.confidence, found.known) == (99, "assumed", None)
    assert found.note == "contradicted by attribute 241 Lifetime_Writes_GiB: 10.7 GB"


def _sas(read: str, write: str, hours: int) -> dict[str, Any]:
    log = {
        kind: {"gigabytes_processed": size, "total_uncorrected_errors": 0}
        for kind, size in (("read", read), ("write", write))
    }
    whole = smartctl_json(
        {
            "kind": "scsi",
            "model": "MG08",
            "passed": True,
            "rotation_rpm": 7200,
            "hours": hours,
            "capacity_bytes": 16 * 10**12,
        }
    )
    whole["scsi_error_counter_log"] = log
    whole["scsi_self_test_0"] = {
        "code": {"value": 1}, "result": {"value": 0}, "power_on_time": {"hours": 30_553}
    }  # fmt: skip
    return whole


def test_a_log_of_zeros_is_none() -> None:
    found = parsed(_sas("0.000", "0.000", 0))
    assert (written(found).size_bytes, found.media_errors, found.power_on_hours) == (None, None, None)
    assert written(found).note == "all counters in its log are 0, reads too: the disk keeps none"
    kept = parsed(_sas("900.000", "86472.611", 31_000))
    assert (written(kept).confidence, kept.media_errors, kept.power_on_hours) == ("standard", 0, 31_000)


def test_an_nvme_log_of_zeros_is_none() -> None:
    known = facts("micron-7400")
    known["nvme"] |= {"data_units_read": 0, "data_units_written": 0}
    assert written(reading_of(known)).confidence == "unknown"


def test_255_is_so_much_or_more_and_a_threshold_above_100_is_none() -> None:
    known = facts("micron-7400")
    known["nvme"] |= {"percentage_used": 255, "available_spare": 64, "available_spare_threshold": 255}
    disk = wear_of_text(json.dumps(smartctl_json({**known, "endurance": 255})), "x")
    assert disk.percent.note == "255 % or more: the figure ends there"
    assert [(each.code, each.sentence) for each in disk.findings] == [
        ("worn-out", "has used 255 % or more of its rated life (NVMe health log)")
    ]


def test_what_bears_a_figure_out_is_in_the_report() -> None:
    (disk,) = wear_dict([wear_of_text(text_of("micron-7400"), "x")])["disks"]
    witnesses = disk["written"]["witnesses"]
    assert witnesses
    assert all(each["agrees"] for each in witnesses)
    assert witnesses[0].keys() == {"source", "says", "agrees"}


def test_a_percentage_that_is_rounded_spans_a_life() -> None:
    assert _rated(30.0, 3) == (750.0, 1500.0)
    assert _rated(30.0, 1) == (1500.0, float("inf"))
