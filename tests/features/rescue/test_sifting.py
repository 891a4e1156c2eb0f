"""Candidates against each other: what members say of each other decides between those that fit alike."""

from types import SimpleNamespace
from typing import cast

import pytest

from raidtui.features.rescue.search.logical_array import Agreement, Walk
from raidtui.features.rescue.search.ranking import Ranked
from raidtui.features.rescue.search.weighing import Weighed, sift_candidates


def candidate(unused: int, apart: tuple[int, int] | None) -> Weighed:
    """One that leaves devices out, with (compared, unmatched) places; nothing in it is wrong."""
    return Weighed(
        each=cast("Ranked", SimpleNamespace(unused=unused)),
        found=Walk(passed={"inodes": 9}, failed={}, checked=9, slots=frozenset({0, 1})),
        apart=Agreement(compared=apart[0], unmatched=apart[1]) if apart is not None else None,
    )


@pytest.mark.parametrize(
    ("apart", "outdone"),
    [
        ((154, 29), True),
        ((16, 8), True),
        ((12, 5), False),
        ((154, 80), False),
        ((154, 154), False),
        (None, False),
    ],
)
def test_devices_that_belong_together_are_all_members(
    apart: tuple[int, int] | None,
    outdone: bool,  # noqa: FBT001
) -> None:
    """Though one is outdated: a candidate without one of them has nothing to compare, and seems clean."""
    all_of_them, one_left_out = candidate(0, apart), candidate(1, None)
    left, others = sift_candidates([one_left_out, all_of_them])
    assert (one_left_out in others) is outdone
    assert (all_of_them in left) is (apart != (154, 154))
