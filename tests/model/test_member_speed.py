"""Whether a member is slower than its siblings: bars, recorded syncs, and a limit on false alarms."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from raidtui.model.disk import DiskIo
from raidtui.model.member_speed import (
    HOURS,
    MINUTES,
    Bar,
    Compared,
    Served,
    SlowMember,
    compare,
    compare_both,
    is_slow_no_more,
    served,
    slow_member,
)
from tests.model.member_loads import LOADS, hours, minutes, verdicts
from tests.monitor.recordings import NAMES, rows_of

STRETCH_S = 4.0
FAST = Served(reads=100, read_sectors=1600, read_ms=1000, busy_ms=1000)
SLOW = Served(reads=100, read_sectors=1600, read_ms=4000, busy_ms=4000)


def reads(
    *members: Served, bar: Bar = MINUTES, mirrored: bool = False, rotates: bool = True
) -> tuple[str, bool] | None:
    """Return the slowest of some members, called a, b and so on, and whether it is slow."""
    done = dict(zip("abcdefgh", members, strict=False))
    found = compare(done, bar, writes=False, mirrored=mirrored, rotates=rotates)
    return None if found is None else (found.member, found.slow)


def times(served_: Served, factor: float) -> Served:
    """Return a member with other times."""
    spent = {name: int(factor * getattr(served_, name)) for name in ("read_ms", "busy_ms")}
    return replace(served_, **spent)


def test_size_of_the_difference() -> None:
    assert reads(FAST, SLOW, FAST) == ("b", True)
    assert reads(SLOW, times(SLOW, 2.0)) == ("b", True)
    assert reads(SLOW, times(SLOW, 1.9)) == ("b", False)
    assert reads(SLOW, times(SLOW, 1.9), bar=replace(HOURS, least=100)) == ("b", True)
    assert reads(SLOW, times(SLOW, 1.4), bar=replace(HOURS, least=100)) == ("b", False)
    assert reads(FAST, SLOW, SLOW) == ("c", False)  # then it is not one of them


def test_a_small_difference_is_of_no_account() -> None:
    quick = times(FAST, 0.03)  # 0.3 ms
    assert reads(quick, times(quick, 4.0), rotates=False) == ("b", False)
    assert reads(quick, times(quick, 4.5), rotates=False) == ("b", True)
    assert reads(times(FAST, 0.3), times(FAST, 1.2)) == ("b", False)
    assert reads(times(FAST, 0.3), times(FAST, 1.2), rotates=False) == ("b", True)


def test_who_waits_without_being_busier_has_the_longer_queue() -> None:
    assert reads(FAST, replace(SLOW, busy_ms=1400)) == ("b", False)
    assert reads(FAST, replace(SLOW, busy_ms=1500)) == ("b", True)


def test_too_few_requests_say_nothing() -> None:
    few = replace(FAST, reads=29, read_sectors=464)
    assert reads(few, SLOW) is None
    assert reads(FAST, few, SLOW) == ("c", True)
    assert reads(FAST, few, few, few, SLOW) is None  # fewer than half of the siblings
    assert reads(Served(), Served()) is None


def test_requests_of_other_sizes_say_nothing() -> None:
    assert reads(FAST, replace(SLOW, read_sectors=2400)) == ("b", True)
    assert reads(FAST, replace(SLOW, read_sectors=2500)) is None


def test_one_of_a_mirror_that_streams_says_nothing_of_one_that_seeks() -> None:
    """Rotating disks alone, and reads alone: md chooses who reads."""
    streams = Served(reads=500, read_sectors=8000, read_ms=1000, busy_ms=1000)
    assert reads(streams, SLOW, mirrored=True) is None
    assert reads(streams, SLOW, mirrored=True, rotates=False) == ("b", True)
    assert reads(streams, SLOW) == ("b", True)
    assert reads(replace(streams, reads=400, read_sectors=6400), SLOW, mirrored=True) == ("b", True)


def test_another_partition_of_its_disk_that_is_used_says_nothing_of_the_member() -> None:
    assert reads(FAST, replace(SLOW, elsewhere=20)) == ("b", True)
    assert reads(FAST, replace(SLOW, elsewhere=21)) is None
    assert reads(replace(FAST, elsewhere=500), replace(SLOW, elsewhere=500)) == ("b", True)


def test_writes_are_compared_for_themselves() -> None:
    fast = replace(FAST, writes=40, written_sectors=640, write_ms=80)
    slow = replace(fast, write_ms=4000, busy_ms=8000)
    found = compare_both({"a": fast, "b": slow}, MINUTES, level="raid1", rotates=True)
    assert [(each.writes, each.slow, each.wait_ms, each.requests) for each in found] == [
        (False, False, 10.0, 100), (True, True, 100.0, 40),
    ]  # fmt: skip


def test_counters_that_go_back_say_nothing() -> None:
    io = DiskIo(reads=9, read_sectors=9, read_ms=9, writes=9, written_sectors=9, write_ms=9, busy_ms=9)
    more = replace(io, reads=12, read_sectors=33, read_ms=50, busy_ms=60)
    disk = replace(io, writes=14)
    assert served(io, more, io, replace(more, writes=14)) == Served(
        reads=3, read_sectors=24, read_ms=41, busy_ms=51, elsewhere=5
    )
    assert served(more, io, disk, disk) is None


def minute(*, slow: bool = True, member: str = "a", writes: bool = False, requests: int = 100) -> Compared:
    """Return what was compared in a minute."""
    return Compared(writes=writes, member=member, slow=slow, wait_ms=40.0, others_ms=10.0, requests=requests)


def test_most_of_the_minutes_have_to_show_it() -> None:
    found = slow_member([minute()] * 10, MINUTES, 7.0)
    assert found == SlowMember(
        member="a", at_s=7.0, hourly=False, writes=False, wait_ms=40.0, others_ms=10.0, stretches=10,
        compared=10, requests=1000,
    )  # fmt: skip
    assert slow_member([minute()] * 9, MINUTES, 7.0) is None
    assert slow_member([minute(requests=99)] * 10, MINUTES, 7.0) is None
    others = [minute(slow=False)] * 3
    assert slow_member([*[minute()] * 12, *others], MINUTES, 7.0) is not None
    assert slow_member([*[minute()] * 11, *others, minute(slow=False)], MINUTES, 7.0) is None
    assert slow_member([*[minute()] * 11, *[minute(member="b")] * 4], MINUTES, 7.0) is None
    assert slow_member([*[minute(slow=False)] * 20, *[minute()] * 15], MINUTES, 7.0) is not None
    assert slow_member([*[minute()] * 6, *[minute(writes=True)] * 6], MINUTES, 7.0) is None


def test_it_stays_until_the_minutes_show_otherwise() -> None:
    slow = slow_member([minute()] * 10, MINUTES, 7.0)
    assert slow is not None
    assert not is_slow_no_more(slow, [minute(slow=False)] * 9)
    assert is_slow_no_more(slow, [minute(slow=False)] * 10)
    assert is_slow_no_more(slow, [minute(member="b")] * 10)
    assert not is_slow_no_more(slow, [minute(writes=True, slow=False)] * 10)
    assert not is_slow_no_more(slow, [*[minute()] * 8, *[minute(slow=False)] * 7])


def recorded(name: str) -> SlowMember | None:
    """Return what is said of a recorded sync, with stretches of four seconds in place of minutes."""
    found: list[Compared] = []
    rows = rows_of(name)
    before = rows[0]
    for row in rows:
        if row.clock_s - before.clock_s < STRETCH_S:
            continue
        done = {
            member: known
            for member, stat in row.stats.items()
            if (known := served(*(_io(each) for each in (before.stats[member], stat) * 2))) is not None
        }
        level = "raid1" if len(done) == 2 else "raid5"
        found += compare_both(done, MINUTES, level=level, rotates=True)
        before = row
    verdicts_ = [slow_member(found[: at + 1], MINUTES, float(at)) for at in range(len(found))]
    return next((each for each in verdicts_ if each is not None), None)


def _io(stat: list[int]) -> DiskIo:
    return DiskIo(
        reads=stat[0], read_sectors=stat[1], read_ms=stat[2], writes=stat[3], written_sectors=stat[4],
        write_ms=stat[5], busy_ms=stat[7],
    )  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_recorded_syncs(name: str) -> None:
    """One of them had a slow member. That of "slow" counts its requests otherwise, so it is not compared."""
    found = recorded(name)
    assert (found.member if found is not None else None) == ("dm-2" if name == "zoned" else None)


def alarms(name: str, seed: int, number: int) -> int:
    """Return how often a member of a healthy array is called slow within so many minutes."""
    said = [each is not None for each in verdicts(name, minutes(name, seed), number, MINUTES)]
    return sum(now and not before for before, now in zip([False, *said], said, strict=False))


@pytest.mark.parametrize("name", LOADS)
def test_false_alarms_by_minutes_are_rare(name: str) -> None:
    """None in three days of each."""
    assert sum(alarms(name, seed, 1440) for seed in range(3)) == 0


@pytest.mark.parametrize("name", LOADS)
def test_false_alarms_by_hours_are_rare(name: str) -> None:
    assert not any(verdicts(name, hours(name, 1), 96, HOURS))


@pytest.mark.parametrize(
    ("name", "slower"), [("database", 8.0), ("files", 4.0), ("flushes", 4.0), ("neighbour", 4.0)]
)
def test_a_slow_member_is_found_within_hours(name: str, slower: float) -> None:
    _, _, _, members = LOADS[name]
    found = next(each for each in verdicts(name, minutes(name, 5, slower), 600, MINUTES) if each is not None)
    assert found.member == f"sd{'abcdefgh'[members - 1]}"


def test_a_slow_member_is_found_by_hours() -> None:
    found = next(
        each for each in verdicts("flushes", hours("flushes", 5, 2.5), 96, HOURS) if each is not None
    )
    assert (found.member, found.hourly) == ("sdf", True)
