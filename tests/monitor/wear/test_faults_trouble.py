"""A bad cable distinguished from a dying disk."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from raidtui.model.smart import SmartReading
from raidtui.monitor.wear.faults import HANDFUL, Trouble, TroubleKind, find_trouble
from tests.monitor.wear.disks import facts, reading, reading_of, ssd

SOUND = reading("samsung-pm883")
CABLE = "reseat or replace the cable, and check power and backplane; the disk itself may be sound"
DISK = "replace it while it can still be read"


def _after(**more: int) -> SmartReading:
    return replace(SOUND, **more)


def test_failed_transfers_are_the_cables() -> None:
    assert find_trouble(_after(crc_errors=12), SOUND) == Trouble(
        kind=TroubleKind.CABLE,
        reason="12 transfers failed (CRC errors); its own SMART verdict is PASSED",
        remedy=CABLE,
    )


def test_the_loose_cable_of_a_resync() -> None:
    found = find_trouble(_after(crc_errors=1), SOUND, link_resets=3, outage_s=42.0)
    assert found == Trouble(
        kind=TroubleKind.CABLE,
        reason="1 transfer failed (CRC errors); its link was reset 3 times; "
        "it disappeared for 42 s and came back; its own SMART verdict is PASSED",
        remedy=CABLE,
    )


def test_without_a_reading_before_what_happened_decides() -> None:
    old = reading("micron-5300")
    assert old.crc_errors == 24
    assert find_trouble(old) is None
    found = find_trouble(old, link_resets=1)
    assert found is not None
    assert found.reason == (
        "24 transfers failed so far (CRC errors); its link was reset 1 time; its own SMART verdict is PASSED"
    )


def test_a_long_absence_is_no_cable() -> None:
    assert find_trouble(SOUND, SOUND, outage_s=86_400.0) is None


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"reallocated": 5}, "5 more sectors were reallocated"),
        ({"reallocated": 8}, "8 more sectors were reallocated"),
        ({"pending": 2}, "2 more sectors cannot be read"),
        ({"uncorrectable": 1}, "1 more error was uncorrectable"),
    ],
)
def test_bad_places_are_the_disks(more: dict[str, int], reason: str) -> None:
    assert find_trouble(_after(**more), SOUND) == Trouble(kind=TroubleKind.DYING, reason=reason, remedy=DISK)


def test_a_hard_disks_first_bad_place_is_news_and_an_ssds_is_not() -> None:
    disk = replace(SOUND, rotation_rpm=7200)
    assert find_trouble(replace(disk, reallocated=1), disk) == Trouble(
        kind=TroubleKind.DYING, reason="1 more sector was reallocated", remedy=DISK
    )
    assert find_trouble(_after(reallocated=4), SOUND) is None


def test_media_errors_are_the_disks() -> None:
    before = reading("micron-7400")
    assert find_trouble(replace(before, media_errors=3), before) == Trouble(
        kind=TroubleKind.DYING, reason="3 more media errors", remedy=DISK
    )


def test_bad_places_outweigh_failed_transfers() -> None:
    found = find_trouble(_after(crc_errors=50, pending=1), SOUND, link_resets=9)
    assert found is not None
    assert (found.kind, found.reason) == ("dying", "1 more sector cannot be read")


def test_what_it_always_had_is_no_news() -> None:
    worn = _after(crc_errors=24, reallocated=5, pending=1, uncorrectable=2)
    assert find_trouble(worn, worn) is None
    assert find_trouble(worn) is None


def test_a_count_that_fell_says_nothing() -> None:
    assert find_trouble(SOUND, _after(crc_errors=24, reallocated=5)) is None


def test_the_reading_of_another_disk_is_passed_over() -> None:
    assert find_trouble(_after(crc_errors=9, reallocated=9), replace(SOUND, serial="OTHER")) is None


def test_its_own_verdict_counts() -> None:
    found = find_trouble(ssd("9 Power_On_Hours 99 0 100", passed=False))
    assert found == Trouble(kind=TroubleKind.DYING, reason="its own SMART verdict is FAILED", remedy=DISK)


def test_an_attribute_at_its_limit_counts_where_smartctl_still_says_passed() -> None:
    found = find_trouble(ssd("5 Reallocated_Sector_Ct 20 36 1000"))
    assert found == Trouble(
        kind=TroubleKind.DYING, reason="Reallocated_Sector_Ct is at 20; its threshold is 36", remedy=DISK
    )


def _warned(bits: int) -> SmartReading:
    known: dict[str, Any] = json.loads(json.dumps(facts("samsung-970-evo-plus")))
    known["nvme"]["critical_warning"] = bits
    known["passed"] = bits == 0
    return reading_of(known, "nvme0n1")


@pytest.mark.parametrize(
    ("bits", "word", "reason"),
    [
        (0, None, ""),
        (1, None, ""),  # little spare: a finding of its own
        (2, "hot", "is too hot (35 °C) by its own limits"),
        (4, "dying", "it reports that it has become unreliable"),
        (8, "dying", "it accepts no more writes (read-only)"),
        (16, None, ""),
        (32, None, ""),
        (6, "dying", "it reports that it has become unreliable"),
    ],
)
def test_nvme_says_which_warning_it_is(bits: int, word: str | None, reason: str) -> None:
    found = find_trouble(_warned(bits))
    assert (found and found.kind, found.reason if found else "") == (word, reason)


COUNTS = ("crc_errors", "reallocated", "pending", "uncorrectable", "media_errors")


@given(before=st.lists(st.integers(0, 9), min_size=5, max_size=5), resets=st.integers(0, 2))
def test_without_growth_and_resets_there_is_no_trouble(before: list[int], resets: int) -> None:
    old = _after(**dict(zip(COUNTS, before, strict=True)))
    found = find_trouble(old, old, link_resets=resets)
    assert (found is None) == (resets == 0)
    assert found is None or found.kind is TroubleKind.CABLE


@given(
    before=st.lists(st.integers(0, 9), min_size=5, max_size=5),
    more=st.integers(1, 9),
    which=st.integers(0, 4),
)
def test_growth_of_one_count_decides(before: list[int], more: int, which: int) -> None:
    old = dict(zip(COUNTS, before, strict=True))
    new = {**old, COUNTS[which]: old[COUNTS[which]] + more}
    found = find_trouble(_after(**new), _after(**old))
    if which == 1 and more < HANDFUL:
        assert found is None
        return
    assert found is not None
    assert found.kind is (TroubleKind.CABLE if which == 0 else TroubleKind.DYING)
