"""smartctl's JSON: facts that are reported, answers that are none, and texts that hold anything at all."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raidtui.features.wear.wear_report import metric_lines, wear_dict, wear_lines, wear_of_text
from raidtui.host.smart.smartctl_json import parse_smart
from raidtui.model.smart import Attribute, Counted, ErrorRecovery, NoReading, SmartReading, Unread
from raidtui.monitor.wear.bytes_written import written
from raidtui.monitor.wear.endurance import life_used
from tests.monitor.wear.disks import NAMES, facts, parsed, reading, smartctl_json, text_of

TRIES = settings(max_examples=200, deadline=None)


def test_an_ata_disk() -> None:
    found = reading("samsung-pm883", "sdb")
    assert (found.name, found.protocol, found.kind, found.model, found.serial, found.firmware) == (
        "sdb",
        "ATA",
        "sat",
        "SAMSUNG MZ7LH1T9HMLT-00005",
        "RT0026",
        "FW26",
    )
    assert (found.capacity_bytes, found.sector_bytes, found.rotation_rpm) == (1920383410176, 512, 0)
    assert (found.passed, found.in_database, found.power_on_hours, found.temperature_c) == (
        True,
        True,
        4717,
        24,
    )
    assert (found.crc_errors, found.reallocated, found.pending, found.uncorrectable) == (0, 0, 0, 0)
    assert (found.trim_zeroed, found.erc, found.identity, found.rotates) == (True, None, "RT0026", False)
    assert found.taken_s == 1_795_209_900
    assert next(each for each in found.attributes if each.id == 194) == Attribute(
        id=194,
        name="Temperature_Celsius",
        value=76,
        worst=76,
        threshold=0,
        raw=171800068120,
        raw_text="24 (Min/Max 21/40)",
    )


def test_an_nvme_disk() -> None:
    found = reading("intel-p4510-8tb", "nvme0n1")
    assert (found.protocol, found.nvme_percent, found.media_errors, found.critical_warning) == (
        "NVMe",
        0,
        0,
        0,
    )
    assert (found.spare_percent, found.spare_threshold_percent) == (100, 10)
    assert found.capacity_bytes == 8001563222016
    assert found.nvme_written == Counted(
        count=184919244, unit_bytes=512_000, text="184919244", size_bytes=94678652928000
    )


def test_a_sas_disk() -> None:
    found = reading("toshiba-pm5")
    assert (found.protocol, found.model, found.firmware) == ("SCSI", "TOSHIBA KPM5XMUG400G", "FW11")
    assert (found.scsi_percent, found.reallocated, found.media_errors) == (0, 0, 0)
    assert found.scsi_written == Counted(
        count=12103, unit_bytes=10**9, text="12103.790", size_bytes=12103790000000
    )


@pytest.mark.parametrize(
    ("value", "size"),
    [("2473.166", 2473166000000), ("7", 7 * 10**9), (2.5, 2500000000), (3, 3 * 10**9), ("-1", None),
     ("1e9", None), ("", None), (True, None), (None, None), ("9" * 30, None)],
)  # fmt: skip
def test_gigabytes(value: object, size: int | None) -> None:
    whole = smartctl_json(facts("toshiba-pm5"))
    whole["scsi_error_counter_log"]["write"]["gigabytes_processed"] = value
    found = parsed(whole).scsi_written
    assert (found and found.size_bytes) == size


@pytest.mark.parametrize(
    ("attribute", "crc"),
    [
        ("199 UDMA_CRC_Error_Count 100 0 24", 24),
        ("199 CRC_Error_Count 100 0 3", 3),
        ("199 Host_Writes_GiB 100 0 4711", None),
        ("199 Write_Sectors_Tot_Ct 100 0 4711", None),
        ("218 CRC_Error_Count 100 0 5", 5),
        ("210 SATA_CRC_Error_Count 100 0 6", 6),
    ],
)
def test_failed_transfers_by_name(attribute: str, crc: int | None) -> None:
    assert parsed(smartctl_json({"attributes": [attribute]})).crc_errors == crc


def test_failed_transfers_of_the_statistics() -> None:
    whole = smartctl_json({"attributes": []})
    whole["ata_device_statistics"] = {"pages": [{"number": 6, "table": [{"offset": 24, "value": 17}]}]}
    assert parsed(whole).crc_errors == 17


@pytest.mark.parametrize(
    ("attribute", "pending"),
    [
        ("197 Current_Pending_Sector 100 0 3", 3),
        ("197 Pending_Sector_Count 100 0 1", 1),
        ("197 Current_Pending_ECC_Cnt 100 0 1", 0),  # flips on sound disks
        ("197 Current_Pending_ECC_Cnt 100 0 2", 2),
        ("197 Total_Unc_Read_Failures 100 0 9", None),
        ("197 Not_In_Use 100 0 9", None),
    ],
)
def test_pending_places_by_name(attribute: str, pending: int | None) -> None:
    assert parsed(smartctl_json({"attributes": [attribute]})).pending == pending


def test_packed_counts_are_read_from_smartctls_text() -> None:
    found = parsed(smartctl_json({"attributes": ["5 Reallocated_Sector_Ct 100 10 4295032834 2 (1 0)"]}))
    assert found.reallocated == 2


@pytest.mark.parametrize(
    ("erc", "expected"),
    [
        (
            {"read": {"enabled": True, "deciseconds": 70}, "write": {"enabled": True, "deciseconds": 80}},
            ErrorRecovery(read_ds=70, write_ds=80),
        ),
        (
            {"read": {"enabled": False}, "write": {"enabled": False}},
            ErrorRecovery(read_ds=0, write_ds=0),
        ),
        ({}, None),
        (7, None),
    ],
)
def test_error_recovery(erc: object, expected: ErrorRecovery | None) -> None:
    assert parsed({**smartctl_json(facts("samsung-pm883")), "ata_sct_erc": erc}).erc == expected


def test_wwn() -> None:
    whole = {**smartctl_json(facts("samsung-pm883")), "wwn": {"naa": 5, "oui": 9528, "id": 1234567890}}
    assert parsed(whole).wwn == "0x50025380499602d2"
    del whole["serial_number"]
    assert parsed(whole).identity == "0x50025380499602d2"


def test_a_number_too_long_for_a_double_is_read_from_its_text() -> None:
    whole = smartctl_json(facts("micron-7400"))
    whole["nvme_smart_health_information_log"]["data_units_written"] = 9007199254740992
    whole["nvme_smart_health_information_log"]["data_units_written_s"] = "9007199254740993"
    found = parsed(whole).nvme_written
    assert found is not None
    assert found.count == 9007199254740993


def test_an_answer_counts_whatever_the_status() -> None:
    found = reading("toshiba-thnsnh-cut")
    assert (found.exit_status, found.passed, found.model) == (7, True, "TOSHIBA THNSNH128GBST")


def _said(message: str, status: int, **more: Any) -> str:
    smartctl = {
        "exit_status": status,
        "messages": [{"string": message, "severity": "information"}],
    }
    return json.dumps({"json_format_version": [1, 0], "smartctl": smartctl, **more})


UNKNOWN = "does not report whether it is asleep, so it was not read; smartctl -x /dev/sda reads it anyway"
DEVICE = {"name": "/dev/sda", "type": "sat", "protocol": "ATA"}


@pytest.mark.parametrize(
    ("text", "why", "sentence"),
    [
        (
            _said("Device is in STANDBY mode, exit(3)", 3, device=DEVICE),
            Unread.STANDBY,
            "sda: is asleep (standby) and was not woken",
        ),
        (
            _said(
                "Device is in SLEEP mode, exit(3)",
                3,
                device=DEVICE,
                power_mode={"ata_value": -1, "name": "SLEEP"},
            ),
            Unread.STANDBY,
            "sda: is asleep (sleep) and was not woken",
        ),
        (
            _said("Device is in STANDBY BY COMMAND mode, exit(2)", 2, device=DEVICE),
            Unread.STANDBY,
            "sda: is asleep (standby by command) and was not woken",
        ),
        (_said("", 3, device=DEVICE), Unread.STANDBY, "sda: is asleep and was not woken"),
        (
            _said("CHECK POWER MODE not implemented, exit(5)", 5, device=DEVICE),
            Unread.POWER_UNKNOWN,
            f"sda: {UNKNOWN}",
        ),
        (
            _said("Smartctl open device: /dev/sda failed: Permission denied", 2, device=DEVICE),
            Unread.NO_PERMISSION,
            "sda: only root may read SMART data; run raidtui as root (sudo raidtui)",
        ),
        (
            _said("Smartctl open device: /dev/sda failed: No such device", 2, device=DEVICE),
            Unread.NO_DEVICE,
            "sda: Smartctl open device: /dev/sda failed: No such device",
        ),
        (
            _said("/dev/md127: Unable to detect device type", 1),
            Unread.NO_DEVICE,
            "sda: /dev/md127: Unable to detect device type",
        ),
        (json.dumps({}), Unread.NO_DEVICE, "sda: smartctl read nothing and exited with status 0"),
        ("", Unread.BROKEN, "sda: smartctl printed nothing"),
        (" \n", Unread.BROKEN, "sda: smartctl printed nothing"),
        ("[1]", Unread.BROKEN, "sda: smartctl printed something other than a JSON object"),
        (
            '{"smartctl": {"exit_status": 0}, hahaha "device": {}}',
            Unread.BROKEN,
            "sda: smartctl printed no JSON (JSON is malformed: object keys must be strings (byte 33))",
        ),
    ],
)
def test_no_answer_says_why(text: str, why: Unread, sentence: str) -> None:
    found = parse_smart(text, "sda")
    assert isinstance(found, NoReading)
    assert (found.why, found.sentence) == (why, sentence)


def test_a_disk_that_is_named_in_the_text_needs_no_other_name() -> None:
    assert parse_smart(text_of("samsung-pm883", "sdx")).name == "sdx"
    assert parse_smart(text_of("samsung-pm883", "sdx"), "sdy").name == "sdy"
    assert parse_smart("").name == "?"


def _everything(text: str) -> None:
    """Have a text read, judged and reported; nothing may raise."""
    found = parse_smart(text, "sda")
    if isinstance(found, SmartReading):
        assert life_used(found) is not None
        assert written(found) is not None
    disk = wear_of_text(text, "file.json")
    json.dumps(wear_dict([disk]))
    assert list(wear_lines([disk]))
    list(metric_lines([disk]))


@TRIES
@given(st.one_of(st.text(), st.binary().map(lambda data: data.decode("latin-1"))))
def test_any_text(text: str) -> None:
    _everything(text)


_JSON = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.integers(2**62, 2**80),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(max_size=8),
        st.sampled_from(["", "0", "-1", "1" * 30, "2473.166", "now", "past", "ATA", "NVMe", "SCSI"]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=6,
)


@st.composite
def _damaged(draw: st.DrawFn) -> str:
    """A disk's output in which values are replaced, taken away and put elsewhere."""
    whole = smartctl_json(facts(draw(st.sampled_from(NAMES))))
    whole["ata_device_statistics"] = {"pages": [{"number": 7, "table": [{"offset": 8, "value": 3}]}]}
    whole["ata_sct_erc"] = {"read": {"enabled": True, "deciseconds": 70}}
    for _ in range(draw(st.integers(1, 6))):
        place: Any = whole
        while True:
            keys = list(place) if isinstance(place, dict) else list(range(len(place)))
            if not keys:
                break
            key = draw(st.sampled_from(keys))
            if isinstance(place[key], dict | list) and place[key] and draw(st.booleans()):
                place = place[key]
                continue
            if draw(st.booleans()):
                place[key] = draw(_JSON)
            else:
                del place[key]
            break
    return json.dumps(whole)


@TRIES
@given(_damaged())
def test_any_key_may_be_missing_or_of_another_type(text: str) -> None:
    _everything(text)


@TRIES
@given(st.sampled_from(NAMES), st.data())
def test_any_cut(name: str, data: st.DataObject) -> None:
    text = text_of(name)
    _everything(text[: data.draw(st.integers(0, len(text)))])


def test_nested_deeply() -> None:
    found = parse_smart("[" * 100_000, "sda")
    assert isinstance(found, NoReading)
    assert found.why is Unread.BROKEN


@pytest.mark.parametrize("time_t", [252_221_190_000, 67_768_035_179_296_108, (1 << 63) - 1])
def test_a_time_beyond_all_calendars_is_none(time_t: int) -> None:
    whole = smartctl_json(facts("crucial-p2"))
    whole["local_time"]["time_t"] = time_t
    text = json.dumps(whole)
    found = parse_smart(text)
    assert isinstance(found, SmartReading)
    assert found.taken_s is None
    _everything(text)
