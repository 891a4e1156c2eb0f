"""One disk judged as a whole: with its history, and with what the kernel wrote."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from raidtui.host.smart.smartctl_json import parse_smart
from raidtui.model.finding import Severity
from raidtui.model.smart import NoReading, SmartMeasurement, SmartReading, Unread
from raidtui.monitor.wear.costs import life_share
from raidtui.monitor.wear.counter_units import MIB
from raidtui.monitor.wear.disk_wear import DiskWear, judge_disk
from raidtui.monitor.wear.endurance import Percent
from raidtui.monitor.wear.ledger_entries import DAY_S, LedgerEntry
from tests.monitor.wear.disks import facts, reading, reading_of, ssd

NOW_S = 1_795_046_400.0
DOM = ((16737, 3930090), (16835, 4030760), (16932, 4130460))  # attribute 241, KiB by /proc/diskstats


def _found(disk: DiskWear) -> list[tuple[str, str]]:
    return [(finding.code, finding.sentence) for finding in disk.findings]


def _asked(result: SmartReading | NoReading, kernel_bytes: int | None = None) -> SmartMeasurement:
    return SmartMeasurement(result=result, since="boot/1", low_bytes=kernel_bytes, high_bytes=kernel_bytes)


def _dom(name: str) -> list[DiskWear]:
    """The published SATA DOM, read three times; its history grows."""
    history: list[LedgerEntry] = []
    found = []
    for at, (count, kib) in enumerate(DOM):
        dom = ssd(f"241 {name} 100 0 {count}", model="SATA SSD", serial="DOM1")
        disk = judge_disk(_asked(dom, kib * 1024), NOW_S + at, history)
        assert disk.entry is not None
        history.append(disk.entry)
        found.append(disk)
    return found


def test_the_sata_dom_that_smartctl_takes_for_another() -> None:
    first, second, third = _dom("Lifetime_Writes_GiB")
    assert (first.written.size_bytes, first.written.confidence, _found(first)) == (16737 << 30, "assumed", [])
    assert (second.written.size_bytes, second.written.confidence) == (16835 * MIB, "measured")
    assert (third.written.size_bytes, third.written.unit_bytes) == (16932 * MIB, MIB)
    assert third.promised.size_bytes == 16932 << 30
    assert _found(third) == [
        (
            "unit-wrong",
            (
                "counts MiB in attribute 241 Lifetime_Writes_GiB, not GiB: "
                "it rose by 195 while 196 MiB were written"
            ),
        )
    ]


def test_the_sata_dom_as_sectors_is_impossible_and_then_measured() -> None:
    first, second, _ = _dom("Total_LBAs_Written")
    assert (first.written.size_bytes, first.written.confidence) == (None, "unknown")
    assert first.written.note == ("in 512-byte sectors it would be less than what the kernel has written")
    assert _found(first) == [("unit-impossible", f"attribute 241 Total_LBAs_Written: {first.written.note}")]
    assert (second.written.size_bytes, second.written.confidence) == (16835 * MIB, "measured")


def _strange(count: int, kib: int, *history: LedgerEntry) -> DiskWear:
    disk = ssd(f"241 Total_LBAs_Written 100 0 {count}", serial="ODD1", in_database=False, rotation_rpm=7200)
    return judge_disk(_asked(disk, kib * 1024), NOW_S + len(history), history, {"Example": 150 * 10**12})


def test_a_guess_is_shown_and_nothing_follows_from_it() -> None:
    disk = _strange(4_000_000_000, 10)
    assert (disk.written.size_bytes, disk.written.confidence) == (2_048_000_000_000, "assumed")
    assert disk.promised.size_bytes is None
    assert disk.entry is not None
    assert (disk.entry.size_bytes, disk.entry.unit_bytes, disk.entry.count) == (None, None, 4_000_000_000)
    assert disk.forecast is None
    assert life_share(replace(disk, rated_bytes=None, percent=Percent(percent=50)), 10**12) is None


def test_a_guess_yields_to_what_the_kernel_shows() -> None:
    assert _strange(16737, 3930090).written.size_bytes is None
    first = _strange(16737, 3930090).entry
    assert first is not None
    second = _strange(16835, 4030760, first).written
    assert (second.size_bytes, second.confidence, second.guessed) == (16835 * MIB, "measured", False)


def test_a_name_without_a_unit_is_measured() -> None:
    assert [disk.written.confidence for disk in _dom("Host_Writes")] == ["unknown", "measured", "measured"]
    assert _found(_dom("Host_Writes")[2]) == [
        (
            "unit-measured",
            "counts MiB in attribute 241 Host_Writes: it rose by 195 while 196 MiB were written",
        )
    ]


def test_an_honest_disk_is_confirmed_and_nothing_is_said() -> None:
    history: Sequence[LedgerEntry] = ()
    for at in range(3):
        disk = judge_disk(
            _asked(ssd(f"241 Total_LBAs_Written 99 0 {10**9 + at * 10**6}"), 10**9 + at * 512 * 10**6),
            NOW_S + at,
            history,
        )
        assert disk.entry is not None
        history = [*history, disk.entry]
    assert (disk.written.confidence, disk.verdict.kind, disk.findings) == ("measured", "confirmed", ())


def test_a_standard_needs_no_proof() -> None:
    known = reading("micron-7400")
    disk = judge_disk(_asked(known, 10**18), NOW_S)
    assert disk.written.size_bytes == 371381925376000
    assert disk.findings == ()


def test_without_diskstats_the_name_stands() -> None:
    disk = judge_disk(_asked(reading("samsung-sm843t")), NOW_S)
    assert (disk.written.size_bytes, disk.written.confidence) == (110825747394560, "assumed")


def test_what_the_ledger_is_given() -> None:
    known = reading("samsung-sm843t")
    disk = judge_disk(_asked(known, 4096), NOW_S)
    assert disk.entry == LedgerEntry(
        disk="RT0004",
        at_s=NOW_S,
        name="sda",
        model="SAMSUNG MZ7WD240HAFV-00003",
        firmware="FW04",
        hours=84619,
        percent=9,
        size_bytes=110825747394560,
        source="attribute 241 Total_LBAs_Written",
        count=216456537880,
        unit_bytes=512,
        since="boot/1",
        low_bytes=4096,
        high_bytes=4096,
        crc_errors=0,
        reallocated=0,
        uncorrectable=0,
        end_to_end_errors=0,
        temperature_c=27,
        passed=True,
    )


def test_a_disk_without_a_name_of_its_own_is_not_kept() -> None:
    assert judge_disk(_asked(ssd(serial="")), NOW_S).entry is None


def test_a_disk_that_sleeps_is_reported_as_such() -> None:
    asleep = NoReading(name="sdb", why=Unread.STANDBY, reason="is asleep (standby) and was not woken")
    disk = judge_disk(_asked(asleep), NOW_S)
    assert (disk.name, disk.unread, disk.reading, disk.entry) == ("sdb", asleep, None, None)
    assert [(each.severity, each.code) for each in disk.findings] == [(Severity.INFO, "standby")]


def test_a_disk_that_cannot_be_read_wants_attention() -> None:
    missing = NoReading(
        name="sdb", why=Unread.NO_TOOL, reason="smartctl is not installed", remedy="apt install"
    )
    (found,) = judge_disk(_asked(missing), NOW_S).findings
    assert (found.severity, found.code, found.remedy) == (Severity.ATTENTION, "smart-unread", "apt install")


@pytest.mark.parametrize(
    ("percent", "expected"),
    [
        (89, None),
        (90, (Severity.ATTENTION, "worn")),
        (99, (Severity.ATTENTION, "worn")),
        (100, (Severity.DEGRADED, "worn-out")),
        (131, (Severity.DEGRADED, "worn-out")),
    ],
)
def test_wear_is_red_from_one_hundred(percent: int, expected: tuple[Severity, str] | None) -> None:
    disk = judge_disk(_asked(ssd(f"202 Percent_Lifetime_Used 1 0 {percent}")), NOW_S)
    assert [(each.severity, each.code) for each in disk.findings] == ([expected] if expected else [])
    if expected:
        assert disk.findings[0].sentence == (
            f"has used {percent} % of its rated life (attribute 202 Percent_Lifetime_Used)"
        )


def test_little_spare_is_red_and_is_no_wear() -> None:
    known = facts("samsung-970-evo-plus")
    known["nvme"].update(available_spare=8, available_spare_threshold=10, critical_warning=1)
    known["passed"] = False
    disk = judge_disk(_asked(reading_of(known)), NOW_S)
    assert disk.percent.percent == 0
    assert [(each.severity, each.code, each.sentence) for each in disk.findings] == [
        (Severity.DEGRADED, "spare-low", "has 8 % of its spare blocks left; its threshold is 10 %")
    ]


def test_a_backup_that_failed() -> None:
    known = facts("samsung-970-evo-plus")
    known["nvme"]["critical_warning"] = 16
    assert _found(judge_disk(_asked(reading_of(known)), NOW_S)) == [
        ("backup-failed", "can no longer save its cache on a power failure")
    ]


@pytest.mark.parametrize(
    ("status", "codes"),
    [
        (0, []),
        (1 | 2 | 4, []),
        (32, ["attribute-failed-once"]),
        (64, ["error-log"]),
        (128, ["selftest-failed"]),
        (224, ["attribute-failed-once", "selftest-failed", "error-log"]),
    ],
)
def test_what_smartctls_status_says(status: int, codes: list[str]) -> None:
    disk = judge_disk(_asked(ssd(status=status)), NOW_S)
    assert [each.code for each in disk.findings] == codes


def test_growth_since_a_week_ago_is_news() -> None:
    before = judge_disk(_asked(reading("samsung-pm883")), NOW_S - 3 * DAY_S).entry
    assert before is not None
    now = replace(reading("samsung-pm883"), crc_errors=7)
    (found,) = judge_disk(_asked(now), NOW_S, [before]).findings
    assert (found.severity, found.code) == (Severity.ATTENTION, "cable")
    assert found.sentence == "7 transfers failed (CRC errors); its own SMART verdict is PASSED"
    dying = replace(reading("samsung-pm883"), pending=2)
    (found,) = judge_disk(_asked(dying), NOW_S, [before]).findings
    assert (found.severity, found.code) == (Severity.FAILED, "dying")


def test_growth_before_the_last_week_is_history() -> None:
    old = judge_disk(_asked(reading("samsung-pm883")), NOW_S - 30 * DAY_S).entry
    since = replace(reading("samsung-pm883"), crc_errors=7)
    recent = judge_disk(_asked(since), NOW_S - 5 * DAY_S).entry
    assert old is not None
    assert recent is not None
    (found,) = judge_disk(_asked(since), NOW_S, [old, recent]).findings
    assert (found.severity, found.code) == (Severity.INFO, "crc-errors")
    assert found.sentence == (
        "7 transfers failed in its life (CRC errors): a cable or connector fault at some time"
    )


def test_a_rating_gives_a_date() -> None:
    known = reading("samsung-sm843t")
    disk = judge_disk(_asked(known), NOW_S, ratings={"SAMSUNG MZ7WD240": 120 * 10**12})
    assert disk.forecast is not None
    assert (disk.forecast.by, disk.forecast.over) == ("rating", False)
    assert judge_disk(_asked(known), NOW_S, ratings={"SAMSUNG": 10**14}).forecast == replace(
        disk.forecast, ends_s=NOW_S, over=True
    )


def test_text_that_says_nothing_is_reported() -> None:
    found = parse_smart(json.dumps([]), "sda")
    assert _found(judge_disk(_asked(found), NOW_S)) == [
        ("smart-unread", "smartctl printed something other than a JSON object")
    ]
