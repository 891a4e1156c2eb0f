"""When a delayed sync begins, and how long it takes."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from raidtui.monitor.sync_end import Estimate
from raidtui.monitor.sync_turn import Turn, turn_of, turn_words
from tests.hosts.specs import ArraySpec, Syncing, raid1, raid10
from tests.hosts.trees import COMPONENT_KIB, host_tree, snapshot_of

RUNS = Syncing(action="resync", done_kib=5, speed_kib_s=5)
WAITS = Syncing(action="check", waiting="DELAYED")
FIRST = raid10("md1", "first", members=("sda1", "sdb1", "sdc1", "sdd1"), sync=RUNS)
MIRROR = raid1("md2", "mirror", members=("sda2", "sdb2"), sync=WAITS)
LAST = raid1("md3", "last", members=("sdc3", "sdd3"), sync=RUNS)
BOTH = raid1("md2", "mirror", members=("sda2", "sdc2"), sync=WAITS)
RIVAL = raid1("md4", "rival", members=("sdb4", "sdd4"), sync=Syncing(action="recover", waiting="DELAYED"))
HOUR_S = 3600.0
NO_END = Estimate(speed_kib_s=0.0, left_s=None, left_low_s=None, left_high_s=None)


def ends(left_s: float, speed_kib_s: float) -> Estimate:
    return Estimate(speed_kib_s=speed_kib_s, left_s=left_s, left_low_s=None, left_high_s=None)


def turn(
    name: str, *specs: ArraySpec, limits: tuple[int, int] = (1000, 10**9), **found: Estimate
) -> Turn | None:
    """Return the turn of an array, with the estimates of others by their names."""
    snapshot = snapshot_of(host_tree(*specs, limits=limits))
    arrays = {each.name: each for each in snapshot.arrays}
    return turn_of(arrays[name], snapshot, {arrays[each].key: found[each] for each in found})


def test_a_check_goes_over_a_member_as_fast_as_what_it_waits_for() -> None:
    """A RAID-10 of four counts two KiB for each KiB of a member."""
    assert turn("md2", FIRST, MIRROR, md1=ends(HOUR_S, 200_000.0)) == Turn(
        waits_for=(("first", "md1"),), begins_in_s=HOUR_S, takes_s=COMPONENT_KIB / 100_000
    )


def test_a_raid10_goes_over_all_its_own_kib() -> None:
    first, waits = replace(MIRROR, sync=RUNS), replace(FIRST, sync=replace(WAITS, action="resync"))
    found = turn("md1", first, waits, md2=ends(HOUR_S, 100_000.0))
    assert found is not None
    assert found.takes_s == 2 * COMPONENT_KIB / 200_000
    assert found.at_most


def test_a_check_goes_on_from_where_it_was_stopped() -> None:
    waits = replace(MIRROR, sync_min=COMPONENT_KIB)  # in sectors: the half
    found = turn("md2", FIRST, waits, md1=ends(HOUR_S, 200_000.0))
    assert found is not None
    assert found.takes_s == COMPONENT_KIB / 2 / 100_000


def test_its_own_limit() -> None:
    waits = replace(MIRROR, limits=(None, 50_000))
    found = turn("md2", FIRST, waits, md1=ends(HOUR_S, 200_000.0))
    assert found is not None
    assert (found.takes_s, found.at_limit) == (COMPONENT_KIB / 50_000, True)


def test_the_last_of_those_that_run_decides() -> None:
    found = turn("md2", FIRST, BOTH, LAST, md1=ends(HOUR_S, 200_000.0), md3=ends(60.0, 40_000.0))
    assert found == Turn(
        waits_for=(("first", "md1"), ("last", "md3")), begins_in_s=HOUR_S, takes_s=COMPONENT_KIB / 40_000
    )


def test_what_is_not_known() -> None:
    unknown = Turn(waits_for=(("first", "md1"),))
    assert turn("md2", FIRST, MIRROR) == unknown
    assert turn("md2", FIRST, MIRROR, md1=NO_END) == unknown
    found = turn("md2", FIRST, BOTH, LAST, md1=ends(HOUR_S, 200_000.0), md3=NO_END)
    assert found is not None
    assert found.begins_in_s is None


def test_who_has_no_turn() -> None:
    assert turn("md1", FIRST, MIRROR, md1=ends(HOUR_S, 1.0)) is None
    assert turn("md2", MIRROR) is None
    assert turn("md2", replace(MIRROR, sync=replace(WAITS, waiting="PENDING")), FIRST) is None


def test_another_that_waits_may_be_next() -> None:
    found = turn("md2", FIRST, MIRROR, RIVAL, md1=ends(HOUR_S, 200_000.0))
    assert found is not None
    assert found.rivals == ("rival",)
    recover = turn("md4", FIRST, MIRROR, RIVAL, md1=ends(HOUR_S, 200_000.0))
    assert recover is not None
    assert (recover.rivals, recover.at_most) == (("mirror",), True)


TWO = "first and last"
KNOWN = Turn(waits_for=(("first", "md1"),), begins_in_s=HOUR_S, takes_s=2 * HOUR_S)


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (KNOWN, "begins about 14:05, when first is done; takes about 2 h 00 at the speed of first"),
        (
            replace(KNOWN, waits_for=(("first", "md1"), ("last", "md3")), at_most=True),
            f"begins about 14:05, when {TWO} are done; takes at most about 2 h 00 at the speed of {TWO}",
        ),
        (
            replace(KNOWN, rivals=("rival",), at_limit=True),
            "begins about 14:05 at the earliest: rival waits, too; takes about 2 h 00 at its limit",
        ),
        (
            replace(KNOWN, begins_in_s=None, takes_s=None),
            "when it begins is not known: first shows no end; how long it takes is not known",
        ),
    ],
)
def test_words(found: Turn, words: str) -> None:
    assert turn_words(found, "about 14:05") == words
