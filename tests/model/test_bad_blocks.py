"""Bad blocks of members: what has no good copy, against a count sector by sector."""

from __future__ import annotations

import random
from itertools import combinations

import pytest

from raidtui.model.array import Array, Member
from raidtui.model.bad_blocks import Lost, bad_sectors, lost, only_holders
from raidtui.model.geometry import copy_groups, losses_left
from raidtui.model.levels import NO_REDUNDANCY, PARITY_LEVELS

SECTORS = 40
ALIGNED = [
    ("raid1", None, 2), ("raid1", None, 3), ("raid10", 0x102, 4), ("raid10", 0x103, 6), ("raid5", 2, 3),
    ("raid4", None, 3), ("raid6", 2, 5), ("raid0", None, 2),
]  # fmt: skip
Bad = dict[int, tuple[tuple[int, int], ...]]


def array(level: str, layout: int | None, disks: int, bad: Bad, out: tuple[int, ...] = ()) -> Array:
    members = tuple(
        Member(name=f"sd{slot}", number=slot, slot=slot, states=("in_sync",), bad_blocks=bad.get(slot, ()))
        for slot in range(disks)
        if slot not in out
    )
    return Array(
        name="md0", path="/dev/md0", level=level, layout=layout, raid_disks=disks, members=members,
        up="".join("_" if slot in out else "U" for slot in range(disks)),
    )  # fmt: skip


def by_sector(level: str, layout: int | None, disks: int, bad: Bad, gone: tuple[int, ...]) -> int:
    """Count the sectors that cannot be read: of a mirror set, of a stripe."""
    covered = {
        slot: {at for first, n in spans for at in range(first, first + n)} for slot, spans in bad.items()
    }
    total = 0
    for at in range(SECTORS):
        broken = {slot for slot in range(disks) if slot in gone or at in covered.get(slot, ())}
        if level in PARITY_LEVELS or level in NO_REDUNDANCY:
            # Of a stripe with too much broken, what is broken of members that are there is lost.
            spare = PARITY_LEVELS.get(level, 0)
            total += len(broken) > spare
        else:
            total += sum(set(group) <= broken for group in copy_groups(level, layout, disks))
    return total


@pytest.mark.parametrize(("level", "layout", "disks"), ALIGNED)
def test_what_has_no_good_copy(level: str, layout: int | None, disks: int) -> None:
    chance = random.Random(f"{level} {disks}")  # noqa: S311
    for _ in range(40):
        bad: Bad = {}
        for slot in range(disks):
            at, spans = 0, []
            while (at := at + chance.randint(1, 12)) < SECTORS - 6 and chance.random() < 0.7:
                length = chance.randint(1, 6)
                spans.append((at, length))
                at += length
            bad[slot] = tuple(spans)
        for count in range(3):
            for gone in combinations(range(disks), count):
                left = losses_left(level, layout, disks, gone)
                if left is None or left < 0:
                    continue
                expected = by_sector(level, layout, disks, bad, gone)
                assert lost(array(level, layout, disks, bad), gone).sectors == expected
                assert lost(array(level, layout, disks, bad, gone)).sectors == expected


def test_the_only_holders() -> None:
    found = array("raid10", 0x102, 4, {1: ((8, 8), (100, 4))})
    assert bad_sectors(found.members[1]) == 12
    assert lost(found) == Lost()
    assert only_holders(found) == ((found.members[0], Lost(sectors=12, names=("sd1",))),)
    assert only_holders(array("raid6", 2, 4, {1: ((8, 8),)})) == ()
    degraded = array("raid6", 2, 4, {1: ((8, 8),)}, (3,))
    assert [(each.name, held.size) for each, held in only_holders(degraded)] == [
        ("sd0", "4 KiB"), ("sd2", "4 KiB"),
    ]  # fmt: skip


def test_where_copies_lie_apart_the_most_is_reported() -> None:
    far = array("raid10", 0x201, 4, {1: ((8, 8),)})
    assert lost(far, {0}) == Lost(sectors=8, exact=False, names=("sd1",))
    assert [member.name for member, _ in only_holders(far)] == ["sd0", "sd2"]
    assert lost(far, {0}).size == "up to 4 KiB"


def test_failed_members_and_replacements_hold_nothing() -> None:
    found = array("raid1", None, 2, {1: ((8, 8),)})
    for states in (("faulty",), ("spare", "replacement")):
        other = Member(name="sdx", number=2, slot=0, states=states, bad_blocks=())
        mirror = Array(
            name="md0", path="/dev/md0", level="raid1", raid_disks=2, members=(other, found.members[1])
        )
        assert lost(mirror).sectors == 8
