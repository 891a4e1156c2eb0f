"""When rated life ends: by rating, by percentage, and with what band."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from raidtui.monitor.wear.forecast import forecast, rated_bytes
from raidtui.monitor.wear.ledger_entries import DAY_S, LedgerEntry

NOW_S = 1_795_046_400.0
TB = 10**12
BASE = LedgerEntry(disk="SER1", at_s=NOW_S, source="NVMe health log")


def _at(
    days_ago: float, size: int | None = None, percent: int | None = None, hours: int | None = None
) -> LedgerEntry:
    return replace(BASE, at_s=NOW_S - days_ago * DAY_S, size_bytes=size, percent=percent, hours=hours)


def _days(at_s: float | None) -> int | None:
    return None if at_s is None else round((at_s - NOW_S) / DAY_S)


def test_by_the_rating_at_the_rate_of_the_last_month() -> None:
    entries = [_at(300, 0), _at(30, 27 * TB), _at(7, 50 * TB), _at(0, 57 * TB)]
    found = forecast(entries, rated=157 * TB)
    assert found is not None
    assert (found.by, found.over, found.per_day_bytes) == ("rating", False, TB)
    # Month: 30 TB in 30 days. Week: 7 in 7. Year: 57 in 300 days, 0.19 TB a day.
    assert (_days(found.ends_s), _days(found.earliest_s), _days(found.latest_s)) == (100, 100, 526)


def test_by_the_rating_and_age_alone_there_is_no_band() -> None:
    found = forecast([_at(0, 50 * TB, hours=500 * 24)], rated=150 * TB)
    assert found is not None
    assert (_days(found.ends_s), found.earliest_s, found.latest_s) == (1000, None, None)
    assert found.per_day_bytes == TB // 10


def test_what_is_used_up_has_ended() -> None:
    found = forecast([_at(0, 200 * TB, hours=500)], rated=150 * TB)
    assert found is not None
    assert (found.over, found.ends_s) == (True, NOW_S)
    percent = forecast([_at(0, None, percent=104, hours=500)])
    assert percent is not None
    assert (percent.by, percent.over, percent.ends_s) == ("percent", True, NOW_S)


def test_by_the_percentage_with_its_rounding() -> None:
    found = forecast([_at(100, percent=10), _at(0, percent=20)])
    assert found is not None
    # 10 points in 100 days, 9 to 11 by rounding: 80 / 0.1, 79 / 0.11, 80 / 0.09 days.
    assert (found.by, _days(found.ends_s)) == ("percent", 800)
    assert (_days(found.earliest_s), _days(found.latest_s)) == (718, 889)


def test_by_the_bytes_of_a_per_cent_at_the_present_rate() -> None:
    """1.1 TB for each of 11 per cent, of which the last took twenty days: 89 more at 0.1 TB a day."""
    entries = [_at(20, 10_950 * 10**9, 10, 25_800), _at(0, 12_950 * 10**9, 11, 26_280)]
    found = forecast(entries)
    assert found is not None
    assert (found.by, found.per_day_bytes) == ("percent", TB // 10)
    assert 980 <= (_days(found.ends_s) or 0) <= 1050
    assert (_days(found.earliest_s) or 0) <= 980
    assert (_days(found.latest_s) or 0) >= 1050


def test_without_a_clock_there_is_no_date() -> None:
    now = replace(_at(0, 50 * TB, 40, 500 * 24), at_s=0.0)
    assert forecast([now]) is None
    assert forecast([now], rated=150 * TB) is None


def test_a_disk_to_which_nothing_is_written_has_no_end() -> None:
    entries = [_at(40, 9 * TB, 20, 999), _at(30, 9 * TB, 20), _at(0, 9 * TB, 20, 10_000)]
    found = forecast(entries)
    assert found is not None
    assert (found.by, found.per_day_bytes, found.ends_s, found.latest_s) == ("percent", 0, None, None)
    assert _days(found.earliest_s) == round(79 / 21 * 10_000 / 24)


def test_one_point_more_is_no_slope_yet() -> None:
    found = forecast([_at(100, percent=19), _at(0, percent=20, hours=1000 * 24)])
    assert found is not None
    assert (_days(found.earliest_s), _days(found.latest_s)) == (3762, 4000)
    assert 3762 <= (_days(found.ends_s) or 0) <= 4000


def test_a_disk_that_has_used_nothing_has_a_first_day_alone() -> None:
    found = forecast([_at(0, percent=0, hours=24 * 10)])
    assert found is not None
    assert (found.ends_s, _days(found.earliest_s), found.latest_s) == (None, 990, None)


def test_farther_than_fifty_years_is_no_date() -> None:
    found = forecast([_at(0, 10**9, hours=24 * 1000)], rated=10**15)
    assert found is not None
    assert (found.ends_s, found.over) == (None, False)


def test_nothing_known_is_no_forecast() -> None:
    assert forecast([]) is None
    assert forecast([_at(0)]) is None
    assert forecast([_at(0, 5 * TB)], rated=10 * TB) is None
    assert forecast([_at(0, 5 * TB)]) is None
    assert forecast([_at(0, percent=5)]) is None
    assert forecast([_at(0.5, 4 * TB), _at(0, 5 * TB)], rated=10 * TB) is None


def test_a_measured_unit_is_used() -> None:
    first = replace(_at(10, 16737 * 512), count=16737)
    last = replace(_at(0, 26737 * 512), count=26737)
    found = forecast([first, last], rated=36737 << 20, unit_bytes=1 << 20)
    assert found is not None
    assert (_days(found.ends_s), found.per_day_bytes) == (10, 1000 << 20)


def test_ratings_go_by_the_longest_beginning_of_a_models_name() -> None:
    ratings = {"Samsung SSD": 1, "samsung ssd 850 EVO": 2, "Micron": 3, "": 4}
    assert rated_bytes("Samsung SSD 850 EVO 500GB", ratings) == 2
    assert rated_bytes("Samsung SSD 970", ratings) == 1
    assert rated_bytes("INTEL", ratings) is None
    assert rated_bytes(None, ratings) is None


@given(
    sizes=st.lists(st.integers(0, 10**15), min_size=1, max_size=6),
    percents=st.lists(st.one_of(st.none(), st.integers(0, 255)), min_size=6, max_size=6),
    hours=st.one_of(st.none(), st.integers(0, 10**6)),
    rated=st.one_of(st.none(), st.integers(0, 10**16)),
)
def test_whatever_was_read_the_date_lies_in_its_band(
    sizes: list[int], percents: list[int | None], hours: int | None, rated: int | None
) -> None:
    count = len(sizes)
    entries = [_at((count - 1 - at) * 20, size, percents[at], hours) for at, size in enumerate(sizes)]
    found = forecast(entries, rated)
    if found is None:
        return
    assert found.ends_s is None or found.ends_s >= NOW_S
    if found.ends_s is not None and found.earliest_s is not None:
        assert found.earliest_s <= found.ends_s
    if found.ends_s is not None and found.latest_s is not None:
        assert found.ends_s <= found.latest_s
